"""What shows that a file is still the one that was read, and only grew.

A log may be replaced, cut short and grown again past its old size, or written over, all between
two looks. Size and inode do not tell; so its first bytes and the last ones before the known end
are compared at every look, at a cost that does not depend on its size, and checksums of what was
read find a rewrite in the middle when the time of change says that there was one.

What cannot be seen: a rewrite in the middle, further than TAIL from the known end, when the file
also grew before the next look, or when its time of change was set back or is too coarse to tell.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import NamedTuple
from zlib import crc32

HEAD = 256
"""First bytes that are compared."""
TAIL = 64 * 1024
"""Bytes before the known end that are compared: a log that is not longer is compared whole."""
BLOCK = 64 * 1024
"""Bytes under one checksum."""

Read = Callable[[int, int], bytes]
"""(offset, length) -> the bytes that stand there now, fewer at the end of the file."""


class Seal(NamedTuple):
    """Some bytes of a file, up to where it is known."""

    head: bytes = b""
    tail: bytes = b""
    """Those right before `end`."""
    end: int = 0

    def grown(self, data: bytes) -> Seal:
        """The seal when `data` was read behind its end."""
        head = self.head if len(self.head) == HEAD else (self.head + data[:HEAD])[:HEAD]
        tail = data[-TAIL:] if len(data) >= TAIL else (self.tail + data)[-TAIL:]
        return Seal(head, tail, self.end + len(data))

    def holds(self, read: Read) -> bool:
        """Do the bytes still stand there?

        What was read since the seal was made is known to follow them only when this is asked
        after the reading: a change in between would else go unnoticed.
        """
        return (
            read(self.end - len(self.tail), len(self.tail)) == self.tail
            and read(0, len(self.head)) == self.head
        )


def sealed(read: Read, size: int) -> Seal:
    """The seal of a file of `size` bytes as it stands."""
    start = max(size - TAIL, 0)
    tail = read(start, size - start)
    return Seal(read(0, min(HEAD, size)), tail, start + len(tail))


class Sums:
    """Checksums of the bytes that were read, one a block: 64 KB for a log of 1 GB."""

    def __init__(self, start: int = 0) -> None:
        self._start = start
        self._full = array("I")
        self._last = 0
        """Of the block that is not full yet."""
        self.end = start

    @property
    def blocks(self) -> int:
        """How many there are, the last maybe not full."""
        return -(-(self.end - self._start) // BLOCK)

    def add(self, data: bytes) -> None:
        """These bytes were read next."""
        view = memoryview(data)
        while view:
            room = BLOCK - (self.end - self._start) % BLOCK
            piece, view = view[:room], view[room:]
            self._last = crc32(piece, self._last)
            self.end += len(piece)
            if len(piece) == room:
                self._full.append(self._last)
                self._last = 0

    def match(self, read: Read, first: int, count: int) -> bool:
        """Do `count` blocks from `first` on still hold what was read?"""
        for number in range(first, min(first + count, self.blocks)):
            at = self._start + number * BLOCK
            data = read(at, min(BLOCK, self.end - at))
            full = number < len(self._full)
            if crc32(data) != (self._full[number] if full else self._last):
                return False
        return True
