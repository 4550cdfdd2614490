"""What other systems tell of processes, through ps(1): best effort, and untested on them.

There is no sub-reaper here, so a process whose parents have ended is nobody's: it is found by its
group, or by the marker in its environment where ps shows that (`ps -E`, a person's own processes).
There are no pidfds either: between a look and a signal a number could change hands.
"""

from __future__ import annotations

REAPS = False
"""Orphans go to init: ECHILD says nothing about them."""


def become_reaper() -> None:
    """There is no such thing here."""


def die_with_parent(number: int = 9) -> None:
    """There is no such thing here; the end of the control socket does it."""
    del number


def _ps(*arguments: str) -> list[str]:
    import subprocess

    done = subprocess.run(
        ["ps", *arguments], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    return done.stdout.decode(errors="replace").splitlines()


def _field(pid: int, name: str) -> str:
    return "".join(_ps("-o", f"{name}=", "-p", str(pid))[:1]).strip()


def _number(pid: int, name: str) -> int:
    found = _field(pid, name)
    return int(found) if found.isdigit() else 0


def started(pid: int) -> str:
    """When a process began, to the second; "" when there is none."""
    return _field(pid, "lstart")


def space() -> str:
    """What numbers of processes mean something in: not told here."""
    return ""


def dead(pid: int) -> bool:
    """Has it ended, though it is not reaped?"""
    return _field(pid, "stat").startswith("Z")


def busy(pid: int) -> bool:
    """Does it have a processor, or wait for one?"""
    return _field(pid, "stat").startswith("R")


def parent(pid: int) -> int:
    """Who would wait for it; 0 when there is no such process."""
    return _number(pid, "ppid")


def group(pid: int) -> int:
    """Its process group; 0 when there is no such process."""
    return _number(pid, "pgid")


def foreground(pid: int) -> int:
    """The group in the foreground of its terminal; 0 without one."""
    return _number(pid, "tpgid")


def children(pid: int) -> list[int]:
    """Who has it for a parent."""
    pairs = (line.split() for line in _ps("-axo", "pid=,ppid="))
    return [int(pair[0]) for pair in pairs if len(pair) == 2 and pair[1] == str(pid)]


def everyone() -> list[int]:
    """All processes that can be seen."""
    return [int(line) for line in _ps("-axo", "pid=") if line.strip().isdigit()]


def carries(pid: int, marker: str) -> bool:
    """Is `marker` ("NAME=VALUE") in the environment that a process was started with?"""
    return any(marker in line.split() for line in _ps("-Eww", "-o", "command=", "-p", str(pid)))


def dead_child(leader: int) -> int:
    """The leader when it has ended and is not reaped, else 0: there are no other children."""
    return leader if dead(leader) else 0
