"""The part of a timeline that a pane shows, and the cursor in it. Pure: no Textual.

Anchored to rows: the top row and how many of its lines are above the edge. No height of a row
that is not near the pane is ever asked for, so a log of any length scrolls alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tui.row_lines import Columns, height_of
from tui.rows import Row
from tui.timeline import END_PLACE, Place, Pos, Timeline


class Seen(NamedTuple):
    """One row in the pane."""

    pos: Pos
    row: Row
    y: int
    """Line of the pane where it begins; negative when its first lines are above the edge."""
    height: int


class Viewport:
    """Where a pane of some size stands over a timeline."""

    def __init__(self, timeline: Timeline, width: int = 80, height: int = 24) -> None:
        self.timeline = timeline
        self.width = width
        self.height = max(height, 1)
        self.opened: set[Place] = set()
        """Rows whose long text is shown whole."""
        self.cursor: Pos | None = None
        self._top: Pos | None = None
        self._skip = 0
        self._seen: list[Seen] | None = None
        self._heights: dict[Place, int] = {}
        self.renew()

    @property
    def row(self) -> Row | None:
        """The row under the cursor."""
        return None if self.cursor is None else self.timeline.row(self.cursor)

    @property
    def at_end(self) -> bool:
        """Is the cursor on the last row it can be on?"""
        return self.cursor is not None and self._allowed(self.timeline.step(self.cursor, 1)) == (
            self.cursor
        )

    @property
    def shows_end(self) -> bool:
        """Is the last row in the pane, as a whole?"""
        if not self.seen:
            return True
        last = self.seen[-1]
        whole = last.y + last.height <= self.height
        return whole and self.timeline.step(last.pos, 1) == last.pos

    @property
    def seen(self) -> list[Seen]:
        """The rows in the pane, from the top. O(rows shown)."""
        if self._seen is None:
            self._seen = list(self._walk())
        return self._seen

    def _walk(self) -> Iterator[Seen]:
        pos, y = self._top, -self._skip
        while pos is not None and y < self.height:
            row = self.timeline.row(pos)
            height = self._height(row)
            yield Seen(pos, row, y, height)
            y += height
            following = self.timeline.step(pos, 1)
            pos = following if following != pos else None

    def _height(self, row: Row) -> int:
        if row.sort != "user" and not self.opened:
            return height_of(row, self.columns)
        height = self._heights.get(row.place)
        if height is None:
            height = height_of(row, self.columns, row.place in self.opened)
            self._heights[row.place] = height
        return height

    def _anchor(self, top: Pos | None, skip: int = 0) -> None:
        """The pane begins `skip` lines into the row `top`."""
        self._top, self._skip, self._seen = top, skip, None

    def renew(self) -> None:
        """Forget what was measured: rows, counts or the size changed."""
        self.columns = Columns(self.width, max(4, len(f"{self.timeline.marks.messages}")))
        self._heights.clear()
        self._seen = None

    def toggle(self) -> None:
        """Show the whole text of the cursor's row, or its first lines."""
        if self.row is not None:
            self.opened ^= {self.row.place}
            self.renew()
            self.reveal()

    # -- moving -----------------------------------------------------------------------------

    def home(self) -> None:
        """To the first row."""
        self.cursor = self.timeline.first()
        self._anchor(self.cursor)

    def end(self) -> None:
        """To the last row, at the bottom of the pane."""
        self._anchor(self.timeline.last())
        self.cursor = self._allowed(self._top) if self._top else None
        self._to_bottom()

    def move(self, delta: int) -> None:
        """The cursor some rows down (up), the pane no more than needed."""
        if self.cursor is None:
            return self.end()
        self.cursor = self._allowed(self.timeline.step(self.cursor, delta))
        self.reveal()

    def scroll(self, lines: int) -> None:
        """The pane some lines down (up); the cursor keeps its line of the pane where it can.

        When there is nothing more to scroll the cursor goes to that end.
        """
        if self.cursor is None or self._top is None:
            return self.end()
        y = self.cursor_y
        before = self._top, self._skip
        self._shift(lines)
        if before == (self._top, self._skip):
            last = self.timeline.last() if lines > 0 else self.timeline.first()
            self.cursor = self._allowed(last) if last else self.cursor
            return self.reveal()
        seen = self.seen
        under = [s for s in seen if s.y <= max(y, 0)]
        self.cursor = self._allowed((under[-1] if under else seen[0]).pos)
        self.reveal()

    def to(self, pos: Pos) -> None:
        """The cursor to a row; a far one comes to a third of the pane's height."""
        self.cursor = pos = self._allowed(pos)
        if not any(s.pos == pos for s in self.seen):
            self._place_cursor(self.height // 3)
        self.reveal()

    def at(self, y: int) -> Seen | None:
        """The row at a line of the pane."""
        return next((s for s in self.seen if s.y <= y < s.y + s.height), None)

    @property
    def cursor_y(self) -> int:
        """Line of the pane where the cursor's row begins; 0 when it is not in the pane."""
        return next((s.y for s in self.seen if s.pos == self.cursor), 0)

    def resize(self, width: int, height: int) -> None:
        """The cursor's row stays at its line of the pane."""
        y = self.cursor_y
        self.width, self.height = width, max(height, 1)
        self.renew()
        self._place_cursor(min(y, self.height - 1))
        self.reveal()

    def again(self, cursor: Place | None, top: Place | None) -> None:
        """Rows changed (a filter, a fold, growth): to the same rows, by their places."""
        self.renew()
        at = self.timeline.find_place(cursor) if cursor else self.timeline.last()
        self.cursor = self._allowed(at) if at else None
        found = self.timeline.find_place(top) if top else self.cursor
        if self.cursor is None or found is None or self.cursor < found:
            self._anchor(self.cursor)
        else:
            self._anchor(found, self._skip if found != self.cursor else 0)
        self.reveal()

    def places(self) -> tuple[Place | None, Place | None]:
        """Places of the cursor's and the top row, to come back `again`."""
        cursor, top = self.cursor, self._top
        return (
            self.timeline.row(cursor).place if cursor else None,
            self.timeline.row(top).place if top else None,
        )

    def _allowed(self, pos: Pos) -> Pos:
        """The row that ends the log says how it stands and is no place for the cursor."""
        if self.timeline.row(pos).place == END_PLACE:
            return self.timeline.step(pos, -1)
        return pos

    def _last_under_cursor(self) -> Pos | None:
        """The row that has to be seen with the cursor's: itself, or the end right behind it."""
        if self.cursor is None:
            return None
        below = self.timeline.step(self.cursor, 1)
        return below if self.timeline.row(below).place == END_PLACE else self.cursor

    # -- the top row ------------------------------------------------------------------------

    def reveal(self) -> None:
        """Scroll just so far that the cursor's row is in the pane."""
        if self.cursor is None:
            self._anchor(None)
            return
        if self._top is None or (self.cursor, 0) < (self._top, self._skip):
            self._anchor(self.cursor)
        else:
            last = self._last_under_cursor()
            found = next((s for s in self.seen if s.pos == last), None)
            if found is None or found.y + found.height > self.height:
                self._to_bottom()
        self._fill()

    def _to_bottom(self) -> None:
        """The cursor's row to the bottom of the pane."""
        if self.cursor is None:
            self._anchor(None)
            return
        last = self._last_under_cursor() or self.cursor
        self._anchor(last)
        self._back(self.height - self._height(self.timeline.row(last)))

    def _place_cursor(self, y: int) -> None:
        """The cursor's row to a line of the pane."""
        if self.cursor is not None:
            self._anchor(self.cursor)
            self._back(y)
            self._fill()

    def _back(self, lines: int) -> None:
        """The top so many lines up, from the first line of the top row."""
        top = self._top
        while lines > 0 and top is not None:
            above = self.timeline.step(top, -1)
            if above == top:
                lines = 0
                break
            top = above
            lines -= self._height(self.timeline.row(above))
        self._anchor(top, max(-lines, 0))

    def _shift(self, lines: int) -> None:
        """The top so many lines on (or back), not past the end of the log."""
        lines += self._skip
        top = self._top
        if lines < 0:
            self._anchor(top)
            self._back(-lines)
            return
        while top is not None:
            height = self._height(self.timeline.row(top))
            below = self.timeline.step(top, 1)
            if lines < height or below == top:
                lines = min(lines, height - 1)
                break
            lines -= height
            top = below
        self._anchor(top, lines)
        self._fill()

    def _fill(self) -> None:
        """No blank lines below the last row while there are rows above."""
        if not self.seen:
            return
        last = self.seen[-1]
        blank = self.height - (last.y + last.height)
        if blank > 0 and blank > self._skip:
            blank -= self._skip
            self._anchor(self._top)
            self._back(blank)
        elif blank > 0:
            self._anchor(self._top, self._skip - blank)
