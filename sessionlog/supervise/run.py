"""The supervisor of one command; a child of its `guard`.

Its control socket brings "stop" or "gentle"; the end of it means that the viewer is gone. One
thread and one poll: the command's end, the viewer's words, signals and the command's output all
arrive here. What it does is told to the viewer and, through a pipe, to the guard.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable
from contextlib import suppress

from sessionlog.supervise import birth, system
from sessionlog.supervise import order as words
from sessionlog.supervise.order import (
    COMMAND,
    GENTLE,
    PERSON,
    STOP,
    UNWATCHED,
    VIEWER_GONE,
    Order,
    Outcome,
)
from sessionlog.supervise.output import Output, Tape
from sessionlog.supervise.system import Process
from sessionlog.supervise.tree import Tree

GRACE = 2.0
"""Seconds from an interrupt to the kill."""
_AT_ONCE, _GENTLY = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT), signal.SIGUSR1
_GUARD_GONE = signal.SIGUSR2
_TELL = 0.1
"""Seconds between two words about how far the killing is."""
_PATIENCE = 5.0
"""Seconds that a viewer is given to take what it is told."""
HOW = {
    PERSON: "stopped by a person",
    VIEWER_GONE: "stopped: the viewer went away",
    COMMAND: "stopped by `sessionlog stop`",
    UNWATCHED: "stopped: what watched it was killed",
}
"""By whom a run was stopped, as its log says it."""


class Told:
    """Who hears what becomes of a run: the viewer, and the guard. Neither keeps it waiting."""

    def __init__(self, control: int, guard: int = -1) -> None:
        self._control = control
        self._guard = guard
        self._last = 0.0
        if guard >= 0:
            os.set_blocking(guard, False)

    def viewer(self, seconds: float = _PATIENCE, /, **value: object) -> None:
        """Tell the viewer, if it takes it within so many seconds."""
        poll = select.poll()
        poll.register(self._control, select.POLLOUT)
        with suppress(OSError):  # nobody listens any more
            if poll.poll(seconds * 1000):
                os.write(self._control, words.line(value))

    def guard(self, **value: object) -> None:
        """Tell the guard."""
        with suppress(OSError):
            if self._guard >= 0:
                os.write(self._guard, words.line(value))

    def killing(self, killed: int) -> None:
        """So many are dead; told now and then."""
        if time.monotonic() - self._last < _TELL:
            return
        self._last = time.monotonic()
        self.guard(killing=killed)
        self.viewer(0, killing=killed)


class Supervisor:
    """Watches a command that runs, until it has ended or has to end."""

    def __init__(
        self, order: Order, control: int, woken: int, child: birth.Child, tape: Tape
    ) -> None:
        self.order = order
        self.output = Output(order, child.out, child.err, tape)
        self.tree = Tree(child.pid, order.run)
        self.stopped = ""
        self.gentle = False
        self._at_once = False
        self._until: float | None = None
        self._control = control
        self._woken = woken
        self._problem = ""
        self._began = words.stamp()

    def watch(self) -> None:
        """Until the leader has ended, or somebody says stop, or its time after an interrupt is
        over."""
        while not self._at_once and not self.tree.ended():
            poll = select.poll()
            for fd in (self._control, self._woken):
                poll.register(fd, select.POLLIN)
            for fd, event in self.output.wanted().items():
                poll.register(fd, event)
            wait = None
            if self._until is not None:
                wait = max(self._until - time.monotonic(), 0) * 1000
                if wait == 0:
                    return
            ready = {fd for fd, _ in poll.poll(wait)}
            self.hear(ready)
            if not self._at_once:
                self.output.pass_on(ready)

    def hear(self, ready: set[int]) -> None:
        """What the viewer says, and what signals say."""
        if self._woken in ready:
            for number in os.read(self._woken, 512):
                if number in _AT_ONCE:
                    self._stop(COMMAND)
                elif number == _GENTLY:
                    self._stop_gently(COMMAND)
                elif number == _GUARD_GONE:
                    self._stop(UNWATCHED)
                    self._problem = "its guard was killed"
        if self._control in ready:
            said = _read(self._control)
            if not said:
                self._stop(VIEWER_GONE)
            for word in said.splitlines():
                if word == STOP:
                    self._stop(PERSON)
                elif word == GENTLE:
                    self._stop_gently(PERSON)

    def end(self, told: Told) -> Outcome:
        """Kill what is there, and say how it ended."""
        told.guard(killing=0, stopped=self.stopped)
        self.tree.end(tell=told.killing)
        problem = "; ".join(filter(None, (self._problem, staying(self.tree.stays))))
        return Outcome(
            *_code(self.tree.status), stopped=self.stopped, gentle=self.gentle,
            killed=self.tree.killed, left_over=0 if self.stopped else self.tree.killed,
            began=self._began, ended=words.stamp(), problem=problem,
        )  # fmt: skip

    def close(self, outcome: Outcome) -> Outcome:
        """Close what it printed and the log it wrote; nothing of it runs any more."""
        named = {"": "", VIEWER_GONE: VIEWER_GONE, UNWATCHED: UNWATCHED}
        how = named.get(self.stopped, "stopped")
        self.output.close(how, outcome.code)
        problems = [outcome.problem, self.output.problem]
        if self.stopped:
            problems.append(close_log(self.order, self.stopped))
        return outcome._replace(
            tail=self.output.tail, recorded=self.output.recorded,
            problem="; ".join(filter(None, problems)),
        )  # fmt: skip

    def _stop(self, who: str) -> None:
        self.stopped = self.stopped or who
        self._at_once = True

    def _stop_gently(self, who: str) -> None:
        if self._until is None:
            self.stopped, self.gentle = who, True
            self._until = time.monotonic() + GRACE
            self.tree.interrupt()


def _read(control: int) -> bytes:
    try:
        return os.read(control, 4096)
    except OSError:
        return b""


def _code(status: int | None) -> tuple[int | None, int]:
    """Exit code and signal of a wait status."""
    if status is None:
        return None, 0
    if os.WIFSIGNALED(status):
        return None, os.WTERMSIG(status)
    return os.WEXITSTATUS(status), 0


def staying(pids: tuple[int, ...]) -> str:
    """What could not be killed, in words."""
    if not pids:
        return ""
    return "could not be killed: process " + ", ".join(map(str, pids[:10]))


def close_log(order: Order, stopped: str) -> str:
    """Close the log of a run that was stopped, where that is ours to do; gives what stood in the
    way."""
    if not order.closes or order.output:
        return ""
    from sessionlog import closing

    return closing.close(order.log, HOW.get(stopped, HOW[UNWATCHED])) or ""


def wakeup(*numbers: int) -> int:
    """What becomes readable when one of these signals comes: its number, a byte each."""
    woken, wakes = os.pipe()
    for fd in (woken, wakes):
        os.set_blocking(fd, False)
    for number in (*numbers, signal.SIGCHLD):
        signal.signal(number, lambda *_: None)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    return woken


def supervise(
    order: Order, control: int, slave: int, tape: Tape, guard: Process, watched: int
) -> None:
    """Run an order to its end, and say how it ended; `watched` is the pipe to the guard."""
    told = Told(control, watched)
    woken = wakeup(*_AT_ONCE, _GENTLY, _GUARD_GONE)
    try:
        system.look.become_reaper()
        system.look.die_with_parent(_GUARD_GONE)
        child = birth.start(order, os.environ, slave, _has_log)
    except (birth.NotStarted, OSError) as error:
        told.viewer(failed=str(error))
    else:
        _supervise(Supervisor(order, control, woken, child, tape), told, guard)
    told.guard(done=True)


def _has_log(path: str) -> bool:
    from sessionlog.logfile import has_log  # only a run that brings its log first waits for this

    return has_log(path)


def _supervise(supervisor: Supervisor, told: Told, guard: Process) -> None:
    """Watch, kill, close, tell: whatever goes wrong in one of them, the next is done."""
    from sessionlog.supervise import runs

    order, outcome = supervisor.order, Outcome()

    def watch() -> str:
        supervisor.watch()
        return ""

    def close() -> str:
        nonlocal outcome
        outcome = supervisor.close(outcome)
        return outcome.problem

    problems = [done(lambda: runs.begin(order, guard=guard))]
    me = system.identity(os.getpid())
    told.viewer(  # who hears it finds the run in the journal
        started=supervisor.tree.leader, supervisor=me and me._asdict(), guard=guard._asdict()
    )
    problems.append(done(watch))
    outcome = supervisor.end(told)
    told.viewer(gone=outcome.killed)
    told.guard(gone=words.of_outcome(outcome))
    problems += [done(lambda: runs.gone(order, outcome)), outcome.problem, done(close)]
    outcome = outcome._replace(problem="; ".join(dict.fromkeys(filter(None, problems))))
    tell_end(order, outcome, told)


def tell_end(order: Order, outcome: Outcome, told: Told) -> None:
    """Write down how a run ended, and say so to the viewer."""
    from sessionlog.supervise import runs

    unwritten = done(lambda: runs.end(order, outcome))
    if unwritten and unwritten not in outcome.problem:
        outcome = outcome._replace(problem="; ".join(filter(None, (outcome.problem, unwritten))))
    told.viewer(ended=words.of_outcome(outcome))


def done(what: Callable[[], str]) -> str:
    """Do it; gives what went wrong, a bug of ours too: the outcome has to tell, and to come."""
    try:
        return what()
    except Exception as error:  # the outer edge of this process
        return f"the supervisor failed: {type(error).__name__}: {error}"
