"""Bytes of a growing log in, records out, each exactly once. Without I/O.

Bytes come in any pieces. What follows the last line feed is kept until its own comes: half a line
is neither lost nor a damage. A last line that is whole already is given at once, though its line
feed is still to come, since there are writers that put it in front of the next record.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from sessionlog.formats.base import Format
from sessionlog.framing import Line, LineBuffer
from sessionlog.numbering import Numbering, OwnRun
from sessionlog.records import Damage, Record
from sessionlog.session import Numbered
from sessionlog.source import decode

_LONG = 8 << 20
"""A longer line waits for its line feed: it is not tried again with every piece that comes."""


class Start(NamedTuple):
    """Where in a log reading begins: at a line's first byte."""

    offset: int = 0
    line: int = 1
    """Number of the line that begins there."""
    messages: int = 0
    """Messages in front of it."""


class Given(NamedTuple):
    """What some bytes gave, in file order."""

    records: tuple[Record, ...] = ()
    steps: tuple[Numbered | None, ...] = ()
    """For each record: number, pair, context, as far as known when it came; None: no message."""
    damages: tuple[Damage, ...] = ()


class Intake:
    """The records of one log of one format, as its bytes come."""

    def __init__(self, form: Format, start: Start = Start()) -> None:  # noqa: B008 - frozen
        self.form = form
        self.writing = False
        """Do bytes stand behind the last record that may become one?"""
        self.broken = False
        """Was a line given for whole that then went on as something else? Read it all anew."""
        self.lines = start.line - 1
        """Number of the last line that ended."""
        self._buffer = LineBuffer(start.offset, start.line)
        self._numbering = Numbering(start.messages)
        self._early: list[Record] = []
        """What the line that has not ended yet has given already."""
        self._run = OwnRun(beside=start.offset > 0)

    def feed(self, data: bytes) -> Given:
        """The next bytes."""
        records: list[Record] = []
        damages: list[Damage] = []
        for line in self._buffer.feed(data):
            found, lost = decode(self.form, line)
            records += self._rest_of(found)
            damages += lost
            self._early = []
            self.lines = line.number
        rest = self._whole_rest(data)
        if rest:
            records += self._rest_of(rest)
            self._early = rest
        self.writing = not rest and not data.endswith(b"\n")
        return self._given(records, damages)

    def finish(self) -> Given:
        """What stands behind the last line feed, for good: a record, or a torn line."""
        line = self._buffer.rest()
        if line is None:
            return Given()
        found, lost = decode(self.form, line)
        return self._given(self._rest_of(found), lost)

    def _whole_rest(self, data: bytes) -> list[Record]:
        """The records of a last line that is whole but for its line feed; else none."""
        if not data.endswith(b"}"):
            return []
        line: Line | None = self._buffer.rest()
        if line is None or len(line.data) > _LONG:
            return []
        found, lost = decode(self.form, line)
        return [] if lost else found

    def _rest_of(self, found: list[Record]) -> list[Record]:
        """Those of a line's records that were not given early."""
        done = len(self._early)
        if done and [_said(r) for r in found[:done]] != [_said(r) for r in self._early]:
            self.broken = True
        return found[done:]

    def _given(self, records: Iterable[Record], damages: Iterable[Damage]) -> Given:
        kept = tuple(map(self._run.place, records))
        return Given(kept, tuple(self._numbering.take(kept)), tuple(damages))


def _said(record: Record) -> tuple[object, ...]:
    """A record without its bytes' length: blanks may follow it."""
    return record.kind, record.at, record.payload, record.part
