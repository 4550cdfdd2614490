"""Who watches the supervisor: `python -m sessionlog.supervise.guard CONTROL SLAVE`.

CONTROL is the number of a socket: the order comes on it, and its end means that the viewer is gone.
SLAVE is the command's end of a terminal, or -1.

An agent may stop or kill the process above it, and nothing below a supervisor that is stopped would
be stopped any more. So the supervisor is a child of this process, which goes on with it at once
when it is stopped, and takes its place when it is killed, or asked to stop everything and does
not: what was given to the supervisor is given to the next sub-reaper then, and that is the guard.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from sessionlog.supervise import order as words
from sessionlog.supervise import run, system
from sessionlog.supervise.order import COMMAND, PERSON, UNWATCHED, VIEWER_GONE, Order, Outcome
from sessionlog.supervise.output import Tape
from sessionlog.supervise.system import Process
from sessionlog.supervise.tree import Tree

SEE = signal.SIGUSR2
"""Says: everything is to be stopped, see that it is."""
_LOOK = 0.2
"""Seconds between two looks at a supervisor that was asked to stop everything."""
_LOOKS, _IDLE, _BUSY = 50, 10, 1
"""It is given up after so many looks at which it had not said a word. One counts for more when it
was idle than when it had, or waited for, a processor: where thousands compete, it waits long."""
_PASSED_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
_HUNG_UP = getattr(select, "POLLRDHUP", 0)
"""The viewer's side has ended, though what it said may not be read yet; elsewhere POLLHUP alone."""


class Guard:
    """Watches a supervisor, its child, until that has ended or is no good."""

    def __init__(self, control: int, woken: int, beats: int, supervisor: int) -> None:
        self.stopped = ""
        """Who has it stopped, as far as is known."""
        self.gone: Outcome | None = None
        """How the command ended, once nothing of it runs."""
        self.done = False
        """Has the supervisor said how the run ended?"""
        self._control = control
        self._woken = woken
        self._beats = beats
        self._supervisor = supervisor
        self._left: int | None = None
        """Until it is given up; None: nothing was asked of it, or it has done that."""
        self._said = b""

    def watch(self) -> bool:
        """Until the supervisor has ended, or does not stop what it should; False then. It is not
        reaped."""
        while not self._ended():
            if self._left is not None and self._left <= 0:
                return False
            poll = select.poll()
            for fd in (self._woken, self._beats):
                if fd >= 0:
                    poll.register(fd, select.POLLIN)
            if self._control >= 0:
                poll.register(self._control, _HUNG_UP)
            ready = {fd for fd, _ in poll.poll(None if self._left is None else _LOOK * 1000)}
            if self._left is not None and not ready:
                self._left -= _BUSY if system.look.busy(self._supervisor) else _IDLE
            self._hear(ready)
        while self._listen():
            pass
        return True

    def _ended(self) -> bool:
        """A supervisor that was stopped goes on."""
        if not hasattr(os, "waitid"):  # pragma: no cover
            return system.look.dead_child(self._supervisor) > 0
        ended = os.WEXITED | os.WNOHANG | os.WNOWAIT
        while os.waitid(os.P_PID, self._supervisor, ended) is None:
            with suppress(ChildProcessError):  # it has ended since
                if os.waitid(os.P_PID, self._supervisor, os.WSTOPPED | os.WNOHANG):
                    os.kill(self._supervisor, signal.SIGCONT)  # a child that is not reaped
                    continue
            return False
        return True

    def _hear(self, ready: set[int]) -> None:
        if self._control in ready:
            self._control = -1
            self._see(VIEWER_GONE)
        if self._woken in ready:
            for number in os.read(self._woken, 512):
                if number in _PASSED_ON:
                    os.kill(self._supervisor, signal.SIGTERM)
                    self._see(COMMAND)
                elif number == SEE:
                    self._see(PERSON)
        if self._beats in ready:
            self._listen()

    def _see(self, who: str) -> None:
        """It is to be stopped."""
        self.stopped = self.stopped or who
        if self._left is None and self.gone is None:
            self._left = _LOOKS

    def _listen(self) -> bool:
        """Take what the supervisor says; False when there is nothing more for now."""
        try:
            part = os.read(self._beats, 1 << 16) if self._beats >= 0 else b""
        except BlockingIOError:
            return False
        if not part:
            self._beats = -1
        *lines, self._said = (self._said + part).split(b"\n")
        for line in lines:
            self._take(words.read(line))
        return bool(part)

    def _take(self, told: Mapping[str, Any]) -> None:
        self.stopped = told.get("stopped", self.stopped)
        self.done = self.done or "done" in told
        if "gone" in told:
            self.gone = words.read_outcome(told["gone"])
        if self._left is not None:  # what it has begun goes on, and its closing is not hurried
            self._left = None if self.gone else _LOOKS


def main(argv: list[str]) -> int:
    """Read the order, have it supervised to its end."""
    control, slave = int(argv[0]), int(argv[1])
    for fd in (control, slave):
        if fd >= 0:
            os.set_inheritable(fd, False)
    order = _order(control)
    if order is None:
        return 1
    tape = _recorded(order, control, slave) if order.output else Tape()
    if tape is None:
        return 0
    guard = system.identity(os.getpid()) or Process(os.getpid(), "")
    system.look.become_reaper()
    beats, watched = os.pipe()
    woken = run.wakeup(*_PASSED_ON, SEE)  # before anybody knows of it
    supervisor = os.fork()
    if supervisor == 0:
        try:
            for fd in (beats, woken):
                os.close(fd)
            os.setsid()  # a signal to its group is not one to ours
            run.supervise(order, control, slave, tape, guard, watched)
        finally:
            os._exit(0)
    for fd in (slave, watched, *tape):
        if fd >= 0:
            os.close(fd)
    os.set_blocking(beats, False)
    _end(order, Guard(control, woken, beats, supervisor), supervisor, control)
    return 0


def _recorded(order: Order, control: int, slave: int) -> Tape | None:
    """Become two: one records, and comes back with None when it has; the other goes on.

    The one that records is the parent, so it is not below a guard, who kills all that is.
    """
    pieces, to = os.pipe()
    heard, told = os.pipe()
    if os.fork() == 0:
        os.close(pieces)
        os.close(told)
        os.setsid()
        return Tape(to, heard)
    for fd in (control, slave, to, heard):
        if fd >= 0:
            os.close(fd)
    from sessionlog.supervise import tape

    tape.record(order, pieces, told)
    return None


def _end(order: Order, guard: Guard, supervisor: int, control: int) -> None:
    """Watch the supervisor, and do what it has not done."""
    began = words.stamp()
    in_time = guard.watch()
    told = run.Told(control)
    tree = Tree(supervisor, order.run)
    tree.end(tell=told.killing)  # finds nothing where the supervisor has done its work
    if guard.done:
        return
    from sessionlog.supervise import runs

    if guard.gone is not None:
        outcome = guard.gone
    else:
        killed = tree.killed - (tree.status == signal.SIGKILL)
        outcome = Outcome(
            stopped=guard.stopped or UNWATCHED, killed=killed,
            began=began, ended=words.stamp(), problem=run.staying(tree.stays),
        )  # fmt: skip
        told.viewer(gone=killed)
        run.done(lambda: runs.gone(order, outcome))
    why = "its supervisor was killed" if in_time else "its supervisor did not stop it"
    problems = [f"{why}; its guard took over", outcome.problem]
    if outcome.stopped or guard.gone is None:
        problems.append(run.done(lambda: run.close_log(order, outcome.stopped)))
    run.tell_end(order, outcome._replace(problem="; ".join(filter(None, problems))), told)


def _order(control: int) -> Order | None:
    """The first line; None when the viewer is gone before it is whole."""
    data = b""
    while not data.endswith(b"\n"):  # nothing follows it before the command is started
        part = b""
        with suppress(OSError):
            part = os.read(control, 1 << 16)
        if not part:
            return None
        data += part
    return words.read_order(data)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
