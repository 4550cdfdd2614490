"""A native log whose run was stopped: its open calls are answered, and a result says so."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import build
import pytest

from sessionlog.closing import close
from sessionlog.plan import INTERRUPTED
from sessionlog.reader import load
from sessionlog.records import Status
from sessionlog.repairs import plan_repair
from sessionlog.why.look import look
from sessionlog.why.said import headline

ID = "20261127-220000"


def made(folder: Path, *lines: bytes, tail: bytes = b"") -> Path:
    return build.log(folder / f"{ID}.jsonl", lines, tail)


def test_an_open_call_is_answered_and_the_run_ends_as_stopped(tmp_path: Path) -> None:
    path = made(tmp_path, build.meta(), build.message("user", "go"), build.request("c1", "bash"))
    assert close(path, "stopped by you") is None
    session = load(path, strict=True)
    assert session.open_calls == ()
    answer = session.history[-1].message.activity
    assert answer is not None
    assert answer.failure == INTERRUPTED
    assert (session.status, session.ok, session.reason) == (Status.COMPLETE, False, "aborted")
    assert not plan_repair(session).needed
    assert look(str(path)).why.cause == "interrupted"


def test_only_the_calls_of_the_main_run_are_answered_and_counted(tmp_path: Path) -> None:
    lines = [build.meta(), build.request("c1"), build.response("c1"), build.request("c2")]
    path = made(tmp_path, *lines, *[build.message("bot", "on")] * 600)
    assert close(path, "stopped by you") is None
    session = load(path)
    assert session.result is not None
    assert (session.result.calls, session.calls, session.open_calls) == (2, 2, ())


def test_a_log_of_any_size_costs_no_memory(tmp_path: Path) -> None:
    path = made(tmp_path, build.meta(), *[build.message("bot", "on " * 30)] * 20_000)
    tracemalloc.start()
    try:
        assert close(path, "stopped by you") is None
        assert tracemalloc.get_traced_memory()[1] < path.stat().st_size
    finally:
        tracemalloc.stop()


def test_a_torn_line_is_sealed_and_costs_only_itself(tmp_path: Path) -> None:
    path = made(tmp_path, build.meta(), build.request("c1"), tail=b'{"kind":"mess')
    assert close(path, "stopped by you") is None
    session = load(path)
    assert (len(session.damages), session.open_calls, session.complete) == (1, (), True)


def test_a_log_that_has_its_result_is_left_as_it_is(tmp_path: Path) -> None:
    path = made(tmp_path, *build.healthy())
    before = path.read_bytes()
    assert close(path, "stopped by you") is None
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", ["nothing.jsonl", "."])
def test_what_stands_in_the_way_is_told_not_raised(tmp_path: Path, name: str) -> None:
    problem = close(tmp_path / name, "stopped by you")
    assert problem is not None
    assert str(tmp_path) in problem


def test_a_call_from_before_the_hand_over_is_not_what_was_interrupted(tmp_path: Path) -> None:
    path = made(
        tmp_path, build.meta(), build.request("c1", "bash"),
        build.response("c1", "bash", failure=INTERRUPTED), build.message("user", "Go on."),
    )  # fmt: skip
    assert close(path, "stopped by you") is None
    assert headline(look(str(path)).why) == ("Interrupted", "")
