"""The supervisor: what it starts, what it kills, what it says of the end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import build
import pytest
import trees
from handed import TESTS, environment, order, viewer

from sessionlog.errors import NotPossible
from sessionlog.reader import load
from sessionlog.supervise import run, runs
from sessionlog.supervise.handle import Handle, Outcome, start

Starts = Callable[..., Handle]
SOON = 20.0
"""Seconds until a test gives up."""


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Starts]:
    """Starts a command; what the test leaves running is let go of."""
    handles = []

    def begin(*argv: str, size: tuple[int, int] | None = None, **more: Any) -> Handle:
        wanted = order([*argv], tmp_path / "log.jsonl", **more)
        handles.append(start(wanted, environment(tmp_path), size))
        return handles[-1]

    yield begin
    for handle in handles:
        handle.close()


@pytest.fixture
def fifo(tmp_path: Path) -> Iterator[trees.Fifo]:
    fifo = trees.Fifo(tmp_path / "fifo")
    yield fifo
    fifo.close()


def lose(handle: Handle) -> None:
    """Kill both who watch the command: neither can act on the other's end."""
    supervisor, guard = (process.pid for process in handle._watchers)
    os.kill(guard, signal.SIGSTOP)
    os.kill(supervisor, signal.SIGSTOP)
    os.kill(guard, signal.SIGKILL)
    os.kill(supervisor, signal.SIGKILL)


def ended(handle: Handle) -> Outcome:
    outcome = handle.wait(SOON)
    assert outcome is not None
    return outcome


def until(holds: Callable[[], bool]) -> None:
    """Come back when it holds; it has to, soon."""
    late = time.monotonic() + SOON
    while not holds():
        assert time.monotonic() < late
        time.sleep(0.005)


def printed(handle: Handle) -> bytes:
    """What its terminal shows until the last of its programs has let go of it."""
    shown = b""
    assert handle.master is not None
    try:
        while part := os.read(handle.master, 4096):
            shown += part
    except OSError:
        pass
    return shown


# -- its end ----------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", trees.SHAPES)
def test_stop_kills_every_shape_of_tree_to_the_last(
    begin: Starts, fifo: trees.Fifo, shape: str
) -> None:
    handle = begin(*trees.command(shape, fifo.path), screen=shape == "terminal")
    fifo.told(trees.SHAPES[shape])
    handle.stop()
    outcome = ended(handle)
    assert fifo.ended()
    assert not fifo.left()
    assert (outcome.stopped, outcome.signal, outcome.code) == ("person", signal.SIGKILL, None)
    assert outcome.killed >= 2
    assert not outcome.problem


@pytest.mark.parametrize("how", ["killed", "closed"])
@pytest.mark.parametrize("shape", ["sessions", "terminal"])
def test_a_viewer_that_is_gone_takes_everything_with_it(
    tmp_path: Path, fifo: trees.Fifo, shape: str, how: str
) -> None:
    log = build.log(tmp_path / "log.jsonl", [build.meta(), build.request("c1")])
    ours, theirs = os.openpty()
    watcher = subprocess.Popen(
        viewer(shape, fifo.path, log, closes=True), stdin=theirs, stdout=theirs, stderr=theirs,
        env=environment(tmp_path), preexec_fn=lambda: os.login_tty(theirs),
    )  # fmt: skip
    os.close(theirs)
    fifo.told(trees.SHAPES[shape])
    if how == "killed":
        watcher.kill()
    else:
        os.close(ours)
    assert fifo.ended()
    assert watcher.wait(SOON) < 0
    until(lambda: runs.find("last", environment(tmp_path)).ended is not None)
    outcome = runs.find("last", environment(tmp_path)).ended
    assert outcome is not None
    assert outcome.stopped == "viewer gone"
    assert [load(log).open_calls, load(log).complete] == [(), True]
    if how == "killed":
        os.close(ours)


def test_a_supervisor_and_a_guard_that_are_killed_are_made_up_for_by_their_viewer(
    begin: Starts, fifo: trees.Fifo, tmp_path: Path
) -> None:
    handle = begin(*trees.command("orphans", fifo.path))
    fifo.told(trees.SHAPES["orphans"])
    lose(handle)
    outcome = ended(handle)
    assert fifo.ended()
    assert outcome.killed >= 2
    assert "its supervisor was killed" in outcome.problem
    assert runs.find("last", environment(tmp_path)).ended == outcome


def test_a_command_ends_with_its_supervisor_whoever_watches(
    begin: Starts, fifo: trees.Fifo
) -> None:
    handle = begin("sh", "-c", "exec 3>$0; echo 1 >&3; exec sleep 1000", str(fifo.path))
    fifo.told(1)
    lose(handle)
    assert fifo.ended()  # nobody asked the handle, which would have swept


def test_what_a_command_left_running_is_killed_when_it_has_ended(
    begin: Starts, fifo: trees.Fifo
) -> None:
    behind = f"exec 3>{fifo.path}; setsid sleep 1000 & sleep 1000 & echo begun; exit 4"
    outcome = ended(begin("sh", "-c", behind))
    assert fifo.ended()
    assert (outcome.code, outcome.stopped, outcome.left_over) == (4, "", 2)
    assert outcome.tail == b"begun\n"


def test_orphans_that_end_meanwhile_are_reaped(begin: Starts, fifo: trees.Fifo) -> None:
    forks = "for i in 1 2 3 4 5; do (sh -c : &) ; done; echo 1 > $0; sleep 1000"
    handle = begin("sh", "-c", forks, str(fifo.path))
    fifo.told(1)
    below = Path(f"/proc/{handle.pid}/task/{handle.pid}/children")
    until(lambda: below.read_text().split() == [str(handle.command)])


def test_a_code_and_a_signal_are_told(begin: Starts) -> None:
    assert ended(begin("sh", "-c", "exit 7")).code == 7
    outcome = ended(begin("sh", "-c", "kill -USR2 $$"))
    assert (outcome.code, outcome.signal, outcome.killed) == (None, signal.SIGUSR2, 0)


# -- gently -----------------------------------------------------------------------------------

HEARS = "trap 'echo heard; exit 9' INT; echo 1 > $0; while :; do sleep 0.01; done"
DEAF = "trap '' INT; echo 1 > $0; while :; do sleep 0.01; done"


@pytest.mark.parametrize("screen", [True, False])
def test_a_gentle_stop_lets_the_command_end_by_itself(
    begin: Starts, fifo: trees.Fifo, screen: bool
) -> None:
    handle = begin("sh", "-c", HEARS, str(fifo.path), screen=screen)
    fifo.told(1)
    handle.stop_gently()
    outcome = ended(handle)
    assert (outcome.stopped, outcome.gentle, outcome.code) == ("person", True, 9)
    assert b"heard" in (printed(handle) if screen else outcome.tail)


def test_a_gentle_stop_reaches_the_program_in_the_foreground(
    begin: Starts, fifo: trees.Fifo
) -> None:
    # a shell with job control gives its command a group of its own
    handle = begin("sh", "-m", "-c", f'sh -c "$1" {fifo.path}; exit 3', "sh", HEARS, screen=True)
    fifo.told(1)
    handle.stop_gently()
    assert ended(handle).code == 3
    assert b"heard" in printed(handle)


def test_who_is_deaf_to_a_gentle_stop_is_killed(begin: Starts, fifo: trees.Fifo) -> None:
    handle = begin("sh", "-c", DEAF, str(fifo.path))
    fifo.told(1)
    handle.stop_gently()
    outcome = ended(handle)
    assert (outcome.gentle, outcome.signal) == (True, signal.SIGKILL)


def test_a_stop_does_not_wait_for_a_gentle_one(begin: Starts, fifo: trees.Fifo) -> None:
    handle = begin("sh", "-c", DEAF, str(fifo.path))
    fifo.told(1)
    handle.stop_gently()
    handle.stop()
    assert handle.wait(run.GRACE * 0.9) is not None


# -- its beginning ----------------------------------------------------------------------------


def test_a_command_gets_its_arguments_place_environment_and_nothing_else(
    begin: Starts, tmp_path: Path
) -> None:
    said = (
        "import os, sys; print(sys.argv[1:], os.getcwd(), os.environ['A'], len(sys.stdin.read()),\
 sorted(os.listdir('/proc/self/fd')), os.getsid(0) == os.getpid())"
    )
    hostile = ["$(id)", "a b", "", "-x", "'\"", "\udcff", "\n"]
    argv = [sys.executable, "-I", "-S", "-c", said, *hostile]
    outcome = ended(begin(*argv, cwd=str(tmp_path), env={"A": "added"}))
    shown = f"{hostile} {tmp_path} added 0 ['0', '1', '2', '3'] True\n"
    assert outcome.tail == shown.encode()


def test_a_command_on_the_screen_has_a_terminal_of_its_own(begin: Starts, fifo: trees.Fifo) -> None:
    says = "stty size; trap 'stty size; exit' WINCH; exec 3>/dev/tty; echo 1 > $0; "
    says += "while :; do sleep 0.01; done"
    handle = begin("sh", "-c", says, str(fifo.path), screen=True, size=(12, 34))
    fifo.told(1)
    handle.resize(56, 78)
    assert ended(handle).code == 0
    assert printed(handle).split() == [b"12", b"34", b"56", b"78"]


REFUSED = {
    "no such program in PATH": ("/", "no-such-program-anywhere"),
    "no such program;": ("/", "./nowhere"),
    "may not be run": ("/", "/etc/passwd"),
    "no such working directory": ("/no/such/folder", "true"),
    "the command is empty": ("/",),
    "NUL": ("/", "true", "a\0b"),
    "lone surrogate": ("/", "true", "\ud800"),
}
"""Why, by the working directory and the arguments."""


@pytest.mark.parametrize("why", REFUSED)
def test_what_cannot_run_is_refused_before_anything_starts(
    begin: Starts, tmp_path: Path, why: str
) -> None:
    cwd, *argv = REFUSED[why]
    with pytest.raises(NotPossible, match=why):
        begin(*argv, cwd=cwd)
    assert not (tmp_path / "state").exists()


def test_a_program_that_the_system_refuses_after_all_is_told_in_words(
    begin: Starts, tmp_path: Path
) -> None:
    script = tmp_path / "script"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    with pytest.raises(NotPossible, match=r"script: cannot be run: no such file, or the program"):
        begin(str(script))


def test_a_supervisor_starts_with_little() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(TESTS.parent)!r}); "
        "import sessionlog.supervise.guard; print([m for m in sys.modules if m in "
        "('orjson', 'dataclasses', 'inspect', 'subprocess', 'threading', 'socket', 'datetime')"
        " or m.startswith('sessionlog.') and not m.startswith('sessionlog.supervise')])"
    )
    argv = [sys.executable, "-I", "-S", "-c", code]
    shown = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert shown.stdout == "[]\n"


# -- the handle -------------------------------------------------------------------------------


def test_a_handle_that_waits_in_a_thread_can_be_told_to_stop(begin: Starts) -> None:
    handle, heard = begin("sleep", "1000"), []
    assert (handle.poll(), handle.wait(0)) == (None, None)
    thread = threading.Thread(target=lambda: heard.append(handle.wait()))
    thread.start()
    handle.stop()
    thread.join(SOON)
    assert heard == [handle.poll()]
    assert handle.gone
    handle.stop()  # it has ended: nothing happens


def test_closing_a_handle_kills_what_runs_and_wakes_who_waits(
    begin: Starts, fifo: trees.Fifo
) -> None:
    handle, heard = begin(*trees.command("deaf", fifo.path)), []
    fifo.told(trees.SHAPES["deaf"])
    thread = threading.Thread(target=lambda: heard.append(handle.wait()))
    thread.start()
    handle.close()
    handle.close()
    thread.join(SOON)
    assert not thread.is_alive()
    assert heard in ([None], [handle.poll()])
    assert fifo.ended()


def test_only_the_last_of_what_it_printed_is_kept(begin: Starts) -> None:
    outcome = ended(begin("sh", "-c", "seq 1 9999; printf '\\377end' >&2"))
    assert len(outcome.tail) == 8192
    assert b"9998\n9999\n" in outcome.tail
    assert b"\xffend" in outcome.tail
