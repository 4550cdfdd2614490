"""Why the run of a log on disk stopped: the file is read once, in bounded memory.

A log up to WHOLE bytes is read record by record from its start. Of a longer one the last TAIL
bytes are: what decides the cause, the last error and what is in flight stands there. Messages are
counted and silences found in the whole file then as well; calls, errors, repeats and damages are
those of the end. Every answer says from where it was read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from sessionlog.evidence import Evidence, may_live
from sessionlog.history import History, history_of, same_bytes
from sessionlog.logfile import open_log, written
from sessionlog.marks import Marks
from sessionlog.records import Message, Meta, Record, Span, Status, begun, moment
from sessionlog.repeats import units
from sessionlog.source import format_of
from sessionlog.status import WAITS, judge, outlived, waits
from sessionlog.supervise.beside import journal
from sessionlog.text import one_line
from sessionlog.why.answer import Reading, Why, answered
from sessionlog.why.facts import Facts, Gap, Saying
from sessionlog.why.reading import GAPS, Clock
from sessionlog.window import CHUNK, Chunk, Log

WHOLE = 32 << 20
"""Bytes of a log that is read from its start."""
TAIL = 8 << 20
"""Bytes of the end of a longer one that are decoded."""
_HEAD = 16
"""Chunks in which the task and the first prompt are looked for."""
_LOOKED = 100
"""Stretches of a long log that are looked at for silences."""

Progress = Callable[[int, int], None]
"""Told (bytes done, bytes in all) now and then; may raise to end the reading."""


class Looked(NamedTuple):
    """What was found."""

    why: Why
    id: str
    path: str
    format: str
    title: str
    read_from: int
    """Byte from which records were read; 0: all of them."""
    size: int


def look(
    path: str,
    now: datetime | None = None,
    progress: Progress = lambda done, total: None,
    whole: int = WHOLE,
) -> Looked:
    """Why the run of the log at `path` stopped, or that it runs; `now` as in `Reading.answer`.

    A log of more than `whole` bytes is read from its end. Raises NotALog when no format
    recognises it, Unreadable when it cannot be opened.
    """
    fd = open_log(path, stays=True)
    try:
        form = format_of(path, fd)
    finally:
        os.close(fd)
    log = Log(path, form)
    try:
        described = form.describe(path, _oldest_first(log), _newest_first(log))
        ending = form.ending(_newest_first(log))
        last = next(_newest_first(log), None)
        if not ending.ended and waits(described.meta, described.started, last):
            ending = ending._replace(text=WAITS)
        alive = None
        if may_live(form, ending.ended, ending.ok):
            alive = _writer(log, described.meta)
        if alive is not None and ending.ended:
            ending = outlived(ending)
        status = judge(ending, torn=_is_torn(log), alive=alive is not None)
        start = 0 if log.size <= whole else max(log.size - TAIL, 0) // CHUNK
        facts = _far(log, start, progress) if start else _near(log, progress)
        size = log.size
    finally:
        log.close()
    title = one_line(described.title or described.meta.task)
    if facts.set_out is None and title:
        facts = facts._replace(set_out=Saying(title))
    beside = None
    if status in (Status.UNFINISHED, Status.TRUNCATED):
        beside = journal().beside(path, described.meta.resumed_from, facts.last_at)
    found = answered(facts, ending, status, alive=alive, now=now, beside=beside)
    return Looked(found, described.meta.id, path, form.name, title, start * CHUNK, size)


def _writer(log: Log, meta: Meta) -> str | None:
    """Evidence that the log's writer lives."""
    seen = written(log.path, log.strip.fd)
    return Evidence([log.path]).of(log.form, log.path, meta.id, meta.workdir, seen)


def _is_torn(log: Log) -> bool:
    last = next((c for k in range(log.chunks - 1, -1, -1) if (c := log.chunk(k)).starts), None)
    return last is not None and last.torn


def _oldest_first(log: Log) -> Iterator[Record]:
    for number in range(min(log.chunks, _HEAD)):
        yield from log.chunk(number).records


def _newest_first(log: Log) -> Iterator[Record]:
    """As far back as the end of a long log is decoded: what is no ending there is none."""
    for number in range(log.chunks - 1, max(log.chunks - 1 - TAIL // CHUNK, -1), -1):
        yield from reversed(log.chunk(number).records)


# -- the pass --------------------------------------------------------------------------------------


def _near(log: Log, progress: Progress) -> Facts:
    """Every record."""
    reading = Reading()
    history = history_of(log.form, log.strip.fd)
    _read(log, reading, range(log.chunks), 0, progress, history)
    return reading.facts()


def _far(log: Log, start: int, progress: Progress) -> Facts:
    """The records from chunk `start` on; messages and silences of the whole log."""
    marks = Marks(log.form)
    marks.scan(log.strip, rest=lambda: progress(len(marks) * CHUNK, log.size))
    reading = Reading(marks.messages_before(start))
    history = History(marks.left, partial(same_bytes, log.strip.fd))
    _read(log, reading, range(start, log.chunks), marks.lines_before(start) or 0, progress, history)
    facts = reading.facts()
    first = moment(begun(_oldest_first(log))) or facts.first_at
    return facts._replace(messages=marks.messages, first_at=first, gaps=_gaps(log, marks))


def _read(
    log: Log, reading: Reading, chunks: Iterable[int], lines: int, progress: Progress,
    history: History,
) -> None:  # fmt: skip
    """Take the records and damages of these chunks; `lines` stand before the first of them."""
    for number in chunks:
        progress(number * CHUNK, log.size)
        chunk = log.chunk(number)
        lost = iter(chunk.damages)
        damage = next(lost, None)
        for unit in units(chunk.records):
            while damage is not None and damage.span.offset < unit[0].span.offset:
                reading.damage(damage._replace(span=_placed(chunk, damage.span, lines)))
                damage = next(lost, None)
            again = history.is_again(unit)
            past = again or history.is_left(unit)
            for record in unit:
                record = record._replace(span=_placed(chunk, record.span, lines))
                if past:
                    reading.past(record, again)
                else:
                    reading.take(record)
        while damage is not None:
            reading.damage(damage._replace(span=_placed(chunk, damage.span, lines)))
            damage = next(lost, None)
        lines += len(chunk.starts)


def _placed(chunk: Chunk, span: Span, lines: int) -> Span:
    """The span with its line, which a window of a log does not know."""
    return span._replace(line=lines + chunk.line_of(span.offset) + 1)


def _gaps(log: Log, marks: Marks) -> tuple[Gap, ...]:
    """The longest silences of the whole log.

    The times at which chunks begin bound the silences inside: chunks are decoded from the highest
    bound down, and at most _LOOKED of them, since a log that is written evenly has no long ones.
    """
    timed = [(m.time, m.offset // CHUNK) for m in marks.stretches(log.chunks) if m.time]
    spans = sorted(
        ((b - a, first, last) for (a, first), (b, last) in pairwise(timed)), reverse=True
    )
    found: dict[int, Gap] = {}
    for span, first, last in sorted(spans, reverse=True)[:_LOOKED]:
        least = sorted((gap.seconds for gap in found.values()), reverse=True)[:GAPS]
        if len(least) == GAPS and span <= least[-1]:
            break
        for gap in _gaps_in(log, marks, range(first, last + 1)):
            found[gap.offset] = gap
    return tuple(sorted(found.values(), key=lambda gap: -gap.seconds)[:GAPS])


def _gaps_in(log: Log, marks: Marks, chunks: range) -> list[Gap]:
    """The longest silences between the records of a few chunks."""
    clock, n = Clock(chunks[0] == 0), marks.messages_before(chunks[0]) or 0
    for number in chunks:
        chunk, lines = log.chunk(number), marks.lines_before(number) or 0
        for record in chunk.records:
            n += isinstance(record.payload, Message)
            clock.take(record._replace(span=_placed(chunk, record.span, lines)), n)
    return clock.gaps
