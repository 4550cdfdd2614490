"""The screen of a command under a real supervisor."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("pty")


from desk import PATIENCE, Desk

from sessionlog.supervise.handle import Handle, Order, Outcome, new_run, start


@contextmanager
def supervised(folder: Path, script: str) -> Iterator[Handle]:
    """A shell's commands, with a screen."""
    log = str(folder / "log.jsonl")
    order = Order(("sh", "-c", script), str(folder), new_run(), "s", log, log, "sh", screen=True)
    handle = start(order, {**os.environ, "XDG_STATE_HOME": str(folder)})
    try:
        yield handle
    finally:
        handle.close()


def test_the_person_has_the_program_and_its_outcome(tmp_path: Path) -> None:
    script = "echo ready; read x; echo got $x; exit 4"
    with supervised(tmp_path, script) as handle, Desk(handle) as desk:
        desk.until(desk.shows("ready"))  # keys pressed before are dropped
        desk.type(b"hello\r")
        outcome = desk.ended()
        assert isinstance(outcome, Outcome)
        assert (outcome.code, outcome.stopped) == (4, "")
        assert desk.shows("got hello")()
        assert desk.faults() == []


def test_the_size_of_the_terminal_is_the_programs(tmp_path: Path) -> None:
    script = "trap 'stty size' WINCH; echo ready; while :; do sleep 0.01; done"
    with supervised(tmp_path, script) as handle, Desk(handle) as desk:
        desk.until(desk.shows("ready"))
        desk.resize(31, 97)
        desk.until(desk.shows("31 97"))


@pytest.mark.parametrize(
    "script", ["exec yes all work", "trap '' INT TERM HUP; echo all work; kill -STOP $$"]
)
def test_the_line_stops_all_of_it(tmp_path: Path, script: str) -> None:
    with supervised(tmp_path, script) as handle, Desk(handle) as desk:
        desk.until(desk.shows("all work"))
        desk.type(b"\x1d")
        desk.until(desk.shows("stop (S)"))
        desk.type(b"S")
        outcome = desk.ended()
        assert isinstance(outcome, Outcome)
        assert (outcome.signal, outcome.stopped) == (signal.SIGKILL, "person")
        assert outcome.killed >= 1
        assert desk.faults() == []


def test_a_gentle_stop_interrupts_what_is_in_the_foreground(tmp_path: Path) -> None:
    script = "trap 'echo bye; exit 3' INT; echo ready; while :; do sleep 0.01; done"
    with supervised(tmp_path, script) as handle, Desk(handle) as desk:
        desk.until(desk.shows("ready"))
        desk.type(b"\x1di")
        outcome = desk.ended()
        assert isinstance(outcome, Outcome)
        assert (outcome.code, outcome.gentle) == (3, True)
        assert desk.shows("bye")()


def test_a_window_that_is_closed_stops_it(tmp_path: Path) -> None:
    with supervised(tmp_path, "echo ready; exec sleep 1000") as handle, Desk(handle) as desk:
        desk.until(desk.shows("ready"))
        desk.hang_up()
        outcome = handle.wait(PATIENCE)
        assert outcome is not None
        assert (outcome.signal, outcome.stopped) == (signal.SIGKILL, "viewer gone")
