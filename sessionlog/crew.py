"""Tasks done by several processes at once, their results in the order of the tasks, as they come.

For commands, which have no threads: plain fork, and a pipe a child. Each child takes every so
manieth task, and waits when its pipe is full, so nothing piles up. Where forking is not to be
had, or a child comes to an unexpected end, the tasks are done here, so that nothing is lost.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")

MOST = 8


def processes() -> int:
    """How many processes are worth having; 1 where there is no forking."""
    return min(os.cpu_count() or 1, MOST) if hasattr(os, "fork") else 1


def in_order(
    tasks: Sequence[Task], work: Callable[[Task], list[Result]], count: int | None = None
) -> Iterator[list[Result]]:
    """What `work` gives for each task. Results are what `marshal` can carry: plain tuples,
    strings, numbers, None. Closing the iterator ends the children."""
    count = min(count or processes(), len(tasks))
    if count < 2:
        yield from map(work, tasks)
        return
    children = [_start(tasks[first::count], work) for first in range(count)]
    try:
        for number, task in enumerate(tasks):
            _, pipe = children[number % count]
            found: list[Result] | None = _result(pipe)
            yield work(task) if found is None else found
    finally:
        for pid, pipe in children:
            pipe.close()
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _start(tasks: Sequence[Task], work: Callable[[Task], list[Result]]) -> tuple[int, BinaryIO]:
    """Fork a child that does these tasks; gives its pid and the pipe that its results come by."""
    reading, writing = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        os.close(writing)
        return pid, os.fdopen(reading, "rb")
    try:
        os.close(reading)
        with os.fdopen(writing, "wb") as pipe:
            for task in tasks:
                data = marshal.dumps(work(task))
                pipe.write(len(data).to_bytes(8, "big") + data)
                pipe.flush()
    finally:
        os._exit(0)  # never back into the parent's code, whatever happened


def _result(pipe: BinaryIO) -> list[Result] | None:
    """The next result of a child; None when it is not alive to give it."""
    head = pipe.read(8)
    size = int.from_bytes(head, "big")
    data = pipe.read(size) if len(head) == 8 else b""
    if not data or len(data) < size:
        return None
    found: list[Result] = marshal.loads(data)
    return found
