"""A text in one log, or in all of them: raw bytes first, then the decoded records.

No index and no daemon: every search reads the logs as they are now, a gigabyte in about half a
second where nothing is found. Each hit names its record. Hits stream out while the
rest is unread; memory stays small; any moment may end it.

What is found is what a person sees: texts, tool names, arguments, results, events, the task, what
ended the run, and the raw bytes of damaged lines. Of a line longer than `window.LONG` the bytes
count, for it is never decoded whole. Words that only the screen adds ("next in 0.6s") are not
found. Message and line numbers cost the bytes in front of a hit: beyond `within` they are left to
`resolve`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from sessionlog.counting import Counter
from sessionlog.errors import NotALog, Unreadable
from sessionlog.facts import Facts, completed, facts_of, passes
from sessionlog.finders import Finder, finder_of
from sessionlog.formats.base import Format
from sessionlog.framing import Line
from sessionlog.halves import Halves
from sessionlog.hit import Hit, Progress
from sessionlog.listing import glance, with_life
from sessionlog.logfile import file_of, open_log
from sessionlog.needle import Found, Thing, hits, shown, things
from sessionlog.query import Query
from sessionlog.records import Entry, Record, tells_again
from sessionlog.regions import Region, line_from, regions
from sessionlog.source import format_of
from sessionlog.stretched import long_hits
from sessionlog.window import Strip

MOST = 1000
"""Hits of one log that are given; the others are counted."""
WITHIN = 16 << 20
"""Bytes of a log in which hits have their numbers at once."""
_PAUSE = 0.05
"""Seconds between two words of progress."""

Stopped = Callable[[], bool]


class Part(NamedTuple):
    """A stretch of a log: the lines that begin in [start, stop)."""

    start: int = 0
    stop: int | None = None
    """None: to the end."""


WHOLE = Part()


def search_logs(
    sessions: Iterable[Entry | str],
    query: Query,
    stopped: Stopped = lambda: False,
    *,
    most: int | None = MOST,
    within: int | None = WITHIN,
) -> Iterator[Hit | Progress]:
    """The hits in these logs, in the order that they come in.

    Ends within about 20 ms of `stopped`. `most` bounds the hits of a log, `within` the bytes in
    which they are numbered (None: no bound). Raises BadQuery for what is no regex.
    """
    listed = list(sessions)
    finder = finder_of(query, stopped)
    try:
        for done, session in enumerate(listed):
            if stopped():
                return
            entry, path = (session, session.path) if isinstance(session, Entry) else (None, session)
            if entry is None and (query.status or query.agents or query.after):
                entry = with_life([glance(path)])[0]
            if entry is not None and not query.admits(entry):
                note = "" if entry.status is not None else f"{path}: {entry.reason}"
                yield Progress(path, 0, entry.bytes, done + 1, len(listed), 0, note)
                continue
            look = _Look(path, query, finder, stopped, most, within)
            for found in look.run(WHOLE):
                yield found if isinstance(found, Hit) else _within(found, done, len(listed))
            if finder.gave_up:
                return
    finally:
        finder.close()


def _within(progress: Progress, done: int, logs: int) -> Progress:
    return progress._replace(logs_read=done + progress.logs_read, logs=logs)


def by_change(paths: Iterable[str]) -> list[str]:
    """The logs whose files changed last first."""
    return sorted(paths, key=_age)


def _age(path: str) -> tuple[float, str]:
    try:
        return -os.stat(file_of(path)).st_mtime, path
    except OSError:
        return 0.0, path


def search_log(
    path: str,
    query: Query,
    stopped: Stopped = lambda: False,
    *,
    most: int | None = MOST,
    within: int | None = WITHIN,
    part: Part = WHOLE,
) -> Iterator[Hit | Progress]:
    """The hits in one log, or a part of it; see `search_logs`. The last Progress says what was
    left out."""
    finder = finder_of(query, stopped)
    try:
        yield from _Look(path, query, finder, stopped, most, within).run(part)
    finally:
        finder.close()


class _Look:
    """One look through one log."""

    def __init__(
        self, path: str, query: Query, finder: Finder, stopped: Stopped,
        most: int | None, within: int | None,
    ) -> None:  # fmt: skip
        self._path, self._query, self._finder, self._stopped = path, query, finder, stopped
        self._most, self._within = most, within
        self._given = self._more = 0
        self._before: Record | None = None
        """The record that was found last."""
        self._strip: Strip
        self._form: Format | None = None
        self._halves: Halves
        self._counter: Counter

    def run(self, part: Part) -> Iterator[Hit | Progress]:
        """The hits of a part of the log, with progress between; the last says that it is over."""
        try:
            self._strip = Strip(open_log(self._path))
        except Unreadable as error:
            yield Progress(self._path, 0, 0, 1, 1, 0, str(error))
            return
        try:
            yield from self._read(part)
        finally:
            self._strip.close()

    def _read(self, part: Part) -> Iterator[Hit | Progress]:
        size = self._strip.size
        stop = size if part.stop is None else min(part.stop, size)
        due, note = time.monotonic() + _PAUSE, ""
        try:
            for region in regions(self._strip, line_from(self._strip, part.start), stop):
                if self._stopped():
                    return
                yield from self._region(region)
                if self._stopped() or self._finder.gave_up:
                    break
                if time.monotonic() >= due:
                    read = region.offset + region.end
                    yield Progress(self._path, min(read, size), size, 0, 1, self._more)
                    due = time.monotonic() + _PAUSE
        except NotALog as error:
            note = str(error)
        if not self._stopped():
            note = note or self._finder.problem
            yield Progress(self._path, size, size, 1, 1, self._more, note)

    def _region(self, region: Region) -> Iterator[Hit]:
        """The hits in whole lines, in batches as large as the finder likes them."""
        if region.long:
            yield from self._long(region)
            return
        batch: list[tuple[Line, list[Thing]]] = []
        weight = 0
        for start, end in self._finder.sieve.lines(region.data, region.end):
            if self._stopped():
                return
            line = region.line(start, end)
            batch.append((line, list(things(self._known(), line))))
            weight += end - start
            if weight >= self._finder.batch:
                yield from self._batch(batch)
                batch, weight = [], 0
        yield from self._batch(batch)

    def _known(self) -> Format:
        """The log's format, looked up when a line may hold a hit. Raises NotALog."""
        if self._form is None:
            self._form = format_of(self._path, self._strip.fd)
            self._halves = Halves(self._form, self._strip)
            self._counter = Counter(self._form, self._strip)
        return self._form

    def _batch(self, batch: list[tuple[Line, list[Thing]]]) -> Iterator[Hit]:
        if not batch:
            return
        spans = self._finder.spans(
            text
            for _, found in batch
            for thing in found
            for said in thing.says
            for texts in said
            for text in texts
        )  # fmt: skip
        for line, found in batch:
            messages = 0
            for thing in found:
                messages += thing.is_message
                yield from self._hits(line, thing, messages, spans)

    def _hits(
        self, line: Line, thing: Thing, messages: int, spans: Callable[[str], list[tuple[int, int]]]
    ) -> Iterator[Hit]:
        """The hits of one record, if it passes the filters; `messages` counts those of its line
        up to it."""
        what, before = thing.what, self._before
        if isinstance(what, Record):
            self._before = what
            if before and before.span.end + 1 == what.span.offset and tells_again(what, before):
                return
        if self._query.text:
            found = [f for said in thing.says for f in hits(said, spans)]
        else:
            found = [_first(thing)]
        if found and (facts := self._facts(line, thing)) is not None:
            yield from self._given_of(line.offset, thing, facts, messages, found)

    def _facts(self, line: Line, thing: Thing) -> Facts | None:
        """What there is to know of a record; None when the filters hold it back."""
        facts = facts_of(thing.what)
        if not passes(self._query, facts):
            return None
        return completed(facts, self._query, self._halves, line.offset, self._full)

    @property
    def _full(self) -> bool:
        return self._most is not None and self._given >= self._most

    def _given_of(
        self, start: int, thing: Thing, facts: Facts, messages: int, found: list[Found]
    ) -> Iterator[Hit]:
        offset, part = thing.place
        count = None
        if not self._full and (self._within is None or start < self._within):
            count = self._counter.before(start, self._stopped)
        n = count.messages + messages if count and thing.is_message else None
        for one in found:
            if self._full:
                self._more += 1
                continue
            text, places = shown(one)
            self._given += 1
            yield Hit(
                self._path, n, facts.kind, facts.tool, facts.ok, facts.at,
                count.lines + 1 if count else 0, offset, thing.what.span.length, part, text, places,
            )  # fmt: skip

    def _long(self, region: Region) -> Iterator[Hit]:
        """The hits in the bytes of a line that is too long to decode."""
        finder = self._finder
        spans = lambda text: finder.spans([text])(text)  # noqa: E731
        for thing, found in long_hits(self._known(), self._strip, region, finder.sieve, spans):
            if self._stopped():
                return
            facts = self._facts(region.line(0, region.end), thing)
            if facts is None:
                return
            yield from self._given_of(region.offset, thing, facts, 1, [found])


def _first(thing: Thing) -> Found:
    """A record's first words, when all records that the filters let through are looked for."""
    texts = (t for said in thing.says for texts in reversed(said) for t in texts if t.strip())
    return Found(next(texts, "").strip().partition("\n")[0], ())
