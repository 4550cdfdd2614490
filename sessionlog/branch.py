"""Which records of a log are on the branch that counts. Pure.

Some agents write a tree: each record names the one that it follows, and going back to an earlier
place is a record with an older parent. The conversation is the way from the last record to its
root; what was left behind stays in the file as history. A parent that is not there ends the way:
the client loses what is before it, and so does the conversation.

In other trees (Claude Code's) most links tell nothing of the conversation. Those are read in file
order, and only prompts go back (`Record.goes_on`): what was said between the record that a prompt
goes on from and the prompt was taken back. A record that is not there takes nothing back.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence

from sessionlog.pairing import AHEAD
from sessionlog.records import Damage, Message, Record, Reset
from sessionlog.repeats import again

Stretch = tuple[int, int]
"""Byte offsets, the end not included."""


def left_behind(
    records: Sequence[Record], damages: Iterable[Damage] = (), twice: frozenset[int] | None = None
) -> frozenset[int]:
    """Indices of the records that are on no way to the last one, and of those that stand there a
    second time: `twice`, where it is known. O(records).

    A client that reads whole lines does not see what stands on a damaged one: neither do ways.
    """
    twice = again(records) if twice is None else twice
    if all(record.parent is None for record in records):
        return taken_back(records, damages, twice) | twice
    unread = _unread(damages)
    seen = (
        record
        for i, record in enumerate(records)
        if record.parent is not None and record.span.line not in unread and i not in twice
    )
    way = way_of(seen)
    return twice | frozenset(
        i
        for i, record in enumerate(records)
        if record.parent is not None and (record.key not in way or record.span.line in unread)
    )


def way_of(records: Iterable[Record]) -> set[str]:
    """Keys of the records from the last one to the root, of those that have a parent.

    A line that stands a little before the one that it follows was put there by no client: it is
    read as if it stood behind it.
    """
    parents: dict[str, str] = {}
    early: dict[str, tuple[str, int]] = {}
    """The record that follows one which did not come yet, and its line."""
    onward: dict[str, str] = {}
    """What follows a record that came late."""
    at = ""
    for record in records:
        at, parent, line = record.key, record.parent or "", record.span.line
        if at in early and at not in parents:
            follower, place = early.pop(at)
            if line - place <= AHEAD:
                onward[at] = follower
        if parent and parent not in parents and parent != at:
            early[parent] = at, line
        parents[at] = parent
    while at in onward:
        at = onward.pop(at)
    way: set[str] = set()
    while at in parents and at not in way:
        way.add(at)
        at = parents[at]
    return way


def taken_back(
    records: Sequence[Record], damages: Iterable[Damage] = (), twice: frozenset[int] | None = None
) -> frozenset[int]:
    """Indices of the records that a later prompt took back. O(records)."""
    holds = within(turns_of(records, damages, twice))
    return frozenset(i for i, record in enumerate(records) if holds(record.span.offset))


def turns_of(
    records: Sequence[Record], damages: Iterable[Damage] = (), twice: frozenset[int] | None = None
) -> list[Stretch]:
    """(where what was taken back begins, where the prompt stands) of each prompt that went back,
    in file order. O(records)."""
    if all(record.goes_on is None for record in records):
        return []
    twice = again(records) if twice is None else twice
    unread = _unread(damages)
    return _turns(
        record
        for i, record in enumerate(records)
        if record.span.line not in unread and i not in twice
    )


def within(turns: Sequence[Stretch]) -> Callable[[int], bool]:
    """Is a byte in what was left?"""
    found = list(newest_first(turns))[::-1]
    starts = [start for start, _ in found]

    def holds(offset: int) -> bool:
        at = bisect_right(starts, offset) - 1
        return at >= 0 and offset < found[at][1]

    return holds


def origin_of(record: Record) -> str | None:
    """`key` of the record that a prompt goes on from; None: it is none."""
    return None if _answer_of(record) else record.goes_on


def speech_of(record: Record) -> str | None:
    """What a record of the main run says that can be taken back: the answer whose block it is, ""
    for a prompt and a summary; None: nothing. The client sends an answer's blocks together, and
    with them the results of its calls: those go as one."""
    answer = _answer_of(record)
    return answer or ("" if record.goes_on is not None or is_summary(record) else None)


def is_linked(answer: Record) -> bool:
    """Does an answer name what it follows? Without links nothing tells of going back."""
    return answer.goes_on is None


def _answer_of(record: Record) -> str:
    said = record.payload
    return said.answer if isinstance(said, Message) and not said.sidechain else ""


def is_summary(record: Record) -> bool:
    """Is it what a reset's conversation begins with?"""
    said = record.payload
    return isinstance(said, Message) and said.type == "summary" and not said.sidechain


def last_kept(reset: Reset) -> str:
    """`key` of the last record that a reset keeps: what goes on from it goes on from the reset."""
    return reset.keep[1] if reset.keep else ""


def newest_first(turns: Sequence[Stretch]) -> Iterator[Stretch]:
    """The stretches that were left, the last one first; what turned inside one of them is left as
    a whole. `turns`: (where what is left begins, where the turn stands) of each, in file order."""
    limit = None
    for start, turn in reversed(turns):
        if limit is None or turn < limit:
            yield start, turn
            limit = start


def _turns(records: Iterable[Record]) -> list[Stretch]:
    """Where prompts went back."""
    said: list[tuple[int, str]] = []
    """(offset, answer) of each that can be taken back."""
    ends: dict[str, int] = {"": 0}
    """How many of them stand before the place to go on from, for each key."""
    turns: list[Stretch] = []
    kept, linked = "", None
    for record in records:
        offset, speech, origin = record.span.offset, speech_of(record), origin_of(record)
        known = ends.get(origin) if origin or (origin is not None and linked) else None
        if known is not None and known < len(said) and said[-1][0] != offset:
            turns.append((said[known][0], offset))
        if speech and linked is None:
            linked = is_linked(record)
        if speech is not None and (not speech or not said or said[-1][1] != speech):
            said.append((offset, speech))
        if record.key:
            ends[record.key] = len(said)
        if isinstance(record.payload, Reset):
            kept = last_kept(record.payload)
        elif not is_summary(record):
            continue
        if kept in ends and kept:
            ends[kept] = len(said)
    return turns


def _unread(damages: Iterable[Damage]) -> set[int]:
    return {damage.span.line for damage in damages if not damage.mild}
