"""What stands where in a log, for each chunk of it: messages and lines before, and what is inside.

A second look at the file, in the background: nothing waits for it. It gives the screen message
and line numbers, and lets it skip what a filter hides. about 40 bytes a chunk of 64 KB.
"""

from __future__ import annotations

import re
import time
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from math import isnan, nan
from typing import NamedTuple

from sessionlog import codec
from sessionlog.branch import Stretch
from sessionlog.formats.base import (
    COUNT,
    LOUD,
    RESET,
    TROUBLE,
    USER,
    Format,
    Rewound,
    Tree,
    bits_of,
)
from sessionlog.framing import Line
from sessionlog.records import Kind, Record
from sessionlog.rewinds import Rewinds
from sessionlog.ways import Ways
from sessionlog.window import CHUNK, Strip, long_records

SLICE = 0.003
"""Seconds of work between two pauses: a screen in the same process stays alive."""
PAUSE = 0.001
_MOST = 0xFFFF
_TIMED = 3
"""Lines of a chunk that are asked for their time."""

_MAYBE = re.compile(rb"xit(?:ed with)?[ _]?(?:status|[cC]ode)")
"""A failed call that only its result tells: the words of shells."""


class Counted(NamedTuple):
    """What was counted of a stretch of chunks."""

    offset: int
    """Where it begins."""
    time: float | None
    """POSIX seconds of its first record that has a time, as far as that was looked for."""
    records: int
    """Lines that give a row unless quiet ones are hidden; at least 1."""
    troubles: int
    resets: int


class Marks:
    """Counts for the chunks of one log, as far as it was looked through.

    One thread scans, another may read what is done: a chunk counts only when it is complete.
    """

    def __init__(self, form: Format) -> None:
        self.form = form
        self._messages = array("Q", [0])  # before chunk k; one entry more than chunks
        self._lines = array("Q", [0])
        self._users = array("H")
        self._troubles = array("H")
        self._louds = array("H")
        self._times = array("d")
        """Of the first record with a time; NaN: none of the first lines has one."""
        self.resets = array("Q")
        """Byte offsets of the lines that hold a reset."""
        self._ways = _ways(form)
        self._size = 0

    def __len__(self) -> int:
        """Chunks that are counted."""
        return len(self._louds)

    def complete(self, size: int) -> bool:
        """Is a file of `size` bytes looked through?"""
        return self._size >= size

    @property
    def messages(self) -> int:
        """Messages counted so far."""
        return self._messages[len(self)]

    @property
    def lines(self) -> int:
        """Lines counted so far."""
        return self._lines[len(self)]

    @property
    def quiet(self) -> int:
        """Lines counted so far that give no row unless quiet ones are asked for."""
        return self.lines - sum(self._louds)

    def messages_before(self, chunk: int) -> int | None:
        """Messages in front of a chunk; None when it is not counted yet."""
        return self._messages[chunk] if chunk <= len(self) else None

    def lines_before(self, chunk: int) -> int | None:
        """Lines in front of a chunk; None when it is not counted yet."""
        return self._lines[chunk] if chunk <= len(self) else None

    @property
    def left(self) -> list[Stretch]:
        """The byte stretches that a record with an older parent leaves, or takes back, in file
        order of those."""
        return self._ways.left if self._ways else []

    def chunk_of_line(self, line: int) -> int | None:
        """The chunk that holds line `line` (from 1); None when it is not counted yet."""
        if not 1 <= line <= self.lines:
            return None
        return bisect_right(self._lines, line - 1, 0, len(self) + 1) - 1

    def chunk_of(self, message: int) -> int | None:
        """The chunk that holds message `message` (from 1); None when it is not counted yet."""
        if not 1 <= message <= self.messages:
            return None
        return bisect_right(self._messages, message - 1, 0, len(self) + 1) - 1

    def may_hold(self, chunk: int, bits: int) -> bool:
        """Can the chunk hold a line of one of these bits? True when it is not counted yet.

        TROUBLE is a guess on the safe side: a call whose failure only its result tells counts.
        """
        if chunk >= len(self):
            return True
        return bool(
            (bits & LOUD and self._louds[chunk])
            or (bits & USER and self._users[chunk])
            or (bits & TROUBLE and self._troubles[chunk])
            or (bits & COUNT and self._messages[chunk + 1] > self._messages[chunk])
            or (bits & RESET and self._count_resets(chunk, chunk + 1))
        )

    def stretches(self, most: int) -> Iterator[Counted]:
        """What was counted, in at most so many stretches of equal length."""
        count = len(self)
        step = -(-count // most) or 1
        for k in range(0, count, step):
            end = min(k + step, count)
            if self._lines[end] > self._lines[k]:
                time = next((time for time in self._times[k:end] if not isnan(time)), None)
                yield Counted(
                    k * CHUNK, time, max(sum(self._louds[k:end]), 1),
                    sum(self._troubles[k:end]), self._count_resets(k, end),
                )  # fmt: skip

    def _count_resets(self, chunk: int, end: int) -> int:
        first = bisect_left(self.resets, chunk * CHUNK)
        return bisect_left(self.resets, end * CHUNK) - first

    def scan(
        self,
        strip: Strip,
        stop: Callable[[], bool] = lambda: False,
        rest: Callable[[], None] = lambda: time.sleep(PAUSE),
        clock: Callable[[], float] = time.perf_counter,
    ) -> bool:
        """Count on to the end of `strip`; False when `stop` ended it before.

        Works in slices of SLICE seconds by `clock`, then calls `rest` and asks `stop`.
        """
        total = strip.chunks
        due = clock() + SLICE
        while len(self) < total:
            self._take(strip, len(self))
            if clock() >= due:
                if stop():
                    return False
                rest()
                due = clock() + SLICE
        self._size = strip.size
        return True

    def restart(self, first: int) -> None:
        """Forget the chunks from `first` on: the file grew, or is another one."""
        first = min(first, len(self))
        for counts in (self._users, self._troubles, self._louds):
            del counts[first:]
        del self._times[first:]
        del self._messages[first + 1 :], self._lines[first + 1 :]
        del self.resets[bisect_left(self.resets, first * CHUNK) :]
        if self._ways:
            self._ways.restart(first)
        self._size = 0

    def _take(self, strip: Strip, number: int) -> None:
        found = strip.stretch(number)
        lines = found.data.split(b"\n")
        if not lines[-1]:
            lines.pop()
        offset, last = found.offset, len(lines) - 1
        messages = users = troubles = louds = 0
        for index, data in enumerate(lines):
            if not data:
                offset += 1
                continue
            bits = self.form.classify(data)
            count = bits & COUNT
            if found.cut and index == last:
                length = found.end - offset
                bits, count = _told(long_records(self.form, _line(data, offset), length))
            elif count == COUNT or not _is_whole(data):
                bits, count = self._decoded(_line(data, offset))
            messages += count
            users += bits & USER != 0
            troubles += bits & TROUBLE != 0
            louds += bits & LOUD != 0
            if bits & RESET:
                self.resets.append(offset)
            offset += len(data) + 1
        if self._ways:
            self._ways.take(strip, found, lines)
        if not troubles and b"xit" in found.data and _MAYBE.search(found.data):
            troubles = 1
        self._messages.append(self._messages[number] + messages)
        self._lines.append(self._lines[number] + len(lines))
        self._times.append(self._time(lines[:_TIMED], found.offset))
        self._users.append(min(users, _MOST))
        self._troubles.append(min(troubles, _MOST))
        self._louds.append(min(louds, _MOST))  # last: it makes the chunk count

    def _time(self, lines: list[bytes], offset: int) -> float:
        """POSIX seconds of the first of the lines that tells them; else NaN."""
        for data in lines:
            parsed = codec.parse(_line(data, offset), self.form.plausible) if data else None
            for value, span in parsed.objects if parsed else ():
                for record in self.form.decode(value, span):
                    if (time := record.time) is not None:
                        return time.timestamp()
        return nan

    def _decoded(self, line: Line) -> tuple[int, int]:
        parsed = codec.parse(line, self.form.plausible)
        records = [r for value, span in parsed.objects for r in self.form.decode(value, span)]
        bits, count = _told(records)
        return bits | (TROUBLE | LOUD if parsed.damages else 0), count


def _ways(form: Format) -> Ways | Rewinds | None:
    if isinstance(form, Tree):
        return Ways(form)
    return Rewinds(form, form.may_go_back) if isinstance(form, Rewound) else None


def _line(data: bytes, offset: int) -> Line:
    return Line(0, offset, data, True)


def _told(records: list[Record]) -> tuple[int, int]:
    """(bits, messages) of decoded records."""
    return bits_of(records), sum(record.kind is Kind.MESSAGE for record in records)


def _is_whole(data: bytes) -> bool:
    """Is the line one record? Else its first bytes, which `classify` goes by, do not tell all.

    A torn record leaves a quote or a brace open, and whole ones touch. Text with single braces
    looks alike, so what looks odd is parsed.
    """
    if (
        data.count(b"{") == data.count(b"}")
        and (data.count(b'"') - data.count(b'\\"')) % 2 == 0
        and b'}{"' not in data
        and b'} {"' not in data
        and b"\0" not in data
    ):
        return True
    try:
        return isinstance(codec.loads(data), dict)
    except ValueError:
        return False
