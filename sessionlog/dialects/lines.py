"""A stream's bytes to lines of bounded length. Sans-io.

Lines end at LF, with or without CR. A byte order mark is left out; a stream that begins with one of
UTF-16 is read as that. A line longer than the limit is cut there, and the rest of it is counted,
not kept: a program that prints a gigabyte without a line feed takes no more memory than the limit.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import NamedTuple

_UTF8 = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


class Line(NamedTuple):
    """A line of the stream."""

    data: bytes
    """Without its end."""
    lost: int = 0
    """Bytes behind the limit, which were not kept."""


class Lines:
    """Chunks in, lines out."""

    def __init__(self, longest: int) -> None:
        self.longest = longest
        """Bytes that are kept of a line."""
        self._start: bytes | None = b""
        """The first bytes, until they tell the encoding."""
        self._decoder: codecs.IncrementalDecoder | None = None
        self._pieces: list[bytes] = []
        self._kept = 0
        self._lost = 0

    def feed(self, data: bytes) -> Iterator[Line]:
        """Give each line that this chunk ends. O(bytes)."""
        if self._start is not None:
            data = self._marked(self._start + data)
        if self._decoder is not None:
            data = self._decoder.decode(data).encode("utf-8", "replace")
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            if self._kept or end - start > self.longest:
                self._keep(data[start:end])
                yield self._line()
            else:
                yield Line(data[start:end].removesuffix(b"\r"))
            start = end + 1
        self._keep(data[start:])

    def rest(self) -> Line | None:
        """What stands behind the last line feed; None for nothing."""
        if self._start:
            self._keep(self._start)
        return self._line() if self._kept else None

    def _marked(self, data: bytes) -> bytes:
        """The bytes without a byte order mark; b"" while it may yet become one."""
        if len(data) < 3 and any(mark.startswith(data) for mark in (_UTF8, *_UTF16)):
            self._start = data
            if data not in _UTF16:
                return b""
        self._start = None
        if data.startswith(_UTF16):
            self._decoder = codecs.getincrementaldecoder("utf-16")("replace")
            return data
        return data.removeprefix(_UTF8)

    def _keep(self, piece: bytes) -> None:
        room = self.longest - self._kept
        if len(piece) > room:
            self._lost += len(piece) - room
            piece = piece[:room]
        if piece:
            self._pieces.append(piece)
            self._kept += len(piece)

    def _line(self) -> Line:
        data = b"".join(self._pieces).removesuffix(b"\r")
        line = Line(data, self._lost)
        self._pieces.clear()
        self._kept = self._lost = 0
        return line
