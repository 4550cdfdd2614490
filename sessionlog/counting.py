"""How many lines and messages stand before a byte of a log: line and message numbers of a place.

A place deep in a log costs what is in front of it, and that once, a few seconds a gigabyte at
most. So nothing is counted until a place is asked for.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from sessionlog import codec
from sessionlog.formats.base import COUNT, Format
from sessionlog.framing import Line, split
from sessionlog.records import Kind, Record
from sessionlog.regions import BLOCK, Region, regions
from sessionlog.source import decode
from sessionlog.window import Strip, long_records

_MARK = 8 << 20
"""Bytes between two places whose counts are kept."""


class Count(NamedTuple):
    """Lines and messages."""

    lines: int = 0
    messages: int = 0

    def plus(self, other: Count) -> Count:
        return Count(self.lines + other.lines, self.messages + other.messages)


class Counter:
    """Counts what stands before places of one log; quick when places come in order."""

    def __init__(self, form: Format, strip: Strip) -> None:
        self._form, self._strip = form, strip
        self._offsets = [0]
        self._counts = [Count()]

    def before(self, offset: int, stopped: Callable[[], bool] = lambda: False) -> Count | None:
        """The count in front of a line that begins at `offset`; None when `stopped`."""
        at = bisect_right(self._offsets, offset) - 1
        count = self._counts[at]
        for region in self._between(self._offsets[at], offset):
            if stopped():
                return None
            count = count.plus(count_of(self._form, region))
            self.note(region.offset + (region.long + 1 if region.long else region.end), count)
        return count

    @property
    def last(self) -> tuple[int, Count]:
        """The furthest place that is counted to."""
        return self._offsets[-1], self._counts[-1]

    def _between(self, start: int, end: int) -> Iterable[Region]:
        if end - start > BLOCK:
            return regions(self._strip, start, end)
        data = self._strip.read(start, end - start)
        return [Region(start, bytearray(data), len(data))] if data else []

    def note(self, offset: int, count: Count) -> None:
        """Keep a count that is known, where the last one is replaced or far."""
        if offset <= self._offsets[-1]:
            return
        if len(self._offsets) > 1 and offset - self._offsets[-2] < _MARK:
            self._offsets.pop()
            self._counts.pop()
        self._offsets.append(offset)
        self._counts.append(count)


def count_of(form: Format, region: Region) -> Count:
    """The lines and messages of a region."""
    if region.long:
        line = region.line(0, region.end)
        return Count(1, messages_in(long_records(form, line, region.long)))
    data = bytes(memoryview(region.data)[: region.end])
    values = _whole(data)
    if values is not None and form.name == "native":
        return Count(len(values), sum(map(_is_native_message, values)))
    lines = split(data)
    return Count(len(lines), sum(_messages(form, line, values is not None) for line in lines))


def _whole(data: bytes) -> list[dict[str, Any]] | None:
    """The values of lines each of which is one JSON object, decoded at one go; None: some is
    not."""
    body = data.removesuffix(b"\n")
    try:
        values: list[Any] = codec.peek(b"[" + body.replace(b"\n", b",") + b"]")
    except ValueError:
        return None
    if len(values) != body.count(b"\n") + 1 or not all(type(value) is dict for value in values):
        return None
    return values


def _is_native_message(value: dict[str, Any]) -> bool:
    return value.get("kind") == "message" and type(value.get("message")) is dict


def _messages(form: Format, line: Line, whole: bool) -> int:
    """How many messages a line gives, by its first bytes when it is whole and they tell."""
    count = form.classify(line.data) & COUNT if whole or _whole(line.data) else COUNT
    return count if count < COUNT else messages_in(decode(form, line)[0])


def messages_in(records: Iterable[Record]) -> int:
    return sum(record.kind is Kind.MESSAGE for record in records)
