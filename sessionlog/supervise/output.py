"""What a command without a terminal prints: its last bytes, and the way to its recording where one
is asked for.

The recording is made by a process of its own (`tape`), which gets the bytes through a pipe: a line
may take seconds to be recorded, and a stop waits for none. The command prints no faster than they
are taken there.
"""

from __future__ import annotations

import json
import os
import select
import time
from typing import NamedTuple

from sessionlog.supervise.order import TAIL, Order

_CHUNK = 1 << 16
_PIECES = 64
"""What is still taken from a pipe after the end, in chunks: it holds less, and somebody who fills
it on is not waited for."""
RECORDING = 20.0
"""Seconds in which what was printed before the end has to be recorded."""
OUT, ERR, END = b"o", b"e", b"x"
"""What a piece is that goes to the recording: printed on standard output or error; the end."""


class Tape(NamedTuple):
    """The supervisor's ends of the pipes to who records; -1 where nobody does."""

    to: int = -1
    told: int = -1


def piece(kind: bytes, data: bytes) -> bytes:
    """A piece as it goes through the pipe: kind, length in four bytes, data."""
    return kind + len(data).to_bytes(4, "big") + data


class Output:
    """The pipes of a command, read as it prints."""

    def __init__(self, order: Order, out: int, err: int, tape: Tape = Tape()) -> None:  # noqa: B008
        self.tail = b""
        self.problem = ""
        self.recorded = ""
        self._pipes = {fd for fd in (out, err) if fd >= 0}
        self._err = err
        self._order = order
        self._tape = tape
        self._waiting = b""
        """What the recording has not taken yet; the command waits meanwhile."""
        for fd in (*self._pipes, tape.to):
            if fd >= 0:
                os.set_blocking(fd, False)

    def wanted(self) -> dict[int, int]:
        """The descriptors to be polled, and for what."""
        if self._waiting:
            return {self._tape.to: select.POLLOUT}
        return dict.fromkeys(self._pipes, select.POLLIN)

    def pass_on(self, ready: set[int]) -> None:
        """Take what is there, once, and hand it on."""
        if self._waiting:
            self._give()
            return
        for fd in self._pipes & ready:
            if not self._waiting:
                self._read(fd)

    def close(self, how: str, code: int | None) -> None:
        """Take what is left in the pipes, close them whoever else holds them, and wait until all
        of it is recorded, though not for ever.

        `how`: "" (it ended by itself), "stopped" or "viewer gone".
        """
        until = time.monotonic() + RECORDING
        for fd in tuple(self._pipes):
            for _ in range(_PIECES):
                if not (self._given(until) and self._read(fd)):
                    break
            if fd in self._pipes:
                self._pipes.discard(fd)
                os.close(fd)
        if self._given(until) and self._tape.to >= 0:
            self._waiting = piece(END, json.dumps([how, code]).encode())
            self._given(until)
        self._heard(until)

    def _read(self, fd: int) -> bool:
        """Take what a pipe holds; False when it has nothing now or is at its end."""
        try:
            data = os.read(fd, _CHUNK)
        except BlockingIOError:
            return False
        if not data:
            self._pipes.discard(fd)
            os.close(fd)
            return False
        self.tail = (self.tail + data)[-TAIL:]
        if self._tape.to >= 0:
            self._waiting = piece(ERR if fd == self._err else OUT, data)
            self._give()
        return True

    def _give(self) -> None:
        """Write as much as is taken."""
        try:
            self._waiting = self._waiting[os.write(self._tape.to, self._waiting) :]
        except BlockingIOError:
            pass
        except OSError:  # it has ended, and its last word says why, if it had one
            self._let_go()

    def _given(self, until: float) -> bool:
        """Wait until the recording has taken all; False when it does not."""
        while self._waiting:
            poll = select.poll()
            poll.register(self._tape.to, select.POLLOUT)
            if not poll.poll(max(until - time.monotonic(), 0) * 1000):
                return False
            self._give()
        return True

    def _let_go(self) -> None:
        os.close(self._tape.to)
        self._tape, self._waiting = self._tape._replace(to=-1), b""

    def _heard(self, until: float) -> None:
        """What came of the recording."""
        if self._tape.told < 0:
            return
        if self._tape.to >= 0:
            self._let_go()
        said = b""
        poll = select.poll()
        poll.register(self._tape.told, select.POLLIN)
        while poll.poll(max(until - time.monotonic(), 0) * 1000):
            part = os.read(self._tape.told, 4096)
            if not part:
                break
            said += part
        else:
            said = (
                said or json.dumps([self._order.log, "the last of it is still recorded"]).encode()
            )
        os.close(self._tape.told)
        self._tape = Tape()
        try:
            self.recorded, self.problem = json.loads(said)
        except ValueError:
            self.problem = "not recorded to its end: the process that recorded was killed"
