"""Trees of processes that are hard to kill, and whether anything is left of them.

Run as a program this file becomes such a tree: ``python trees.py SHAPE DEPTH FIFO``. Each of its
processes says its number into the FIFO and keeps it open, so the FIFO's end is the end of the last
of them, whatever anybody else says. It imports nothing that takes time.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

SHAPES = {
    "deep": 5,
    "deaf": 4,
    "sessions": 5,
    "orphans": 4,
    "terminal": 3,
    "bomb": 40,
    "runner": 40,
}
"""Each with the number of processes that have to be there before it is stopped."""
_MOST = 400


def _nothing() -> None:
    pass


def _deaf() -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGTTOU):
        signal.signal(number, signal.SIG_IGN)


def _away() -> None:
    """A session of its own; the first one is a leader already."""
    _deaf()
    if os.getpid() != os.getsid(0):
        os.setsid()


def _background() -> None:
    """A group of its own that holds the terminal."""
    _deaf()
    if os.getpid() != os.getsid(0):
        os.setpgid(0, 0)
    os.open("/dev/tty", os.O_RDWR)


def _say(fifo: int) -> None:
    os.write(fifo, b"%d\n" % os.getpid())


def _for_ever() -> None:
    while True:
        signal.pause()


def _chain(each: Callable[[], None], depth: int, fifo: int) -> None:
    """Each makes the next, and waits."""
    for _ in range(depth - 1):
        each()
        _say(fifo)
        if os.fork():
            _for_ever()
    each()
    _say(fifo)
    _for_ever()


def _orphans(depth: int, fifo: int) -> None:
    """Each makes the next by a double fork, so that its parent is gone."""
    for _ in range(depth - 1):
        _away()
        _say(fifo)
        if os.fork() == 0:
            if os.fork():
                os._exit(0)
        else:
            _for_ever()
    _say(fifo)
    _for_ever()


def _bomb(fifo: int) -> None:
    """Makes another every few milliseconds; every twentieth goes on with that in its place."""
    _say(fifo)
    for count in range(1, _MOST):
        time.sleep(0.003)
        if os.fork() == 0:
            _away()
            _say(fifo)
            if count % 20:
                _for_ever()
        elif count % 20 == 0:
            _for_ever()
    _for_ever()


def _runner(fifo: int) -> None:
    """Makes another and ends, again and again: who looks for it finds a number that is gone."""
    _say(fifo)
    if os.fork():
        _for_ever()
    os.set_blocking(fifo, False)
    while True:
        _away()
        with suppress(BlockingIOError):
            _say(fifo)
        if os.fork():
            os._exit(0)


def become(shape: str, depth: int, fifo: int) -> None:
    """Be the tree."""
    kinds = {"deep": _nothing, "deaf": _deaf, "sessions": _away, "terminal": _background}
    if shape in kinds:
        _chain(kinds[shape], depth, fifo)
    elif shape == "orphans":
        _orphans(depth, fifo)
    elif shape == "bomb":
        _bomb(fifo)
    else:
        _runner(fifo)


def command(shape: str, fifo: Path) -> list[str]:
    """What makes such a tree."""
    return [sys.executable, "-I", "-S", __file__, shape, str(SHAPES[shape]), str(fifo)]


class Fifo:
    """The other end of the FIFO."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.pids: set[int] = set()
        os.mkfifo(path)
        self._fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self._rest = b""

    def told(self, count: int, seconds: float = 20) -> None:
        """Wait until so many processes are there."""
        until = time.monotonic() + seconds
        while len(self.pids) < count:
            assert time.monotonic() < until, f"{len(self.pids)} of {count} came"
            select.select([self._fd], [], [], 1)
            self._read()

    def ended(self, seconds: float = 20) -> bool:
        """Wait until nobody holds it; does not come when a process of the tree lives."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            select.select([self._fd], [], [], 0.5)
            if not self._read():
                return True
        return False

    def left(self) -> list[str]:
        """What is left of those that were told: living ones, and zombies."""
        found = []
        for pid in self.pids:
            try:
                words = Path(f"/proc/{pid}/cmdline").read_bytes()
                state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if str(self.path).encode() in words:
                found.append(f"{pid} lives")
            elif state == "Z":
                found.append(f"{pid} is a zombie")
        return found

    def close(self) -> None:
        os.close(self._fd)
        self.path.unlink()

    def _read(self) -> bool:
        """Take what is there; False at its end."""
        try:
            data = os.read(self._fd, 1 << 16)
        except BlockingIOError:
            return True
        *lines, self._rest = (self._rest + data).split(b"\n")
        self.pids |= {int(line) for line in lines}
        return bool(data)


if __name__ == "__main__":
    become(sys.argv[1], int(sys.argv[2]), os.open(sys.argv[3], os.O_WRONLY))
