"""The pane of a search's hits: a cursor over logs and what was found in them.

Only the lines on the screen are made, however many hits there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual import events
from textual.message import Message

from tui.hit_lines import Standing, hit_at, nothing, reading
from tui.hits import HitView
from tui.lines import Line
from tui.row_lines import Clock
from tui.widgets.line_widget import LineWidget

if TYPE_CHECKING:
    from sessionlog.hit import Hit

_WHEEL = 3


class HitList(LineWidget, can_focus=True):
    """Hits by log. The view is the screen's: it outlives the pane."""

    class Moved(Message):
        """The cursor stands for another hit, or for none."""

    class Opened(Message):
        """A hit was clicked twice."""

    def __init__(self, view: HitView, *, id: str, clock: Callable[[], float]) -> None:
        super().__init__(id=id)
        self._view = view
        self._now = clock
        self._clock = Clock()
        self._hit: Hit | None = None
        self.standing = Standing()
        self.problem = ""
        """Why the query means nothing, in the first line; the hits of the last one stay."""
        self.filters: Sequence[str] = ()
        self.narrow: Sequence[tuple[str, str]] = ()

    def show(self, view: HitView) -> None:
        """Other hits."""
        self._view = view
        self.renew()

    def renew(self) -> None:
        """There are more hits, or the search stands otherwise."""
        self._tell()
        self.refresh()

    def _tell(self) -> None:
        if self._view.hit is not self._hit:
            self._hit = self._view.hit
            self.post_message(self.Moved())

    def _act(self, act: Callable[[], object]) -> None:
        self._view.room = self._room
        act()
        self.renew()

    @property
    def _room(self) -> int:
        return max(self.size.height - bool(self.problem), 1)

    # -- moving (called by the table of commands) ----------------------------------------------

    def cursor_down(self) -> None:
        """Next line."""
        self._act(lambda: self._view.move(1))

    def cursor_up(self) -> None:
        """Previous line."""
        self._act(lambda: self._view.move(-1))

    def page_down(self) -> None:
        """A page down."""
        self._act(lambda: self._view.scroll(max(self._room - 1, 1)))

    def page_up(self) -> None:
        """A page up."""
        self._act(lambda: self._view.scroll(-max(self._room - 1, 1)))

    def half_page_down(self) -> None:
        """Half a page down."""
        self._act(lambda: self._view.scroll(max(self._room // 2, 1)))

    def half_page_up(self) -> None:
        """Half a page up."""
        self._act(lambda: self._view.scroll(-max(self._room // 2, 1)))

    def home(self) -> None:
        """To the first hit."""
        self._act(self._view.home)

    def end(self) -> None:
        """To the last line."""
        self._act(self._view.end)

    def toggle_fold(self) -> None:
        """More of the log's hits, or fewer."""
        self._act(self._view.toggle)

    # -- drawing -------------------------------------------------------------------------------

    def lines(self, width: int, height: int) -> list[Line]:
        """The problem, if any; then hits, and the log that is being read."""
        view, made = self._view, []
        if self.problem:
            made.append(Line([(f" {self.problem}", "open bold")], tint="tint-open"))
        if not view.hits.groups and not self.problem:
            made += nothing(view.hits, self.standing, self.filters, self.narrow)
        if view.room != self._room:
            view.room = self._room
            view.reveal()
        now = self._now()
        for y in range(view.top, min(view.top + view.room, view.hits.height)):
            made.append(hit_at(view, y, width, self._clock, now, self.has_focus))
        if len(made) < height and (line := reading(view.hits, self.standing)):
            made.append(line)
        return made[:height]

    # -- mouse ---------------------------------------------------------------------------------

    def on_click(self, event: events.Click) -> None:
        """Select; twice: open."""
        y = event.y - bool(self.problem) + self._view.top
        self._act(lambda: self._view.put(y))
        if event.chain > 1:
            self.post_message(self.Opened())

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel scrolls."""
        event.stop()
        self._act(lambda: self._view.scroll(_WHEEL))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel scrolls."""
        event.stop()
        self._act(lambda: self._view.scroll(-_WHEEL))
