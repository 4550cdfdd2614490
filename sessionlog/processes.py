"""What Linux tells of a process of this user (proc(5)). All of it may be out of date by the time
it is used; elsewhere there is nothing to be told."""

from __future__ import annotations

import os
from typing import NamedTuple

PROC = "/proc"


class Process(NamedTuple):
    """One that lives."""

    pid: int
    parent: int
    ticks: int
    """When it began, in clock ticks since the system did."""
    began: float
    """POSIX seconds, up to a second early: the system's own start is told in whole ones."""
    argv: tuple[str, ...]
    """As it stands now: a program may give itself a title."""


def those_of(programs: frozenset[str], proc: str = PROC) -> list[Process]:
    """The processes of this user whose executable is a file of one of these names."""
    try:
        pids = [int(name) for name in os.listdir(proc) if name.isdigit()]
    except OSError:
        return []
    found = (_process(pid, proc) for pid in pids if _runs(pid, programs, proc))
    return [process for process in found if process is not None]


def began(pid: int, proc: str = PROC) -> float | None:
    """When a process started, in POSIX seconds; None when it is gone or only a zombie."""
    process = _process(pid, proc)
    return None if process is None else process.began


def ticks(pid: int, proc: str = PROC) -> int | None:
    """When a process started, in clock ticks since the system did; None when it is gone or only a
    zombie."""
    process = _process(pid, proc)
    return None if process is None else process.ticks


def folder_of(pid: int, proc: str = PROC) -> str | None:
    """The working directory of a process, links resolved; None when that cannot be seen."""
    try:
        return os.readlink(f"{proc}/{pid}/cwd")
    except OSError:
        return None


def environ_of(pid: int, proc: str = PROC) -> dict[str, str]:
    """The environment that a process was started with; empty when that cannot be seen."""
    pairs = (word.partition("=") for word in _words(f"{proc}/{pid}/environ"))
    return {name: value for name, _, value in pairs if name}


def _runs(pid: int, programs: frozenset[str], proc: str) -> bool:
    try:
        is_own = os.stat(f"{proc}/{pid}").st_uid == os.getuid()
        return is_own and os.path.basename(os.readlink(f"{proc}/{pid}/exe")) in programs
    except OSError:
        return False


def _process(pid: int, proc: str) -> Process | None:
    try:
        with open(f"{proc}/{pid}/stat", encoding="latin-1") as file:
            fields = file.read().rpartition(")")[2].split()  # the name before may hold anything
        with open(f"{proc}/stat", encoding="latin-1") as file:
            boot = next(float(line.split()[1]) for line in file if line.startswith("btime"))
        if fields[0] in "ZX":
            return None
        began_at = int(fields[19])  # the 22nd of the whole line
        start = boot + began_at / os.sysconf("SC_CLK_TCK")
        return Process(pid, int(fields[1]), began_at, start, _words(f"{proc}/{pid}/cmdline"))
    except (OSError, IndexError, ValueError, StopIteration):
        return None


def _words(path: str) -> tuple[str, ...]:
    """What a file holds, each with a NUL behind it; a title is followed by many."""
    try:
        with open(path, "rb") as file:
            return tuple(os.fsdecode(word) for word in file.read().split(b"\0") if word)
    except OSError:
        return ()
