"""Processes that are forked for a part of the work, and end when the one that forked them does.

For commands, which have no threads: plain fork, and a pipe a child for what it finds. A child
whose parent was killed would work on for nobody, and wait for ever where a pipe is full whose
other end it holds itself: so it holds no end but its own, and a thread of it sees the parent go.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any, BinaryIO, NamedTuple

_MOST = 8


class Child(NamedTuple):
    """A process of ours."""

    pid: int
    pipe: BinaryIO
    """What it writes, to be read."""


class Children:
    """The children of one job. Leaving the context kills those that have not ended."""

    def __init__(self) -> None:
        self._children: list[Child] = []
        self._life, self._held = os.pipe()
        """Nothing is ever written to it: it ends with the last process that holds its end."""

    def __enter__(self) -> Children:
        return self

    def __exit__(self, *error: object) -> None:
        os.close(self._held)
        os.close(self._life)
        for pid, pipe in self._children:
            pipe.close()
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)

    def start(self, work: Callable[[BinaryIO], object]) -> Child:
        """Fork a child that does this with the pipe that it is to write to."""
        reading, writing = os.pipe()
        sys.stdout.flush()
        pid = os.fork()
        if pid:
            os.close(writing)
            child = Child(pid, os.fdopen(reading, "rb"))
            self._children.append(child)
            return child
        try:
            os.close(reading)
            os.close(self._held)
            for sibling in self._children:
                sibling.pipe.close()
            threading.Thread(target=self._end_with_parent, daemon=True).start()
            with os.fdopen(writing, "wb") as pipe:
                work(pipe)
        finally:
            os._exit(0)  # never back into the parent's code, whatever happened

    def _end_with_parent(self) -> None:
        os.read(self._life, 1)
        os._exit(1)


def give(pipe: BinaryIO, results: list[Any]) -> None:
    """Write results (what `marshal` can carry: plain tuples, strings, numbers, None)."""
    data = marshal.dumps(results)
    pipe.write(len(data).to_bytes(8, "big") + data)
    pipe.flush()


def take(pipe: BinaryIO) -> list[Any] | None:
    """The next results of a child; None when it is not alive to give them."""
    head = pipe.read(8)
    size = int.from_bytes(head, "big")
    data = pipe.read(size) if len(head) == 8 else b""
    if not data or len(data) < size:
        return None
    found: list[Any] = marshal.loads(data)
    return found


def processes() -> int:
    """How many processes are worth having; 1 where there is no forking."""
    return min(os.cpu_count() or 1, _MOST) if hasattr(os, "fork") else 1
