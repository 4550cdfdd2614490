"""The commands: what they print, where, and with which exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import build
import opencode_logs
import pytest

from sessionlog.cli import main
from sessionlog.reader import load

ROOT = Path(__file__).parent.parent.parent
HOSTILE = "\x1b]0;owned\x07 \x9b31m \u202e [/bold] [@click=app.quit]x[/] \x7f"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    build.log(tmp_path / "20261127-220000.jsonl", build.healthy())
    build.log(
        tmp_path / "20261127-230000.jsonl",
        [
            build.meta("20261127-230000", "Second", 3600),
            build.message("user", "go", 3601),
            build.request("c1", seconds=3602),
        ],
    )
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, list[dict[str, Any]], str]:
    code = main([*argv, "--json"])
    out = capsys.readouterr()
    objects = [json.loads(line) for line in out.out.splitlines()]
    assert all(found["v"] == 1 for found in objects)
    return code, objects, out.err


def test_list_prints_one_object_a_session_newest_first(folder: Path, capsys: Any) -> None:
    code, found, err = run(capsys, "list", str(folder))
    assert (code, err) == (0, "")
    assert [entry["id"] for entry in found] == ["20261127-230000", "20261127-220000"]
    assert found[0]["status"] == "unfinished"
    assert found[1] | {"path": ""} == found[1] | {
        "path": "",
        "format": "native",
        "agent": "zot",
        "title": "Fix it",
        "task": "Fix it",
        "model": "m",
        "workdir": "/srv/app",
        "status": "complete",
        "reason": "settled",
        "ok": True,
        "damage": None,
        "resumed_from": None,
        "forked_from": None,
    }


def test_list_filters_by_status_agent_and_number(folder: Path, capsys: Any) -> None:
    assert len(run(capsys, "list", str(folder), "--status", "complete")[1]) == 1
    assert run(capsys, "list", str(folder), "--agent", "codex")[1] == []
    assert len(run(capsys, "list", str(folder), "--limit", "1")[1]) == 1


def test_show_prints_records_and_damage_in_file_order(folder: Path, capsys: Any) -> None:
    path = folder / "20261127-220000.jsonl"
    lines = build.healthy()
    path.write_bytes(b"".join([*lines[:3], b"junk\n", *lines[3:]]))
    code, found, _ = run(capsys, "show", "20261127-22", "--in", str(folder))
    assert code == 0
    assert [f["kind"] for f in found] == [
        "meta",
        "message",
        "message",
        "damage",
        "message",
        "message",
        "result",
    ]
    assert [f["type"] for f in found if f["n"]] == ["user", "call", "response", "assistant"]
    call, answer = found[2], found[4]
    assert (call["n"], call["pair"], answer["n"], answer["pair"]) == (2, 3, 3, 2)
    assert (call["tool"], call["call_id"], call["open"], answer["ok"]) == (
        "shell",
        "c1",
        False,
        True,
    )
    assert found[3]["line"] == 4
    assert found[3]["why"] == "not JSON"
    raw = path.read_bytes()
    for item in found:
        assert raw[item["offset"] + item["length"] : item["offset"] + item["length"] + 1] == b"\n"


def test_show_takes_a_part_by_message_numbers(folder: Path, capsys: Any) -> None:
    found = run(capsys, "show", "20261127-22", "--in", str(folder), "--from", "2", "--to", "3")[1]
    assert [f["n"] for f in found] == [2, 3]


def test_show_context_is_what_a_resume_hands_over(tmp_path: Path, capsys: Any) -> None:
    path = build.log(
        tmp_path / "a.jsonl",
        [build.meta(), build.message("user", "old"), build.reset(), build.message("user", "new")],
    )
    found = run(capsys, "show", str(path), "--context")[1]
    assert [f["text"] for f in found] == ["new"]


def test_show_raw_prints_the_bytes_as_they_stand(folder: Path) -> None:
    path = folder / "20261127-220000.jsonl"
    done = subprocess.run(
        [sys.executable, "-m", "sessionlog", "show", str(path), "--raw"],
        capture_output=True,
        check=True,
    )
    assert done.stdout == path.read_bytes()


def test_check_tells_what_needs_a_person_by_its_exit_code(folder: Path, capsys: Any) -> None:
    code, (found,), _ = run(capsys, "check", "20261127-22", "--in", str(folder))
    assert code == 0
    assert (found["messages"], found["calls"], found["users"]) == (4, 1, 1)
    code, (found,), _ = run(capsys, "check", "20261127-23", "--in", str(folder))
    assert code == 1
    assert found["open_calls"] == [{"n": 2, "call_id": "c1", "tool": "shell"}]
    assert main(["check", str(folder / "20261127-220000.jsonl")]) == 0


def test_repair_and_fork_write_new_logs_and_leave_the_parent(folder: Path, capsys: Any) -> None:
    parent = folder / "20261127-230000.jsonl"
    before = parent.read_bytes()
    code, (plan,), _ = run(capsys, "repair", str(parent), "--dry-run")
    assert (code, plan["path"], len(plan["closed"])) == (0, None, 1)
    code, (made,), _ = run(capsys, "repair", str(parent))
    assert code == 0
    assert main(["check", made["path"]]) == 1  # unfinished still, but nothing open
    capsys.readouterr()
    assert run(capsys, "check", made["path"])[1][0]["open_calls"] == []
    code, (fork,), _ = run(capsys, "fork", str(parent), "--at", "1")
    assert (code, fork["messages"], fork["at"]) == (0, 1, 1)
    assert run(capsys, "list", fork["path"])[1][0]["forked_from"] == {
        "id": "20261127-230000",
        "at": 1,
    }
    assert parent.read_bytes() == before
    code, (none,), _ = run(capsys, "repair", str(folder / "20261127-220000.jsonl"))
    assert (code, none["path"]) == (0, None)


def test_acting_on_damage_before_the_end_is_refused_until_forced(folder: Path, capsys: Any) -> None:
    path = folder / "20261127-230000.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], b"junk\n", *lines[2:]]))
    for argv in (["repair", str(path)], ["fork", str(path), "--at", "2"]):
        assert main(argv) == 3
        err = capsys.readouterr().err
        assert "line 3" in err
        assert err.count("\n") == 1
        assert main([*argv, "--force"]) == 0
        capsys.readouterr()
    assert main(["fork", str(path), "--at", "1"]) == 0  # the damage is behind the cut


def test_resume_says_what_would_run(folder: Path, capsys: Any) -> None:
    code, (plan,), _ = run(capsys, "resume", str(folder / "20261127-230000.jsonl"), "--dry-run")
    assert code == 0
    assert plan["argv"][0] == "zot"
    assert plan["cwd"] == "/srv/app"
    assert "shell" in plan["note"]


@pytest.mark.parametrize(
    "argv",
    [
        ["show", "nothing-like-it"],
        ["check", "/no/such/file"],
        ["fork", "x"],
        ["nonsense"],
        ["fork", "last", "--at", "1", "--in", "/nowhere"],
        ["show"],
        ["list", "--status", "odd"],
        ["list", "--nope", "/"],
        ["check", "last", "--json", "--nope"],
    ],
)
def test_a_mistake_is_one_line_on_standard_error(argv: list[str], capsys: Any) -> None:
    try:
        code = main(argv)
    except SystemExit as exit:
        code = exit.code
    out = capsys.readouterr()
    assert code == 2
    assert out.out == ""
    assert out.err.count("\n") == 1


def test_paths_may_stand_behind_options(folder: Path, capsys: Any) -> None:
    assert main(["search", "go", "-i", str(folder)]) in (0, 1)
    assert main(["list", "--json", str(folder)]) == 0
    assert str(folder) in capsys.readouterr().out


def test_a_fork_says_when_it_holds_more_than_was_asked_for(tmp_path: Path, capsys: Any) -> None:
    both = build.pi_said("Two things.", build.pi_call("c1"), id="a2", parent="a1", stop="toolUse")
    build.log(tmp_path / build.PI_FILE, [build.pi_head(), build.pi_user("Go.", "a1"), both])
    assert main(["fork", "last", "--at", "2", "--in", str(tmp_path)]) == 0
    assert "holds message 3, too: it stands on one line with message 2" in capsys.readouterr().out


def test_the_demo_tells_scripts_its_folder(tmp_path: Path, capsys: Any) -> None:
    assert main(["demo", "--dir", str(tmp_path / "d"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"v": 1, "folder": str(tmp_path / "d")}


def test_nothing_in_a_log_reaches_standard_output_raw(tmp_path: Path, capsys: Any) -> None:
    path = build.log(
        tmp_path / "20261127-220000.jsonl",
        [
            build.meta(task=HOSTILE, model=HOSTILE, workdir=HOSTILE),
            build.message(HOSTILE, HOSTILE),
            build.request(HOSTILE, HOSTILE, HOSTILE),
            build.event(HOSTILE, text=HOSTILE, tool=HOSTILE),
            build.line({"kind": HOSTILE, HOSTILE: HOSTILE}),
            build.result(HOSTILE, 1, error=HOSTILE),
        ],
    )
    for command in ("list", "show", "check"):
        for flags in ([], ["--json"]):
            main([command, str(path), *flags])
            out = capsys.readouterr()
            for text in (out.out, out.err):
                assert not [c for c in text if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160)]
                assert "\u202e" not in text


def test_a_reader_that_goes_away_is_no_error(folder: Path) -> None:
    code = f"{sys.executable} -m sessionlog list {folder} | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONUNBUFFERED": ""},
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "argv",
    [
        ["list", "--limit", "0"], ["list", "--limit", "-1"], ["show", "last", "--from", "-5"],
        ["show", "last", "--from", "5", "--to", "2"], ["fork", "last", "--at", "٣"],
        ["list", "/no/such/folder"], ["demo", "--dir", ""], ["demo", "--dir", "/proc/none"],
    ],
)  # fmt: skip
def test_numbers_and_places_that_make_no_sense_are_refused(argv: list[str], capsys: Any) -> None:
    try:
        code = main(argv)
    except SystemExit as exit:
        code = exit.code
    out = capsys.readouterr()
    assert (code, out.out, out.err.count("\n")) == (2, "", 1)


@pytest.mark.parametrize("words", ["list .", "check last --in ."])
def test_a_full_or_closed_output_is_an_error_of_one_line(folder: Path, words: str) -> None:
    command = f"cd {folder} && PYTHONPATH={ROOT} {sys.executable} -m sessionlog {words}"
    for redirect in ("> /dev/full", ">&-"):
        done = subprocess.run(
            ["bash", "-c", f"{command} {redirect}"], capture_output=True, text=True, check=False
        )
        assert done.returncode == 2
        assert "Traceback" not in done.stderr


def test_check_tells_a_call_that_stands_only_in_events(tmp_path: Path, capsys: Any) -> None:
    start = build.event("toolCallStart", tool="bash", text='{"command":"make"}')
    path = build.log(tmp_path / "a.jsonl", [build.meta(), build.message("user", "go"), start])
    code, (found,), _ = run(capsys, "check", str(path))
    assert code == 1
    assert [(c["tool"], c["call_id"], c["n"]) for c in found["in_flight"]] == [("bash", None, None)]
    main(["check", str(path)])
    assert "in flight, not in the conversation: bash" in capsys.readouterr().out


def test_a_living_writer_is_not_repaired_even_where_nothing_is_open(
    tmp_path: Path, capsys: Any
) -> None:
    from sessionlog import Message, start

    with start(tmp_path, {"task": "t"}) as writer:
        writer.message(Message("user", "go"))
        assert main(["repair", writer.path]) == 3
        assert "alive" in capsys.readouterr().err


def test_failed_runs_can_be_asked_for(folder: Path, capsys: Any) -> None:
    build.log(folder / "20261127-210000.jsonl", [build.meta(), build.result("error", 1)])
    found = run(capsys, "list", str(folder), "--status", "failed")[1]
    assert [entry["id"] for entry in found] == ["20261127-210000"]


def test_what_is_no_log_stands_behind_all_that_are(folder: Path, capsys: Any) -> None:
    (folder / "zz.jsonl").write_text("notes")
    assert run(capsys, "list", str(folder))[1][-1]["status"] is None


def test_a_fork_that_nobody_went_on_with_says_so(folder: Path, capsys: Any) -> None:
    _, (made,), _ = run(capsys, "fork", str(folder / "20261127-220000.jsonl"), "--at", "1")
    assert "not gone on with" in run(capsys, "list", made["path"])[1][0]["stop"]


def test_on_a_pipe_a_list_cuts_no_id_no_agent_and_no_title(tmp_path: Path, capsys: Any) -> None:
    title = "Rebuild the atlas, " * 12
    build.log(tmp_path / build.CODEX_FILE, build.codex_healthy())
    build.log(tmp_path / f"{'a' * 60}.jsonl", [build.meta("x", title), build.message("user", "go")])
    assert main(["list", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "…" not in out
    assert " ".join(title.split()) in out
    for id in (build.CODEX_ID, "a" * 60):
        assert id in out
        assert main(["check", id, "--in", str(tmp_path)]) in (0, 1)  # it is taken back


@pytest.mark.parametrize("words", ["list", "search x"])
def test_an_agent_that_there_is_not_is_refused_with_those_that_there_are(
    folder: Path, capsys: Any, words: str
) -> None:
    with pytest.raises(SystemExit) as refused:
        main([*words.split(), str(folder), "--agent", "nope"])
    error = capsys.readouterr().err
    assert (refused.value.code, error.count("\n")) == (2, 1)
    assert "'nope' is no agent: say one of agentsession, chat, claude," in error


@pytest.mark.parametrize(("words", "said"), [
    (["--agent", "codex,pi"], "none of 2 sessions is of codex or pi"),
    (["--agent", "pi", "--status", "failed"], "none of 2 sessions is failed and of pi"),
    (["--status", "running"], "none of 2 sessions is running"),
])  # fmt: skip
def test_a_list_that_is_empty_by_its_filters_says_how_many_there_are(
    folder: Path, capsys: Any, words: list[str], said: str
) -> None:
    assert run(capsys, "list", str(folder), *words) == (0, [], f"sessionlog: {said}\n")


def test_an_agent_goes_by_the_name_of_its_format_too(folder: Path, capsys: Any) -> None:
    for name in ("zot", "native", "ZOT", "codex,zot"):
        assert len(run(capsys, "list", str(folder), "--agent", name)[1]) == 2


def test_showing_from_a_message_that_there_is_not_says_which_is_the_last(
    folder: Path, capsys: Any
) -> None:
    last = len(load(folder / "20261127-220000.jsonl").history)
    ref = str(folder / "20261127-220000.jsonl")
    assert run(capsys, "show", ref, "--from", str(last))[0] == 0
    code, found, error = run(capsys, "show", ref, "--from", str(last + 1))
    assert (code, found) == (2, [])
    assert f"no message {last + 1}; the last one is {last}" in error


def test_check_takes_a_folder_and_a_database_for_all_that_they_hold(
    folder: Path, capsys: Any
) -> None:
    opencode_logs.database(folder / "opencode.db", opencode_logs.healthy())
    other = opencode_logs.info(opencode_logs.SESSION[:-1] + "2")
    opencode_logs.database(folder / "opencode.db", [], other)
    assert len(run(capsys, "check", str(folder / "opencode.db"))[1]) == 2
    code, found, error = run(capsys, "check", str(folder))
    assert (code, len(found), error) == (1, 4, "")
    (folder / "notes.jsonl").write_text("Dear diary,\n")
    code, found, error = run(capsys, "check", str(folder))
    assert (code, len(found), error.count("\n")) == (2, 4, 1)
    assert str(folder / "notes.jsonl") in error


@pytest.mark.parametrize("words", [
    "compare ./empty.jsonl last", "compare last ./bin.jsonl", "stats ./empty.jsonl",
    "stats ./dangling.jsonl", "why ./bin.jsonl", "check ./empty.jsonl", "search x ./empty.jsonl",
    "search Error ./bin.jsonl", "follow ./bin.jsonl", "replay ./empty.jsonl",
    "show ./dangling.jsonl", "stale ./bin.jsonl", "repair ./empty.jsonl", "fork ./bin.jsonl --at 1",
])  # fmt: skip
def test_an_error_names_the_file_that_it_is_about_once(
    folder: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    (folder / "empty.jsonl").touch()
    (folder / "bin.jsonl").write_bytes(bytes(range(256)))
    (folder / "dangling.jsonl").symlink_to("gone")
    monkeypatch.chdir(folder)
    places = ["--in", "."] if "last" in words else []
    code, _, error = run(capsys, *words.split(), *places)
    name = next(word for word in words.split() if word.startswith("./"))
    assert (code, error.count("\n"), error.count(name)) == (2, 1, 1)


def test_a_full_disk_is_told_in_words(folder: Path) -> None:
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m sessionlog list {folder} > /dev/full"],
        capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip
    assert done.stderr == "sessionlog: No space left on device\n"
