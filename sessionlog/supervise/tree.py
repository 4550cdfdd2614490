"""Everything that a command started: interrupted, killed and reaped to the last one.

Stop means SIGKILL, at once. First to the leader's group, whose number is taken as long as the
leader is not reaped; then to all below the supervisor, which orphans are given to, again and again
until the kernel says that there are no children. A process may have left the group and the
session; it cannot leave the tree.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

from sessionlog.supervise import system
from sessionlog.supervise.order import MARKER
from sessionlog.supervise.system import Pin, Send, SendGroup, look

PATIENCE = 5.0
"""Seconds without any headway until what does not die of SIGKILL (it hangs in the kernel) is given
up."""
_AT_ONCE = 400
"""Processes that are held in one round: each takes a descriptor, and a process may have 1,024."""
_MOST = 8_000
"""The same where the limit of descriptors could be raised. A bomb is stopped in one round then,
and no longer competes for the processor with who kills it."""
_ROUND = 0.02
"""Seconds in which what was killed should be gone, before the next look."""


class Tree:
    """What the leader, our child, started. `send` and `send_group` are the doors of signals."""

    def __init__(
        self,
        leader: int,
        run: str,
        send: Send = system.send,
        send_group: SendGroup = system.send_group,
    ) -> None:
        self.leader = leader
        self.status: int | None = None
        """The leader's wait status; None until it is reaped."""
        self.killed = 0
        """Processes that ended by SIGKILL since `end` began."""
        self.stays: tuple[int, ...] = ()
        """What could not be killed."""
        self._most = _AT_ONCE
        self._met: set[system.Process] = set()
        self._tell: Callable[[int], object] = lambda killed: None
        self._run = run
        self._send = send
        self._send_group = send_group

    def ended(self) -> bool:
        """Has the leader ended? It is not reaped by this; orphans that have ended are."""
        while pid := look.dead_child(self.leader):
            if pid == self.leader:
                return True
            os.waitpid(pid, 0)
        return False

    def interrupt(self) -> None:
        """SIGINT to the group in the foreground of its terminal, else to the leader's.

        To each of its processes, held: the group's number might be somebody else's by now.
        """
        group = look.foreground(self.leader) or self.leader
        if group == self.leader and self.status is None:
            self._send_group(self.leader, signal.SIGINT)
            return
        for child in system.below([system.me()], _AT_ONCE, lambda child: None):
            if look.group(child.process.pid) == group and child.alive():
                self._send(child, signal.SIGINT)
            child.close()

    def end(
        self, patience: float = PATIENCE, tell: Callable[[int], object] = lambda killed: None
    ) -> None:
        """Kill all of it and reap it, however long it takes; `tell` hears how many are dead.

        Gives up only after so many seconds in which none died and none was found that was not
        killed before: `stays` says on what.
        """
        self._most, self._tell = _more_descriptors(), tell
        found = [] if look.REAPS else self._frozen()
        self._send_group(self.leader, signal.SIGKILL)
        self._kill(found)
        headway, until = -1, 0.0
        dead: list[int] = []
        while not self._reaped():
            found = self._frozen()
            refused = self._kill(found)
            if found and len(refused) == len(found):
                self.stays = tuple(refused)
                return
            before, dead = dead, self._dead(found)
            if dead and dead == before:
                self._held_by_tracers(dead)
                return
            if self.killed + len(self._met) > headway:
                headway, until = self.killed + len(self._met), time.monotonic() + patience
            elif time.monotonic() > until:
                self.stays = tuple(look.children(os.getpid()))
                return
        self.killed += sweep(self._run, self._send, patience)

    def _frozen(self) -> list[Pin]:
        return system.below([system.me()], self._most, self._freeze)

    def _freeze(self, pin: Pin) -> None:
        self._send(pin, signal.SIGSTOP)
        self._tell(self.killed)

    def _kill(self, found: list[Pin]) -> list[int]:
        """Kill what is held, and let go of it; gives those that may not be killed."""
        refused = []
        for pin in found:
            if not self._send(pin, signal.SIGKILL):
                refused.append(pin.process.pid)
            self._tell(self.killed)
        self._met |= {pin.process for pin in found}
        until = time.monotonic() + _ROUND
        for pin in found:
            pin.wait(until - time.monotonic())
            pin.close()
            self._tell(self.killed)
        if not found:
            time.sleep(0.001)  # killed, and not dead yet
        return refused

    def _dead(self, found: list[Pin]) -> list[int]:
        """The children, when all have ended though none can be reaped, and nothing else was found;
        else none."""
        children = look.children(os.getpid())
        others = {pin.process.pid for pin in found} - set(children)
        return children if not others and all(map(look.dead, children)) else []

    def _held_by_tracers(self, dead: list[int]) -> None:
        """A tracer that is stopped keeps the dead from who would reap them (ptrace(2))."""
        self.killed += len(dead)
        if self.leader in dead:
            self.status = signal.SIGKILL

    def _reaped(self) -> bool:
        """Reap all that has ended; True when there are no children any more."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return True
            if pid == 0:
                return False
            if pid == self.leader:
                self.status = status
            self._tell(self.killed)
            if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
                self.killed += 1


def _more_descriptors() -> int:
    """Raise this process's limit as far as it may, and say how many others it can hold."""
    import resource

    try:
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    except (OSError, ValueError):
        return _AT_ONCE
    return max(min(most - 100, _MOST), _AT_ONCE)


def uproot(root: Pin, send: Send = system.send) -> int:
    """Kill all below a process that does not do it itself, then the process; gives how many.

    It may be stopped: who it could reap stays dead, and its orphans are given to it all the same.
    """
    killed: set[system.Process] = set()
    until = time.monotonic() + PATIENCE
    while found := system.below([root], _AT_ONCE, lambda pin: send(pin, signal.SIGSTOP)):
        met = _killed(found, send)
        if met - killed:
            until = time.monotonic() + PATIENCE
        elif not met or time.monotonic() > until:
            break
        killed |= met
    send(root, signal.SIGKILL)
    return len(killed)


def sweep(run: str, send: Send = system.send, patience: float = PATIENCE) -> int:
    """Kill what carries the marker of a run, and all below that; gives how many there were.

    For whoever has lost the tree: the supervisor was killed, or the system has no sub-reaper.
    What took the marker out of its environment is found below one that carries it, or not at all.
    Gives up after so many seconds in which none was found that was not killed before.
    """
    until = time.monotonic() + patience
    killed: set[system.Process] = set()
    while found := _marked(run, send):
        met = _killed(found, send)
        if met - killed:
            until = time.monotonic() + patience
        elif not met or time.monotonic() > until:
            break
        killed |= met
    return len(killed)


def _killed(found: list[Pin], send: Send) -> set[system.Process]:
    """Kill what is held, and let go of it; gives what was allowed."""
    killed = {pin.process for pin in found if send(pin, signal.SIGKILL)}
    until = time.monotonic() + _ROUND
    for pin in found:
        pin.wait(until - time.monotonic())
        pin.close()
    return killed


def _marked(run: str, send: Send) -> list[Pin]:
    """What carries the marker, and all below; stopped."""
    marker = f"{MARKER}={run}"
    found: dict[int, Pin] = {}
    for pid in look.everyone() if run else ():
        if pid == os.getpid() or not look.carries(pid, marker) or len(found) == _AT_ONCE:
            continue
        try:
            held = system.pin(pid, lambda pid: look.carries(pid, marker))
        except OSError:
            break  # no descriptors: these first, the others next time
        if held is not None:
            send(held, signal.SIGSTOP)
            found[pid] = held
    for child in system.below([*found.values()], _AT_ONCE, lambda pin: send(pin, signal.SIGSTOP)):
        if found.setdefault(child.process.pid, child) is not child:
            child.close()
    return [*found.values()]
