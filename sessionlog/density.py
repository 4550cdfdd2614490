"""How much happened when: records by time in a fixed number of cells. Pure, constant memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

CELLS = 512
"""Most cells; when a run outgrows them, each takes twice the time."""


class Cell(NamedTuple):
    """What happened in a stretch of time."""

    records: int = 0
    bad: int = 0
    """Failed calls and errors among them."""


class Density:
    """Counts records by the second, then by 2, 4, 8, ... seconds as the run gets longer."""

    def __init__(self) -> None:
        self.width = 1.0
        """Seconds a cell stands for."""
        self._first: int | None = None
        """Number of the first cell since 1970, in cells of this width."""
        self._records: list[int] = []
        self._bad: list[int] = []

    def add(self, time: float, records: int = 1, bad: int = 0) -> None:
        """Something happened at `time` (POSIX seconds); out of order is fine."""
        at = int(time // self.width)
        if self._first is None:
            self._first = at
        index = at - self._first
        while index < 0 or index >= CELLS:
            index = self._widen(at, index, time)
            at = int(time // self.width)
        if index >= len(self._records):
            more = index + 1 - len(self._records)
            self._records += [0] * more
            self._bad += [0] * more
        self._records[index] += records
        self._bad[index] += bad

    def _widen(self, at: int, index: int, time: float) -> int:
        """Make room before the first cell, or double the width of all; gives the new index."""
        assert self._first is not None
        if index < 0 and len(self._records) - index <= CELLS:
            self._records[:0] = [0] * -index
            self._bad[:0] = [0] * -index
            self._first = at
            return 0
        odd = self._first % 2
        for cells in (self._records, self._bad):
            padded = [0] * odd + cells
            cells[:] = [sum(padded[i : i + 2]) for i in range(0, len(padded), 2)]
        self.width *= 2
        self._first = (self._first - odd) // 2
        return int(time // self.width) - self._first

    def merge(self, other: Density) -> None:
        """Add another run's."""
        for time, cell in other._cells():
            self.add(time, *cell)

    def _cells(self) -> Iterator[tuple[float, Cell]]:
        for index, counts in enumerate(zip(self._records, self._bad, strict=True)):
            if any(counts):
                yield ((self._first or 0) + index + 0.5) * self.width, Cell(*counts)

    def cells(self, columns: int) -> list[Cell]:
        """The whole run in `columns` cells of equal time; [] when nothing has a time."""
        size = len(self._records)
        if not size or columns < 1:
            return []
        found = [Cell()] * columns
        for index, (records, bad) in enumerate(zip(self._records, self._bad, strict=True)):
            column = index * columns // size
            found[column] = Cell(found[column].records + records, found[column].bad + bad)
        return found

    @property
    def start(self) -> float | None:
        """POSIX seconds of the first cell's begin; None when nothing has a time."""
        return None if self._first is None else self._first * self.width

    @property
    def end(self) -> float | None:
        """POSIX seconds of the last cell's end."""
        return None if self._first is None else (self._first + len(self._records)) * self.width
