"""A pane of lines that are made for a width, and scrolled."""

from __future__ import annotations

from collections.abc import Callable

from textual import events

from tui.lines import Line
from tui.widgets.line_widget import LineWidget

Made = Callable[[int], list[Line]]
"""Lines for a width."""


class ScrollView(LineWidget, can_focus=True):
    """Lines below a heading that stays. `ends` has it begin at its end."""

    def __init__(self, *, id: str, ends: bool = False) -> None:
        super().__init__(id=id)
        self._ends = ends
        self._at_end = ends
        self._made: Made = lambda width: []
        self._heading: Callable[[bool], Line] | None = None
        self._lines: tuple[int, list[Line]] | None = None
        self._top = 0

    def show(self, made: Made, heading: Callable[[bool], Line] | None = None) -> None:
        """Other lines, seen from where the old ones were; `heading` is told of the focus."""
        self._made, self._heading, self._lines = made, heading, None
        self.refresh()

    def begin(self) -> None:
        """As it begins: at its start, or its end."""
        self._top, self._at_end = 0, self._ends
        self.refresh()

    @property
    def room(self) -> int:
        """Lines that are seen at once."""
        return max(self.size.height - (self._heading is not None), 1)

    def _all(self, width: int) -> list[Line]:
        if self._lines is None or self._lines[0] != width:
            self._lines = (width, self._made(width))
        return self._lines[1]

    def lines(self, width: int, height: int) -> list[Line]:
        """The part that is seen; how much stands above and below is said in the heading."""
        found = self._all(width)
        most = max(len(found) - self.room, 0)
        self._top = most if self._at_end else max(0, min(self._top, most))
        seen = found[self._top : self._top + self.room]
        return [self._heading(self.has_focus), *seen] if self._heading else seen

    # -- moving --------------------------------------------------------------------------------

    def scroll_by(self, lines: int) -> None:
        """So many lines down."""
        most = max(len(self._all(self.size.width)) - self.room, 0)
        top = most if self._at_end else self._top
        self._top = max(0, min(top + lines, most))
        self._at_end = self._ends and self._top == most
        self.refresh()

    def cursor_down(self) -> None:
        """A line down."""
        self.scroll_by(1)

    def cursor_up(self) -> None:
        """A line up."""
        self.scroll_by(-1)

    def half_page_down(self) -> None:
        """Half a page down."""
        self.scroll_by(max(self.room // 2, 1))

    def half_page_up(self) -> None:
        """Half a page up."""
        self.scroll_by(-max(self.room // 2, 1))

    def page_down(self) -> None:
        """A page down."""
        self.scroll_by(self.room)

    def page_up(self) -> None:
        """A page up."""
        self.scroll_by(-self.room)

    def home(self) -> None:
        """To the start."""
        self.scroll_by(-(1 << 30))

    def end(self) -> None:
        """To the end."""
        self.scroll_by(1 << 30)

    # -- mouse ---------------------------------------------------------------------------------

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel."""
        event.stop()
        self.scroll_by(3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel."""
        event.stop()
        self.scroll_by(-3)
