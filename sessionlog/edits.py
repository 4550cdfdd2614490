"""What tells a new log from its source: places in its bytes, and the lines that go in there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sessionlog.formats.base import Fate
from sessionlog.records import Damage, OpenCall, OrphanResult, Span


@dataclass(frozen=True, slots=True)
class Insert:
    """A line that goes in: a closing line, or a copy of a record that stands elsewhere."""

    n: int
    """Message number that orders lines at one place: the request's, or the line's own."""
    fate: Fate
    span: Span
    """The record it is made from: the request's for a closing line."""
    call: OpenCall | None = None
    at: str = ""
    """RFC 3339: time of a closing line, that of the record it goes behind."""
    results: tuple[int, ...] | None = None
    """Which results of the span's line it holds, counted from 0 there; None: the line as it is."""
    rest: bool = False
    """Does it hold what else is on that line?"""
    without: tuple[int, ...] = ()
    """Which calls of the span's line it lacks, counted from 0 there."""
    own: int = 0
    """Message number of its first result, where it moved here."""


@dataclass(frozen=True, slots=True)
class Edit:
    """At byte `offset` of the source, `removed` bytes are left out and lines go in."""

    offset: int
    removed: int = 0
    lines: tuple[Insert, ...] = ()


@dataclass(frozen=True, slots=True)
class Edits:
    """Everything that tells a new log from the first `end` bytes of its source."""

    end: int
    messages: int
    """How many the new log holds, closing lines included."""
    closed: tuple[OpenCall, ...] = ()
    moved: tuple[int, ...] = ()
    orphans: tuple[OrphanResult, ...] = ()
    dropped: tuple[Damage, ...] = ()
    nameless: tuple[Damage, ...] = ()
    """Open calls that no line can answer: left out, and told as damage."""
    repeated: tuple[Damage, ...] = ()
    """Records that stand there a second time: left out, and told as damage."""
    unreached: int = 0
    """Records that the client does not get to: behind a link that leads nowhere, or on one line
    with another. In the new log it does, without an edit."""
    edits: tuple[Edit, ...] = ()
    blobs: frozenset[str] = frozenset()
    """Hex digests of the pictures that the taken messages name."""


def ordered(lines: Iterable[Insert], tangled: bool) -> tuple[Insert, ...]:
    """The lines of one place in the order of the requests that they answer.

    Where answers might be taken for another call's, moved results keep their own order and
    closing lines come last, the latest request's first: so each finds the call it had.
    """
    if not tangled:
        return tuple(sorted(lines, key=lambda line: line.n))
    return tuple(sorted(lines, key=_untangled))


def _untangled(line: Insert) -> tuple[int, int]:
    if line.fate is Fate.MOVED:
        return 0, line.own
    return (1, -line.n) if line.fate is Fate.ADDED else (2, line.n)
