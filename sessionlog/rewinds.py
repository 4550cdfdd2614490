"""Where prompts of a log go back to an earlier record, found while the log is counted through.

`branch.taken_back` tells the same of records in memory; this looks at raw lines, decodes those
that may be prompts, and remembers only where the conversation went back.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator

from sessionlog import codec, window
from sessionlog.branch import Stretch, is_linked, is_summary, last_kept, origin_of, speech_of
from sessionlog.formats.base import Format, Rewound
from sessionlog.framing import Line
from sessionlog.records import Record, Reset
from sessionlog.window import CHUNK, Strip, long_records

_FAR = 64 << 20
"""Bytes that may be looked at for what prompts go on from, besides as many as the log has; prompts
that ask for more are taken for such that go on."""


class Rewinds:
    """The stretches that prompts of one log took back, as far as it was looked through."""

    def __init__(self, form: Format, may: Callable[[bytes], bool]) -> None:
        """`may`: the format's `Rewound.may_go_back`."""
        self._form, self._may = form, may
        self.left: list[Stretch] = []
        """(where what was taken back begins, where the prompt stands) of each, in file order."""
        self.budget = _FAR
        """Bytes that may still be looked at."""

    def restart(self, first: int) -> None:
        """Forget the chunks from `first` on."""
        turns = [turn for _, turn in self.left]
        del self.left[bisect_left(turns, first * CHUNK) :]

    def take(self, strip: Strip, found: window.Stretch, lines: list[bytes]) -> None:
        """Look at the lines of the next chunk."""
        self.budget += len(found.data)
        offset = found.offset
        for index, data in enumerate(lines):
            if self._may(data):
                cut = found.cut and index == len(lines) - 1
                length = found.end - offset if cut else 0
                self._look(self.records(data, offset, length), strip, found)
            offset += len(data) + 1

    def _look(self, records: list[Record], strip: Strip, here: window.Stretch) -> None:
        """Do the records of a line go back?"""
        at = -1
        for record in records:
            offset, key = record.span.offset, origin_of(record)
            if key is None or offset == at:
                continue
            at = offset
            look = _Look(self, strip, here)
            if key:
                end = look.end_of(key, offset)
                start = None if end is None else look.said(key, end, offset)
            else:
                start = look.said_at_all(offset)
            again = start is not None and look.end_of(record.key, offset) is not None
            if start is not None and not again:
                self.left.append((start, offset))

    def records(self, data: bytes, offset: int, long: int) -> list[Record]:
        """The records of a line; none of a damaged one, which the client does not read.

        `long`: the length of a line of which only the head is here; else 0.
        """
        line = Line(0, offset, data, True)
        if long:
            return long_records(self._form, line, long)
        parsed = codec.parse(line, self._form.plausible)
        if any(not damage.mild for damage in parsed.damages):
            return []
        return [r for value, span in parsed.objects for r in self._form.decode(value, span)]


def turns_of(form: Format, fd: int) -> list[Stretch]:
    """Where prompts of an open log go back; none in a format that does not tell. O(bytes)."""
    if not isinstance(form, Rewound):
        return []
    strip, found = Strip(fd), Rewinds(form, form.may_go_back)
    for number in range(strip.chunks):
        stretch = strip.stretch(number)
        found.take(strip, stretch, stretch.data.split(b"\n"))
    return found.left


class _Look:
    """A look at what stands before a prompt."""

    def __init__(self, of: Rewinds, strip: Strip, here: window.Stretch) -> None:
        """`here`: the chunk that the prompt is in."""
        self._of, self._strip, self._here = of, strip, here

    def end_of(self, key: str, before: int) -> int | None:
        """Where the last record of that key before an offset ends; None: it is not there."""
        word = b'"%s"' % key.encode()
        for found in self._chunks(before, -1):
            at = min(before - found.offset, len(found.data))
            while (at := found.data.rfind(word, 0, max(at, 0))) >= 0:
                at = found.data.rfind(b"\n", 0, at) + 1
                for record in self._line(found, at)[::-1]:
                    if record.key == key and record.span.offset < before:
                        return record.span.offset + record.span.length
        return None

    def said(self, key: str, start: int, end: int) -> int | None:
        """Offset of what was said first between the end of the record of that key and a prompt,
        but for the rest of an answer that had begun; None: nothing."""
        last = self._last_said(start)
        first: int | None = None
        kept = False
        for record in self._onward(start, end):
            speech = speech_of(record)
            if isinstance(record.payload, Reset):
                kept = last_kept(record.payload) == key
                first = None if kept else first
            elif kept and is_summary(record):
                first = None
            elif speech is not None and first is None and (not speech or speech != last):
                first = record.span.offset
            last = last if speech is None else speech
        return first

    def said_at_all(self, end: int) -> int | None:
        """Offset of what was said first in a log whose records are linked; None: nothing."""
        first: int | None = None
        for record in self._onward(0, end):
            speech = speech_of(record)
            if first is None and speech is not None:
                first = record.span.offset
            if speech:
                return first if is_linked(record) else None
        return None

    def _last_said(self, before: int) -> str | None:
        """What was said last before an offset."""
        for found in self._chunks(before - 1, -1):
            at = min(before - found.offset, len(found.data))
            while at > 0:
                at = found.data.rfind(b"\n", 0, at - 1) + 1
                for record in self._line(found, at)[::-1]:
                    if record.span.offset < before and (speech := speech_of(record)) is not None:
                        return speech
        return None

    def _onward(self, start: int, end: int) -> Iterator[Record]:
        """The records between two offsets."""
        for found in self._chunks(start, 1):
            if found.offset >= end:
                break
            at = _line_at(found.data, start - found.offset)
            while at < len(found.data) and found.offset + at < end:
                for record in self._line(found, at):
                    if start <= record.span.offset < end:
                        yield record
                at = found.data.find(b"\n", at) + 1 or len(found.data)

    def _chunks(self, at: int, step: int) -> Iterator[window.Stretch]:
        """The chunks from the one of a byte on, forward or back, as far as the budget goes."""
        number = at // CHUNK
        while 0 <= number < self._strip.chunks and self._of.budget > 0:
            if number == self._here.offset // CHUNK:
                yield self._here
            else:
                self._of.budget -= CHUNK
                yield self._strip.stretch(number)
            number += step

    def _line(self, found: window.Stretch, start: int) -> list[Record]:
        """The records of the line that begins there in a chunk's bytes."""
        end = found.data.find(b"\n", start)
        data = found.data[start : end if end >= 0 else len(found.data)]
        offset = found.offset + start
        cut = found.cut and end < 0
        self._of.budget -= len(data)
        return self._of.records(data, offset, found.end - offset if cut else 0)


def _line_at(data: bytes, at: int) -> int:
    """Where the line of a byte begins; behind the line feed where the byte is one."""
    if at <= 0:
        return 0
    return at + 1 if data[at : at + 1] == b"\n" else data.rfind(b"\n", 0, at) + 1
