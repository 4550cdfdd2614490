"""Two runs side by side: which messages they share, where they part, what stands on one side only.

A message counts as equal when kind, text, tool, arguments and result are; ids, times and the ids
of calls, which a fork or a resume changes, make no difference. Of a message only two numbers are
kept (what it says, what it is like) and where it stands, so logs of any size compare in memory;
whoever shows a message reads it again.

Pure: records come in one by one, a Comparison comes out. `sides` reads the logs.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

from sessionlog import codec
from sessionlog.outcome import went_well
from sessionlog.pairing import Pairing
from sessionlog.records import Activity, Message, Record, moment, shown_type

NEAR = 16
"""Messages on either side up to which a place where the runs differ is aligned further: the same
tool with other arguments, the same kind of text. Where they are more, or on one side more than
twice as many as on the other, the runs went their own ways."""
WORK = 20_000_000
"""Steps that an alignment may take; what is not aligned by then counts as different."""
_CELLS = 1_000_000
"""Largest table for a stretch in which no message stands once on both sides."""


class Place(NamedTuple):
    """Where a message stands in its log."""

    offset: int
    length: int
    """Bytes of its record."""
    part: int
    """Which of the records of its line, from 0."""
    line: int


class Side:
    """The messages of one log as numbers, and what is counted of the whole of it.

    Messages are numbered from 1, as everywhere; arrays hold message n at n - 1.
    """

    def __init__(self) -> None:
        self.keys = array("q")
        """What each message says; equal ones have equal keys (in one process only)."""
        self.kinds = array("q")
        """What each is like: a call of that tool, a result of such a call, a kind of text."""
        self.pairs = array("L")
        """Number of the other half of a call, 0 for none."""
        self._offsets = array("Q")
        self._lengths = array("L")
        self._parts = array("L")
        self._lines = array("Q")
        self._pairing = Pairing()
        self.calls = 0
        self.errors = 0
        """Calls that failed."""
        self.first = self.last = ""
        """Times of the first and the last record that have one; RFC 3339."""

    def __len__(self) -> int:
        """Messages."""
        return len(self.keys)

    def take(self, record: Record) -> None:
        """The next record of the log."""
        if record.at:
            self.first = self.first or record.at
            self.last = record.at
        message = record.payload
        if not isinstance(message, Message):
            return
        self.errors += _failed(message)
        request = self._paired(message.activity)
        kind = hash((shown_type(message), _tool(message)))
        says: Any = _says(message)
        if request:  # a result is that of its call: the same words after another are another
            kind = hash(("response", self.kinds[request - 1]))
            says = (says, self.keys[request - 1])
        self.kinds.append(kind)
        self.keys.append(hash((says, kind)))
        self._offsets.append(record.span.offset)
        self._lengths.append(record.span.length)
        self._parts.append(record.part)
        self._lines.append(record.span.line)

    def _paired(self, activity: Activity | None) -> int:
        """Number of the call that this answers, 0 for none; counts on the way."""
        n = len(self) + 1
        self.pairs.append(0)
        if activity is None:
            return 0
        if activity.kind == "request":
            self.calls += 1
            self._pairing.request(n, activity)
        elif activity.kind == "response":
            request = self._pairing.response(activity)
            if request is not None:
                self.pairs[request - 1], self.pairs[n - 1] = n, request
                return request
        return 0

    def place(self, n: int) -> Place:
        """Where message n stands. Raises IndexError when there is none."""
        i = n - 1
        return Place(self._offsets[i], self._lengths[i], self._parts[i], self._lines[i])

    def call_of(self, n: int) -> int:
        """Number of the call that message n answers, 0 when it answers none."""
        pair = self.pairs[n - 1]
        return pair if pair < n else 0

    @property
    def seconds(self) -> float | None:
        """From the first record to the last; None where the log has no times."""
        first, last = moment(self.first), moment(self.last)
        return (last - first).total_seconds() if first and last else None


def side_of(records: Iterable[Record]) -> Side:
    """All records of a log as a Side. O(records)."""
    side = Side()
    for record in records:
        side.take(record)
    return side


def _failed(message: Message) -> bool:
    """Is this a result that tells of a failed call?"""
    half = message.activity
    return half is not None and half.kind == "response" and went_well(message) is False


def _tool(message: Message) -> str:
    half = message.activity
    return half.name if half is not None and half.kind != "response" else ""


def _says(message: Message) -> tuple[Any, ...]:
    half = message.activity
    images = tuple((i.media_type, i.digest, i.size) for i in message.images)
    if half is None:
        return message.text, images
    if half.kind != "response":
        return message.text, images, half.name, half.arguments
    result = half.result
    if result is not None and not isinstance(result, str):
        result = codec.dumps(result)
    return message.text, images, half.failure, result


class Part(NamedTuple):
    """A stretch of both runs. Ranges are message numbers, from 1."""

    kind: Literal["common", "changed", "apart"]
    """common: equal messages, one to one. changed: alike but different, one to one (a call with
    other arguments, a call with another result). apart: what stands on one side only."""
    left: range
    right: range


class Comparison(NamedTuple):
    """How two runs compare; the parts hold every message of either side once, in order."""

    parts: tuple[Part, ...]

    @property
    def common(self) -> int:
        """Messages that both runs share."""
        return sum(len(part.left) for part in self.parts if part.kind == "common")

    @property
    def first_difference(self) -> int | None:
        """Number of the first message that is not the same on both sides (one may end before
        it); None when there is no difference."""
        at = next((part for part in self.parts if part.kind != "common"), None)
        return at.left.start if at is not None else None

    @property
    def differing(self) -> Iterator[Part]:
        """The parts that are not common."""
        return (part for part in self.parts if part.kind != "common")


def compare(left: Side, right: Side) -> Comparison:
    """Align two runs. The same two align the same way whichever stands left.

    O(messages * log messages), and WORK bounds what a hard case may add: messages that stand
    once on both sides are the fixed points, between them the longest common order is looked for
    where that is small.
    """
    swapped = (len(left), left.keys) > (len(right), right.keys)
    if swapped:
        left, right = right, left
    aligner = _Aligner(left.keys, right.keys, WORK)
    blocks = aligner.blocks(0, len(left), 0, len(right))
    parts = tuple(_parts(blocks, left, right))
    return Comparison(tuple(map(_mirrored, parts)) if swapped else parts)


def _mirrored(part: Part) -> Part:
    return Part(part.kind, part.right, part.left)


class Block(NamedTuple):
    """a[i : i + size] equals b[j : j + size]."""

    i: int
    j: int
    size: int


def _parts(blocks: list[Block], left: Side, right: Side) -> Iterator[Part]:
    i = j = 0
    for block in [*blocks, Block(len(left), len(right), 0)]:
        if i < block.i or j < block.j:
            yield from _different(left, right, range(i, block.i), range(j, block.j))
        i, j = block.i + block.size, block.j + block.size
        if block.size:
            yield Part("common", _numbers(block.i, i), _numbers(block.j, j))


def _numbers(start: int, stop: int) -> range:
    return range(start + 1, stop + 1)


def _different(left: Side, right: Side, a: range, b: range) -> Iterator[Part]:
    """What stands between two common stretches: alike messages face each other."""
    i, j = a.start, b.start
    for block in [*_alike(left, right, a, b), Block(a.stop, b.stop, 0)]:
        if i < block.i or j < block.j:
            yield Part("apart", _numbers(i, block.i), _numbers(j, block.j))
        i, j = block.i + block.size, block.j + block.size
        if block.size:
            yield Part("changed", _numbers(block.i, i), _numbers(block.j, j))


def _alike(left: Side, right: Side, a: range, b: range) -> list[Block]:
    few, many = sorted((len(a), len(b)))
    if many <= min(NEAR, 2 * few):
        aligner = _Aligner(left.kinds, right.kinds, WORK)
        return aligner.blocks(a.start, a.stop, b.start, b.stop)
    size = 0  # of others only other results of the calls before: those are the same calls
    for i, j in zip(a, b, strict=False):
        if left.kinds[i] != right.kinds[j] or not (left.call_of(i + 1) and right.call_of(j + 1)):
            break
        size += 1
    return [Block(a.start, b.start, size)] if size else []


class _Aligner:
    """Finds the common order of two sequences of numbers, within a bounded number of steps."""

    def __init__(self, a: Sequence[int], b: Sequence[int], work: int) -> None:
        self._a, self._b = a, b
        self._left = work

    def blocks(self, i: int, i_end: int, j: int, j_end: int) -> list[Block]:
        """The common blocks of a[i:i_end] and b[j:j_end], in order, none adjacent."""
        found: list[Block] = []
        waiting = [(i, i_end, j, j_end)]
        while waiting:
            i, i_end, j, j_end = waiting.pop()
            size = self._head(i, i_end, j, j_end)
            tail = self._tail(i + size, i_end, j + size, j_end)
            found += [Block(i, j, size), Block(i_end - tail, j_end - tail, tail)]
            i, i_end, j, j_end = i + size, i_end - tail, j + size, j_end - tail
            self._left -= i_end - i + j_end - j
            if i == i_end or j == j_end or self._left < 0:
                continue
            fixed = self._fixed(i, i_end, j, j_end)
            if fixed:
                starts = [(i, j), *fixed]
                ends = [*fixed, (i_end, j_end)]
                gaps = [(*s, *e) for s, e in zip(starts, ends, strict=True)]
                waiting += [(i, i_end, j, j_end) for i, j, i_end, j_end in reversed(gaps)]
            else:
                found += self._table(i, i_end, j, j_end)
        return _joined(found)

    def _head(self, i: int, i_end: int, j: int, j_end: int) -> int:
        a, b = self._a, self._b
        most = min(i_end - i, j_end - j)
        size = 0
        while size < most and a[i + size] == b[j + size]:
            size += 1
        return size

    def _tail(self, i: int, i_end: int, j: int, j_end: int) -> int:
        a, b = self._a, self._b
        most = min(i_end - i, j_end - j)
        size = 0
        while size < most and a[i_end - 1 - size] == b[j_end - 1 - size]:
            size += 1
        return size

    def _fixed(self, i: int, i_end: int, j: int, j_end: int) -> list[tuple[int, int]]:
        """Pairs of equal items that stand once on both sides, the most that keep their order."""
        there = _once(self._b, j, j_end)
        pairs = [(x, there[item]) for item, x in _once(self._a, i, i_end).items() if item in there]
        pairs.sort()
        return _rising(pairs)

    def _table(self, i: int, i_end: int, j: int, j_end: int) -> Iterator[Block]:
        """The longest common order by the textbook's table, of the items that both sides have."""
        a, b = self._a, self._b
        both = set(a[i:i_end]) & set(b[j:j_end])
        rows = [x for x in range(i, i_end) if a[x] in both]
        columns = [y for y in range(j, j_end) if b[y] in both]
        cells = len(rows) * len(columns)
        if not cells or cells > min(_CELLS, self._left):
            return
        self._left -= cells
        best = [array("L", bytes(array("L").itemsize * (len(columns) + 1)))]
        for x in reversed(rows):
            below, row = best[-1], array("L", best[-1])
            for at in range(len(columns) - 1, -1, -1):
                same = a[x] == b[columns[at]]
                row[at] = below[at + 1] + 1 if same else max(below[at], row[at + 1])
            best.append(row)
        best.reverse()
        row_at = at = 0
        while row_at < len(rows) and at < len(columns):
            if a[rows[row_at]] == b[columns[at]]:
                yield Block(rows[row_at], columns[at], 1)
                row_at, at = row_at + 1, at + 1
            elif best[row_at + 1][at] >= best[row_at][at + 1]:
                row_at += 1
            else:
                at += 1


def _once(items: Sequence[int], start: int, stop: int) -> dict[int, int]:
    """The items that stand exactly once in a range, with where."""
    found: dict[int, int] = {}
    for at in range(start, stop):
        item = items[at]
        found[item] = -1 if item in found else at
    return {item: at for item, at in found.items() if at >= 0}


def _rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest part of pairs (rising in x) that rises in y, too. O(n log n)."""
    ends: list[int] = []  # the smallest y that a chain of each length ends with
    last: list[int] = []  # its index among the pairs
    before: list[int] = []
    for index, (_, y) in enumerate(pairs):
        size = bisect_left(ends, y)
        before.append(last[size - 1] if size else -1)
        ends[size : size + 1] = [y]
        last[size : size + 1] = [index]
    chain = []
    at = last[-1] if last else -1
    while at >= 0:
        chain.append(pairs[at])
        at = before[at]
    return chain[::-1]


def _joined(blocks: list[Block]) -> list[Block]:
    """In order, without empty ones, adjacent ones as one."""
    made: list[Block] = []
    for block in sorted(block for block in blocks if block.size):
        if made and (made[-1].i + made[-1].size, made[-1].j + made[-1].size) == block[:2]:
            made[-1] = Block(made[-1].i, made[-1].j, made[-1].size + block.size)
        else:
            made.append(block)
    return made
