"""Damage done to the bytes of a log, and what must have survived it. Pure.

Each byte of an image knows where it came from, so it is known exactly which records are whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple

from sessionlog.formats.native import Native
from sessionlog.framing import split
from sessionlog.records import Damage, Record, Span
from sessionlog.source import decode

BLOCK = 512
"""Stands for the 4096 of a disk: the logs here are small."""
_BLANK = b" \t\r\n"
_BEFORE = (b":", b",", b"[")


class Image(NamedTuple):
    """A damaged log."""

    data: bytes
    whole: tuple[tuple[int, bytes], ...]
    """Offset and bytes of each record that is still there, byte for byte."""
    how: str


class _Bytes:
    """Bytes that remember where they stood; -1 for those that were never written."""

    def __init__(self, data: bytes) -> None:
        self.data = bytearray(data)
        self.source = list(range(len(data)))

    def put(self, start: int, data: bytes) -> None:
        data = data[: max(len(self.data) - start, 0)]
        self.data[start : start + len(data)] = data
        self.source[start : start + len(data)] = [-1] * len(data)

    def insert(self, start: int, data: bytes) -> None:
        self.data[start:start] = data
        self.source[start:start] = [-1] * len(data)

    def remove(self, start: int, end: int) -> None:
        del self.data[start:end]
        del self.source[start:end]


def _block(log: _Bytes, random: Random) -> int:
    return random.randrange(len(log.data) // BLOCK + 1) * BLOCK


def _nul_tail(log: _Bytes, random: Random) -> None:
    log.insert(len(log.data), b"\0" * random.randrange(1, 3 * BLOCK))


def _nul_middle(log: _Bytes, random: Random) -> None:
    log.insert(random.randrange(len(log.data)), b"\0" * random.randrange(1, BLOCK))


def _zeroed(log: _Bytes, random: Random) -> None:
    log.put(_block(log, random), b"\0" * BLOCK)


def _stale(log: _Bytes, random: Random) -> None:
    other = _block(log, random)
    log.put(_block(log, random), bytes(log.data[other : other + BLOCK]))


def _lost_block(log: _Bytes, random: Random) -> None:
    start = _block(log, random)
    log.remove(start, start + BLOCK)


def _lost_feed(log: _Bytes, random: Random) -> None:
    feeds = [i for i, byte in enumerate(log.data) if byte == 10]
    if feeds:
        at = random.choice(feeds)
        log.remove(at, at + 1)


def _glued(log: _Bytes, random: Random) -> None:
    """A record cut anywhere, and the next one written onto it."""
    start = random.randrange(len(log.data))
    end = log.data.find(b"\n", start)
    log.remove(start, end + 1 if end >= 0 else len(log.data))


def _flipped(log: _Bytes, random: Random) -> None:
    at = random.randrange(len(log.data))
    log.put(at, bytes([log.data[at] ^ (1 << random.randrange(8))]))


def _flipped_feed(log: _Bytes, random: Random) -> None:
    feeds = [i for i, byte in enumerate(log.data) if byte == 10]
    if feeds:
        at = random.choice(feeds)
        log.put(at, bytes([10 ^ (1 << random.randrange(8))]))


def _cut(log: _Bytes, random: Random) -> None:
    log.remove(random.randrange(len(log.data)), len(log.data))


KINDS: tuple[Callable[[_Bytes, Random], None], ...] = (
    _nul_tail, _nul_middle, _zeroed, _stale, _lost_block, _lost_feed, _glued, _flipped,
    _flipped_feed, _cut,
)  # fmt: skip


def harmed(lines: Sequence[bytes], seed: int) -> Image:
    """A log of these lines with one to three damages; the same seed does the same harm."""
    random = Random(seed)
    log = _Bytes(b"".join(lines))
    kinds = [random.choice(KINDS) for _ in range(random.choice((1, 1, 2, 3)))]
    for kind in kinds:
        if log.data:
            kind(log, random)
    where = {source: i for i, source in enumerate(log.source) if source >= 0}
    whole, start = [], 0
    for line in lines:
        record = line[:-1]
        at = where.get(start, -1)
        span = log.source[at : at + len(record)] if at >= 0 else []
        if span == list(range(start, start + len(record))):
            whole.append((at, record))
        start += len(line)
    return Image(bytes(log.data), tuple(whole), ", ".join(kind.__name__ for kind in kinds))


def read(data: bytes) -> tuple[list[Record], list[Damage]]:
    """The records and damages of a native log's bytes."""
    records: list[Record] = []
    damages: list[Damage] = []
    for line in split(data):
        found, lost = decode(Native(), line)
        records += found
        damages += lost
    return records, damages


def faults(image: Image) -> list[str]:
    """What a reading of the image gets wrong: a whole record that is missing, a loss not told."""
    records, damages = read(image.data)
    found = {record.span.offset: record for record in records}
    wrong = []
    for offset, data in image.whole:
        if offset + len(data) == len(image.data) and image.data[offset - 1 : offset] in _BEFORE:
            continue  # a value at which a torn line ends, or a record: nobody can tell
        record = found.get(offset)
        span = Span(image.data.count(b"\n", 0, offset) + 1, offset, len(data))
        if record is None or record.span.length not in (len(data), _padded(image.data, span)):
            wrong.append(f"whole record at {offset} is lost: {data[:80]!r}")
        elif record._replace(span=span) != read(data)[0][0]._replace(span=span):
            wrong.append(f"record at {offset} is another: {record}")
    told = bytearray(len(image.data))
    for span in (*(r.span for r in records), *(d.span for d in damages)):
        told[span.offset : span.end] = b"\1" * span.length
    silent = bytes(byte for byte, known in zip(image.data, told, strict=True) if not known)
    if silent.strip(_BLANK):
        wrong.append(f"bytes are neither record nor damage: {silent[:80]!r}")
    wrong += [f"a damage without a place or a reason: {d}" for d in damages
              if not d.why or d.span.line < 1 or d.span.length < 1]  # fmt: skip
    return wrong


def _padded(data: bytes, span: Span) -> int:
    """Length of a line that holds this record and blanks alone."""
    end = data.find(b"\n", span.offset)
    rest = data[span.end : end if end >= 0 else len(data)]
    return span.length + len(rest) if not rest.strip(_BLANK) else span.length
