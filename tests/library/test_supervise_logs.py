"""What stands in the log when its run was stopped, and when it was recorded."""

from __future__ import annotations

import json
from pathlib import Path

import build
import pytest
import trees
from handed import environment, order

from sessionlog.reader import load
from sessionlog.supervise.handle import Outcome, start

SOON = 20.0
CLAUDE = [
    {"type": "system", "subtype": "init", "session_id": "s1", "model": "m", "cwd": "/srv"},
    {"type": "assistant", "message": {"id": "m1", "role": "assistant", "model": "m", "content": [
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}]}},
]  # fmt: skip


def stopped(place: Path, argv: list[str], stop: bool = True, **more: object) -> Outcome:
    """Run it, with the log of the run as $1 and a FIFO as $0; stop it when it says so."""
    fifo, log = trees.Fifo(place / "fifo"), place / "log.jsonl"
    handle = start(order([*argv, str(fifo.path), str(log)], log, **more), environment(place))
    if stop:
        fifo.told(1)
        handle.stop()
    outcome = handle.wait(SOON)
    handle.close()
    fifo.close()
    assert outcome is not None
    return outcome


def test_the_log_of_an_agent_that_was_stopped_is_closed(tmp_path: Path) -> None:
    log = build.log(tmp_path / "log.jsonl", [build.meta(), build.message("user", "go")])
    half = build.request("c1") + build.message("bot", "half of it")[:40]
    (tmp_path / "more").write_bytes(half)
    appends = f"cat {tmp_path}/more >> $1; echo 1 > $0; sleep 1000"
    outcome = stopped(tmp_path, ["sh", "-c", appends], closes=True)
    session = load(log)
    assert not outcome.problem
    assert (session.status, session.open_calls, session.orphan_results) == ("complete", (), ())
    assert session.result is not None
    assert "stopped by a person" in session.result.message
    assert log.read_bytes().startswith(build.meta() + build.message("user", "go") + half + b"\n")


@pytest.mark.parametrize("closes", [True, False])
def test_a_log_is_closed_only_for_an_agent_that_was_stopped(tmp_path: Path, closes: bool) -> None:
    lines = [build.meta(), build.message("user", "go")]
    log = build.log(tmp_path / "log.jsonl", lines)
    stopped(tmp_path, ["sh", "-c", "true"], stop=False, closes=True)
    assert log.read_bytes() == b"".join(lines)
    stopped(tmp_path, ["sh", "-c", "echo 1 > $0; sleep 1000"], closes=closes)
    assert (log.read_bytes() == b"".join(lines)) is not closes


def test_a_log_that_cannot_be_closed_is_told(tmp_path: Path) -> None:
    waits = ["sh", "-c", "echo 1 > $0; sleep 1000"]
    outcome = stopped(tmp_path, waits, closes=True)
    assert "log.jsonl" in outcome.problem
    assert outcome.killed >= 1


@pytest.mark.parametrize("stop", [True, False])
def test_the_output_of_a_command_is_recorded(tmp_path: Path, stop: bool) -> None:
    log = build.log(tmp_path / "log.jsonl", [build.meta(), build.message("user", "go")])
    said = tmp_path / "said"
    said.write_text("".join(json.dumps(line) + "\n" for line in CLAUDE))
    prints = f"cat {said}; echo trouble >&2; " + ("echo 1 > $0; sleep 1000" if stop else "exit 3")
    outcome = stopped(tmp_path, ["sh", "-c", prints], stop, output="claude-stream-json")
    session = load(log)
    assert (outcome.recorded, outcome.problem) == (str(log), "")
    assert "I look." in [step.message.text for step in session.history]
    assert session.complete
    assert session.ok is not True
    if stop:
        assert not session.open_calls
    assert b"trouble" in log.read_bytes()


def test_a_log_that_cannot_be_recorded_into_does_not_keep_the_command(tmp_path: Path) -> None:
    outcome = stopped(tmp_path, ["sh", "-c", "echo on"], False, output="claude-stream-json")
    assert outcome.code == 0
    assert outcome.tail == b"on\n"
    assert "not recorded" in outcome.problem
