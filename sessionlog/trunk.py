"""What a new log's client will go along, in a log whose records name the one before them. Pure.

In a new log a link that leads nowhere leads to the record before it (`formats.links`), so the way
from the last record to the root is longer there than the one that the source's client finds. Calls
are closed, and results are theirs, by that longer way.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import NamedTuple

from sessionlog.branch import way_of
from sessionlog.records import NOTHING, Activity, Event, Message, Record


class Trunk(NamedTuple):
    """The way to the last record."""

    left: frozenset[int] = frozenset()
    """Byte offsets of the records that are on no way to it."""
    early: frozenset[int] = frozenset()
    """Byte offsets of those that stand before the one that they follow."""
    broken: int = 0
    """Links that lead nowhere or ahead, messages without one, ids of other records, and names of
    other sessions: Qwen Code (0.24) reads no log that has two."""


_NOTHING = Event("")


def links_of(record: Record) -> Record:
    """A record without its words: what a trunk is told from, so that a log need not be held."""
    said = record.payload
    if not isinstance(said, Message):
        return record._replace(payload=_NOTHING)
    half = said.activity
    named = said.extra.get("sessionId")
    return record._replace(
        payload=Message(
            said.type, "", Activity(half.kind, half.id) if half else None,
            sidechain=said.sidechain, extra={"sessionId": named} if named else NOTHING,
        )
    )  # fmt: skip


Unit = Sequence[Record]
"""The records of one object."""


def trunk_of(units: Iterable[Unit], early: frozenset[int]) -> Trunk:
    """The trunk of a log, or of as much of it as a fork takes, from its objects in the order that
    they have in a new log. O(records), once more for each result of no call at its end."""
    broken, last, strays, linked = len(early), "", 0, False
    seen: dict[str, str | None] = {}
    healed: list[Record] = []
    halves: dict[int, list[Activity]] = {}
    names = set()
    for unit in units:
        record = unit[0]
        if isinstance(record.payload, Message):
            names.add(record.payload.extra.get("sessionId"))
            strays += record.parent is None
            linked = linked or bool(record.key)
        if record.parent is None:
            continue
        if record.parent and record.parent not in seen:
            broken += 1
            record = record._replace(parent=last)
        healed.append(record)
        if found := [a for r in unit if (a := _half(r)) is not None]:
            halves[record.span.offset] = found
        last = record.key
        broken += seen.get(last, record.parent) != record.parent
        seen.setdefault(last, record.parent)
    left = _left(healed, halves)
    return Trunk(left, early, broken + strays * linked + max(len(names) - 1, 0))


def _left(records: Sequence[Record], halves: Mapping[int, list[Activity]]) -> frozenset[int]:
    """Offsets of those that are on no way to the last one that a new log has: results of no call
    at the end are left out of it."""
    end = len(records)
    while True:
        way = way_of(records[:end])
        if end == 0 or not _is_alone(records[:end], way, halves):
            break
        end -= 1
    return frozenset(r.span.offset for r in records if r.key not in way)


def _is_alone(
    records: Sequence[Record], way: Container[str], halves: Mapping[int, list[Activity]]
) -> bool:
    """Does the last record hold nothing but results of calls that are not on the way?"""
    last = halves.get(records[-1].span.offset, [])
    wanted = {half.id for half in last if half.kind == "response"}
    if not wanted or len(wanted) < len(last):
        return False
    asked = (half for r in records if r.key in way for half in halves.get(r.span.offset, ()))
    return wanted.isdisjoint(half.id for half in asked if half.kind == "request")


def _half(record: Record) -> Activity | None:
    said = record.payload
    return said.activity if isinstance(said, Message) and not said.sidechain else None
