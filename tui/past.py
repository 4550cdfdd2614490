"""A log as it stood at an earlier moment: what was written after it is not there. Pure over a Log.

Nothing is copied or decoded again: a Past is the same log with a smaller size, its last chunk cut
behind the line that was the last one then. Its rows are those of a file that holds only these
bytes and whose writer lives: a call whose result came later runs.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, OrderedDict

from sessionlog.branch import Stretch
from sessionlog.marks import Marks
from sessionlog.records import Message, Reset
from sessionlog.window import CHUNK, Chunk, Log
from tui import pairs
from tui.contexts import Contexts
from tui.rows import Row
from tui.timeline import Place, Pos, Timeline

_BACK = 2000
"""Records that are looked through for the last one that shows."""


class Past(Log):
    """The first bytes of an open log, by way of its decoded chunks. Owns a descriptor."""

    def __init__(self, log: Log, size: int = 0) -> None:
        self._whole = log
        self.path, self.form = log.path, log.form
        self.strip = log.strip.twin()
        self._chunks, self._weights, self._sums = OrderedDict(), {}, {}
        self.cut(size)

    def cut(self, size: int) -> None:
        """Hold the bytes before `size`, which is behind a line of the log, or its end."""
        self.strip.size = size
        self._cut: Chunk | None = None

    def chunk(self, number: int) -> Chunk:
        """The lines of one chunk that are there. Raises IndexError outside 0 <= number < chunks."""
        if self._cut is not None and self._cut.number == number:
            return self._cut
        if not 0 <= number < self.chunks:
            raise IndexError(f"chunk {number} of {self.chunks}")
        chunk = self._whole.chunk(number)
        if chunk.end > self.size:
            chunk = self._cut = upto(chunk, self.size)
        return chunk


def upto(chunk: Chunk, size: int) -> Chunk:
    """The lines of a chunk that end at `size` or before."""
    return Chunk(
        chunk.number,
        chunk.starts[: bisect_left(chunk.starts, size)],
        size,
        tuple(record for record in chunk.records if record.span.offset < size),
        tuple(damage for damage in chunk.damages if damage.span.offset < size),
    )


class PastMarks(Marks):
    """The marks of a log as far as a Past of it goes. Counts what the log's own marks count."""

    def __init__(self, marks: Marks) -> None:
        vars(self).update(vars(marks))  # what was counted is shared, not copied
        self._all = marks
        self.cut(0, 0)

    def cut(self, size: int, chunks: int) -> None:
        """The Past has so many bytes and chunks; the last chunk is looked at, not counted."""
        self._bytes = size
        self._limit = max(chunks - 1, 0)
        self.resets = self._all.resets[: bisect_left(self._all.resets, len(self) * CHUNK)]

    @property
    def left(self) -> list[Stretch]:
        """The stretches that were left behind by then."""
        return [stretch for stretch in self._all.left if stretch[1] < self._bytes]

    def chunk_of_line(self, line: int) -> int | None:
        """The chunk that holds a line; see `Marks`."""
        return self._all.chunk_of_line(line)

    def __len__(self) -> int:
        return min(len(self._all), self._limit)

    def complete(self, size: int) -> bool:
        """Are its chunks counted?"""
        return len(self._all) >= self._limit

    @property
    def messages(self) -> int:
        """Messages of the whole log, so far: columns keep their width as the log is played."""
        return self._all.messages


class PastTimeline(Timeline):
    """The rows of a log as it stood at a moment that moves, forward and back.

    A move makes the rows of the last chunk anew, and those in front of it that had calls open.
    """

    def __init__(self, log: Log, marks: Marks) -> None:
        self._past, self._marks = Past(log), PastMarks(marks)
        super().__init__(self._past, self._marks)
        self.whole, self.counts = log, marks
        self.alive = True
        self._lives: bool | None = None
        self._told = 0
        """Chunks that were counted when rows were made."""
        self._resets: tuple[int, ...] = ()

    def close(self) -> None:
        """Let go of the descriptor."""
        self._past.close()

    @property
    def size(self) -> int:
        """Bytes of the log that are there."""
        return self._past.size

    @property
    def is_whole(self) -> bool:
        """Is all there that the log holds?"""
        return self.size >= self.whole.size

    def judge(self, alive: bool | None) -> None:
        """Take in whether the writer lives now; it counts once all of the log is there."""
        self._lives = alive
        if self.is_whole:
            super().judge(alive)

    def cut(self, size: int) -> None:
        """Move to the moment at which the log had `size` bytes (behind a line, or its end)."""
        first = max(min(self._past.chunks, -(-size // CHUNK)) - 1, 0)
        self._past.cut(size)
        self._marks.cut(size, self._past.chunks)
        self._drop(first)
        self._recount()
        super().judge(self._lives if self.is_whole else True)

    def changed(self, first: int) -> None:
        """The log changed from chunk `first` on; the moment stays."""
        self.forget(max(first - pairs.LOOK - 1, 0))
        self._contexts, self._resets = None, ()
        self.cut(self.size)

    def _drop(self, first: int) -> None:
        """What was made of the last chunk is made again, and of those whose calls it may end."""
        near = max(first - pairs.LOOK - 2, 0)
        known = self._gists
        open_ones = {n for n in range(near, first) if n not in known or _is_open(known[n])}
        self._ending = None
        for number in [n for n in self._gists if n >= first]:
            del self._gists[number]
        for kept in (self._rows, self._shown, self._paired, self._failed):
            for number in [n for n in kept if n >= first or n in open_ones]:
                del kept[number]

    def _recount(self) -> None:
        """Take in what is counted by now, and which resets there are."""
        told, self._told = self._told, len(self.counts)
        if told != self._told:
            for kept in (self._rows, self._shown):
                for number in [n for n in kept if n > min(told, self._told)]:
                    del kept[number]
        resets = resets_of(self._past, self._marks)
        if resets == self._resets and self._contexts is not None:
            return
        before, self._resets = self._contexts, resets
        self._contexts = Contexts(self._past, self._marks)
        if before is None or before.state != self._contexts.state:
            self._rows.clear()
            self._shown.clear()

    def _end_row(self, rows: list[Row]) -> list[Row]:
        return super()._end_row(rows) if self.is_whole else []

    # -- where the log stands ---------------------------------------------------------------

    def current(self) -> Pos | None:
        """The row that the last line began, or ended: a result's is its call's."""
        if not self.chunks:
            return None
        place = self._last_place()
        return self.find_place(place) if place else self.last()

    def _last_place(self) -> Place | None:
        quiet = 0
        for number in range(self.chunks - 1, -1, -1):
            chunk = self.chunk(number)
            lost = chunk.damages[-1].span.offset if chunk.damages else -1
            for index in range(len(chunk.records) - 1, -1, -1):
                record = chunk.records[index]
                if lost > record.span.offset:
                    return lost, 0
                if not record.quiet:
                    return self._asked(number, index)
                quiet += 1
            if lost >= 0 or quiet > _BACK:
                return (lost, 0) if lost >= 0 else None
        return None

    def _asked(self, number: int, index: int) -> Place:
        """Where the row of a record begins: a result's is its call's."""
        number, index = self.paired(number).request.get(index, (number, index))
        record = self.chunk(number).records[index]
        return record.span.offset, record.part

    @property
    def messages_so_far(self) -> int | None:
        """Messages that are there; None while they are not counted."""
        return messages_before(self.whole, self.counts, self.size)


def resets_of(past: Past, marks: PastMarks) -> tuple[int, ...]:
    """Enough to tell whether other resets are there, or turns to an earlier place: how many are
    counted, and those of the end."""
    first = max(len(marks), past.chunks - 2)
    return (
        len(marks.resets),
        len(marks.left),
        *(
            record.span.offset
            for number in range(first, past.chunks)
            for record in past.chunk(number).records
            if isinstance(record.payload, Reset)
        ),
    )


def messages_before(log: Log, marks: Marks, offset: int) -> int | None:
    """Messages of a log in front of a byte; None while they are not counted."""
    if not log.chunks:
        return 0
    number = min(max(offset - 1, 0) // CHUNK, log.chunks - 1)
    before = marks.messages_before(number)
    if before is None:
        return None
    records = log.chunk(number).records
    return before + sum(
        isinstance(record.payload, Message) and record.span.offset < offset for record in records
    )


def _is_open(gist: pairs.Gist) -> bool:
    """May the rows of this chunk change by what is written behind it?

    A call without a response in it may; and one that stands only in events, until a message
    of its run tells of it.
    """
    waiting: Counter[str] = Counter()
    for half in gist.halves:
        if half.key.startswith("\0") and half.at > gist.last_message:
            return True
        if half.opens:
            waiting[half.key] += 1
        elif waiting[half.key]:
            waiting[half.key] -= 1
    return any(waiting.values())
