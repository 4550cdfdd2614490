"""The spots of a log's map: its rows where it is small, its counted chunks where it is big."""

from __future__ import annotations

from tui.minimap import ORDER, Spot
from tui.rows import Row
from tui.timeline import END_PLACE, Timeline
from tui.words import seconds_of

SMALL = 8
"""Chunks up to which the map is made of rows; it takes some milliseconds for each of them."""
MOST = 1500
"""Stretches that the map of a big log is made of."""


def spots_of(timeline: Timeline) -> list[Spot]:
    """What is known by now. O(rows) of a small log, O(MOST) of a big one."""
    if timeline.chunks <= SMALL:
        rows = (row for number in range(timeline.chunks) for row in timeline.rows(number))
        return [_of_row(row) for row in rows if row.place != END_PLACE]
    return _of_chunks(timeline)


def _of_row(row: Row) -> Spot:
    sign = "summary" if row.sort == "reset" else row.sign if row.sign in ORDER else ""
    return Spot(row.place[0], seconds_of(row.at), max(len(row.records), 1), sign, int(row.trouble))


def _of_chunks(timeline: Timeline) -> list[Spot]:
    return [
        Spot(found.offset, found.time, found.records,
             "fail" if found.troubles else "summary" if found.resets else "", found.troubles)
        for found in timeline.marks.stretches(MOST)
    ]  # fmt: skip
