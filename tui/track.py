"""A log as moments in time: one beat for each line, walked along forward and back. Pure over a Log.

A beat is known from its chunk and a bounded look in front of it, so the log of any size is played
from anywhere, and a moment is the same whichever way it was reached.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from typing import NamedTuple

from sessionlog.pace import Pace, gap
from sessionlog.window import CHUNK, Chunk, Log
from tui.words import seconds_of

_KEPT = 160
"""Chunks whose beats are kept."""
_LOOK = 16
"""Chunks in front of one that are looked through for the last time that is known."""


class Beat(NamedTuple):
    """The moment at which one line was written."""

    number: int
    """Its chunk."""
    nth: int
    """Which of the chunk's lines it is, from 0."""
    start: int
    """Byte offset of the line."""
    end: int
    """Bytes of the log up to and with the line, its LF included."""
    at: float | None
    """POSIX seconds: its own time, or the last one known before it; None where none is."""
    wait: float
    """Seconds of run since the beat before; see `pace.gap`."""
    loud: bool
    """Does it show more than bookkeeping?"""
    message: bool
    """Does it hold a message?"""


class Track:
    """The beats of one log."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self._beats: OrderedDict[int, tuple[Beat, ...]] = OrderedDict()
        self._sums: OrderedDict[tuple[int, float | None], float] = OrderedDict()

    def forget(self, first: int) -> None:
        """The log changed from chunk `first` on."""
        for number in [n for n in self._beats if n >= first]:
            del self._beats[number]

    def beats(self, number: int) -> tuple[Beat, ...]:
        """The beats of the lines that start in a chunk. O(its records)."""
        made = self._beats.get(number)
        if made is None:
            made = beats_of(self.log.chunk(number), self._known_before(number))
            self._beats[number] = made
            if len(self._beats) > _KEPT:
                self._beats.popitem(last=False)
        return made

    def _known_before(self, number: int) -> float | None:
        """The last time in front of a chunk."""
        for near in range(number - 1, max(number - _LOOK - 1, -1), -1):
            for record in reversed(self.log.chunk(near).records):
                when = seconds_of(record.at)
                if when is not None:
                    return when
        return None

    # -- walking ----------------------------------------------------------------------------

    @property
    def first(self) -> Beat | None:
        """The beat of the first line; None for an empty log."""
        return self._from(0, 1)

    @property
    def last(self) -> Beat | None:
        """The beat of the last line; None for an empty log."""
        return self._from(self.log.chunks - 1, -1)

    def after(self, beat: Beat) -> Beat | None:
        """The next beat."""
        beats = self.beats(beat.number)
        if beat.nth + 1 < len(beats):
            return beats[beat.nth + 1]
        return self._from(max(beat.number + 1, beat.end // CHUNK), 1)

    def before(self, beat: Beat) -> Beat | None:
        """The beat before."""
        if beat.nth:
            return self.beats(beat.number)[beat.nth - 1]
        return self._from(beat.number - 1, -1)

    def beside(self, beat: Beat, forward: bool) -> Beat | None:
        """The next beat, or the one before."""
        return self.after(beat) if forward else self.before(beat)

    def _from(self, number: int, forward: int) -> Beat | None:
        """The nearest beat in chunk `number` or further on."""
        while 0 <= number < self.log.chunks:
            beats = self.beats(number)
            if beats:
                return beats[0 if forward > 0 else -1]
            number += forward
        return None

    # -- looking up -------------------------------------------------------------------------

    def holding(self, offset: int) -> Beat | None:
        """The beat of the line that holds a byte; the last one past the end. O(log lines)."""
        number = min(offset // CHUNK, self.log.chunks - 1)
        while number >= 0:
            beats = self.beats(number)
            at = bisect_right([beat.start for beat in beats], offset) - 1
            if at >= 0:
                return beats[at]
            number -= 1
        return self.first

    def at_time(self, seconds: float) -> Beat | None:
        """The last beat not after a moment (POSIX seconds). O(log chunks)."""
        low, high = 0, self.log.chunks
        while high - low > 1:
            middle = (low + high) // 2
            begins = self._begins(middle)
            if begins is not None and begins > seconds:
                high = middle
            else:
                low = middle
        low = min(low, self.log.chunks - 1)
        for number in range(low, max(low - _LOOK, 0) - 1, -1):
            known = [b for b in self.beats(number) if b.at is not None and b.at <= seconds]
            if known:
                return known[-1]
        return self.first

    def _begins(self, number: int) -> float | None:
        for near in range(number, min(number + 4, self.log.chunks)):
            for beat in self.beats(near):
                if beat.at is not None:
                    return beat.at
        return None

    @property
    def begins(self) -> float | None:
        """The earliest time in the first chunk that tells any: the head of a fork, which is its
        first line, is younger than the lines it was given."""
        for number in range(min(self.log.chunks, _LOOK)):
            known = [beat.at for beat in self.beats(number) if beat.at is not None]
            if known:
                return min(known)
        return None

    @property
    def ends(self) -> float | None:
        """The last time in the log."""
        last = self.last
        return last.at if last else None

    def played(self, start: Beat, end: Beat, pace: Pace) -> float:
        """Seconds of run from one beat to a later one, silences cut. O(chunks between)."""
        if start.number == end.number:
            between = self.beats(end.number)[start.nth + 1 : end.nth + 1]
            return sum(pace.counts(beat.wait) for beat in between)
        here = self.beats(start.number)[start.nth + 1 :]
        there = self.beats(end.number)[: end.nth + 1]
        ends = sum(pace.counts(beat.wait) for beat in (*here, *there))
        return ends + sum(self._sum(n, pace) for n in range(start.number + 1, end.number))

    def _sum(self, number: int, pace: Pace) -> float:
        """What a whole chunk is played for; one that others stand behind never changes."""
        key = (number, pace.idle)
        found = self._sums.get(key)
        if found is None:
            found = self._sums[key] = sum(pace.counts(beat.wait) for beat in self.beats(number))
            if len(self._sums) > _KEPT:
                self._sums.popitem(last=False)
        return found


def beats_of(chunk: Chunk, known: float | None) -> tuple[Beat, ...]:
    """The beats of a chunk; `known` is the last time in front of it. O(its records)."""
    made = []
    records, lost = chunk.records, {chunk.line_of(lost.span.offset) for lost in chunk.damages}
    at = 0
    for index, start in enumerate(chunk.starts):
        end = chunk.starts[index + 1] if index + 1 < len(chunk.starts) else chunk.end
        own, loud, message = None, False, False
        while at < len(records) and records[at].span.offset < end:
            record = records[at]
            own = seconds_of(record.at) if own is None else own
            loud = loud or not record.quiet
            message = message or record.kind == "message"
            at += 1
        loud = loud or index in lost
        wait = gap(known, own, loud=loud) if start else 0.0
        known = own if own is not None else known
        made.append(Beat(chunk.number, index, start, end, known, wait, loud, message))
    return tuple(made)
