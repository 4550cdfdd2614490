"""The whole run on one line: how dense its records are over time, and the worst of each stretch.

Pure. Spots (a row of a small log, a chunk of a big one) come in, in the log's order; a cell is a
stretch of time. Long silences are squeezed, so that a night in which the machine slept still
shows its hour of work. Where the log tells no times, the place in the file stands for them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import inf
from operator import ne
from typing import NamedTuple

from tui.lines import Piece
from tui.signs import SIGNS

BLOCKS = " ▁▂▃▄▅▆▇█"
ORDER = ("bytes", "open", "run", "fail", "summary")
"""Signs by how bad they are; a cell shows the worst."""
_SQUEEZED = 20
"""A silence is drawn no longer than this part of the line."""
_SILENT = 8
"""A step in time so many times as long as the mean one is a silence."""
_FEWEST = 2
"""Parts of the line that are left to what is no silence, however many silences there are."""
_CROWDED = 3
"""Where more than one cell in so many would be an error's, only the worst of them are."""


class Spot(NamedTuple):
    """A row, or the lines of one chunk."""

    offset: int
    """Byte of the log where it begins."""
    time: float | None
    """POSIX seconds."""
    weight: int = 1
    """Records."""
    sign: str = ""
    """The worst of it: a name of `tui.signs`."""
    troubles: int = 0
    """Records that are an error, a damage or an open call."""


class Cell(NamedTuple):
    """One column of the map."""

    offset: int
    """Where a click on it leads."""
    height: int
    """0 (nothing) to 8."""
    sign: str = ""


def axis(spots: Sequence[Spot]) -> list[float]:
    """Where each spot stands on the line, from 0, never falling: its time without what was
    squeezed; all in the same instant, or without times: its place in the file."""
    times = _rising([spot.time for spot in spots])
    if not times or times[-1] <= times[0]:
        start = spots[0].offset if spots else 0
        return [float(spot.offset - start) for spot in spots]
    steps = [after - before for before, after in pairwise(times)]
    cap = _cap(steps)
    places = [0.0]
    for step in steps:
        places.append(places[-1] + min(step, cap))
    return places


def _rising(told: Sequence[float | None]) -> list[float]:
    """The times, never falling; [] where none is told.

    What falls is either late (a fork's first line is younger than the lines it copied) or early
    (a clock that was set back): whichever way fewer of the times have to give way.
    """
    known = [time for time in told if time is not None]
    if not known:
        return []
    early = list(accumulate(known, max))
    late = list(accumulate(reversed(known), min))[::-1]
    changed = [sum(map(ne, known, risen)) for risen in (early, late)]
    risen = iter(late if changed[1] < changed[0] else early)
    times, last = [], min(known[0], late[0])
    for time in told:
        last = next(risen) if time is not None else last
        times.append(last)
    return times


def _cap(steps: Sequence[float]) -> float:
    """The longest that a step is drawn, in seconds: each silence takes its part of the line, what
    is no silence the rest of it."""
    silent = _SILENT * sum(steps) / len(steps)
    silences = sum(step > silent for step in steps)
    rest = sum(step for step in steps if step <= silent)
    return rest / max(_SQUEEZED - silences, _FEWEST) if silences and rest else inf


class Minimap:
    """The spots of one log as they are known now, on cells of some width."""

    def __init__(self, spots: Sequence[Spot]) -> None:
        self._spots = spots
        self._places = axis(spots)
        self._offsets = [spot.offset for spot in spots]
        self._cells: list[Cell] = []

    def __bool__(self) -> bool:
        return len(self._spots) > 1

    def column(self, offset: int, width: int) -> int:
        """The cell that a byte of the log is in."""
        if not self._spots:
            return 0
        index = max(bisect_right(self._offsets, offset) - 1, 0)
        return self._column(self._places[index], width)

    def _column(self, place: float, width: int) -> int:
        return min(int(place / (self._places[-1] or 1) * width), width - 1)

    def offset_at(self, column: int, width: int) -> int:
        """The byte of the log that a click on a cell means: the first at or behind it."""
        place = column * (self._places[-1] / width)
        index = min(bisect_left(self._places, place), len(self._spots) - 1)
        return self._offsets[index]

    def cells(self, width: int) -> list[Cell]:
        """So many cells. O(spots) once for each width."""
        if len(self._cells) != width:
            self._cells = self._made(width)
        return self._cells

    def _made(self, width: int) -> list[Cell]:
        weights, troubles = [0] * width, [0] * width
        signs, offsets = [""] * width, [-1] * width
        for spot, place in zip(self._spots, self._places, strict=True):
            at = self._column(place, width)
            weights[at] += spot.weight
            troubles[at] += spot.troubles
            signs[at] = _worse(signs[at], spot.sign)
            offsets[at] = spot.offset if offsets[at] < 0 else offsets[at]
        _thin(signs, weights, troubles)
        most = max(weights, default=0)
        return [
            Cell(offset, -(-8 * weight // most) if weight else 0, sign)
            for offset, weight, sign in zip(offsets, weights, signs, strict=True)
        ]


def _worse(one: str, other: str) -> str:
    if not (one and other):
        return one or other
    return one if ORDER.index(one) <= ORDER.index(other) else other


def _thin(signs: list[str], weights: Sequence[int], troubles: Sequence[int]) -> None:
    """A long run has an error in every stretch: keep the stretches with the most of them."""
    failed = [at for at, sign in enumerate(signs) if sign == "fail"]
    filled = sum(weight > 0 for weight in weights)
    if len(failed) * _CROWDED <= filled:
        return
    shares = {at: troubles[at] / weights[at] for at in failed}
    least = sorted(shares.values(), reverse=True)[filled // _CROWDED // 2]
    for at in failed:
        if shares[at] <= least:
            signs[at] = ""


def pieces(
    map: Minimap, width: int, cursor: int | None, seen: tuple[int, int] | None = None
) -> list[Piece]:
    """The cells as text. `cursor` and `seen` (what the pane shows) are bytes of the log."""
    here = map.column(cursor, width) if cursor is not None else -1
    first, last = (map.column(offset, width) for offset in seen) if seen else (0, -1)
    made: list[Piece] = []
    for column, cell in enumerate(map.cells(width)):
        char, style = SIGNS[cell.sign] if cell.sign else (BLOCKS[cell.height], "fg-3")
        if column == here:
            char, style = (char, f"{style} reverse") if char != " " else ("▌", "fg-1")
        elif first <= column <= last:
            style += " on-sel"
        if made and made[-1][1] == style:
            made[-1] = (made[-1][0] + char, style)
        else:
            made.append((char, style))
    return made
