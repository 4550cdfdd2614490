"""From where a record stands in the file to the row that shows it. Pure over a `Timeline`."""

from __future__ import annotations

from tui import pairs
from tui.folds import Filter
from tui.rows import Row
from tui.timeline import Place, Pos, Timeline


def holds(row: Row, place: Place) -> bool:
    """Is the record (or the damage) at that offset and part one of the row's?"""
    if row.damage is not None and row.damage.span.offset == place[0]:
        return True
    return any((record.span.offset, record.part) == place for record in row.records)


def landed(timeline: Timeline, place: Place) -> Pos | None:
    """The shown row of a record: a response is shown in the row of its call, which may be some
    rows above. Where no shown row holds it, the nearest before it; None in an empty log."""
    near = pos = timeline.find_place(place)
    while pos is not None and near is not None and pos[0] >= near[0] - pairs.LOOK:
        if holds(timeline.row(pos), place):
            return pos
        above = timeline.step(pos, -1)
        pos = above if above != pos else None
    return near


def uncovered(timeline: Timeline, place: Place) -> Pos | None:
    """The row of a record, with the fold, the filter or the quiet that hides it taken away."""
    pos = landed(timeline, place)
    if pos is not None and not holds(timeline.row(pos), place) and timeline.filter != Filter():
        timeline.filter = Filter()
        pos = landed(timeline, place)
    if pos is not None and holds(timeline.row(pos), place) and timeline.row(pos).sort == "fold":
        timeline.fold(timeline.row(pos).place)
        pos = _behind_fold(timeline, timeline.row(pos).place, place)
    if pos is not None and not holds(timeline.row(pos), place):
        timeline.level = "all"
        pos = landed(timeline, place)
    return pos


def _behind_fold(timeline: Timeline, fold: Place, place: Place) -> Pos | None:
    """The row itself, not the open fold above it that holds it too."""
    at = timeline.find_place(fold)
    while at is not None:
        below = timeline.step(at, 1)
        if below == at or (holds(timeline.row(below), place) and below != at):
            return below
        if timeline.row(below).place > place:
            return at
        at = below
    return None
