"""`sessionlog follow`: what it prints, when it ends, and with which exit code."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import build
import pytest

from sessionlog.cli import main
from sessionlog.records import Message
from sessionlog.writer import create

ROOT = Path(__file__).parents[2]
WRITER = """
import os, sys
from sessionlog.records import Activity, Message
from sessionlog.writer import create
writer = create(sys.argv[1], sys.argv[2], {"task": "go"}, sync="none")
call = Activity("request", "c1", "bash", '{"command":"make"}')
writer.message(Message("activity", activity=call))
print("ready", flush=True)
sys.stdin.read()
os._exit(9)
"""


def old(path: Path) -> Path:
    """Nobody changed it lately."""
    os.utime(path, (1, 1))
    return path


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, list[str], str]:
    code = main(["follow", *argv])
    out = capsys.readouterr()
    return code, out.out.splitlines(), out.err


@contextmanager
def following(*argv: str) -> Iterator[subprocess.Popen[str]]:
    """The command as a process of its own; killed if a test fails."""
    command = [sys.executable, "-m", "sessionlog", "follow", *argv]
    child = subprocess.Popen(command, cwd=ROOT, text=True, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
    try:
        yield child
    finally:
        child.kill()
        child.communicate()


def item(child: subprocess.Popen[str]) -> dict[str, Any]:
    """The next object that it prints."""
    assert child.stdout is not None
    found: dict[str, Any] = json.loads(child.stdout.readline())
    return found


def add(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def test_a_run_that_has_ended_is_shown_as_show_does(tmp_path: Path, capsys: Any) -> None:
    path = old(build.log(tmp_path / "a.jsonl", build.scrambled(1, 60) + build.healthy()[-1:]))
    code, lines, err = run(capsys, str(path), "--json")
    assert (code, err) == (0, "ended: settled: all done\n")
    assert main(["show", str(path), "--json"]) == 0
    assert capsys.readouterr().out.splitlines() == lines


def test_a_run_that_failed_exits_with_one(tmp_path: Path, capsys: Any) -> None:
    lines = [*build.healthy()[:-1], build.result("error", 1, error="no more credit")]
    code, _, err = run(capsys, str(old(build.log(tmp_path / "a.jsonl", lines))))
    assert (code, err) == (1, "failed: error: no more credit\n")


def test_a_dead_run_whose_writer_was_never_seen_ends_it(tmp_path: Path, capsys: Any) -> None:
    path = old(build.log(tmp_path / "a.jsonl", build.healthy()[:3], b'{"kind":"mess'))
    code, lines, err = run(capsys, str(path), "--json")
    assert code == 1
    assert json.loads(lines[-1])["why"] == "torn last line"
    assert err.startswith("truncated: no writer seen, last change 5")
    assert "while shell ran: ls" in err


def test_text_shows_the_last_rows_unless_more_is_asked_for(tmp_path: Path, capsys: Any) -> None:
    many = [build.message("bot", f"text {n}", n) for n in range(1, 31)]
    path = old(build.log(tmp_path / "a.jsonl", [build.meta(), *many, build.result()]))
    assert [line.split()[0] for line in run(capsys, str(path))[1][:-1]] == [
        str(n) for n in range(22, 31)
    ]
    assert len(run(capsys, str(path), "--all")[1]) == 32
    assert len(run(capsys, str(path), "--from", "30")[1]) == 2
    found = [json.loads(line) for line in run(capsys, str(path), "--from", "30", "--json")[1]]
    assert [(one["kind"], one["n"]) for one in found] == [("message", 30), ("result", None)]


def test_the_last_rows_of_a_big_log_come_before_its_numbers(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sessionlog.commands import follow

    monkeypatch.setattr(follow, "WHOLE", 1000)
    many = [build.message("bot", f"text {n} " + "x" * 200, n) for n in range(1, 2001)]
    path = old(build.log(tmp_path / "a.jsonl", [build.meta(), *many, build.result()]))
    _, lines, _ = run(capsys, str(path))
    assert [line.split()[-2] for line in lines[:-1]] == [str(n) for n in range(1992, 2001)]


def test_each_record_is_there_as_soon_as_its_line_is_whole(tmp_path: Path) -> None:
    lines = build.healthy()
    path = build.log(tmp_path / "a.jsonl", lines[:1])
    with following(str(path), "--json") as child:
        assert item(child)["kind"] == "meta"
        add(path, lines[1])
        assert (found := item(child))["text"] == "Begin."
        assert found["n"] == 1
        add(path, lines[2][:40])
        add(path, lines[2][40:] + lines[3][:1])
        assert item(child)["type"] == "call"
        add(path, lines[3][1:])
        assert (item(child))["pair"] == 2
        add(path, b"".join(lines[4:]))
        assert item(child)["text"] == "Done."
        assert item(child)["kind"] == "result"
        out, err = child.communicate()
        assert (out, err, child.returncode) == ("", "ended: settled: all done\n", 0)


def test_what_happens_to_the_file_is_said_and_following_goes_on(tmp_path: Path) -> None:
    path = build.log(tmp_path / "a.jsonl", build.healthy()[:2])
    with following(str(path), "--json") as child:
        assert [item(child)["kind"] for _ in range(2)] == ["meta", "message"]
        path.unlink()
        assert (found := item(child))["type"] == "gone"
        assert (found["v"], found["kind"]) == (1, "notice")
        os.replace(build.log(tmp_path / "b", build.healthy()[:1]), path)
        assert item(child)["type"] == "replaced"
        assert item(child)["kind"] == "meta"
        add(path, build.message("user", "again"))
        assert item(child)["n"] == 1
        os.truncate(path, len(build.healthy()[0]))
        assert [item(child)["kind"] for _ in range(2)] == ["notice", "meta"]
        child.send_signal(signal.SIGINT)
        _, err = child.communicate()
        assert child.returncode == 130
        said = [line.removeprefix(f"sessionlog: {path}: ") for line in err.splitlines()]
        assert said == [
            "not there any more; waiting for it", "another file, or rewritten: from its start",
            "cut short: from its start",
        ]  # fmt: skip


def test_a_log_that_is_not_there_yet_is_waited_for_on_demand(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    assert main(["follow", str(path)]) == 2
    with following(str(path), "--wait", "--json") as child:
        assert child.stderr is not None
        assert child.stderr.readline() == f"waiting for {path}\n"
        build.log(path, build.healthy())
        assert item(child)["type"] == "meta"
        child.communicate()
        assert child.returncode == 0


def test_it_ends_when_the_writer_that_was_seen_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "20261127-220000.jsonl"
    command = [sys.executable, "-c", WRITER, str(tmp_path), path.stem]
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=ROOT, **pipes) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        with following(str(path), "--bell", "--json") as child:
            assert [item(child)["type"] for _ in range(2)] == ["meta", "call"]
            writer.communicate()  # it waits for the end of its input, and dies then
            out, err = child.communicate()
    assert (out, child.returncode) == ("", 1)
    assert err == "unfinished: writer gone while bash ran: make\n\astopped: writer gone\n"


def test_only_what_was_seen_to_live_can_die(tmp_path: Path) -> None:
    from sessionlog.vigil import Vigil

    with create(tmp_path, "20261127-220000", {"task": "go"}, sync="none") as writer:
        writer.message(Message("user", "go"))
        vigil = Vigil(str(writer.path), False, 0.0)
        for now in (100.0, 200.0, 9000.0):
            vigil.see(False, now)
            assert not vigil.over(now)
    vigil.see(False, 9100.0)
    assert not vigil.over(9100.0)  # it may be on its way back
    vigil.see(False, 9200.0)
    assert vigil.over(9200.0)
    assert vigil.ending(9200.0) == "unfinished: writer gone while the model answered"


def test_a_reader_that_goes_away_ends_it_quietly(tmp_path: Path) -> None:
    path = build.log(tmp_path / "a.jsonl", build.healthy()[:3])
    with following(str(path), "--json") as child:
        item(child)
        assert child.stdout is not None
        child.stdout.close()
        assert child.stderr is not None
        assert (child.stderr.read(), child.wait()) == ("", 0)


def test_the_bell_rings_on_standard_error(tmp_path: Path, capsys: Any) -> None:
    path = old(build.log(tmp_path / "a.jsonl", build.healthy()))
    code, lines, err = run(capsys, str(path), "--bell")
    assert (code, err) == (0, "ended: settled: all done\n\aended\n")
    assert "\a" not in "".join(lines)


def test_what_is_no_log_is_refused(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"plain\n")
    code, lines, err = run(capsys, str(path))
    assert (code, lines) == (2, [])
    assert "no session log" in err


def test_an_empty_log_is_waited_for_in_words(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.touch()
    with following(str(path)) as child:
        assert child.stderr is not None
        assert child.stderr.readline() == f"waiting for {path}, which is empty so far\n"
        add(path, b"".join(build.healthy()))
        assert child.wait(30) == 0
