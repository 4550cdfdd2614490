"""The run of a replay as one line: what was played, where it is, what is yet to play. Pure."""

from __future__ import annotations

from sessionlog.text import width as columns_of
from tui.flow import joined
from tui.lines import Line, Piece
from tui.minimap import BLOCKS, Minimap
from tui.signs import SIGNS

_PLAIN = 4
"""Height of the cells where there is no map yet."""


def run_line(map: Minimap, columns: int, place: float, cursor: int, ends: tuple[str, str]) -> Line:
    """Clock, cells, clock. `cursor` is the byte that the replay has come to, `place` its share of
    the log, which says where it is as long as there is no map."""
    left, right = f" {ends[0] or 'start':>5} ", f" {ends[1] or 'end':<5} "
    room = max(columns - columns_of(left) - columns_of(right), 1)
    here = map.column(cursor, room) if map else min(int(place * room), room - 1)
    cells = [(cell.height, cell.sign) for cell in map.cells(room)] if map else [(_PLAIN, "")] * room
    pieces = [_cell(*cell, column, here) for column, cell in enumerate(cells)]
    return Line([(left, "fg-2"), *joined(pieces), (right, "fg-2")], tint="surface")


def _cell(height: int, sign: str, column: int, here: int) -> Piece:
    if column == here:
        return "█", "fg-1"
    if sign:
        return SIGNS[sign]
    return BLOCKS[height], "fg-2" if column < here else "line-2"
