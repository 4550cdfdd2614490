"""Evidence that a log's writer lives, found without touching the log.

Looking never takes the writer's lock: on Linux /proc/locks names its holder, and a process of
ours that has the file open for writing stands in /proc/PID/fd. Elsewhere a shared lock is tried
and given back at once. Age is no evidence: a call may run for hours without writing a byte.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable

_PROC = "/proc"


class Witness:
    """Looks once, and answers for many logs.

    The processes are looked through only when a question needs it, once for all `candidates`.
    """

    def __init__(self, candidates: Iterable[str], proc: str = _PROC) -> None:
        self._proc = proc
        self._names = {os.path.basename(path) for path in candidates}
        self._locks: dict[tuple[int, int, int], int] | None = _locks(proc)
        self._writers: dict[str, int] | None = None

    def writer(self, path: str, seen: os.stat_result) -> str | None:
        """What shows that somebody writes this log, in a few words; None when nothing does."""
        if self._locks is None:
            return _probe(path)
        device = seen.st_dev
        pid = self._locks.get((os.major(device), os.minor(device), seen.st_ino))
        if pid is not None:
            return f"locked by pid {pid}" if pid > 0 else "locked by a process out of sight"
        if self._writers is None:
            self._writers = _open_for_writing(self._proc, self._names)
        pid = self._writers.get(os.path.realpath(path)) if self._writers else None
        return None if pid is None else f"open for writing in pid {pid}"


def _locks(proc: str) -> dict[tuple[int, int, int], int] | None:
    """Holders of write locks by (major, minor, inode); None where the system does not tell.

    A line reads ``1: FLOCK ADVISORY WRITE 815 fe:00:1234 0 EOF``, device numbers in hex.
    """
    try:
        with open(f"{proc}/locks", encoding="ascii", errors="replace") as file:
            lines = file.read().splitlines()
    except OSError:
        return None
    held = {}
    for line in lines:
        words = line.split()
        if len(words) < 8 or words[1] == "->" or words[3] != "WRITE":
            continue
        try:
            major, minor, inode = words[5].split(":")
            held[int(major, 16), int(minor, 16), int(inode)] = int(words[4])
        except ValueError:
            continue
    return held


def _open_for_writing(proc: str, names: set[str]) -> dict[str, int]:
    """Files of these names that a process of this user has open for writing, with its pid."""
    found: dict[str, int] = {}
    for pid in _processes(proc):
        folder = f"{proc}/{pid}/fd"
        try:
            descriptors = os.listdir(folder)
        except OSError:
            continue  # another user's, or gone
        for number in descriptors:
            try:
                target = os.readlink(f"{folder}/{number}")
            except OSError:
                continue
            if target[target.rfind("/") + 1 :] in names and _writes(f"{proc}/{pid}/fdinfo/{number}"):
                found[target] = int(pid)
    return found


def _processes(proc: str) -> list[str]:
    try:
        return [name for name in os.listdir(proc) if name.isdigit()]
    except OSError:
        return []


def _writes(path: str) -> bool:
    """Do the flags of an open descriptor (octal, in its fdinfo) allow writing?"""
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith("flags:"):
                    return int(line.split()[1], 8) & os.O_ACCMODE != os.O_RDONLY
    except (OSError, ValueError, IndexError):
        pass
    return False


def _probe(path: str) -> str | None:
    """Where the system names no holders: a shared lock, given back at once, tells of another's."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        fcntl.flock(fd, fcntl.LOCK_UN)
    except BlockingIOError:
        return "locked by its writer"
    except OSError:
        return None
    finally:
        os.close(fd)
    return None
