"""What of a log the agent would still know: which rows stand behind a reset. Pure over a Log.

A reset takes all before it out of the context, but for what it says it keeps; a rollback takes
the last turns. Going back to an earlier place takes what is left behind, and resets there count
for nothing. Resets are few, so each is decoded when it is met; where the
log is not counted through yet, only the end of it is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator

from sessionlog.branch import newest_first
from sessionlog.marks import Marks
from sessionlog.records import Message, Record, Reset
from sessionlog.window import CHUNK, Log
from tui.rows import Row

_TAIL = 2
"""Chunks at the end that are looked at while the log is not counted through."""
_MOST = 200
"""Rollbacks after the last full reset that are followed."""
_BACK = 20_000
"""Records that are read back to find where a rollback leads."""


class Contexts:
    """The stretches of one log, as it is now, that are out of context."""

    def __init__(self, log: Log, marks: Marks) -> None:
        self._log = log
        self.horizon = 0
        """Byte offset of the last full reset; what is before it is history."""
        self._kept: tuple[int, int] | None = None
        self._dropped: dict[str, int] = {}
        """Keys of records that a reset takes out of what is kept, and where it stands."""
        self._marks = marks
        self._undone = list(newest_first(marks.left))
        later: list[Record] = []
        full = False
        for record in _newest_resets(log, marks):
            reset = record.payload
            if not isinstance(reset, Reset) or self._is_undone(record):
                continue
            self._dropped |= dict.fromkeys(reset.drop - self._dropped.keys(), record.span.offset)
            if not full:
                later.append(record)
            full = full or reset.turns is None
            if full and not reset.drop:
                break
        for record in reversed(later):
            self._apply(record)

    @property
    def state(self) -> tuple[object, ...]:
        """Equal where the same stretches are out of context."""
        return self.horizon, self._kept, (*self._undone, len(self._dropped))

    def holds(self, row: Row) -> bool:
        """Is the row part of what the agent would know?"""
        offset = row.place[0]
        if row.side or any(_is_unsent(record) for record in row.records[:1]):
            return False
        if offset < self.horizon and not (self._kept and _in(offset, self._kept)):
            return False
        if any(offset < self._dropped.get(record.key, 0) for record in row.records[:1]):
            return False
        return not any(_in(offset, stretch) for stretch in self._undone)

    def _is_undone(self, record: Record) -> bool:
        return any(_in(record.span.offset, stretch) for stretch in self._undone)

    def _apply(self, record: Record) -> None:
        reset = record.payload
        assert isinstance(reset, Reset)
        if reset.turns is None:
            self.horizon = record.span.offset
            if reset.keep:
                self._kept = self._stretch(record, *reset.keep)
            else:
                self._kept = self._from_line(record, reset.keep_line or 0)
        elif reset.turns > 0:
            start = self._turns_back(record, reset.turns)
            self._undone.append((start, record.span.offset))

    def _before(self, record: Record) -> Iterator[Record]:
        number = record.span.offset // CHUNK
        for count, other in enumerate(self._log.newest_first(number)):
            if count >= _BACK:
                return
            if (other.span.offset, other.part) < (record.span.offset, record.part):
                yield other

    def _stretch(self, record: Record, first: str, last: str) -> tuple[int, int] | None:
        end = None if last else record.span.offset
        for other in self._before(record):
            if end is None and other.key == last:
                end = other.span.offset + 1
            if end is not None and other.key == first:
                return other.span.offset, end
        return None

    def _from_line(self, record: Record, line: int) -> tuple[int, int] | None:
        number = self._marks.chunk_of_line(line)
        before = None if number is None else self._marks.lines_before(number)
        if number is None or before is None or number >= self._log.chunks:
            return None
        starts = self._log.chunk(number).starts[line - 1 - before :]
        return (starts[0], record.span.offset) if starts else None

    def _turns_back(self, record: Record, turns: int) -> int:
        for other in self._before(record):
            offset, payload = other.span.offset, other.payload
            if offset < self.horizon:
                break
            if not isinstance(payload, Message) or payload.type != "user" or payload.sidechain:
                continue
            if not any(_in(offset, stretch) for stretch in self._undone):
                turns -= 1
                if turns == 0:
                    return offset
        return self.horizon


def _in(offset: int, stretch: tuple[int, int]) -> bool:
    return stretch[0] <= offset < stretch[1]


def _is_unsent(record: Record) -> bool:
    return isinstance(record.payload, Message) and record.payload.unsent


def _newest_resets(log: Log, marks: Marks) -> Iterator[Record]:
    counted = min(len(marks), log.chunks)
    for number in range(log.chunks - 1, max(counted, log.chunks - _TAIL) - 1, -1):
        yield from _resets(log, number)
    seen = -1
    for offset in list(reversed(marks.resets))[:_MOST]:
        number = offset // CHUNK
        if number != seen and number < log.chunks:
            seen = number
            yield from _resets(log, number)


def _resets(log: Log, number: int) -> Iterator[Record]:
    for record in reversed(log.chunk(number).records):
        if isinstance(record.payload, Reset):
            yield record
