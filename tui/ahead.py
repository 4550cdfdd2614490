"""Where in a log the next error is, the next user turn, the next reset: as moments of its run.

A row and the moment at which it is what it is are two places: a call fails when its result comes.
Pure; a look works in small steps and may be ended at any of them.
"""

from __future__ import annotations

from collections.abc import Callable

from sessionlog.window import CHUNK
from tui import pairs
from tui.rows import Row
from tui.timeline import Seeking, Timeline

_NEAR = 2
"""Chunks in front of a moment whose calls may still fail behind it."""

Wanted = Callable[[Row], bool]


def is_trouble(row: Row) -> bool:
    """An error, a damage or an open call."""
    return row.trouble and not row.quiet


def is_turn(row: Row) -> bool:
    """A prompt of a person."""
    return row.sort == "user"


def is_reset(row: Row) -> bool:
    """A reset of the context."""
    return row.sort == "reset"


def known_at(row: Row) -> int:
    """Byte offset of the line by which a row is what it is; -1 for a row of no line."""
    if row.damage is not None:
        return row.damage.span.offset
    if not row.records or row.sort == "gap":
        return -1
    failed = row.sort == "call" and row.sign == "fail"
    return row.records[-1 if failed else 0].span.offset


def later(timeline: Timeline, size: int, wanted: Wanted, bits: int) -> Seeking:
    """The first line behind the first `size` bytes at which a wanted row is known: (offset, 0).

    `bits`: the marks of which a chunk must hold one. `timeline` is that of the whole log.
    """
    maybe = _maybe(timeline, bits)
    start = max(size // CHUNK - _NEAR, 0)
    best: int | None = None
    for number in range(start, timeline.chunks):
        if best is not None and number * CHUNK > best:
            break
        if maybe(number):
            known = [known_at(row) for row in timeline.rows(number) if wanted(row)]
            best = min([k for k in known if k >= size] + ([best] if best is not None else []),
                       default=None)  # fmt: skip
        yield (number - start + 1) / (timeline.chunks - start)
    return None if best is None else (best, 0)


def earlier(timeline: Timeline, offset: int, wanted: Wanted, bits: int) -> Seeking:
    """The last line in front of the one at `offset` at which a wanted row is known: (offset, 0)."""
    maybe = _maybe(timeline, bits)
    start = min(offset // CHUNK, timeline.chunks - 1)
    best, stop = -1, 0
    for number in range(start, -1, -1):
        if best >= 0 and number < stop:
            break
        if maybe(number):
            known = [known_at(row) for row in timeline.rows(number) if wanted(row)]
            found = max((k for k in known if k < offset), default=-1)
            if found > best:
                best, stop = found, found // CHUNK - _NEAR
        yield (start - number + 1) / (start + 1)
    return None if best < 0 else (best, 0)


def _maybe(timeline: Timeline, bits: int) -> Callable[[int], bool]:
    """May a chunk have such a row? The mark of a failure is in the chunk of the result."""
    last, marks = timeline.chunks - pairs.LOOK, timeline.marks
    return lambda number: (
        number >= last or marks.may_hold(number, bits) or marks.may_hold(number + 1, bits)
    )
