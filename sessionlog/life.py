"""Evidence that a log's writer lives, found without touching the log.

Looking never takes the writer's lock: on Linux /proc/locks names its holder, and a process of
ours that has the file open for writing stands in /proc/PID/fd. Elsewhere a shared lock is tried
and given back at once. A run that was handed over and whose supervisor lives is evidence, too: its
agent may not have opened the log yet. Age is none: a call may run for hours without writing a byte.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable

from sessionlog.paths import runs_folder

_PROC = "/proc"
_File = tuple[int, int]
"""Device and inode."""


class Witness:
    """Looks once, and answers for many logs.

    The processes are looked through only when a question needs it, once for all `candidates`.
    """

    def __init__(self, candidates: Iterable[str], proc: str = _PROC) -> None:
        self._proc = proc
        self._candidates = list(candidates)
        self._locks = _locks(proc)
        self._writers: dict[_File, int] | None = None
        self._runs: dict[str, str] | None = None

    def writer(self, path: str, seen: os.stat_result) -> str | None:
        """What shows that somebody writes this log, in a few words; None when nothing does."""
        if self._locks is None:
            return _probe(path) or self.handed_over(path)
        pid = self._locks.get(_lock_key(seen))
        if pid is not None:
            return _held_by(pid)
        if self._writers is None:
            self._writers = _open_for_writing(self._proc, _names(self._candidates))
        pid = self._writers.get((seen.st_dev, seen.st_ino))
        return self.handed_over(path) if pid is None else f"open for writing in pid {pid}"

    def handed_over(self, path: str) -> str | None:
        """What shows that a run of ours goes on with this log; None when none does."""
        if self._runs is None:
            self._runs = _runs() if os.path.isdir(runs_folder()) else {}
        return self._runs.get(os.path.abspath(path)) if self._runs else None


def lock_holder(seen: os.stat_result, proc: str = _PROC) -> str | None:
    """Who holds the write lock of a file, in a few words; None when the system does not tell."""
    pid = (_locks(proc) or {}).get(_lock_key(seen))
    return None if pid is None else _held_by(pid)


def _runs() -> dict[str, str]:
    """What runs of ours, by the log that it was given."""
    from sessionlog.supervise import runs  # most people never handed anything over

    return {run.log: f"handed over to {run.agent}, pid {run.supervisor.pid}" for run in runs.live()}


def _held_by(pid: int) -> str:
    return f"locked by pid {pid}" if pid > 0 else "locked by a process out of sight"


def _lock_key(seen: os.stat_result) -> tuple[int, int, int]:
    return os.major(seen.st_dev), os.minor(seen.st_dev), seen.st_ino


def _locks(proc: str) -> dict[tuple[int, int, int], int] | None:
    """Holders of write locks by (major, minor, inode); None where the system does not tell.

    A line reads ``1: FLOCK ADVISORY WRITE 815 fe:00:1234 0 EOF``, device numbers in hex; one that
    waits for a lock has ``->`` for a second word.
    """
    try:
        with open(f"{proc}/locks", encoding="ascii", errors="replace") as file:
            lines = file.read().splitlines()
    except OSError:
        return None
    held = {}
    for line in lines:
        words = line.split()
        if len(words) < 8 or words[3] != "WRITE":
            continue
        try:
            major, minor, inode = words[5].split(":")
            held[int(major, 16), int(minor, 16), int(inode)] = int(words[4])
        except ValueError:
            continue
    return held


def _names(paths: Iterable[str]) -> set[str]:
    """What the files are called; a link's file under the name it has where it stands."""
    names = set()
    for path in paths:
        names.add(path.rpartition("/")[2])
        if os.path.islink(path):
            names.add(os.path.basename(os.path.realpath(path)))
    return names


def _open_for_writing(proc: str, names: set[str]) -> dict[_File, int]:
    """Files of these names that a process of this user has open for writing, with its pid.

    Told apart by device and inode: a file replaced under its writer's hands is not that writer's.
    """
    found: dict[_File, int] = {}
    for pid in _processes(proc) if names else ():
        folder = f"{proc}/{pid}/fd"
        try:
            descriptors = os.listdir(folder)
        except OSError:
            continue  # another user's, or gone
        for number in descriptors:
            try:
                target = os.readlink(f"{folder}/{number}")
                if target.rpartition("/")[2] in names and _writes(f"{proc}/{pid}/fdinfo/{number}"):
                    file = os.stat(f"{folder}/{number}")
                    found[file.st_dev, file.st_ino] = int(pid)
            except OSError:
                continue
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
    except BlockingIOError:
        return "locked by its writer"
    except OSError:
        return None
    finally:
        os.close(fd)  # and with it the lock
    return None
