"""A comparison as rows that face each other: a call and its result are one row, as on a timeline.

Pure: numbers of messages only. The rows of a part are kept as two columns of numbers.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import NamedTuple

from sessionlog.compare import Comparison, Part, Side


class Section(NamedTuple):
    """The rows of one part of a comparison."""

    part: Part
    left: array[int]
    """Numbers of the messages that have a row, on the left."""
    right: array[int]

    @property
    def rows(self) -> int:
        """Rows where both sides stand beside each other."""
        return max(len(self.left), len(self.right))

    def pair(self, row: int) -> tuple[int, int]:
        """Left and right number of a row, 0 where there is nothing on that side."""
        return (
            self.left[row] if row < len(self.left) else 0,
            self.right[row] if row < len(self.right) else 0,
        )


def facing(comparison: Comparison, left: Side, right: Side) -> Iterator[Section]:
    """The sections of a comparison that have rows. O(messages).

    A result stands in the row of its call; only where the call is common and its result is not
    has the result a row of its own, which is where the runs differ.
    """
    common = (bytearray(len(left) + 1), bytearray(len(right) + 1))
    for part in comparison.parts:
        if part.kind == "common":
            for known, numbers in zip(common, part[1:], strict=True):
                known[numbers.start : numbers.stop] = b"\1" * len(numbers)
            rows = [n for n in part.left if not left.call_of(n)]
            shift = part.right.start - part.left.start
            section = Section(part, array("L", rows), array("L", (n + shift for n in rows)))
        else:
            section = _differing(part, (left, right), common)
        if section.rows:
            yield section


def _differing(part: Part, sides: tuple[Side, Side], common: tuple[bytearray, ...]) -> Section:
    def has_row(n: int, which: int) -> bool:
        call = sides[which].call_of(n)
        return not call or bool(common[which][call])

    if part.kind == "changed":
        pairs = [(a, b) for a, b in zip(*part[1:], strict=True) if has_row(a, 0) or has_row(b, 1)]
        return Section(part, array("L", (a for a, _ in pairs)), array("L", (b for _, b in pairs)))
    left = array("L", (n for n in part.left if has_row(n, 0)))
    return Section(part, left, array("L", (n for n in part.right if has_row(n, 1))))


def shared(part: Part) -> str:
    """`61 messages in common · 1 to 61`, with the numbers of both sides where they differ."""
    count = len(part.left)
    said = f"{count:,} {'message' if count == 1 else 'messages'} in common"
    left, right = _range(part.left), _range(part.right)
    return f"{said} · {left}" if left == right else f"{said} · {left} | {right}"


def _range(numbers: range) -> str:
    first, last = numbers.start, numbers.stop - 1
    return f"{first:,} to {last:,}" if first < last else f"{first:,}"
