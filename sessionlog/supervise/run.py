"""The supervisor of one command: `python -m sessionlog.supervise.run CONTROL SLAVE`.

CONTROL is the number of a socket: the order comes on it, then "stop" or "gentle"; its end means
that the viewer is gone. SLAVE is the command's end of a terminal, or -1. One thread and one poll:
the command's end, the viewer's words, signals and the command's output all arrive here.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress

from sessionlog.supervise import birth, system
from sessionlog.supervise import order as words
from sessionlog.supervise.order import COMMAND, GENTLE, PERSON, STOP, VIEWER_GONE, Order, Outcome
from sessionlog.supervise.output import Output
from sessionlog.supervise.tree import Tree

GRACE = 2.0
"""Seconds from an interrupt to the kill."""
_AT_ONCE, _GENTLY = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT), signal.SIGUSR1
_WORDS = {
    PERSON: "stopped by a person",
    VIEWER_GONE: "stopped: the viewer went away",
    COMMAND: "stopped by `sessionlog stop`",
}


class Supervisor:
    """Watches a command that runs, until it has ended or has to end."""

    def __init__(self, order: Order, control: int, woken: int, child: birth.Child) -> None:
        self.order = order
        self.output = Output(order, child.out, child.err)
        self.tree = Tree(child.pid, order.run)
        self.stopped = ""
        self.gentle = False
        self._at_once = False
        self._until: float | None = None
        self._control = control
        self._woken = woken
        self._began = words.stamp()

    def watch(self) -> None:
        """Until the leader has ended, or somebody says stop, or its time after an interrupt is
        over."""
        while not self._at_once and not self.tree.ended():
            poll = select.poll()
            for fd in (self._control, self._woken, *self.output.pipes):
                poll.register(fd, select.POLLIN)
            wait = None
            if self._until is not None:
                wait = max(self._until - time.monotonic(), 0) * 1000
                if wait == 0:
                    return
            ready = {fd for fd, _ in poll.poll(wait)}
            self.hear(ready)
            for fd in () if self._at_once else self.output.pipes & ready:
                self.output.read(fd)

    def hear(self, ready: set[int]) -> None:
        """What the viewer says, and what signals say."""
        if self._woken in ready:
            for number in os.read(self._woken, 512):
                if number in _AT_ONCE:
                    self._stop(COMMAND)
                elif number == _GENTLY:
                    self._stop_gently(COMMAND)
        if self._control in ready:
            said = _read(self._control)
            if not said:
                self._stop(VIEWER_GONE)
            for word in said.splitlines():
                if word == STOP:
                    self._stop(PERSON)
                elif word == GENTLE:
                    self._stop_gently(PERSON)

    def end(self) -> Outcome:
        """Kill what is there, and say how it ended."""
        self.tree.end()
        return Outcome(
            *_code(self.tree.status), stopped=self.stopped, gentle=self.gentle,
            killed=self.tree.killed, left_over=0 if self.stopped else self.tree.killed,
            began=self._began, ended=words.stamp(), problem=_staying(self.tree.stays),
        )  # fmt: skip

    def close(self, outcome: Outcome) -> Outcome:
        """Close what it printed and the log it wrote; nothing of it runs any more."""
        how = {"": "", VIEWER_GONE: VIEWER_GONE}.get(self.stopped, "stopped")
        self.output.close(how, outcome.code)
        problems = [outcome.problem, self.output.problem]
        if self.order.closes and self.stopped and not self.order.output:
            from sessionlog import closing

            problems.append(closing.close(self.order.log, _WORDS[self.stopped]) or "")
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


def _staying(pids: tuple[int, ...]) -> str:
    if not pids:
        return ""
    return "could not be killed: process " + ", ".join(map(str, pids[:10]))


def _order(control: int) -> Order | None:
    """The first line; None when the viewer is gone before it is whole."""
    data = b""
    while not data.endswith(b"\n"):  # nothing follows it before the command is started
        part = _read(control)
        if not part:
            return None
        data += part
    return words.read_order(data)


def _say(control: int, **value: object) -> None:
    with suppress(OSError):  # nobody listens any more
        os.write(control, words.line(value))


def _wakeup() -> int:
    """What becomes readable when a signal comes: its number, a byte each."""
    woken, wakes = os.pipe()
    for fd in (woken, wakes):
        os.set_blocking(fd, False)
    for number in (*_AT_ONCE, _GENTLY, signal.SIGCHLD):
        signal.signal(number, lambda *_: None)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    return woken


def main(argv: list[str]) -> int:
    """Read the order, run it to its end, say how it ended."""
    control, slave = int(argv[0]), int(argv[1])
    for fd in (control, slave):
        if fd >= 0:
            os.set_inheritable(fd, False)
    order = _order(control)
    if order is None:
        return 1
    woken = _wakeup()
    try:
        system.look.become_reaper()
        child = birth.start(order, os.environ, slave)
    except (birth.NotStarted, OSError) as error:
        _say(control, failed=str(error))
        return 1
    _supervise(Supervisor(order, control, woken, child), control)
    return 0


def _supervise(supervisor: Supervisor, control: int) -> None:
    """Watch, kill, close, tell: whatever goes wrong in one of them, the next is done."""
    from sessionlog.supervise import runs

    order, outcome = supervisor.order, Outcome()

    def watch() -> str:
        supervisor.output.open()
        supervisor.watch()
        return ""

    def close() -> str:
        nonlocal outcome
        outcome = supervisor.close(outcome)
        return outcome.problem

    problems = [_done(lambda: runs.begin(order))]
    _say(control, started=supervisor.tree.leader)  # who hears it finds the run in the journal
    problems.append(_done(watch))
    outcome = supervisor.end()
    _say(control, gone=outcome.killed)
    problems += [outcome.problem, _done(close)]
    outcome = outcome._replace(problem="; ".join(dict.fromkeys(filter(None, problems))))
    unwritten = _done(lambda: runs.end(order, outcome))
    if unwritten:
        outcome = outcome._replace(problem="; ".join(filter(None, (outcome.problem, unwritten))))
    _say(control, ended=words.of_outcome(outcome))


def _done(what: Callable[[], str]) -> str:
    """Do it; gives what went wrong, a bug of ours too: the outcome has to tell, and to come."""
    try:
        return what()
    except Exception as error:  # the outer edge of this process
        return f"the supervisor failed: {type(error).__name__}: {error}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
