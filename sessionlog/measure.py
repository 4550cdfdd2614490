"""Logs on disk counted: one pass over each, in bounded memory, and it can be stopped."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from sessionlog.codec import MAX_DEPTH, peek
from sessionlog.errors import NotALog, SessionLogError
from sessionlog.figures import Stats
from sessionlog.formats.base import Format, Nested
from sessionlog.framing import Line
from sessionlog.history import history_of
from sessionlog.logfile import open_log
from sessionlog.records import Entry, Record, Span, Status
from sessionlog.repeats import units
from sessionlog.source import decode, format_of, lines_of
from sessionlog.stats import Fold
from sessionlog.usage import Seen
from sessionlog.window import Log

_SLICE = 256 * 1024
"""Bytes between two looks at the clock and at who wants to stop it."""

Tick = Callable[[int], bool]
"""Is told the bytes of a log that are done; False: stop."""


class Unmeasured(NamedTuple):
    """A log that could not be counted."""

    path: str
    why: str


def measure(
    entry: Entry, tick: Tick = lambda done: True, *, seen: Seen | None = None,
    parents: Collection[str] = (),
) -> Stats | None:  # fmt: skip
    """One log in numbers, with its subagents' logs beside it; None when `tick` stopped it.

    Raises NotALog or Unreadable. O(bytes). `seen` and `parents`: see `Fold`.
    """
    if entry.status is None:
        raise NotALog(f"{entry.path}: {entry.reason}")
    fd = open_log(entry.path)
    try:
        form = format_of(entry.path, fd)
        fold = Fold(form, seen=seen, parents=parents)
        done = _feed(fold, fd, tick, 0)
    finally:
        os.close(fd)
    for path in form.subagents(entry.path) if isinstance(form, Nested) else ():
        if done is not None:
            done = _beside(fold, path, tick, done)
    if done is None:
        return None
    stats = fold.stats(_newest_first(entry, form))
    stats.id, stats.path, stats.title = entry.id, entry.path, entry.title
    return stats


def _newest_first(entry: Entry, form: Format) -> Iterator[Record]:
    """The log read back; nothing of one that has ended, since no call can be in flight there."""
    if entry.status is Status.COMPLETE:
        return
    log = Log(entry.path, form)
    try:
        yield from log.newest_first()
    finally:
        log.close()


def measure_all(
    entries: Iterable[Entry], tick: Tick = lambda done: True
) -> Iterator[Stats | Unmeasured]:
    """Each of several logs; what they share is in `own` of the first only. `tick` is told the
    bytes of all together. Ends early when it says so. In whatever order they come, they are
    counted oldest first: a copy goes on longer than what it was taken from."""
    chosen = [entry for entry in entries if entry.status is not None]
    parents = frozenset(entry.id for entry in chosen)
    seen = Seen() if len(chosen) > 1 else None
    before = 0
    # parents before their forks: what both have is the parent's
    for entry in sorted(chosen, key=lambda e: (e.started, e.updated, e.bytes, e.id, e.path)):
        try:
            stats = measure(
                entry, lambda done, start=before: tick(start + done),  # type: ignore[misc]
                seen=seen, parents=parents,
            )  # fmt: skip
        except SessionLogError as error:
            yield Unmeasured(entry.path, str(error))
            continue
        if stats is None:
            return
        before += entry.bytes
        yield stats


def _feed(fold: Fold, fd: int, tick: Tick, done: int) -> int | None:
    """All lines of an open log; gives the bytes done so far, None when it was stopped."""
    due, end, form = _SLICE, 0, fold.form
    history = history_of(form, fd, trees=False)
    for line in lines_of(fd, empty=False):
        records = _plainly(form, line)
        found: Iterable[Sequence[Record]] = (records,) if records else ()
        if records is None:
            records, damages = decode(form, line)
            found = units(records)
            for damage in damages:
                fold.damage(damage)
        for unit in found:
            if history.is_again(unit):
                for record in unit:
                    fold.again(record)
                continue
            back = history.is_left(unit)
            for record in unit:
                fold.record(record, back)
        end = line.offset + len(line.data)
        if end >= due:
            due = end + _SLICE
            if not tick(done + end):
                return None
    return done + end


def _plainly(form: Format, line: Line) -> list[Record] | None:
    """The records of an ordinary line, faster; None: it takes a closer look. Big numbers may be
    off here, and nobody counts by them."""
    data = line.data
    if data.count(b"{") + data.count(b"[") > MAX_DEPTH:
        return None
    try:
        value = peek(data)
    except ValueError:
        return None
    if type(value) is not dict:
        return None
    return form.decode(value, Span(line.number, line.offset, len(data)))


def _beside(fold: Fold, path: str, tick: Tick, done: int) -> int | None:
    """A subagent's log. One that cannot be read adds nothing."""
    try:
        fd = open_log(path)
    except SessionLogError:
        return done
    fold.beside()
    try:
        return _feed(fold, fd, tick, done)
    finally:
        os.close(fd)
