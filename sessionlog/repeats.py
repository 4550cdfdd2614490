"""Which records of a log stand there a second time: the same line, written or copied again. Pure.

A record is known by its own id; in formats without such ids one that asks for calls is, by theirs.
It is the same again when its bytes are, too. Clients differ in what they make of it (pi 0.73.1
takes the later line for the place to go on from, and shows its results twice), so a new log has
the first one alone.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

from sessionlog.records import Message, Record, Reset, Span

_MOST = 1 << 18
"""Records that are remembered; when there are more, the older half is forgotten."""


def units(records: Iterable[Record]) -> Iterator[tuple[Record, ...]]:
    """The records of each JSON object of the log, together."""
    for _, unit in groupby(records, key=lambda record: record.span.offset):
        yield tuple(unit)


class Repeats:
    """The units of a log in, in their order; tells those that stood there before."""

    def __init__(self, same: Callable[[int, Span], bool]) -> None:
        """`same`: does what stands at a byte offset say what the record of that span says?"""
        self._same = same
        self._places: dict[int, int] = {}
        """Offset of the last record with a name, by the name's hash."""
        self._older: dict[int, int] = {}
        self._linked = False
        """Is the log a tree?"""

    def is_again(self, unit: Sequence[Record]) -> bool:
        """Is the next unit one that came before?"""
        if len(unit) == 1 and _is_nameless(unit[0]):  # most, in a format without ids
            return False
        names, span = names_of(unit), unit[0].span
        for name in names:
            before = self._place(name)
            if before is not None and self._same(before, span):
                return True
        for name in names:
            self._places[hash(name)] = span.offset
        if len(self._places) > _MOST // 2:
            self._older, self._places = self._places, {}
        self._forget(unit)
        return False

    def _place(self, name: str) -> int | None:
        key = hash(name)
        return self._places.get(key, self._older.get(key))

    def _forget(self, unit: Sequence[Record]) -> None:
        """What may come in the same words once more: in a log without times, calls that were
        answered; behind a reset all, as what was said may be told again there, but not in trees,
        whose records have one place."""
        for record in unit:
            self._linked = self._linked or record.parent is not None or record.goes_on is not None
            if self._linked:
                return
            if isinstance(record.payload, Reset):
                self._places, self._older = {}, {}
            elif not (record.key or record.at) and (id := _id_of(record, "response")):
                self._places.pop(hash(id), None)
                self._older.pop(hash(id), None)


def again(records: Sequence[Record]) -> frozenset[int]:
    """Indices of the records that came before, in a log that is at hand. O(records)."""

    def same(offset: int, span: Span) -> bool:
        here, there = _place_of(span.offset, records), _place_of(offset, records)
        length = len(next(units(records[i] for i in range(here, len(records)))))
        pairs = zip(records[there : there + length], records[here : here + length], strict=True)
        return all(_says_the_same(old, new) for old, new in pairs)

    repeats = Repeats(same)
    found: list[int] = []
    at = 0
    for unit in units(records):
        if repeats.is_again(unit):
            found += range(at, at + len(unit))
        at += len(unit)
    return frozenset(found)


def _is_nameless(record: Record) -> bool:
    said = record.payload
    if record.key or isinstance(said, Reset):
        return False
    return not isinstance(said, Message) or said.activity is None


def names_of(unit: Sequence[Record]) -> tuple[str, ...]:
    """What a unit is known by."""
    first = unit[0]
    if first.key:
        spoken = first.parent is not None or any(isinstance(r.payload, Message) for r in unit)
        return (first.key,) if spoken else ()
    return tuple(id for record in unit if (id := _id_of(record, "request")))


def _id_of(record: Record, half: str) -> str:
    """Id of the call that a record asks for or answers; "" where it has none of its own (the
    reader may have put the tool's name there)."""
    activity = record.payload.activity if isinstance(record.payload, Message) else None
    if activity is None or activity.kind != half or activity.id == activity.name:
        return ""
    return activity.id


def _place_of(offset: int, records: Sequence[Record]) -> int:
    return bisect_left(records, offset, key=lambda record: record.span.offset)


def _says_the_same(old: Record, new: Record) -> bool:
    return old.span.length == new.span.length and _unplaced(old, new.span) == _unplaced(
        new, new.span
    )


def _unplaced(record: Record, span: Span) -> Record:
    """A record as if it stood there: readers name answers without a name of their own after their
    places."""
    said = record.payload
    if isinstance(said, Message) and said.answer == f"@{record.span.offset}":
        record = record._replace(payload=said._replace(answer=""))
    return record._replace(span=span)
