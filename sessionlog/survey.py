"""One pass over a log that is to be acted on, from its records or straight from its file.

Straight from the file, a log of any size is looked through without being held.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

from sessionlog import rewinds
from sessionlog.branch import Stretch, turns_of, within
from sessionlog.edits import Edits
from sessionlog.errors import NotPossible
from sessionlog.formats.base import Actor, Format, ReadOnly, Rewound, Tree
from sessionlog.formats.links import ByLine, Group, in_order
from sessionlog.formats.table import named
from sessionlog.framing import Line
from sessionlog.logfile import open_log
from sessionlog.mend import Mend
from sessionlog.pairing import AHEAD
from sessionlog.reader import living
from sessionlog.records import Damage, Message, Record, Span
from sessionlog.repeats import Repeats, again, units
from sessionlog.session import Session
from sessionlog.source import decode, format_of, lines_of
from sessionlog.trunk import Trunk, links_of, trunk_of

_HEAD, _TAIL = 64, 512
"""Records kept from both ends of a file, for its id and for the evidence of its ending."""

Taken = Callable[[str], bool]
Unit = tuple[Record, ...]
"""The records of one object."""


@dataclass(frozen=True, slots=True)
class Survey:
    """What was found."""

    source: str
    format: Format
    parent: str
    at: int | None
    changes: Edits
    refused: Damage | None
    alive: str | None


def of_session(session: Session, at: int | None, mend: Mend) -> Survey:
    """Survey a session that is at hand, up to message `at` (None: all of it)."""
    form = form_named(session.format)
    _instruct(mend, form)
    turns = turns_of(session.records, session.damages)
    mend.is_back = _taken_back(turns, at, lambda: session.records)
    twice = {session.records[i].span.offset for i in again(session.records)}
    mend.is_again = lambda unit: unit[0].span.offset in twice
    mend.trunk = _trunk(form, at, units(session.records), mend.is_again)
    taken = _take(units(session.records), at, mend)
    _check(session.path, at, mend)
    spans = [session.records[-1].span] if session.records else []
    spans += [damage.span for damage in session.damages]
    last = max((span.line for span in spans), default=0)
    end = taken if at is not None else session.size
    changes = _changes(mend, session.damages, end)
    return Survey(
        session.path, form, session.id, at and mend.n, changes,
        _refused(changes, last), session.alive,
    )  # fmt: skip


def of_file(path: str | os.PathLike[str], at: int | None, mend: Mend) -> Survey:
    """Survey a log on disk, up to message `at` (None: all of it). One pass and bounded memory; of
    a tree another pass, and some hundred bytes a record; and another raw one where prompts tell
    what they go on from."""
    name = os.fspath(path)
    fd = open_log(name)
    try:
        form = format_of(name, fd)
        _instruct(mend, form)
        turns = rewinds.turns_of(form, fd)
        mend.is_back = _taken_back(turns, at, lambda: _Walk(form, lines_of(fd)))
        is_same = partial(_same, fd)
        walked = units(_Walk(form, lines_of(fd)))
        mend.trunk = _trunk(form, at, walked, Repeats(is_same).is_again)
        mend.is_again = Repeats(is_same).is_again
        walk = _Walk(form, lines_of(fd))
        end = _take(units(walk), at, mend)
        _check(name, at, mend)
        end = end if at is not None else os.fstat(fd).st_size
        changes = _changes(mend, walk.damages, end)
        refused = _refused(changes, walk.line if not changes.dropped else walk.last_line())
        alive = living(name, fd, form, list(walk.tail)) if at is None else None
        meta = form.describe(name, iter(walk.head), reversed(walk.head)).meta
    finally:
        os.close(fd)
    return Survey(name, form, meta.id, at and mend.n, changes, refused, alive)


class _Walk:
    """Records of lines as they are read, remembering both ends, the damages and the place."""

    def __init__(self, form: Format, lines: Iterator[Line]) -> None:
        self._form, self._lines = form, lines
        self.head: list[Record] = []
        self.tail: deque[Record] = deque(maxlen=_TAIL)
        self.damages: list[Damage] = []
        self.line = 0
        """Number of the last line that was not blank."""

    def __iter__(self) -> Iterator[Record]:
        for line in self._lines:
            found, lost = decode(self._form, line)
            if found or lost:
                self.line = line.number
            self.damages += lost
            for record in found:
                if len(self.head) < _HEAD:
                    self.head.append(record)
                self.tail.append(record)
                yield record

    def last_line(self) -> int:
        """Read on to the next line that is not blank: is the damaged line the last?"""
        for line in self._lines:
            if line.data.strip():
                self.line = line.number
                break
        return self.line


def actor_of(form: Format, path: str, act: str) -> Actor:
    """The format's actor; NotPossible when it is only read."""
    if form.actor is None:
        otherwise = f"{form.name} logs cannot be {act} yet"
        instead = f"cannot be {act}: {form.instead}" if isinstance(form, ReadOnly) else otherwise
        raise NotPossible(f"{path}: {instead}")
    return form.actor


def form_named(name: str) -> Format:
    """The format of a session."""
    form = named(name)
    assert form is not None
    return form


def moment_now(now: datetime | None) -> datetime:
    """The caller's clock, or this machine's."""
    return now or datetime.now(UTC)


def _instruct(mend: Mend, form: Format) -> None:
    """What a format's client can do, and what it cannot."""
    if form.actor is not None:
        mend.answers = form.actor.answers
        mend.by_line = isinstance(form.actor, ByLine) and form.actor.by_line
    mend.by_prompts = isinstance(form, Rewound)


def _same(fd: int, offset: int, span: Span) -> bool:
    """Do these bytes stand at an offset, too?"""
    return os.pread(fd, span.length, offset) == os.pread(fd, span.length, span.offset)


def _trunk(
    form: Format, at: int | None, found: Iterable[tuple[Record, ...]],
    is_again: Callable[[Sequence[Record]], bool],
) -> Trunk:  # fmt: skip
    """The way to the last record, as far as message `at`; in a tree alone."""
    if not isinstance(form, Tree):
        return Trunk()

    groups = [
        group._replace(parts=[(n, tuple(map(links_of, unit)), twice) for n, unit, twice in parts])
        for group in _groups(found, at, is_again) for parts in (group.parts,)
    ]  # fmt: skip
    early = _early(groups)
    ordered = in_order(groups) if early else (part for group in groups for part in group.parts)
    return trunk_of((unit for _, unit, twice in ordered if not twice), early)


def _early(groups: Sequence[Group[tuple[int, Unit, bool]]]) -> frozenset[int]:
    """Offsets of the records that stand a little before the one that they follow."""
    places = {group.id: group.parts[0][1][0].span.line for group in groups[::-1] if group.id}
    early = set()
    for group in groups:
        span = group.parts[0][1][0].span
        if group.id and 0 < places.get(group.parent, 0) - span.line <= AHEAD:
            early.add(span.offset)
    return frozenset(early)


def _taken_back(
    turns: Sequence[Stretch], at: int | None, records: Callable[[], Iterable[Record]]
) -> Callable[[int], bool]:
    """Is a byte in what a prompt takes back that stands before the end of message `at`?"""
    if at is not None and turns:
        end = _line_of(at, records())
        turns = [turn for turn in turns if turn[1] <= end]
    return within(turns)


def _line_of(at: int, records: Iterable[Record]) -> int:
    """Where the line begins that holds message `at`; the last one, if there is none."""
    n = end = 0
    for record in records:
        end = record.span.offset
        n += isinstance(record.payload, Message)
        if n >= at:
            break
    return end


def _take(found: Iterable[Unit], at: int | None, mend: Mend) -> int:
    """Take the units up to that with message `at`; gives where they end."""
    if not mend.trunk.early or not mend.mending:
        for unit in found if at is None or at > 0 else ():
            mend.take(unit)
            if at is not None and mend.n >= at:
                break
        return mend.end
    # lines that stand before the one that they follow go behind it, and so do their messages
    total = 0
    for n, unit, twice in in_order(_groups(found, at, mend.is_again)):
        mend.n = n
        (mend.repeat if twice else mend.say)(unit)
        total = max(total, mend.n)
    mend.n = total
    return mend.end


def _groups(
    found: Iterable[Unit], at: int | None, is_again: Callable[[Unit], bool]
) -> Iterator[Group[tuple[int, Unit, bool]]]:
    """Each unit with the number of messages before it, and whether it came before; up to `at`."""
    n = 0
    for unit in found if at is None or at > 0 else ():
        twice, first = is_again(unit), unit[0]
        linked = first.parent is not None and not twice
        links = (first.key, first.parent or "") if linked else ("", "")
        yield Group([(n, unit, twice)], *links)
        n += sum(isinstance(record.payload, Message) for record in unit)
        if at is not None and n >= at:
            return


def _check(path: str, at: int | None, mend: Mend) -> None:
    if at is None or 1 <= at <= mend.n:
        return
    has = f"it has messages 1 to {mend.n}" if mend.n else "it has no messages"
    if at < 1:
        has = "messages count from 1"
    raise NotPossible(f"{path}: no message {at} to fork at; {has}")


def _changes(mend: Mend, damages: Iterable[Damage], end: int) -> Edits:
    return replace(mend.edits(d for d in damages if d.span.offset < end), end=end)


def _refused(changes: Edits, last_line: int) -> Damage | None:
    """The first damage that is not in the log's last line: no crash leaves that."""
    return next((d for d in changes.dropped if d.span.line < last_line), None)
