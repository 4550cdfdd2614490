"""A log seen through a window: any part of a file of any size, without reading the rest.

The file is cut into chunks of 64 KB; chunk k holds the lines that *start* in
[k*64 KB, (k+1)*64 KB). No index is needed to find them, so head, tail and every place between
are there at once, and a file that grows only renews its last chunks. Bytes come by pread, never
by a memory map: a log that is cut short under a map kills the process.

`Strip` knows bytes and lines, `Log` adds the format, decoded chunks and a memory of bounded size.
Content never raises; a file that cannot be opened raises `Unreadable`.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple
from zlib import crc32

from sessionlog import codec
from sessionlog.errors import Unreadable
from sessionlog.formats.base import Format, other_record
from sessionlog.framing import Line, split, starts_of
from sessionlog.logfile import open_log, stat_log
from sessionlog.records import Damage, Message, Record, Span, as_own
from sessionlog.seal import sealed

CHUNK = 64 * 1024
"""Bytes of file in whose range the lines of one chunk start."""
LONG = 8 << 20
"""A line longer than this is not decoded whole for a row; its head is, and `raw` gives the rest."""
HEAD = 64 * 1024
"""Bytes of a long line that are decoded."""
FAR = 256 << 20
"""How far the end of a line is looked for; a longer line is one of unknown length."""
_AHEAD = 16
"""Chunks in which the first message is looked for, to tell a subagent's log from others."""
_BLOCK = 1 << 20


class Stretch(NamedTuple):
    """The bytes of the lines that start in one chunk; b"" when none does."""

    offset: int
    """Where its first line begins."""
    data: bytes
    """Without the last line feed when `cut`, else as it stands in the file."""
    end: int
    """Behind the last line's bytes, its LF not counted."""
    cut: int = 0
    """Bytes of the last line that are in `data` when it is a long one, else 0."""


class Lines(NamedTuple):
    """The lines that start in one chunk."""

    lines: list[Line]
    """Those that hold a byte."""
    starts: tuple[int, ...]
    """Byte offset of each line."""
    end: int
    """Behind the last line's bytes, its LF not counted; further than its data when `cut`."""
    cut: bool
    """Is the last line a long one, of which only the head is here?"""
    data: bytes
    """The bytes of the lines in one piece."""


class Strip:
    """The bytes of one open file as lines in chunks. Owns its descriptor."""

    def __init__(self, fd: int, read: Callable[[int, int, int], bytes] = os.pread) -> None:
        """`read` is os.pread, or what stands in for it."""
        self.fd = fd
        self.size = os.fstat(fd).st_size
        self._read = read

    @property
    def chunks(self) -> int:
        """Number of chunks; 0 for an empty file."""
        return -(-self.size // CHUNK)

    def twin(self) -> Strip:
        """The same file, as long as it is now, for another thread to read and close."""
        twin = Strip(os.dup(self.fd), self._read)
        twin.size = min(twin.size, self.size)
        return twin

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def read(self, offset: int, length: int) -> bytes:
        """Bytes from `offset`, never past `size` (fewer when the file was cut short)."""
        length = min(length, self.size - offset)
        if length <= 0:
            return b""
        data = self._read(self.fd, length, offset)
        while len(data) < length:
            more = self._read(self.fd, length - len(data), offset + len(data))
            if not more:
                break
            data += more
        return data

    def block(self, number: int) -> bytes:
        """The bytes in whose range chunk `number` starts its lines, for a raw search."""
        return self.read(number * CHUNK, CHUNK)

    def stretch(self, number: int) -> Stretch:
        """The bytes of the lines that start in chunk `number`.

        Reads the chunk and the rest of its last line; of one longer than LONG only HEAD bytes.
        """
        base = number * CHUNK
        before = 1 if base else 0
        data = self.read(base - before, CHUNK + before)
        start = data.find(b"\n") + 1 if before else 0
        if (before and not start) or start >= len(data):
            return Stretch(base, b"", min(base + CHUNK, self.size))
        offset = base - before + start
        behind = base - before + len(data)
        if data.endswith(b"\n"):
            return Stretch(offset, data[start:], behind - 1)
        last = max(data.rfind(b"\n") + 1, start)
        end = self.line_end(behind)
        begins = base - before + last
        if end - begins > LONG:
            return Stretch(offset, data[start:last] + self.read(begins, HEAD), end, HEAD)
        return Stretch(offset, data[start:] + self.read(behind, end - behind + 1), end)

    def lines(self, number: int) -> Lines:
        """The lines that start in chunk `number`; the last may be the head of a long one."""
        offset, data, end, cut = self.stretch(number)
        lines = split(data, offset, 0, empty=False)
        if cut:  # the head may hold no LF, and the line has one
            lines[-1] = lines[-1]._replace(ended=end < self.size)
        return Lines(lines, starts_of(data, offset), end, bool(cut), data)

    def line_end(self, offset: int) -> int:
        """Offset of the first LF at or after `offset`, or where the looking ended.

        In blocks, so that no line is ever held whole for this; looks FAR bytes and no further.
        """
        block, stop = 4096, min(self.size, offset + FAR)
        while offset < stop:
            data = self.read(offset, block)
            found = data.find(b"\n")
            if found >= 0:
                return offset + found
            if not data:
                break
            offset += len(data)
            block = _BLOCK
        return min(offset, self.size)


class Chunk(NamedTuple):
    """The lines that start in one chunk, decoded."""

    number: int
    starts: tuple[int, ...]
    """Byte offset of each of its lines."""
    end: int
    """Behind its last line, LF included; where the chunk ends when no line starts in it."""
    records: tuple[Record, ...]
    damages: tuple[Damage, ...]

    @property
    def start(self) -> int:
        return self.starts[0] if self.starts else self.end

    @property
    def torn(self) -> bool:
        """Its last line has no LF and does not decode: torn, or still in writing."""
        return bool(self.damages) and self.damages[-1].torn

    def line_of(self, offset: int) -> int:
        """Which of its lines holds the byte, from 0; -1 before the first."""
        return bisect_right(self.starts, offset) - 1


class Change(NamedTuple):
    """What a look at the file found."""

    kind: Literal["none", "grew", "replaced", "gone"]
    """replaced: another file, a shorter one or other bytes; it was opened anew. gone: nothing to
    be opened there; what was open can still be read. See `seal` for what cannot be seen."""
    first: int = 0
    """First chunk that may have changed."""


class Log:
    """An open log: its chunks, decoded when asked for and kept within bounds.

    Not for two threads at once; `strip.twin()` gives another thread its own way to the bytes.
    """

    COUNT = 64
    """Most decoded chunks that are kept."""
    WEIGHT = 6 << 20
    """Most bytes of log whose records are kept (the newest chunk is always kept)."""

    def __init__(
        self, path: str, form: Format, read: Callable[[int, int, int], bytes] = os.pread,
        *, stays: bool = True,
    ) -> None:  # fmt: skip
        """`stays`: as `open_log` has it. Raises Unreadable when `path` is no regular file or cannot
        be opened."""
        self.path = path
        self.form = form
        self._read = read
        self._chunks: OrderedDict[int, Chunk] = OrderedDict()
        self._weights: dict[int, int] = {}
        self._sums: dict[int, int] = {}
        """Checksum of the bytes of each chunk that is kept."""
        self._open(stays)

    def _open(self, stays: bool = True) -> None:
        self.strip = Strip(open_log(self.path, stays=stays), self._read)
        found = os.fstat(self.strip.fd)
        self._identity = (found.st_dev, found.st_ino)
        self._mtime = found.st_mtime_ns
        self._seal = sealed(self.strip.read, self.strip.size)
        self._line = self._start_of_last_line(self.strip.size, 0)
        self._alone: bool | None = None
        self._forget(0)

    def close(self) -> None:
        self.strip.close()
        self._forget(0)

    @property
    def size(self) -> int:
        """Bytes of the file as it was seen last."""
        return self.strip.size

    @property
    def chunks(self) -> int:
        """Number of chunks; 0 for an empty file."""
        return self.strip.chunks

    def chunk(self, number: int) -> Chunk:
        """The decoded lines of one chunk. Raises IndexError outside 0 <= number < chunks."""
        chunk = self._chunks.get(number)
        if chunk is not None:
            self._chunks.move_to_end(number)
            return chunk
        if not 0 <= number < self.chunks:
            raise IndexError(f"chunk {number} of {self.chunks}")
        chunk, total = self._decoded(number)
        self._chunks[number] = chunk
        self._weights[number] = min(chunk.end - chunk.start, LONG)
        self._sums[number] = total
        self._trim()
        return chunk

    def raw(self, span: Span, limit: int = -1) -> bytes:
        """The bytes of a record as they stand in the file, at most `limit` (-1: all) of them."""
        return self.strip.read(span.offset, span.length if limit < 0 else min(span.length, limit))

    def newest_first(self, chunk: int | None = None) -> Iterator[Record]:
        """Records from the end (or from the end of `chunk`) back, read as far as they are taken."""
        last = self.chunks - 1 if chunk is None else chunk
        for number in range(last, -1, -1):
            yield from reversed(self.chunk(number).records)

    def refresh(self) -> Change:
        """Look at the file again, and go along with what happened to it.

        Costs a stat and a compare of some bytes, whatever the file's size. When only its time of
        change differs, the chunks that are kept are compared as well.
        """
        try:
            found = stat_log(self.path)
        except (OSError, ValueError):
            return Change("gone")
        old, strip = self.strip.size, self.strip
        same = (found.st_dev, found.st_ino) == self._identity and found.st_size >= old
        if not same:
            return self._reopened()
        strip.size = found.st_size
        seal = sealed(strip.read, strip.size) if strip.size > old else self._seal
        # asked last: a change while the new seal was taken would else go unnoticed
        if not self._seal.holds(strip.read):
            return self._reopened()
        if found.st_size == old:
            if found.st_mtime_ns != self._mtime and self._rewritten():
                return self._reopened()
            self._mtime = found.st_mtime_ns
            return Change("none")
        first = self._first_open(old)
        self._line = self._start_of_last_line(strip.size, old)
        self._seal, self._mtime = seal, found.st_mtime_ns
        self._forget(first)
        return Change("grew", first)

    def _reopened(self) -> Change:
        old = self.strip
        try:
            self._open()
        except Unreadable:
            return Change("gone")
        old.close()
        return Change("replaced")

    def _rewritten(self) -> bool:
        """Do the bytes of a chunk that is kept stand there no more?"""
        return any(crc32(self.strip.stretch(n).data) != self._sums[n] for n in self._chunks)

    def _first_open(self, size: int) -> int:
        """The chunk of the last line of a file of `size` bytes: it, and what follows, may grow."""
        last = max(size - 1, 0) // CHUNK
        changed = [n for n, chunk in self._chunks.items() if chunk.end >= size and chunk.starts]
        return min([last, *changed, self._line // CHUNK])

    def _start_of_last_line(self, size: int, known: int) -> int:
        """Where the last line of a file of `size` bytes begins. Up to `known` that is known
        already, so that a long line that grows bit by bit is not looked through each time."""
        offset = size
        while offset > max(known - 1, 0, size - FAR):
            step = min(CHUNK, offset)
            data = self.strip.read(offset - step, step)
            found = data.rfind(b"\n", 0, len(data) - 1 if offset == size else len(data))
            if found >= 0:
                return offset - step + found + 1
            offset -= step
        return min(self._line, known) if known else offset

    def _forget(self, first: int) -> None:
        for number in [n for n in self._chunks if n >= first]:
            del self._chunks[number], self._weights[number], self._sums[number]

    def _trim(self) -> None:
        weight = sum(self._weights.values())
        while len(self._chunks) > 1 and (len(self._chunks) > self.COUNT or weight > self.WEIGHT):
            number, _ = self._chunks.popitem(last=False)
            weight -= self._weights.pop(number)
            del self._sums[number]

    def _decoded(self, number: int) -> tuple[Chunk, int]:
        """The chunk, and the checksum of its bytes."""
        chunk, total = self._as_it_stands(number)
        if _side(chunk) and self._is_subagents():
            chunk = chunk._replace(records=tuple(map(as_own, chunk.records)))
        return chunk, total

    def _is_subagents(self) -> bool:
        """Is the log a subagent's own, as far as both of its ends tell? Seen by itself, that is a
        run like any other."""
        if self._alone is None:
            chunks = (self._as_it_stands(n)[0] for n in range(min(self.chunks, _AHEAD)))
            head = next((side for c in chunks if (side := _side(c)) is not None), None)
            self._alone = bool(head) and _side(self._as_it_stands(self.chunks - 1)[0]) is not False
        return self._alone

    def _as_it_stands(self, number: int) -> tuple[Chunk, int]:
        records: list[Record] = []
        damages: list[Damage] = []
        found = self.strip.lines(number)
        lines, end = found.lines, found.end
        long = lines[-1] if found.cut else None
        for line in lines:
            if line is long:
                records += long_records(self.form, line, end - line.offset)
                continue
            parsed = codec.parse(line, self.form.plausible)
            for value, span in parsed.objects:
                records += self.form.decode(value, span)
            damages += parsed.damages
        if found.starts:
            end += long.ended if long else found.data.endswith(b"\n")
        chunk = Chunk(number, found.starts, end, tuple(records), tuple(damages))
        return chunk, crc32(found.data)


def _side(chunk: Chunk) -> bool | None:
    """Are all of its messages a subagent's? None: it has none."""
    said = [r.payload for r in chunk.records if isinstance(r.payload, Message)]
    return all(message.sidechain for message in said) if said else None


def long_records(form: Format, line: Line, length: int) -> list[Record]:
    """The records of a line of `length` bytes of which only the head was read.

    The head is closed where it was cut, so kind, type and the first of the text are there.
    """
    span = Span(line.number, line.offset, length)
    value = closed(line.data)
    if value is not None:
        return form.decode(value, span)
    return [other_record("line", {"bytes": length}, span)]


_TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
_HALF = re.compile(rb"(?<!\\)(?:\\\\)*\\(?:u[0-9a-fA-F]{0,3})?$")
"""Half an escape at the end, with the whole ones in front of it."""


def closed(head: bytes) -> dict[str, Any] | None:
    """The object that a cut line begins, with what was open closed; None when it is none."""
    closers: list[bytes] = []
    done = 0
    for token in _TOKENS.finditer(head):
        byte, done = token[0], token.end()
        if byte in (b"{", b"["):
            closers.append(b"}" if byte == b"{" else b"]")
        elif byte in (b"}", b"]") and closers:
            closers.pop()
    if not closers or len(closers) > codec.MAX_DEPTH:
        return None
    body = head.decode("utf-8", "ignore").encode()
    tail = b"".join(reversed(closers))
    for piece in _closings(body, done):
        try:
            value = codec.loads(piece + tail)
        except ValueError:
            continue
        return value if isinstance(value, dict) else None
    return None


def _closings(body: bytes, done: int) -> Iterator[bytes]:
    """The ways to end what is open behind the last whole token, likeliest first."""
    if b'"' in body[done:]:
        yield _HALF.sub(b"", body) + b'"'
        yield body + b'"'
        body = body[:done]  # half a key
    yield body.rstrip().removesuffix(b",")
    for ending in (b"null", b":null", b"0"):
        yield body + ending
