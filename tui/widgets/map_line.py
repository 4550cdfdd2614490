"""The map of the open session: its whole run on one line, and where the timeline stands in it."""

from __future__ import annotations

from textual import events
from textual.message import Message

from sessionlog.text import width as columns_of
from tui.lines import Line, Piece
from tui.map_spots import spots_of
from tui.minimap import Minimap, pieces
from tui.row_lines import Clock
from tui.timeline import Timeline
from tui.widgets.line_widget import LineWidget

_AFTER = 0.05
"""Seconds until a map is made: reading all rows of a small log takes tens of milliseconds."""


class MapLine(LineWidget):
    """`renew` when more of the log is counted or it grew; `stand` when the timeline moved."""

    class Asked(Message):
        """A click: the byte of the log that it means."""

        def __init__(self, offset: int) -> None:
            super().__init__()
            self.offset = offset

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._timeline: Timeline | None = None
        self._map: Minimap | None = None
        self._cursor: int | None = None
        self._seen: tuple[int, int] | None = None
        self._clock = Clock()
        self._is_due = False
        self._started = self._ended = ""

    def open(self, timeline: Timeline | None) -> None:
        """Show the map of a log, a moment later: its rows are painted first."""
        self._timeline, self._map, self._cursor, self._seen = timeline, None, None, None
        self._is_due = False
        self.set_timer(_AFTER, self._due)
        self.refresh()

    def _due(self) -> None:
        self._is_due = True
        self.renew()

    def renew(self) -> None:
        """More is known of the log."""
        if not self._is_due:
            return
        self._map = None
        self._started = self._timeline.started() if self._timeline else ""
        self._ended = self._timeline.ended() if self._timeline else ""
        self.refresh()

    def stand(self, cursor: int | None, seen: tuple[int, int] | None, clock: Clock) -> None:
        """The cursor's byte, those of the rows in the pane, and how times are told."""
        if (cursor, seen, clock) != (self._cursor, self._seen, self._clock):
            self._cursor, self._seen, self._clock = cursor, seen, clock
            self.refresh()

    def lines(self, width: int, height: int) -> list[Line]:
        """Clock, cells, clock."""
        timeline = self._timeline
        if timeline is None or not self._is_due:
            return []
        if self._map is None:
            self._map = Minimap(spots_of(timeline))
        if not self._map:
            return [Line([])]
        left, right = self._ends(timeline)
        room = width - columns_of(left) - sum(columns_of(text) for text, _ in right)
        cells = pieces(self._map, max(room, 1), self._cursor, self._seen)
        return [Line([(left, "fg-2"), *cells, *right])]

    def _ends(self, timeline: Timeline) -> tuple[str, list[Piece]]:
        start = self._clock.tell(self._started, short=True)
        left = f" {start or 'start':>5} "
        if timeline.alive:
            return left, [(" ► ", "run bold"), ("now ", "run")]
        end = self._clock.tell(self._ended, short=True)
        return left, [(f" {end or 'end':<5}", "fg-2"), (" ", "")]

    def on_click(self, event: events.Click) -> None:
        """Go there."""
        timeline, map = self._timeline, self._map
        if timeline is None or not map:
            return
        left, right = self._ends(timeline)
        room = self.size.width - columns_of(left) - sum(columns_of(text) for text, _ in right)
        column = min(max(event.x - columns_of(left), 0), room - 1)
        self.post_message(self.Asked(map.offset_at(column, room)))
