"""A log of any size as rows to walk along. Pure over a `Log`: no Textual, no threads.

A position is (chunk, row among the chunk's shown rows); nothing here needs the rows of the whole
log. Marks (message and line numbers, what a chunk holds) come in as they are counted, and rows
that were made without them are made again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Generator
from typing import TypeVar

from sessionlog.formats.base import TROUBLE
from sessionlog.marks import Marks
from sessionlog.records import Ending, Record, begun
from sessionlog.status import last_at
from sessionlog.text import one_line
from sessionlog.window import CHUNK, Change, Chunk, Log
from tui import chunk_rows, folds, pairs
from tui.contexts import Contexts
from tui.folds import Filter, Level
from tui.rows import Row
from tui.words import seconds_of

Pos = tuple[int, int]
Place = tuple[int, int]
Seeking = Generator[float, None, Pos | None]
"""A long look for a row, in small steps: yields how far it is (0 to 1), returns where it is."""

_KEPT = 96
"""Chunks whose rows are kept."""
_GISTS = 512
_REACH = 400
"""Chunks that one step looks through for the next shown row; a seek has no such bound."""
END_PLACE = (1 << 62, 0)
"""Place of the row that ends a log, however long it grows."""


class Timeline:
    """The rows of one open log, as a filter and a level of folding show them."""

    def __init__(self, log: Log, marks: Marks | None = None) -> None:
        self.log = log
        self.marks = marks if marks is not None else Marks(log.form)
        self.alive = False
        """Is the log's writer known to live? Set by `judge`."""
        self._writer = "writer unknown"
        self._ending: Ending | None = None
        self._filter = Filter()
        self._level: Level = "loud"
        self.expanded: set[Place] = set()
        """Folds that are open."""
        self._rows: OrderedDict[int, list[Row]] = OrderedDict()
        self._shown: OrderedDict[int, list[Row]] = OrderedDict()
        self._gists: OrderedDict[int, pairs.Gist] = OrderedDict()
        self._paired: OrderedDict[int, pairs.Pairs] = OrderedDict()
        self._failed: OrderedDict[int, dict[tuple[str, ...], int]] = OrderedDict()
        self._contexts: Contexts | None = None
        self._counted = len(self.marks)

    # -- what a chunk's rows ask for (chunk_rows.Around) -------------------------------------

    @property
    def chunks(self) -> int:
        return self.log.chunks

    def chunk(self, number: int) -> Chunk:
        return self.log.chunk(number)

    def gist(self, number: int) -> pairs.Gist:
        return _kept(self._gists, number, lambda: pairs.gist(self.log.chunk(number)))

    def paired(self, number: int) -> pairs.Pairs:
        return _kept(self._paired, number, lambda: pairs.pairs(number, self.chunks, self.gist))

    def failures(self, number: int) -> dict[tuple[str, ...], int]:
        return _kept(self._failed, number, lambda: chunk_rows.failures_of(number, self))

    def messages_before(self, number: int) -> int | None:
        return self.marks.messages_before(number)

    def lines_before(self, number: int) -> int | None:
        return self.marks.lines_before(number)

    # -- rows -------------------------------------------------------------------------------

    def rows(self, number: int) -> list[Row]:
        """Every row of a chunk, quiet ones and those of subagents included."""
        found = self._rows.get(number)
        if found is not None:
            return found
        contexts = self.contexts
        rows = chunk_rows.rows_of(number, self)
        rows = [row if contexts.holds(row) else row._replace(in_context=False) for row in rows]
        if number == self.chunks - 1:
            rows += self._end_row(rows)
        self._rows[number] = rows
        if len(self._rows) > _KEPT:
            self._rows.popitem(last=False)
        return rows

    def shown(self, number: int) -> list[Row]:
        """The rows of a chunk as filter and folds show them."""
        made = self._shown.get(number)
        if made is None:
            made = folds.shown(self.rows(number), self._filter, self._level, self.expanded)
            self._shown[number] = made
            if len(self._shown) > _KEPT:
                self._shown.popitem(last=False)
        return made

    @property
    def contexts(self) -> Contexts:
        """What is in context, by the resets that were known at the last `renew`."""
        if self._contexts is None:
            self._contexts = Contexts(self.log, self.marks)
        return self._contexts

    def renew(self) -> bool:
        """Take in what the marks count by now; True when a row may look different."""
        before = self._contexts
        self._contexts = Contexts(self.log, self.marks)
        if before is None or before.state != self._contexts.state:
            changed = list(self._rows)
        else:
            counted = range(self._counted + 1, len(self.marks) + 1)
            changed = [number for number in self._rows if number in counted]
        for number in changed:
            self._rows.pop(number, None)
            self._shown.pop(number, None)
        self._counted = len(self.marks)
        return bool(changed)

    def messages_in_context(self) -> int:
        """Messages behind the last full reset, as far as they are counted."""
        number = self.contexts.horizon // CHUNK
        before = self.marks.messages_before(number)
        if before is None:
            return 0
        chunk = self.log.chunk(number)
        before += sum(
            record.kind == "message" and record.span.offset < self.contexts.horizon
            for record in chunk.records
        )
        return max(self.marks.messages - before, 0)

    def _end_row(self, rows: list[Row]) -> list[Row]:
        last = next((row for row in reversed(rows) if not row.quiet), None)
        if last is not None and last.sort in ("end", "writing"):
            return []
        at = last_at(record for row in reversed(rows) for record in row.records[::-1])
        ending = self.ending
        if ending.ended:
            words = one_line(ending.text) or one_line(ending.reason or "") or "ended"
            bad = ending.ok is False
            told = bad and last is not None and last.body == words
            said = "failed" if told else words
            return [Row(END_PLACE, "end", "", f"end of log · {said}", "fail" if bad else "ok",
                        at=at, trouble=bad and not (told and last and last.trouble))]  # fmt: skip
        if self.alive:
            return [Row(END_PLACE, "end", "", "still writing", "run", at=at)]
        body = f"end of log · no result record · {self._writer}"
        return [Row(END_PLACE, "end", "", body, "bytes" if last and last.damage else "open", at=at)]

    @property
    def ending(self) -> Ending:
        """How the log's last records say that it ended."""
        if self._ending is None:
            self._ending = self.log.form.ending(self.log.newest_first())
        return self._ending

    # -- what is shown ----------------------------------------------------------------------

    def judge(self, alive: bool | None) -> None:
        """Take in whether the writer lives: True, False (gone), None (unknown)."""
        words = {True: "writer alive", False: "writer gone", None: "writer unknown"}[alive]
        if (bool(alive), words) != (self.alive, self._writer):
            self.alive, self._writer = bool(alive), words
            self.forget(max(self.chunks - pairs.LOOK - 1, 0))

    @property
    def filter(self) -> Filter:
        return self._filter

    @filter.setter
    def filter(self, what: Filter) -> None:
        self._filter = what
        self._shown.clear()

    @property
    def level(self) -> Level:
        return self._level

    @level.setter
    def level(self, level: Level) -> None:
        self._level = level
        self._shown.clear()

    def fold(self, place: Place) -> None:
        """Open a fold, or close it."""
        self.expanded ^= {place}
        self._shown.clear()

    def fold_around(self, pos: Pos) -> Place | None:
        """Place of the fold at a position, or of the open one that its row belongs to."""
        number, index = pos
        row = self.row(pos)
        above = self.shown(number)[: index + 1]
        fold: Row | None = next((r for r in above[::-1] if r.sort == "fold"), None)
        if fold is None or not (fold is row or any(r in fold.records for r in row.records)):
            return None
        return fold.place

    def unfold(self, steps: int) -> None:
        """Show so many levels more, or less."""
        at = folds.LEVELS.index(self._level) + steps
        self.level = folds.LEVELS[min(max(at, 0), len(folds.LEVELS) - 1)]

    def grown(self, change: Change) -> None:
        """The log changed: what was made of its last chunks is made again when it is shown."""
        if change.kind == "replaced":
            self.marks.restart(0)
            self.forget(0)
        elif change.kind == "grew":
            self.marks.restart(change.first)
            self.forget(max(change.first - pairs.LOOK, 0))
        self._counted = min(self._counted, len(self.marks))

    def forget(self, first: int) -> None:
        """Drop what was made of the chunks from `first` on."""
        self._ending = None
        for kept in (self._rows, self._shown, self._gists, self._paired, self._failed):
            for number in [n for n in kept if n >= first]:
                del kept[number]

    # -- walking ----------------------------------------------------------------------------

    def row(self, pos: Pos) -> Row:
        """The row at a position that this timeline gave."""
        return self.shown(pos[0])[pos[1]]

    def first(self) -> Pos | None:
        """Where the first shown row is; None when there is none near."""
        return self._from(0, 1) if self.chunks else None

    def last(self) -> Pos | None:
        """Where the last shown row is; None when there is none near."""
        return self._from(self.chunks - 1, -1) if self.chunks else None

    def step(self, pos: Pos, delta: int) -> Pos:
        """The position `delta` shown rows on, or the last one before there are no more."""
        number, index = pos
        forward = 1 if delta > 0 else -1
        left = abs(delta)
        while left:
            size = len(self.shown(number))
            room = size - 1 - index if forward > 0 else index
            if left <= room:
                return number, index + forward * left
            following = self._from(number + forward, forward)
            if following is None:
                return number, size - 1 if forward > 0 else 0
            left -= room + 1
            number, index = following
        return number, index

    def count_after(self, pos: Pos | None, most: int = 1000) -> int:
        """Shown rows behind a position, up to `most`."""
        count = 0
        while pos is not None and count < most:
            following = self.step(pos, 1)
            if following == pos:
                break
            pos, count = following, count + 1
        return count

    def _from(self, number: int, forward: int) -> Pos | None:
        """The nearest shown row in chunk `number` or further on."""
        looked = 0
        while 0 <= number < self.chunks and looked < _REACH:
            if self._may_show(number):
                looked += 1
                count = len(self.shown(number))
                if count:
                    return number, 0 if forward > 0 else count - 1
            number = self._next(number, forward)
        return None

    def _next(self, number: int, forward: int) -> int:
        """The chunk after (before) this one; past a long line in one stride."""
        if forward > 0:
            return max(number + 1, self.log.chunk(number).end // CHUNK)
        return number - 1

    def _may_show(self, number: int) -> bool:
        if number >= self.chunks - pairs.LOOK or self._level == "all":
            return True  # open calls and the end are in no marks
        if self._filter.what == "quiet":
            return True
        return self.marks.may_hold(number, self._filter.bits)

    def find_place(self, place: Place) -> Pos | None:
        """The shown row that holds a place, or the nearest before it (else the first)."""
        if not self.chunks:
            return None
        number = min(place[0] // CHUNK, self.chunks - 1)
        for _ in range(_REACH):
            if number < 0:
                break
            shown = self.shown(number)
            index = bisect_right([row.place for row in shown], place) - 1
            if index >= 0:
                return number, index
            number -= 1
        return self.first()

    # -- looking for a row ------------------------------------------------------------------

    def seek(
        self,
        pos: Pos,
        wanted: Callable[[Row], bool],
        forward: bool = True,
        maybe: Callable[[int], bool] = lambda number: True,
    ) -> Seeking:
        """The next shown row after (before) `pos` that is wanted, None when there is none.

        `maybe` tells from a chunk's number whether it is worth decoding.
        """
        number, index = pos
        shown = self.shown(number)
        rest = range(index + 1, len(shown)) if forward else range(index - 1, -1, -1)
        step, start = (1, number) if forward else (-1, number)
        while True:
            for i in rest:
                if wanted(shown[i]):
                    return number, i
            number += step
            if not 0 <= number < self.chunks:
                return None
            while 0 <= number < self.chunks and not maybe(number):
                number += step
                yield abs(number - start) / self.chunks
            if not 0 <= number < self.chunks:
                return None
            shown = self.shown(number)
            rest = range(len(shown)) if forward else range(len(shown) - 1, -1, -1)
            yield abs(number - start) / self.chunks

    def holding(self, bits: int) -> Callable[[int], bool]:
        """A `maybe` for seek: chunks that may hold a line of these bits, or an open call."""
        # a call stands where it was asked; that it failed may be written some chunks later
        reach = 1 + pairs.LOOK if bits & TROUBLE else 1
        return lambda number: (
            number >= self.chunks - pairs.LOOK
            or any(self.marks.may_hold(near, bits) for near in range(number, number + reach))
        )

    def message(self, n: int) -> Pos | None:
        """The row that holds message `n`; None while it is not counted yet, or not there."""
        number = self.marks.chunk_of(n)
        if number is None:
            return None
        held = [row for row in self.rows(number) if row.n is not None and row.n <= n]
        return self.find_place(held[-1].place) if held else self.find_place((number * CHUNK, 0))

    def started(self) -> str:
        """When the run began, as far as the first chunks tell."""
        return begun(r for k in range(min(self.chunks, 4)) for r in self.log.chunk(k).records)

    def ended(self) -> str:
        """Time of the last record that has one, among the last chunks."""
        for number in range(self.chunks - 1, max(self.chunks - 5, -1), -1):
            record: Record
            for record in reversed(self.log.chunk(number).records):
                if record.at:
                    return record.at
        return ""

    def at_time(self, seconds: float) -> Pos | None:
        """The last shown row not after a moment (POSIX seconds). O(log chunks)."""
        low, high = 0, self.chunks
        while high - low > 1:
            middle = (low + high) // 2
            begins = self._time(middle)
            if begins is not None and begins > seconds:
                high = middle
            else:
                low = middle
        if not self.chunks:
            return None
        best = None
        for row in self.rows(low):
            when = seconds_of(row.at)
            if when is None or when <= seconds:
                best = row if when is not None else best
        return self.find_place(best.place if best else (low * CHUNK, 0))

    def _time(self, number: int) -> float | None:
        for near in range(number, min(number + 4, self.chunks)):
            for record in self.log.chunk(near).records:
                when = seconds_of(record.at)
                if when is not None:
                    return when
        return None


_T = TypeVar("_T")


def _kept(kept: OrderedDict[int, _T], number: int, made: Callable[[], _T]) -> _T:
    found = kept.get(number)
    if found is None:
        found = kept[number] = made()
        if len(kept) > _GISTS:
            kept.popitem(last=False)
    return found
