"""One job over many files on all processors, for commands that then end.

Plain fork and a pipe a child: a command has no threads, and starting a pool would cost more than
a listing of ten thousand logs takes. Where forking is not to be had, or a child comes to an
unexpected end, the work is done here instead, so that nothing is lost.
"""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Callable, Sequence
from typing import TypeVar

Result = TypeVar("Result")

FEWEST = 1000
"""Items that make a process of their own worth its start."""
MOST = 8


def spread(
    items: Sequence[str],
    work: Callable[[Sequence[str]], list[Result]],
    processes: int | None = None,
) -> list[Result]:
    """`work` over slices of the items, in order. Results are what `marshal` can carry:
    tuples, strings, numbers, None.
    """
    count = processes or min(os.cpu_count() or 1, MOST, len(items) // FEWEST)
    if count < 2 or not hasattr(os, "fork"):
        return work(items)
    size = -(-len(items) // count)
    parts = [items[start : start + size] for start in range(0, len(items), size)]
    children = [_start(part, work) for part in parts[1:]]
    results = work(parts[0])
    for part, child in zip(parts[1:], children, strict=True):
        found: list[Result] | None = _collect(*child)
        results += work(part) if found is None else found
    return results


def _start(part: Sequence[str], work: Callable[[Sequence[str]], list[Result]]) -> tuple[int, int]:
    """Fork a child that works on a part; gives its pid and the pipe that its results come by."""
    reading, writing = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        os.close(writing)
        return pid, reading
    code = 1
    try:
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(marshal.dumps(work(part)))
        code = 0
    finally:
        os._exit(code)  # never back into the parent's code, whatever happened


def _collect(pid: int, reading: int) -> list[Result] | None:
    """A child's results; None when it did not get to its end."""
    with os.fdopen(reading, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(pid, 0)
    if status:
        return None
    found: list[Result] = marshal.loads(data)
    return found
