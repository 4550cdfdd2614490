"""Who watches the supervisor: an agent that stops it, or kills it, changes nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import build
import pytest
import trees
from handed import environment, order, viewer

from sessionlog.reader import load
from sessionlog.supervise import runs
from sessionlog.supervise.handle import Handle, Outcome, start
from sessionlog.supervise.order import STOP, Order
from sessionlog.supervise.run import Told
from sessionlog.supervise.system import look

SOON = 20.0
HIDDEN = "(setsid env -i sh -c 'exec 3>{0}; echo $$ >&3; exec sleep 1000' &); "
"""A process with neither parent, session nor environment of the run."""
TRACER = """
import ctypes, os, signal, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
if libc.ptrace(0x4206, int(sys.argv[1]), None, int(sys.argv[2])):  # PTRACE_SEIZE
    sys.exit(1)
libc.ptrace(0x4207, int(sys.argv[1]), None, None)  # PTRACE_INTERRUPT
print("holds", flush=True)
os.kill(os.getpid(), signal.SIGSTOP)
"""
TRACE_EXIT = 0x40

Starts = Callable[..., Handle]


@pytest.fixture
def fifo(tmp_path: Path) -> Iterator[trees.Fifo]:
    fifo = trees.Fifo(tmp_path / "fifo")
    yield fifo
    fifo.close()


@pytest.fixture
def begin(tmp_path: Path, fifo: trees.Fifo) -> Iterator[Starts]:
    """Starts a shell that hides a process, does what is asked, and waits."""
    handles = []

    def begin(does: str = ":", **more: Any) -> Handle:
        script = HIDDEN.format(fifo.path) + f"echo $$ > {fifo.path}; {does}; exec sleep 1000"
        wanted = order(["sh", "-c", script], tmp_path / "log.jsonl", **more)
        handles.append(start(wanted, environment(tmp_path)))
        fifo.told(2)
        return handles[-1]

    yield begin
    for handle in handles:
        handle.close()


@contextmanager
def traced(pid: int, options: int = 0) -> Iterator[None]:
    """A process in the hands of a tracer that does not go on."""
    argv = [sys.executable, "-I", "-S", "-c", TRACER, str(pid), str(options)]
    tracer = subprocess.Popen(argv, stdout=subprocess.PIPE)
    try:
        assert tracer.stdout is not None
        if tracer.stdout.readline() != b"holds\n":
            pytest.skip("nothing may be traced here")
        yield
    finally:
        tracer.kill()
        tracer.communicate()


def watchers(handle: Handle) -> list[int]:
    """The numbers of the supervisor and its guard."""
    return [process.pid for process in handle._watchers]


def until(holds: Callable[[], object]) -> None:
    late = time.monotonic() + SOON
    while not holds():
        assert time.monotonic() < late
        time.sleep(0.005)


def ended(handle: Handle) -> Outcome:
    outcome = handle.wait(SOON)
    assert outcome is not None
    return outcome


# -- a supervisor that is stopped ---------------------------------------------------------------


def test_a_supervisor_that_is_stopped_goes_on_at_once(begin: Starts, fifo: trees.Fifo) -> None:
    handle = begin("kill -STOP $PPID")
    os.kill(handle.pid, signal.SIGSTOP)
    handle._say(STOP)  # and nothing else, such as a signal to go on
    outcome = ended(handle)
    assert fifo.ended()
    assert (outcome.stopped, outcome.problem) == ("person", "")


@pytest.mark.parametrize("end", ["stop", "leave", "close", "stop_gently"])
def test_both_may_be_stopped_when_a_stop_is_asked_for(
    begin: Starts, fifo: trees.Fifo, end: str
) -> None:
    handle = begin()
    for pid in reversed(watchers(handle)):
        os.kill(pid, signal.SIGSTOP)
    getattr(handle, end)()
    assert fifo.ended()
    if end != "close":
        assert ended(handle).stopped == ("viewer gone" if end == "leave" else "person")


def test_a_viewer_that_is_lost_while_its_supervisor_is_stopped_is_missed(
    tmp_path: Path, fifo: trees.Fifo
) -> None:
    watcher = subprocess.Popen(
        viewer("sessions", fifo.path, tmp_path / "log"), env=environment(tmp_path)
    )
    fifo.told(trees.SHAPES["sessions"])
    until(lambda: runs.live(environment(tmp_path)))  # it is written down once it runs
    [run] = runs.live(environment(tmp_path))
    os.kill(run.supervisor.pid, signal.SIGSTOP)
    watcher.kill()
    watcher.wait()
    assert fifo.ended()


def test_a_supervisor_that_hangs_is_killed_and_made_up_for(begin: Starts, fifo: trees.Fifo) -> None:
    handle = begin()
    with traced(handle.pid):
        handle.stop()
        assert fifo.ended()
        outcome = ended(handle)
    assert "its supervisor did not stop it; its guard took over" in outcome.problem
    assert (outcome.stopped, outcome.killed >= 2) == ("person", True)


def test_a_viewer_that_is_gone_is_missed_though_the_supervisor_hangs(
    begin: Starts, fifo: trees.Fifo
) -> None:
    handle = begin()
    with traced(handle.pid):
        handle.leave()
        assert fifo.ended()
        assert ended(handle).stopped == "viewer gone"


def test_when_neither_does_it_the_viewer_does(
    begin: Starts, fifo: trees.Fifo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessionlog.supervise.handle._LAST", 0.2)
    handle = begin()
    supervisor, guard = watchers(handle)
    with traced(guard), traced(supervisor):
        handle.stop()
        assert fifo.ended()


# -- a supervisor or a guard that is killed ----------------------------------------------------


def test_what_hides_from_a_viewer_is_found_when_the_supervisor_is_killed(
    begin: Starts, fifo: trees.Fifo, tmp_path: Path
) -> None:
    log = build.log(tmp_path / "log.jsonl", [build.meta(), build.request("c1")])
    handle = begin(closes=True)
    os.kill(handle.pid, signal.SIGKILL)
    outcome = ended(handle)
    assert fifo.ended()
    assert outcome.problem == "its supervisor was killed; its guard took over"
    assert (outcome.stopped, outcome.killed, outcome.left_over) == ("unwatched", 2, 0)
    assert runs.find("last", environment(tmp_path)).ended == outcome
    assert [load(log).open_calls, load(log).complete] == [(), True]


def test_a_signal_to_the_group_of_a_supervisor_is_none_to_its_guard(
    begin: Starts, fifo: trees.Fifo
) -> None:
    handle = begin()
    os.killpg(os.getpgid(handle.pid), signal.SIGKILL)
    assert "its guard took over" in ended(handle).problem
    assert fifo.ended()


def test_a_run_whose_guard_was_killed_ends(begin: Starts, fifo: trees.Fifo) -> None:
    handle = begin()
    os.kill(watchers(handle)[1], signal.SIGKILL)
    assert fifo.ended()
    assert ended(handle).problem == "its guard was killed"


def test_a_guard_that_is_killed_leaves_a_supervisor_that_is_stopped_to_the_viewer(
    begin: Starts, fifo: trees.Fifo
) -> None:
    handle = begin()
    supervisor, guard = watchers(handle)
    os.kill(guard, signal.SIGSTOP)
    os.kill(supervisor, signal.SIGSTOP)
    os.kill(guard, signal.SIGKILL)
    handle.stop()
    assert fifo.ended()


def test_nothing_of_ours_is_left_when_a_run_has_ended(begin: Starts) -> None:
    handle = begin(output="claude-stream-json")
    pids = [*watchers(handle), handle._process.pid]
    handle.stop()
    ended(handle)
    until(lambda: handle.poll() and not any(map(look.started, pids)))


def test_who_is_told_keeps_nobody_waiting() -> None:
    ours, theirs = os.pipe()
    told = Told(theirs, theirs)
    for count in range(100_000):  # nobody reads
        told.viewer(0, killing=count)
        told.guard(killing=count)
    os.close(ours)
    told.viewer(0, gone=1)
    os.close(theirs)


# -- what is recorded, and what is held by a tracer ---------------------------------------------


def recorded(place: Path, does: str) -> Order:
    """To record what a shell prints."""
    return order(["sh", "-c", does], place / "log.jsonl", output="text")


def test_a_stop_does_not_wait_for_what_is_recorded(tmp_path: Path, fifo: trees.Fifo) -> None:
    log = build.log(tmp_path / "log.jsonl", [build.meta(), build.message("user", "go")])
    does = f"echo first; echo 1 > {fifo.path}; seq 1 99999; exec sleep 1000"
    handle = start(recorded(tmp_path, does), environment(tmp_path))
    os.kill(handle._process.pid, signal.SIGSTOP)  # who records takes its time
    fifo.told(1)
    handle.stop()
    until(lambda: handle.poll() or handle.gone)
    assert fifo.ended()
    assert handle.poll() is None
    os.kill(handle._process.pid, signal.SIGCONT)
    outcome = ended(handle)
    handle.close()
    assert (outcome.recorded, outcome.problem) == (str(log), "")
    assert b"first" in log.read_bytes()
    assert load(log).complete


@pytest.mark.parametrize("ends", ["echo last", "echo last; exec sleep 1000"])
def test_who_records_may_be_killed(tmp_path: Path, fifo: trees.Fifo, ends: str) -> None:
    build.log(tmp_path / "log.jsonl", [build.meta()])
    does = f"exec 3>{fifo.path}; echo 1 >&3; while [ -e $0.wait ]; do sleep 0.01; done; {ends}"
    waits = tmp_path / "log.jsonl.wait"
    waits.touch()
    wanted = recorded(tmp_path, does)
    wanted = wanted._replace(argv=(*wanted.argv, str(tmp_path / "log.jsonl")))
    handle = start(wanted, environment(tmp_path))
    fifo.told(1)
    handle._process.kill()
    waits.unlink()
    if "sleep 1000" in ends:
        until(lambda: look.children(handle.command) == [])
        handle.stop()
    outcome = ended(handle)
    handle.close()
    assert "not recorded to its end" in outcome.problem
    assert fifo.ended()


@pytest.mark.parametrize("options", [0, TRACE_EXIT])
def test_the_dead_whom_a_tracer_keeps_count_as_killed(
    begin: Starts, fifo: trees.Fifo, options: int
) -> None:
    handle = begin()
    with traced(handle.command, options):
        handle.stop()
        outcome = ended(handle)
    assert (outcome.killed, outcome.problem, outcome.signal) == (2, "", signal.SIGKILL)
    assert fifo.ended()


def test_both_outputs_stand_in_the_tail_in_their_order(tmp_path: Path) -> None:
    does = "for i in 1 2 3 4 5; do echo out; echo err >&2; done"
    handle = start(order(["sh", "-c", does], tmp_path / "x"), environment(tmp_path))
    outcome = ended(handle)
    handle.close()
    assert outcome.tail == b"out\nerr\n" * 5
