"""The pane of two runs beside each other: a cursor over rows, on one side or the other.

Only the lines on the screen are made, and only their rows are read.
"""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.message import Message

from sessionlog.facing import Section
from sessionlog.records import Entry
from sessionlog.text import clip
from tui import beside_lines
from tui.beside import Beside, Spot
from tui.beside_lines import Cursor, Page
from tui.beside_rows import BesideRows
from tui.lines import Line
from tui.row_lines import Clock
from tui.rows import Row
from tui.widgets.line_widget import LineWidget
from tui.widgets.timeline_told import Told

WIDE = 120
"""Columns from which on both sides stand beside each other."""
_WHEEL = 3


class CompareView(LineWidget, can_focus=True):
    """Head, what is common, and the rows."""

    class Moved(Message):
        """The cursor is on another row, or on the other side."""

    class Opened(Message):
        """A row was clicked twice."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._clocks = (Clock(), Clock())
        self._entries: tuple[Entry, Entry] | None = None
        self._rows: BesideRows | None = None
        self._beside = Beside(())
        self._said = ""
        self._done = (0, 0)
        self._cursor = self._top = 0
        self.side = 0
        """The side that the cursor keeps to where both have a row: 0 left, 1 right."""

    # -- what it holds -------------------------------------------------------------------------

    def begin(self, entries: tuple[Entry, Entry], clocks: tuple[Clock, Clock]) -> None:
        """These two are being read; the clocks tell the times of each."""
        self._clocks = clocks
        self._entries, self._rows, self._beside = entries, None, Beside(())
        self._done, self._cursor, self._top = (0, 0), 0, 0
        self.refresh()

    def progress(self, done: int, whole: int) -> None:
        """Bytes of both logs that are read."""
        self._done = (done, whole)
        if self._rows is None:
            self.refresh()

    def show(self, rows: BesideRows, sections: Sequence[Section], said: str) -> None:
        """They are read; the cursor goes to where they part."""
        self._rows, self._said = rows, said
        self._beside = Beside(sections, wide=self._is_wide)
        self._go(self._beside.difference(-1) or 0)

    @property
    def spot(self) -> Spot | None:
        """What the cursor is on; None while there is nothing."""
        return self._beside.at(self._cursor) if self._cursor < self._beside.height else None

    @property
    def pair(self) -> tuple[Row | None, Row | None]:
        """The rows on the line of the cursor, left and right."""
        spot = self.spot
        if spot is None or spot.folded or self._rows is None:
            return None, None
        return self._rows.of(spot)

    @property
    def number(self) -> int:
        """The message under the cursor on its side; 0 where that side has none."""
        spot = self.spot
        if spot is None:
            return 0
        return spot.numbers[self._side_of(spot)]

    @property
    def shown_side(self) -> int:
        """The side of the row under the cursor: where its own has none on that line, the other."""
        spot = self.spot
        return self.side if spot is None else self._side_of(spot)

    def _side_of(self, spot: Spot) -> int:
        return self.side if spot.numbers[self.side] else 1 - self.side

    @property
    def place(self) -> str:
        """`difference 2 of 5`, for the status line."""
        at, count = self._beside.differences(self._cursor)
        if not self._rows:
            return ""
        if not count:
            return "no difference"
        many = f"{count:,} difference{'s' * (count != 1)}"
        return f"difference {at:,} of {count:,}" if at else many

    # -- moving (called by the table of commands) ----------------------------------------------

    def cursor_down(self) -> None:
        """Next line."""
        self._go(self._cursor + 1)

    def cursor_up(self) -> None:
        """Previous line."""
        self._go(self._cursor - 1)

    def page_down(self) -> None:
        """A page down."""
        self._page(self._room - 1)

    def page_up(self) -> None:
        """A page up."""
        self._page(1 - self._room)

    def half_page_down(self) -> None:
        """Half a page down."""
        self._page(self._room // 2)

    def half_page_up(self) -> None:
        """Half a page up."""
        self._page(-(self._room // 2))

    def home(self) -> None:
        """To the first line."""
        self._go(0)

    def end(self) -> None:
        """To the last line."""
        self._go(self._beside.height - 1)

    def next_difference(self) -> None:
        """To the next place where they differ."""
        self._to(self._beside.difference(self._cursor), "below")

    def prev_difference(self) -> None:
        """To the place before where they differ."""
        self._to(self._beside.difference(self._cursor, forward=False), "above")

    def other_side(self) -> None:
        """The cursor on the other side."""
        spot, was = self.spot, self.shown_side
        self.side = 1 - was
        if spot is not None and not self._beside.wide and not all(spot.numbers):
            section = self._beside.sections[spot.section]
            there = (section.left, section.right)[self.side]
            if there:
                numbers = (0, there[0]) if self.side else (there[0], 0)
                self._cursor = self._beside.find(*numbers)
        self._go(self._cursor)
        if self.shown_side == was:
            self.post_message(Told(f"nothing on the {('left', 'right')[self.side]} here"))

    def toggle_fold(self) -> None:
        """Show what both share, or fold it again."""
        spot = self.spot
        if spot is not None and self._beside.toggle(spot.section):
            self._go(self._beside.top(spot.section))
        else:
            self.post_message(Told("no fold here: space opens and folds what both share"))

    def _to(self, y: int | None, where: str) -> None:
        if y is None:
            self.post_message(Told(f"no difference {where}"))
        else:
            self._go(y)

    def _page(self, lines: int) -> None:
        self._top += lines
        self._go(self._cursor + lines)

    def _go(self, y: int) -> None:
        self._cursor = max(0, min(y, self._beside.height - 1))
        self._reveal()
        self.refresh()
        self.post_message(self.Moved())

    def _reveal(self) -> None:
        """Scroll as little as shows the cursor; what leads to it stays in sight, if it can."""
        room = self._room
        if self._cursor < self._top:
            self._top = self._cursor
        elif self._cursor >= self._top + room:
            self._top = self._cursor - room + 1
        self._top = max(0, min(self._top, self._beside.height - room))

    @property
    def _room(self) -> int:
        return max(self.size.height - self._head_lines, 1)

    @property
    def _head_lines(self) -> int:
        return 5 if self._is_wide else 7

    @property
    def _is_wide(self) -> bool:
        return self.size.width >= WIDE

    def on_resize(self) -> None:
        """Beside each other, or under each other."""
        spot = self.spot
        self._beside.set_wide(self._is_wide)
        if spot is not None:
            numbers = spot.numbers
            side = self._side_of(spot)
            if numbers[side]:
                numbers = (numbers[0], 0) if side == 0 else (0, numbers[1])
            self._cursor = self._beside.find(*numbers)
        self._reveal()
        self.refresh()

    # -- drawing -------------------------------------------------------------------------------

    def lines(self, width: int, height: int) -> list[Line]:
        """The pane."""
        if self._entries is None:
            return []
        page = Page(self._is_wide, width, self._digits, self._clocks)
        sides = None
        if self._rows is not None:
            sides = (self._rows.logs[0].side, self._rows.logs[1].side)
        made = beside_lines.head(page, self._entries, sides, self.has_focus)
        if self._rows is None:
            return [*made, *beside_lines.reading(*self._done, width)]
        made += beside_lines.summary(clip(self._said, width), width)
        last = min(self._top + self._room, self._beside.height)
        return [*made, *(self._line(y, page) for y in range(self._top, last))][:height]

    @property
    def _digits(self) -> int:
        most = max((len(log.side) for log in self._rows.logs), default=0) if self._rows else 0
        return max(len(str(most)), 4)

    def _line(self, y: int, page: Page) -> Line:
        assert self._rows is not None
        spot = self._beside.at(y)
        cursor = None
        if y == self._cursor:
            cursor = Cursor(self._side_of(spot), self.has_focus)
        if spot.folded:
            return beside_lines.fold(spot.part, page, cursor)
        rows = self._rows.of(spot)
        return beside_lines.row(spot.part.kind, rows, spot.numbers, page, cursor)

    # -- mouse ---------------------------------------------------------------------------------

    def on_click(self, event: events.Click) -> None:
        """Select; twice: open."""
        y = event.y - self._head_lines + self._top
        if event.y < self._head_lines or y >= self._beside.height:
            return
        if self._is_wide:
            self.side = int(event.x > (self.size.width - 1) // 2)
        self._go(y)
        if event.chain > 1:
            self.post_message(self.Opened())

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel moves the cursor."""
        event.stop()
        self._page(_WHEEL)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel moves the cursor."""
        event.stop()
        self._page(-_WHEEL)
