"""A process held so that no other can be meant by its number, and the door that signals take.

Numbers of processes are used again. So a signal is only ever sent to a `Pin`: a pidfd that was
open before it was looked at whose the process is, and that was still alive afterwards. What was
looked at was then that very process, and the signal can reach no other (pidfd_open(2)). To a group
a signal goes only while its leader is not reaped: its number is taken until then.
"""

from __future__ import annotations

import errno
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

if sys.platform == "linux":
    from sessionlog.supervise import linux

    look = linux
else:
    from sessionlog.supervise import elsewhere

    look = elsewhere

_NEVER_SIGNALLED = 1
"""Nor anything below: to kill(2), 0 and less mean many processes, and 1 is everybody's."""
_NO_PIDFD = (errno.EPERM, errno.EINVAL, errno.ENOSYS)
"""An old kernel, or a sandbox that forbids them."""


class Process(NamedTuple):
    """A process for good: no other has both."""

    pid: int
    started: str
    """As `look.started` says it."""


class Pin:
    """A living process, held by a pidfd; without one (fd -1) it is compared before a signal."""

    __slots__ = ("fd", "process")

    def __init__(self, process: Process, fd: int) -> None:
        self.process = process
        self.fd = fd

    def alive(self) -> bool:
        """Is it the process it was, and has it not ended?"""
        if self.fd >= 0:
            return not _ended(self.fd, 0)
        return look.started(self.process.pid) == self.process.started != ""

    def wait(self, seconds: float | None) -> bool:
        """Wait for its end; has it come? None waits for ever."""
        if self.fd >= 0:
            return _ended(self.fd, seconds)
        until = None if seconds is None else time.monotonic() + seconds
        while self.alive():
            if until is not None and time.monotonic() > until:
                return False
            time.sleep(0.005)
        return True

    def close(self) -> None:
        """Let go of it; a second time does nothing."""
        if self.fd >= 0:
            os.close(self.fd)
        self.fd = -1


Send = Callable[[Pin, int], bool]
SendGroup = Callable[[int, int], None]


def _ended(fd: int, seconds: float | None) -> bool:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(None if seconds is None else max(seconds, 0) * 1000))


def identity(pid: int) -> Process | None:
    """Who has this number now; None when nobody has."""
    started = look.started(pid)
    return Process(pid, started) if started else None


def pin(pid: int, wanted: Callable[[int], bool]) -> Pin | None:
    """Hold the living process of this number, if it is `wanted`; None when it is not, or gone.

    Raises OSError when there are no descriptors left.
    """
    try:
        fd = _pidfd(pid)
    except ProcessLookupError:
        return None
    process = identity(pid)
    if process is not None:
        held = Pin(process, fd)
        if wanted(pid) and held.alive():  # alive last: what was looked at was it
            return held
    if fd >= 0:
        os.close(fd)
    return None


def _pidfd(pid: int) -> int:
    """-1 where there are none."""
    if sys.platform != "linux":
        return -1
    try:
        return os.pidfd_open(pid)
    except OSError as error:
        if error.errno in _NO_PIDFD:
            return -1
        raise


def pin_process(process: Process) -> Pin | None:
    """Hold this very process; None when it has ended."""
    return pin(process.pid, lambda pid: look.started(pid) == process.started)


def send(pin: Pin, number: int) -> bool:
    """Send a signal to a pinned process; False when the system does not allow it."""
    pid = pin.process.pid
    if pid <= _NEVER_SIGNALLED or pid == os.getpid():
        return False
    try:
        if pin.fd >= 0 and sys.platform == "linux":
            signal.pidfd_send_signal(pin.fd, number)
        elif pin.alive():
            os.kill(pid, number)
    except ProcessLookupError:
        pass
    except PermissionError:
        return False
    return True


def send_group(leader: int, number: int) -> None:
    """Send a signal to the group of a leader that is our child and not reaped."""
    if leader <= _NEVER_SIGNALLED or leader == os.getpgrp():
        return
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)


def below(roots: Iterable[Pin], most: int, meet: Callable[[Pin], object]) -> list[Pin]:
    """All below the roots, each met before its children are looked up; at most so many.

    Met with SIGSTOP it makes no new ones, so the list is whole unless somebody was about to fork:
    who has to have all of them comes back until nothing is found.
    """
    found: list[Pin] = []
    todo = list(roots)
    while todo and len(found) < most:
        for child in _children(todo.pop()):
            meet(child)
            found.append(child)
            todo.append(child)
            if len(found) == most:
                break
    return found


def _children(held: Pin) -> Iterator[Pin]:
    parent = held.process.pid
    for pid in look.children(parent):
        try:
            child = pin(pid, lambda pid: look.parent(pid) == parent)
        except OSError:
            return  # no descriptors: these first, the others next time
        if child is None:
            continue
        if held.alive():  # so `parent` was its number while the child was looked at
            yield child
        else:
            child.close()


def me() -> Pin:
    """This process, as a root."""
    return Pin(Process(os.getpid(), look.started(os.getpid())), -1)
