"""Two runs as lines to walk along: what they share folded, what differs beside each other. Pure.

A line stands for a row of either side, or for a fold. Where there is room both sides of a row
share a line; else each has its own. Only numbers here, so any length of log will do.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from sessionlog.compare import Part
from sessionlog.facing import Section

FOLDED = 3
"""Rows of a common stretch from which on it is folded."""


class Spot(NamedTuple):
    """What a line stands for."""

    part: Part
    section: int
    left: int
    """Number of the message on the left, 0 where nothing of that side is on the line."""
    right: int
    folded: bool = False
    facing: tuple[int, int] = (0, 0)
    """Of a changed row both numbers, wherever the other one stands."""

    @property
    def numbers(self) -> tuple[int, int]:
        return self.left, self.right


class Beside:
    """The lines of a comparison; `wide` says whether both sides share them."""

    def __init__(self, sections: Sequence[Section], *, wide: bool = True) -> None:
        self.sections = tuple(sections)
        self.wide = wide
        self._open: set[int] = set()
        self._tops: list[int] = []
        self._differing: list[int] = []
        """The first line of each place where the runs differ."""
        self.height = 0
        self._lay()

    def set_wide(self, wide: bool) -> None:
        """Both sides on one line, or each on its own. O(sections)."""
        if wide != self.wide:
            self.wide = wide
            self._lay()

    def toggle(self, section: int) -> bool:
        """Open a common stretch, or fold it again; False where there is nothing to fold."""
        if not self._foldable(section):
            return False
        self._open ^= {section}
        self._lay()
        return True

    def _foldable(self, number: int) -> bool:
        section = self.sections[number]
        return section.part.kind == "common" and section.rows >= FOLDED

    def _lay(self) -> None:
        self._tops, y = [], 0
        for number in range(len(self.sections)):
            self._tops.append(y)
            y += self._lines(number)
        self.height = y
        kinds = ["common", *(section.part.kind for section in self.sections)]
        self._differing = [
            self._tops[number]
            for number in range(len(self.sections))
            if kinds[number] == "common" != kinds[number + 1]
        ]

    def _lines(self, number: int) -> int:
        section = self.sections[number]
        if self._foldable(number) and number not in self._open:
            return 1
        if self.wide or section.part.kind == "common":
            return section.rows
        return len(section.left) + len(section.right)

    def at(self, y: int) -> Spot:
        """What line y stands for. Raises IndexError outside 0 <= y < height."""
        if not 0 <= y < self.height:
            raise IndexError(f"line {y} of {self.height}")
        number = bisect_right(self._tops, y) - 1
        section, row = self.sections[number], y - self._tops[number]
        if self._foldable(number) and number not in self._open:
            return Spot(section.part, number, section.left[0], section.right[0], True)
        if self.wide or section.part.kind == "common":
            pair = section.pair(row)
            return Spot(section.part, number, *pair, facing=pair)
        if section.part.kind == "changed":
            pair = section.pair(row // 2)
            own = (0, pair[1]) if row % 2 else (pair[0], 0)
            return Spot(section.part, number, *own, facing=pair)
        if row < len(section.left):
            return Spot(section.part, number, section.left[row], 0)
        return Spot(section.part, number, 0, section.right[row - len(section.left)])

    def top(self, section: int) -> int:
        """The first line of a section."""
        return self._tops[section]

    def difference(self, y: int, forward: bool = True) -> int | None:
        """The first line of the next (previous) place where the runs differ; None: no more."""
        tops = self._differing
        if forward:
            at = bisect_right(tops, y)
            return tops[at] if at < len(tops) else None
        at = bisect_left(tops, y) - 1
        return tops[at] if at >= 0 else None

    def differences(self, y: int) -> tuple[int, int]:
        """(number of the difference at or before line y, how many there are)."""
        return bisect_right(self._differing, y), len(self._differing)

    def find(self, left: int, right: int) -> int:
        """The line of a message (0: none of that side), or the nearest before it."""
        which, n = (0, left) if left else (1, right)
        stops = ((s.part.left, s.part.right)[which].stop for s in self.sections)
        number = next((i for i, stop in enumerate(stops) if n < stop), None)
        if number is None:
            return max(self.height - 1, 0)
        section, top = self.sections[number], self._tops[number]
        row = max(bisect_right(section.left if which == 0 else section.right, n) - 1, 0)
        if self._lines(number) == 1:
            return top
        if self.wide or section.part.kind == "common":
            return top + row
        if section.part.kind == "changed":
            return top + 2 * row + which
        return top + row + (len(section.left) if which else 0)
