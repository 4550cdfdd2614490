"""A log read from one place to another in stretches of whole lines, fast and in bounded memory.

One buffer is used again and again: what is taken from a region has to be copied out before the
next one is asked for. A line longer than `LONG` is given as its head.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import NamedTuple

from sessionlog.framing import Line
from sessionlog.window import HEAD, LONG, Strip

BLOCK = 1 << 20
"""Bytes that are read at once."""


class Region(NamedTuple):
    """Whole lines that stand side by side."""

    offset: int
    """Byte offset of the first line."""
    data: bytearray
    """The bytes, and more behind them that do not count."""
    end: int
    """How many bytes count. The last has its LF, but at the end of a file that has none."""
    long: int = 0
    """Bytes of the one line, its LF not counted, when only its head is here; else 0."""

    def line(self, start: int, end: int) -> Line:
        """The line from `start` to `end` in the data, its number unknown."""
        data = bytes(memoryview(self.data)[start:end])
        return Line(0, self.offset + start, data, end < self.end or bool(self.long))


def regions(strip: Strip, start: int, stop: int) -> Iterator[Region]:
    """The lines that begin in [start, stop); `start` is where a line begins."""
    file = io.FileIO(strip.fd, closefd=False)
    file.seek(start)
    data = bytearray(min(2 * BLOCK, max(strip.size - start, 1)))
    at, kept = start, 0
    while at < stop:
        room = min(BLOCK, strip.size - at - kept, len(data) - kept)
        got = file.readinto(memoryview(data)[kept : kept + room]) if room > 0 else 0
        have = kept + (got or 0)
        if not got:
            if have:
                yield Region(at, data, have)
            return
        if at + have >= stop:
            end = data.find(b"\n", max(stop - 1 - at, 0), have) + 1
            if end:
                yield Region(at, data, end)
                return
            end = data.rfind(b"\n", 0, have) + 1
        else:
            end = data.rfind(b"\n", kept, have) + 1
        if end:
            yield Region(at, data, end)
            kept = have - end
            data[:kept] = data[end:have]
            at += end
        elif have > LONG:
            ends = strip.line_end(at + have)
            yield Region(at, data, HEAD, ends - at)
            at, kept = ends + 1, 0
            file.seek(at)
        else:
            kept = have
            if len(data) < have + BLOCK:
                data.extend(bytes(max(have, BLOCK)))


def line_from(strip: Strip, offset: int) -> int:
    """Where the first line begins that does so at `offset` or behind it."""
    return strip.line_end(offset - 1) + 1 if offset else 0


def line_start(strip: Strip, offset: int) -> int:
    """Where the line begins that holds a byte. Reads the line, however long, in blocks."""
    step = 4096
    while offset > 0:
        low = max(offset - step, 0)
        found = strip.read(low, offset - low).rfind(b"\n")
        if found >= 0:
            return low + found + 1
        offset, step = low, BLOCK
    return 0
