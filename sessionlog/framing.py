"""Bytes to lines, without I/O.

Lines end at LF and nowhere else: U+2028, U+0085, VT and FF are ordinary text inside JSON strings,
and a reader that splits at them tears healthy records apart. Every line knows its byte offset, so
a body can be fetched again when it is shown. No limit on the length of a line, and nothing here
looks at a byte twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class Line(NamedTuple):
    """One line of a log, without its line feed."""

    number: int
    """From 1; 0 when not known (a window in the middle of a big log)."""
    offset: int
    """Byte offset of its first byte in the file."""
    data: bytes
    ended: bool
    """False: no LF behind it, so it may still be in writing, or torn."""


def split(data: bytes, offset: int = 0, number: int = 1, *, empty: bool = True) -> list[Line]:
    """The lines of a piece of a file that starts at `offset`, the last maybe without its LF.

    `number` is that of the first line; 0 leaves all numbers unknown. Lines without a byte come
    only if `empty`: a file of nothing else has a million of them a megabyte.
    """
    lines = []
    pieces = data.split(b"\n")
    last = len(pieces) - 1
    for i, piece in enumerate(pieces):
        if piece or (empty and i < last):
            lines.append(Line(number and number + i, offset, piece, i < last))
        offset += len(piece) + 1
    return lines


def starts_of(data: bytes, offset: int = 0) -> tuple[int, ...]:
    """Where the lines of a piece of a file begin that starts at `offset`."""
    starts = []
    pieces = data.split(b"\n")
    if not pieces[-1]:
        pieces.pop()
    for piece in pieces:
        starts.append(offset)
        offset += len(piece) + 1
    return tuple(starts)


class LineBuffer:
    """Chunks in, complete lines out; what follows the last LF is kept until its LF comes.

    ::

        for line in buffer.feed(chunk): ...
        torn = buffer.rest()
    """

    def __init__(self, offset: int = 0, number: int = 1) -> None:
        self._pieces: list[bytes] = []
        self._offset = offset
        self._number = number

    def feed(self, chunk: bytes) -> Iterator[Line]:
        """Give each line that this chunk completes. Runs in O(bytes), however long a line is."""
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            data = b"".join((*self._pieces, chunk[start:end]))
            self._pieces.clear()
            yield Line(self._number, self._offset, data, True)
            self._offset += len(data) + 1
            self._number += 1
            start = end + 1
        if start < len(chunk):
            self._pieces.append(chunk[start:])

    def rest(self) -> Line | None:
        """What stands after the last LF: half a line still in writing, or a torn tail."""
        data = b"".join(self._pieces)
        return Line(self._number, self._offset, data, False) if data else None
