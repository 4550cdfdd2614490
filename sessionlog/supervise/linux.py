"""What Linux tells of processes: /proc, and the two settings a supervisor needs.

A sub-reaper is who orphans below it are given to, so that nothing leaves its tree: a double fork
or a new session changes a parent or a group, never that (prctl(2), PR_SET_CHILD_SUBREAPER).
Everything read here may be out of date by the time it is used: `system.pin` makes it certain.
"""

from __future__ import annotations

import ctypes
import os
import signal
from functools import cache
from typing import NamedTuple

REAPS = True
"""Orphans below a supervisor become its children, and so ECHILD means that none is left."""

_PDEATHSIG, _SUBREAPER = 1, 36  # linux/prctl.h


class Stat(NamedTuple):
    """Of /proc/PID/stat (proc(5)): what is needed to know whose a process is."""

    state: str
    parent: int
    group: int
    foreground: int
    """The group in the foreground of its terminal; -1 without one."""
    started: int
    """Clock ticks since the system's start."""


def become_reaper() -> None:
    """Be given the orphans below this process. Raises OSError where the kernel cannot."""
    _prctl(_SUBREAPER, 1)


def die_with_parent(number: int = signal.SIGKILL) -> None:
    """Get this signal when the thread that made this process ends."""
    _prctl(_PDEATHSIG, number)


def _prctl(option: int, value: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, value, 0, 0, 0):
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


def stat(pid: int) -> Stat | None:
    """None when there is no such process. The name in it may hold anything, so from its end on."""
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            fields = file.read(4096).rpartition(b")")[2].split()
        state, parent, group = fields[0].decode(), int(fields[1]), int(fields[2])
        return Stat(state, parent, group, int(fields[5]), int(fields[19]))
    except (OSError, ValueError, IndexError):
        return None


def started(pid: int) -> str:
    """When a process began, in a form that is the same for no other of that number; "" for none.

    Clock ticks since the system's start, and which start of the system.
    """
    seen = stat(pid)
    return f"{seen.started}@{_boot()}" if seen else ""


@cache
def _boot() -> str:
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


@cache
def space() -> str:
    """What numbers of processes mean something in: a start of the system, a namespace of it."""
    try:
        return f"{os.stat('/proc/self/ns/pid').st_ino}@{_boot()}"
    except OSError:
        return ""


def dead(pid: int) -> bool:
    """Has a process that was killed ended, though it cannot be reaped?

    A tracer that does not go on keeps the dead from their parent, and may hold a dying one at its
    exit, where it does nothing any more: SIGKILL ends every other stop (ptrace(2)).
    """
    seen = stat(pid)
    return seen is not None and seen.state in "ZXt"


def busy(pid: int) -> bool:
    """Does it have a processor, or wait for one?"""
    seen = stat(pid)
    return seen is not None and seen.state == "R"


def parent(pid: int) -> int:
    """Who would wait for it; 0 when there is no such process."""
    seen = stat(pid)
    return seen.parent if seen else 0


def group(pid: int) -> int:
    """Its process group; 0 when there is no such process."""
    seen = stat(pid)
    return seen.group if seen else 0


def foreground(pid: int) -> int:
    """The group in the foreground of its terminal; 0 without one."""
    seen = stat(pid)
    return max(seen.foreground, 0) if seen else 0


def children(pid: int) -> list[int]:
    """Of all its threads. Where the kernel lists none (CONFIG_PROC_CHILDREN), all are looked at."""
    if not _own_proc():
        return []
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", "rb", buffering=0) as file:
                found += map(int, file.read().split())
    except OSError:
        return _looked_up(pid) if os.path.exists(f"/proc/{pid}") else []
    return found


def _looked_up(pid: int) -> list[int]:
    return [child for child in everyone() if parent(child) == pid]


@cache
def _own_proc() -> bool:
    """Are the numbers in /proc ours? In a namespace with its parent's /proc they are not."""
    try:
        return os.readlink("/proc/self") == str(os.getpid())
    except OSError:
        return False


def everyone() -> list[int]:
    """All processes that can be seen."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit()] if _own_proc() else []


def carries(pid: int, marker: str) -> bool:
    """Is `marker` ("NAME=VALUE") in the environment that a process was started with?"""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return os.fsencode(marker) in file.read().split(b"\0")
    except OSError:
        return False  # gone, or another user's


def dead_child(leader: int) -> int:
    """A child that has ended and is not reaped; 0 when there is none. It is left as it is."""
    del leader
    found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    return found.si_pid if found else 0
