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

from sessionlog.supervise import system
from sessionlog.supervise.order import MARKER
from sessionlog.supervise.system import Pin, Send, SendGroup, look

PATIENCE = 5.0
"""Seconds until a process that does not die of SIGKILL (it hangs in the kernel) is given up."""
_AT_ONCE = 400
"""Processes that are held in one round: each takes a descriptor."""
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

    def end(self, patience: float = PATIENCE) -> None:
        """Kill all of it and reap it. Gives up after so many seconds; `stays` says on what."""
        until = time.monotonic() + patience
        found = [] if look.REAPS else self._frozen()
        self._send_group(self.leader, signal.SIGKILL)
        refused = self._kill(found)
        while not self._reaped():
            found = self._frozen()
            refused = self._kill(found)
            if (found and len(refused) == len(found)) or time.monotonic() > until:
                self.stays = tuple(refused) or tuple(look.children(os.getpid()))
                break
        self.killed += sweep(self._run, self._send, until - time.monotonic())

    def _frozen(self) -> list[Pin]:
        return system.below([system.me()], _AT_ONCE, lambda pin: self._send(pin, signal.SIGSTOP))

    def _kill(self, found: list[Pin]) -> list[int]:
        """Kill what is held, and let go of it; gives those that may not be killed."""
        refused = [pin.process.pid for pin in found if not self._send(pin, signal.SIGKILL)]
        until = time.monotonic() + _ROUND
        for pin in found:
            pin.wait(until - time.monotonic())
            pin.close()
        if not found:
            time.sleep(0.001)  # killed, and not dead yet
        return refused

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
            if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
                self.killed += 1


def sweep(run: str, send: Send = system.send, patience: float = PATIENCE) -> int:
    """Kill what carries the marker of a run, and all below that; gives how many there were.

    For whoever has lost the tree: the supervisor was killed, or the system has no sub-reaper.
    What took the marker out of its environment is found below one that carries it, or not at all.
    """
    until = time.monotonic() + max(patience, 0.1)
    killed: set[system.Process] = set()
    while found := _marked(run, send):
        refused = sum(not send(pin, signal.SIGKILL) for pin in found)
        killed |= {pin.process for pin in found}
        for pin in found:
            pin.wait(min(_ROUND, until - time.monotonic()))
            pin.close()
        if refused == len(found) or time.monotonic() > until:
            break
    return len(killed)


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
