"""`sessionlog search`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import build
import pytest

from sessionlog import cli

ROOT = Path(__file__).parents[2]


def run(capsys: pytest.CaptureFixture[str], *argv: object) -> tuple[int, str, str]:
    code = cli.main(["search", *map(str, argv)])
    out, err = capsys.readouterr()
    return code, out, err


def objects(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def night(tmp_path: Path) -> Path:
    lines = [build.meta("a", "Take the lock"), build.message("user", "Begin."),
             build.request("c1", arguments='{"command":"lock \\u001b[31m x"}'),
             build.response("c1", result="no lock\n[exit: exit status 3]")]  # fmt: skip
    build.log(tmp_path / "a.jsonl", lines)
    older = [build.meta("b", "Other", -60), build.message("user", "A Lock", -59)]
    os.utime(build.log(tmp_path / "b.jsonl", older), (2e9, 2e9))  # a copy is young, its run is not
    return tmp_path


def test_hits_are_grouped_by_session_newest_first(
    night: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "-i", "lock", night)
    assert code == 0
    assert err == ""
    assert out == (
        "Take the lock  a  zot\n"
        "        22:00:00   meta       Take the lock\n"
        "      2 22:00:02 ✗ shell      lock ␛[31m x\n"
        "      3 22:00:03 ✗ shell      no lock\n"
        "\n"
        "Other  b  zot\n"
        "      1 21:59:01   user       A Lock\n"
    )


def test_json_has_the_fields_that_scripts_rely_on(
    night: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "lock", night, "--json", "--tool", "shell", "--kind", "call")
    assert code == 0
    [hit] = objects(out)
    offset = len(build.meta("a", "Take the lock") + build.message("user", "Begin."))
    assert hit == {
        "v": 1, "id": "a", "path": str(night / "a.jsonl"), "n": 2, "kind": "call", "line": 3,
        "offset": offset, "text": "lock ␛[31m x", "spans": [[0, 4]], "tool": "shell",
        "at": build.at(2), "ok": False,
    }  # fmt: skip


def test_nothing_found_is_exit_1_and_says_how_much_was_read(
    night: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "nowhere", night) == (
        1,
        "",
        "sessionlog: nothing found in 2 logs, all read; case counts (-i: any case)\n",
    )


@pytest.mark.parametrize(("argv", "count"), [
    (["--errors"], 2), (["--status", "unfinished"], 4), (["--agent", "codex"], 0),
    (["--after", "2026-11-27T22:00:02Z"], 2), (["--before", "2026-11-27T22:00:02Z"], 2),
    (["--limit", "2"], 2), (["--regex"], 4), (["--kind", "user,meta"], 2),
])  # fmt: skip
def test_filters(
    night: Path, capsys: pytest.CaptureFixture[str], argv: list[str], count: int
) -> None:
    code, out, err = run(capsys, "-i", "lock", night, "--json", *argv)
    assert len(objects(out)) == count
    assert code == (0 if count else 1)
    assert ("the limit" in err) == ("--limit" in argv)


@pytest.mark.parametrize(("argv", "said"), [
    (["lock"], "2 hits shown, the limit; there may be more; case counts (-i: any case)"),
    (["-i", "lock"], "2 hits shown, the limit; there may be more; any case"),
    ([""], "2 hits shown, the limit; there may be more"),  # no letter, so no case
])  # fmt: skip
def test_a_count_says_whether_the_case_counted(
    night: Path, capsys: pytest.CaptureFixture[str], argv: list[str], said: str
) -> None:
    assert run(capsys, *argv, night, "--limit", "2")[2] == f"sessionlog: {said}\n"


def test_on_a_terminal_the_hits_are_counted_at_their_end(
    night: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert run(capsys, "lock", night)[2] == "sessionlog: 3 hits; case counts (-i: any case)\n"


def test_logs_of_one_id_are_told_apart_by_their_paths(
    night: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = build.log(night / "again" / "a.jsonl", (night / "a.jsonl").read_bytes().splitlines(True))
    _, out, _ = run(capsys, "-i", "lock", night)
    assert [line for line in out.splitlines() if ".jsonl" in line] == [
        f"  {copy}", f"  {night / 'a.jsonl'}",
    ]  # fmt: skip


@pytest.mark.parametrize("argv", [
    ["(", "--regex"], ["x", "--after", "soon"], ["x", "/nowhere/at/all"], ["x", "--limit", "0"],
])  # fmt: skip
def test_what_cannot_be_looked_for_is_one_line_and_exit_2(
    night: Path, capsys: pytest.CaptureFixture[str], argv: list[str]
) -> None:
    try:
        code = cli.main(["search", *argv, *([] if "/nowhere/at/all" in argv else [str(night)])])
    except SystemExit as ended:
        code = int(str(ended.code))
    out, err = capsys.readouterr()
    assert (code, out, err.count("\n")) == (2, "", 1)


def test_files_that_are_no_logs_are_told_in_one_line(
    night: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in "xyz":
        (night / f"{name}.jsonl").write_text('{"lock": 1}\n')
    code, _, err = run(capsys, "no lock", night)
    assert (code, err) == (0, "")
    code, _, err = run(capsys, "lock", night)
    assert code == 0
    assert err.count("\n") == 1
    assert "and 2 other files left out" in err


def test_a_pattern_that_takes_too_long_is_said(
    night: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build.log(night / "c.jsonl", [build.meta(), build.message("user", "a" * 60 + "b")])
    code, out, err = run(capsys, "(a+)+$", night / "c.jsonl", "--regex")
    assert (code, out) == (1, "")
    assert "the pattern took too long on one text" in err


def test_ctrl_c_keeps_what_was_found_and_is_exit_130(tmp_path: Path) -> None:
    path = build.log(tmp_path / "a.jsonl", [build.meta(), build.message("user", "the lock")])
    with path.open("ab") as file:
        file.truncate(20 << 20)
    fifo = tmp_path / "b.jsonl"  # a search is never stopped by what is no file
    os.mkfifo(fifo)
    code = (
        "import signal, sys; from sessionlog import cli; signal.signal(signal.SIGINT, "
        "signal.default_int_handler); sys.exit(cli.main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", code, "search", "(x+)+$|lock", str(tmp_path), "--regex"]
    slow = [build.message("user", "x" * 60 + "y")]
    build.log(tmp_path / "0.jsonl", [*slow * 3])
    os.utime(tmp_path / "0.jsonl", (1, 1))
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(2)]
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
    assert "the lock" in lines[1]


def test_where_nothing_can_be_read_nothing_is_said_to_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bin.jsonl").write_bytes(bytes(range(256)))
    code, out, err = run(capsys, "Error", tmp_path / "bin.jsonl")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"sessionlog: {tmp_path}/bin.jsonl: no session log")
    build.log(tmp_path / "a.jsonl", build.healthy())
    code, out, err = run(capsys, "Nowhere", tmp_path)
    assert code == 1
    assert "bin.jsonl: no session log" in err
    assert "nothing found in 1 log, all read;" in err


def test_a_kind_that_nothing_has_is_named_where_nothing_is_found(
    night: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, "lock", night, "--kind", "nope")
    assert code == 1
    assert "no kind is called nope: say one of user, assistant," in err


def test_a_limit_gives_the_newest_sessions_and_counts_one_hit_as_one(
    night: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, err = run(capsys, "-i", "lock", night, "--json", "--limit", "1")
    assert [hit["id"] for hit in objects(out)] == ["a"]
    assert "1 hit shown, the limit" in err
