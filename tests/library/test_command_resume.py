"""`sessionlog resume` at work: it hands over, follows, reports, stops."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import acorn
import build
import pytest

from sessionlog.cli import main
from sessionlog.reader import load
from sessionlog.records import Status

ROOT = Path(__file__).parent.parent.parent
ID = "20261127-220000"
APPENDS = """
import sys
from sessionlog.records import Message, Result
from sessionlog.writer import reopen
with reopen(sys.argv[1]) as log:
    log.message(Message("bot", "I looked again."))
    log.result(Result("settled", "done"))
"""
WAITS = """
import sys, time
from sessionlog.records import Activity, Message
from sessionlog.writer import reopen
log = reopen(sys.argv[1])
log.message(Message("activity", "", Activity("request", "c9", "shell", "{}")))
print("begun", flush=True)
time.sleep(600)
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with one unfinished run, and an agent "mine" that is `agent.py`."""
    build.log(tmp_path / "logs" / f"{ID}.jsonl", [
        build.meta(workdir=str(tmp_path)), build.message("user", "go"), build.request("c1"),
    ])  # fmt: skip
    return tmp_path


def mine(place: Path, program: str, more: str = "appends = true") -> None:
    (place / "agent.py").write_text(program)
    config = place / "config" / "sessionlog" / "agents.toml"
    config.parent.mkdir(parents=True)
    argv = json.dumps([sys.executable, str(place / "agent.py"), "{log}", "{prompt}"])
    config.write_text(f"[agents.mine]\nargv = {argv}\n{more}\n")


def command(place: Path, *words: str) -> list[str]:
    here = ["--in", str(place / "logs"), "--agent", "mine"]
    return [sys.executable, "-m", "sessionlog", "resume", "last", *here, *words]


def environ(place: Path) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(place / "state"),
                         "XDG_CONFIG_HOME": str(place / "config")}  # fmt: skip


def resume(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(place, *words), capture_output=True, text=True, timeout=60,
                          env=environ(place), stdin=subprocess.DEVNULL, check=False)  # fmt: skip


def made(place: Path) -> Path:
    return next(path for path in (place / "logs").iterdir() if path.stem != ID)


def test_the_agent_goes_on_and_its_rows_are_printed_as_they_come(place: Path) -> None:
    mine(place, APPENDS)
    done = resume(place)
    assert done.returncode == 0
    assert [line.split()[-1] for line in done.stdout.splitlines()] == ["again.", "done"]
    assert "mine ended well" in done.stderr
    session = load(made(place))
    assert (session.status, session.ok) == (Status.COMPLETE, True)
    assert session.meta.forked_from is not None


def test_json_is_one_object_with_the_outcome(place: Path) -> None:
    mine(place, APPENDS)
    done = resume(place, "--json")
    answer: dict[str, Any] = json.loads(done.stdout)
    assert answer["v"] == 1
    assert (answer["exit"], answer["stopped"], answer["log"]) == (0, "", str(made(place)))
    assert answer["argv"][2] == str(made(place))


def test_a_dry_run_says_the_same_and_writes_nothing(place: Path) -> None:
    mine(place, APPENDS)
    answer = json.loads(resume(place, "--dry-run", "--json").stdout)
    assert set(answer) == {
        "v", "argv", "before", "cwd", "log", "note", "changed_files", "missing", "carried", "left",
    }  # fmt: skip
    assert (answer["carried"], answer["left"]) == (None, [])
    assert answer["cwd"] == str(place)
    assert [path.stem for path in (place / "logs").iterdir()] == [ID]
    assert not (place / "state").exists()


def test_an_agent_that_fails_is_reported_with_its_last_words(place: Path) -> None:
    mine(place, "import sys\nprint('no key here', file=sys.stderr)\nsys.exit(3)")
    done = resume(place)
    assert done.returncode == 1
    assert "mine failed with exit status 3" in done.stderr
    assert done.stderr.rstrip().endswith("no key here")


def test_what_a_program_prints_is_recorded_where_it_writes_no_log(place: Path) -> None:
    mine(place, "print('All of it is done.')", 'output = "text"')
    done = resume(place)
    assert done.returncode == 0
    assert "All of it is done." in done.stdout
    session = load(made(place))
    assert session.history[-1].message.text == "All of it is done."
    assert session.open_calls == ()


def test_ctrl_c_stops_it_and_closes_what_it_left_open(place: Path) -> None:
    mine(place, WAITS)
    process = subprocess.Popen(
        command(place), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=environ(place), stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert process.stdout is not None
    assert "shell" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "mine stopped by you" in told
    session = load(made(place))
    assert (session.reason, session.open_calls) == ("aborted", ())


def test_a_folder_that_is_gone_is_said_and_another_can_be_named(place: Path) -> None:
    mine(place, APPENDS)
    log = place / "logs" / f"{ID}.jsonl"
    build.log(log, [build.meta(workdir="/no/such/folder"), build.message("user", "go")])
    done = resume(place)
    assert done.returncode == 2
    assert "/no/such/folder: no such folder" in done.stderr
    assert resume(place, "--cwd", str(place)).returncode == 0


def test_damage_is_refused_unless_it_was_looked_at(place: Path) -> None:
    mine(place, APPENDS)
    log = place / "logs" / f"{ID}.jsonl"
    build.log(log, [build.meta(workdir=str(place)), b"junk\n", build.message("user", "go")])
    assert resume(place).returncode == 3
    assert resume(place, "--dry-run").returncode == 3
    assert resume(place, "--force").returncode == 0


def test_a_reader_that_goes_away_does_not_stop_the_agent(place: Path) -> None:
    mine(place, APPENDS)
    process = subprocess.Popen(command(place), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, env=environ(place), stdin=subprocess.DEVNULL)  # fmt: skip
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    _, told = process.communicate(timeout=60)
    assert "mine ended well" in told
    assert process.returncode == 0
    assert load(made(place)).complete


def test_a_log_in_which_nothing_was_said_cannot_be_gone_on_with(place: Path) -> None:
    mine(place, APPENDS)
    build.log(place / "logs" / f"{ID}.jsonl", [build.meta(workdir=str(place))])
    done = resume(place)
    assert done.returncode == 2
    assert "nothing was said in it" in done.stderr


def said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], home: Path, *words: str
) -> str:
    """What the command prints, in a home of its own."""
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    assert main(["resume", *words, "--dry-run"]) == 0
    return capsys.readouterr().out


def test_a_command_without_a_place_for_the_note_is_said_to_have_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    acorn.add(monkeypatch)
    path = acorn.log(tmp_path / "a1.jsonl", {"say": "user", "text": "go"})
    config = tmp_path / ".config" / "sessionlog" / "agents.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[agents.mine]\nargv = ["true", "{id}"]\n')
    told = said(monkeypatch, capsys, tmp_path, str(path), "--agent", "mine")
    assert "no place for what it should know; tell it yourself" in told
    assert "You go on with an earlier session" in told


def test_what_goes_to_another_agent_and_what_does_not_is_said_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = build.log(tmp_path / "talk.jsonl", [
        build.chat("system", "You are helpful."), build.chat("user", "go"),
        build.chat("assistant", [{"type": "thinking", "thinking": "hm"},
                                 {"type": "tool_use", "id": "t1", "name": "sh", "input": {}}]),
    ])  # fmt: skip
    words = (str(path), "--agent", "claude")
    told = said(monkeypatch, capsys, tmp_path, *words)
    assert "after writing the conversation to a new claude log: " in told
    assert "carried as plain messages: 1 said, 1 call told in words\n" in told
    assert "not carried: the system prompt, 1 reasoning block\n" in told
    answer = json.loads(said(monkeypatch, capsys, tmp_path, *words, "--json"))
    assert answer["carried"] == {"format": "claude", "as": "plain", "from": 1}
    assert answer["left"] == ["the system prompt", "1 reasoning block"]
    assert [path.name for path in tmp_path.iterdir()] == ["talk.jsonl"]


def test_what_a_reset_and_subagents_leave_behind_is_said_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = build.log(tmp_path / "a1.jsonl", [
        build.claude_user("Before.", 1), build.claude_system("compact_boundary", 2),
        build.claude_user("go", 3), build.claude_said("ok", seconds=4),
    ])  # fmt: skip
    build.log(tmp_path / "a1" / "subagents" / "agent-1.jsonl", [build.claude_user("Look.")])
    words = (str(path), "--agent", "pi")
    told = said(monkeypatch, capsys, tmp_path, *words)
    assert "  1 to 1 stay in the log; not sent since the reset\n" in told
    assert "not carried: 1 subagent's log\n" in told
    assert json.loads(said(monkeypatch, capsys, tmp_path, *words, "--json"))["carried"]["from"] == 2
