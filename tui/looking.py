"""Long looks through a log, taken in slices: the next error, a text, how many lines hold it.

Pure: the clock comes in, a pane calls `work` between frames, and any key may end it. What is found
is what the search over all logs finds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from sessionlog.formats.base import Format
from sessionlog.needle import Needle, hits, things
from sessionlog.records import Span
from sessionlog.regions import BLOCK, Region
from sessionlog.stretched import long_hits
from sessionlog.text import visible
from sessionlog.window import CHUNK, LONG, Log, Stretch, Strip
from tui.rows import Row
from tui.timeline import Place, Pos, Seeking, Timeline

SLICE = 0.008
"""Seconds that a look works between two frames."""
BREATH = 0.002
"""Seconds between two slices: keys and paints come first."""
PATIENCE = 0.25
"""Seconds between two tries to count while a look goes on."""

Clock = Callable[[], float]


class Look:
    """One look for a row."""

    def __init__(self, seeking: Seeking, failing: str) -> None:
        self._seeking = seeking
        self.failing = failing
        """What to say when there is none: "no error below"."""
        self.part = 0.0
        """How far it is, 0 to 1."""
        self.found: Pos | None = None
        """The row, once `work` said that the look is over; None: there is none."""

    def work(self, seconds: float, clock: Clock = time.perf_counter) -> bool:
        """Look on for so long; True when the look is over."""
        due = clock() + seconds
        try:
            while True:
                self.part = next(self._seeking)
                if clock() >= due:
                    return False
        except StopIteration as over:
            self.found = over.value
            return True


class Tally:
    """Counts the lines of text in a log that hold what is looked for."""

    def __init__(self, needle: Needle) -> None:
        self._needle = needle
        self._before: list[int] = []
        """How many there are in front of each chunk that is counted."""
        self.count = 0
        self.done = False

    def work(self, log: Log, seconds: float, clock: Clock = time.perf_counter) -> bool:
        """Count on for so long; True when the log is counted through."""
        due = clock() + seconds
        while len(self._before) < log.chunks:
            self._before.append(self.count)
            self.count += count_in(self._needle, log.form, log.strip, len(self._before) - 1)
            if clock() >= due:
                break
        self.done = len(self._before) >= log.chunks
        return self.done

    def rank(self, log: Log, row: Row) -> int | None:
        """Which of them is the first of a row, from 1; None where the row has none, or it is not
        counted so far. Reads one chunk again."""
        holds = (r for r in row.records if r.span.length > LONG or self._needle.in_record(r))
        record = next(holds, None)
        span = record.span if record else row.damage.span if row.damage else None
        if span is None:
            return None
        number, place = span.offset // CHUNK, (span.offset, record.part if record else 0)
        if number >= len(self._before):
            return None
        return self._before[number] + count_until(self._needle, log.form, log.strip, place) + 1


def may_hold(needle: Needle, strip: Strip, number: int) -> bool:
    """May the lines that start in a chunk hold the text? By their bytes."""
    found = strip.stretch(number)
    if needle.sieve.may_hold(found.data):
        return True
    if not found.cut:
        return False
    overlap = min(len(needle.text.encode("utf-8", "surrogatepass")) * 6, BLOCK)
    offset = found.offset + len(found.data)
    while offset < found.end:
        if needle.sieve.may_hold(strip.read(offset - overlap, BLOCK + overlap)):
            return True
        offset += BLOCK
    return False


def count_in(needle: Needle, form: Format, strip: Strip, number: int) -> int:
    """How many lines of text hold it, on the lines that start in a chunk."""
    found = strip.stretch(number)
    whole = len(found.data) - found.cut
    region = Region(found.offset, bytearray(found.data), whole)
    lines = needle.sieve.lines(region.data, whole)
    count = sum(needle.count(form, region.line(start, end)) for start, end in lines)
    return count + (_count_long(needle, form, strip, found) if found.cut else 0)


def count_until(needle: Needle, form: Format, strip: Strip, place: Place) -> int:
    """How many lines of text hold it, in the chunk of a record and before that record."""
    found = strip.stretch(place[0] // CHUNK)
    whole = len(found.data) - found.cut
    region = Region(found.offset, bytearray(found.data), whole)
    lines = (region.line(*ends) for ends in needle.sieve.lines(region.data, whole))
    near = (thing for line in lines if line.offset <= place[0] for thing in things(form, line))
    says = (said for thing in near if thing.place < place for said in thing.says)
    return sum(1 for said in says for _ in hits(said, needle.spans))


def _count_long(needle: Needle, form: Format, strip: Strip, found: Stretch) -> int:
    """The same for a line that is too long to decode."""
    head = found.data[-found.cut :]
    start = found.offset + len(found.data) - found.cut
    region = Region(start, bytearray(head), len(head), found.end - start)
    return sum(1 for _ in long_hits(form, strip, region, needle.sieve, needle.spans))


def in_row(needle: Needle, row: Row, raw: Callable[[Span], bytes]) -> bool:
    """Does what the row stands for hold the text? Of a damage, and of a line too long to decode,
    the bytes count."""
    if row.damage is not None and not row.damage.mild:
        return needle.in_text(raw(row.damage.span).decode("utf-8", "replace"))
    return any(
        record.span.length > LONG or needle.in_record(record) for record in row.records
    )  # fmt: skip


class Asks(Protocol):
    """What a Searcher needs of the pane that it looks for."""

    def later(self, seconds: float, act: Callable[[], None]) -> None:
        """Call `act` after so long, frames and keys in between."""

    def found(self, pos: Pos) -> None:
        """The row that was looked for."""

    def missed(self, words: str) -> None:
        """There is none: "no error below"."""

    def looked(self) -> None:
        """`progress` is another."""

    def tallied(self, count: int, done: bool) -> None:
        """How many lines of text in the log hold it, so far or (`done`) in all."""


class Searcher:
    """The looks of one pane: one at a time, in slices, and the count of a text after them."""

    def __init__(self, pane: Asks) -> None:
        self._pane = pane
        self._look: Look | None = None
        self._tally: Tally | None = None
        self.needle: Needle | None = None
        """The text that is looked for, and marked where it is shown."""
        self._ranked: tuple[object, int | None] = (None, None)
        """The row that was asked for last, and which hit it is."""

    @property
    def progress(self) -> str:
        """How far a look is: "looking 41%"; "" when nothing is looked for."""
        return f"looking {self._look.part:.0%}" if self._look else ""

    def place(self, timeline: Timeline | None, row: Row | None) -> str:
        """Which hit a row is: "hit 3 of 27"; "" where it is none, or not counted so far."""
        tally = self._tally
        if tally is None or timeline is None or row is None:
            return ""
        asked = (tally, row)
        if self._ranked[0] != asked or self._ranked[1] is None:
            self._ranked = (asked, tally.rank(timeline.log, row))
        rank = self._ranked[1]
        return "" if rank is None else f"hit {rank:,} of {tally.count:,}{'' if tally.done else '+'}"

    def stop(self) -> None:
        """End the look that goes on."""
        self._look = None

    def clear(self) -> None:
        """End everything, the text included."""
        self._look = self._tally = self.needle = None

    def start(self, seeking: Seeking, what: str, forward: bool) -> None:
        """Look for a row, in place of what was looked for."""
        self._look = look = Look(seeking, f"no {what} {'below' if forward else 'above'}")
        self._go_on(look)

    def _go_on(self, look: Look) -> None:
        if look is not self._look:
            return
        if not look.work(SLICE):
            self._pane.later(BREATH, lambda: self._go_on(look))
            self._pane.looked()
            return
        self._look = None
        if look.found is None:
            self._pane.missed(look.failing)
        else:
            self._pane.found(look.found)

    def find(self, text: str, timeline: Timeline, at: Pos, ignore_case: bool | None = None) -> None:
        """Look for a text from the row at `at` on, and count it; "" ends that."""
        self.clear()
        if not text:
            return
        self.needle = needle = Needle(text, ignore_case)
        if not in_row(needle, timeline.row(at), timeline.log.raw):
            self.find_next(timeline, at)
        self._tally = tally = Tally(needle)
        self._count(tally, timeline)

    def find_next(self, timeline: Timeline, at: Pos, forward: bool = True) -> None:
        """To the next row behind (before) `at` that holds the text."""
        needle, log = self.needle, timeline.log
        if needle is not None:
            seeking = timeline.seek(
                at,
                lambda row: in_row(needle, row, log.raw),
                forward,
                lambda number: may_hold(needle, log.strip, number),
            )
            self.start(seeking, visible(needle.text), forward)

    def _count(self, tally: Tally, timeline: Timeline) -> None:
        if tally is not self._tally:
            return
        if self._look is not None:  # the row comes before the number
            self._pane.later(PATIENCE, lambda: self._count(tally, timeline))
            return
        done = tally.work(timeline.log, SLICE / 2)
        self._pane.tallied(tally.count, done)
        if not done:
            self._pane.later(BREATH, lambda: self._count(tally, timeline))
