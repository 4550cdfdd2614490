"""The rows of a replay: the log as it stood at a moment, its last row at hand.

A move costs the rows of the last chunk and of the pane, however big the log is.
"""

from __future__ import annotations

from sessionlog.text import one_line, visible
from tui.lines import Line, Piece
from tui.past import PastTimeline
from tui.row_lines import Clock
from tui.rows import Row
from tui.timeline import Pos
from tui.timeline_lines import pane_lines
from tui.viewport import Viewport
from tui.widgets.line_widget import LineWidget


class ReplayView(LineWidget, can_focus=True):
    """A title and the rows."""

    def __init__(self, timeline: PastTimeline, title: str, about: str, *, id: str) -> None:
        super().__init__(id=id)
        self.timeline = timeline
        self._title, self._about = one_line(title), visible(about)
        self._pane = Viewport(timeline)
        self._clock = Clock()
        self._now = 0.0
        self._second = ""

    @property
    def row(self) -> Row | None:
        """The row that the moment is about."""
        return self._pane.row

    @property
    def pos(self) -> Pos | None:
        """Where that row stands."""
        return self._pane.cursor

    @property
    def room(self) -> int:
        """Rows of one line that fit."""
        return max(self.size.height - 1, 1)

    def show(self, size: int, now: float | None) -> None:
        """The log as it stood with its first `size` bytes; `now`: the run's clock then."""
        if size != self.timeline.size:
            self.timeline.cut(size)
            self.renew()
        self.tick(now)

    def renew(self) -> None:
        """The rows may be other ones: counted further, another size of the pane."""
        self._pane.renew()
        self._pane.end()
        at = self.timeline.current()
        if at is not None:
            self._pane.to(at)
        self.refresh()

    def tick(self, now: float | None) -> None:
        """The run's clock moves; a call that runs shows for how long."""
        self._now = now or 0.0
        seconds = str(int(self._now))
        runs = any(seen.row.sign == "run" for seen in self._pane.seen)
        if runs and seconds != self._second:
            self.refresh()
        self._second = seconds

    def set_clock(self, clock: Clock) -> None:
        """Tell times in another way."""
        self._clock = clock
        self.refresh()

    def lines(self, width: int, height: int) -> list[Line]:
        pane = self._pane
        if (pane.width, pane.height) != (width, max(height - 1, 1)):
            pane.resize(width, height - 1)
            pane.end()
            at = self.timeline.current()
            if at is not None:
                pane.to(at)
        rows = pane_lines(pane, self._clock, focused=self.has_focus, needle=None, now=self._now)
        return [self._head(), *rows]

    def _head(self) -> Line:
        left: list[Piece] = [("▌", "accent"), ("REPLAY", "accent bold"), ("  ", "")]
        return Line([*left, (self._title, "fg-1 bold")], [(f" {self._about} ", "fg-3")], "surface")
