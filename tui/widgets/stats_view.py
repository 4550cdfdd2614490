"""The pane of a run's numbers: one page that scrolls, with a cursor over its tools."""

from __future__ import annotations

from textual import events
from textual.message import Message

from sessionlog import stats_page
from sessionlog.figures import Stats
from tui import bars
from tui.lines import Line
from tui.widgets.line_widget import LineWidget

_WHEEL = 3
_TITLE = "Numbers"


class StatsView(LineWidget, can_focus=True):
    """A title and the page; or, while logs are counted, how far that is."""

    class Moved(Message):
        """The cursor is on another tool, or the page was scrolled."""

    class Opened(Message):
        """A tool was clicked twice."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._stats: Stats | None = None
        self._about = ""
        self._done = (0, 0)
        self._cursor: str | None = None
        self._top = 0
        self._page: tuple[int, list[stats_page.Said]] | None = None

    # -- what it shows -------------------------------------------------------------------------

    def show(self, stats: Stats | None, about: str) -> None:
        """The numbers of one run or of several; None: they are being counted."""
        self._stats, self._about, self._page = stats, about, None
        tools = [tool for _, tool in self._tools()]
        if self._cursor not in tools:
            self._cursor, self._top = (tools[0] if tools else None), 0
        self._scroll(0)

    def progress(self, done: int, whole: int) -> None:
        """Bytes that are counted."""
        self._done = (done, whole)
        if self._stats is None:
            self.refresh()

    @property
    def tool(self) -> str | None:
        """The name of the tool under the cursor."""
        return None if self._stats is None else self._cursor

    @property
    def text(self) -> str:
        """The page as it reads; "" while there is none."""
        if self._stats is None:
            return ""
        return "\n".join([self._about, *stats_page.text(self._said())])

    @property
    def place(self) -> str:
        """Which lines of the page are seen; "" when all are."""
        size, room = len(self._said()), self._room
        return f"lines {self._top + 1} to {min(self._top + room, size)} of {size}" * (size > room)

    def lines(self, width: int, height: int) -> list[Line]:
        """The pane."""
        title = bars.titled(_TITLE, self._about)
        if self._stats is None:
            return [title, *bars.counting(*self._done, width)]
        self._top = self._clamped(self._top)
        return [title, *bars.lines_of(self._said()[self._top :], self._cursor)]

    def _said(self) -> list[stats_page.Said]:
        width = self.size.width
        if self._stats is None:
            return []
        if self._page is None or self._page[0] != width:
            self._page = (width, bars.page(self._stats, width))
        return self._page[1]

    def _tools(self) -> list[tuple[int, str]]:
        return bars.tools_of(self._said())

    @property
    def _room(self) -> int:
        return max(self.size.height - 1, 1)

    # -- moving (called by the table of commands) ----------------------------------------------

    def cursor_down(self) -> None:
        """The next tool; behind the last one, further down the page."""
        self._step(1)

    def cursor_up(self) -> None:
        """The tool before; from the first one, up the page."""
        self._step(-1)

    def half_page_down(self) -> None:
        """Half a page down."""
        self._scroll(self._room // 2)

    def half_page_up(self) -> None:
        """Half a page up."""
        self._scroll(-(self._room // 2))

    def page_down(self) -> None:
        """A page down."""
        self._scroll(self._room)

    def page_up(self) -> None:
        """A page up."""
        self._scroll(-self._room)

    def home(self) -> None:
        """The top of the page."""
        self._to_end(0)

    def end(self) -> None:
        """The end of the page."""
        self._to_end(-1)

    def _to_end(self, which: int) -> None:
        tools = self._tools()
        if tools:
            self._cursor = tools[which][1]
        self._scroll(-len(self._said()) if which == 0 else len(self._said()))

    def _step(self, by: int) -> None:
        tools = self._tools()
        names = [tool for _, tool in tools]
        at = names.index(self._cursor) + by if self._cursor in names else -1
        if not 0 <= at < len(names):
            self._scroll(by)
            return
        line, self._cursor = tools[at]
        if line < self._top:
            self._top = line
        elif line >= self._top + self._room:
            self._top = line - self._room + 1
        self._scroll(0)

    def _scroll(self, by: int) -> None:
        self._top = self._clamped(self._top + by)
        self.refresh()
        self.post_message(self.Moved())

    def _clamped(self, top: int) -> int:
        return max(min(top, len(self._said()) - self._room), 0)

    # -- the mouse -----------------------------------------------------------------------------

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Down the page."""
        self._scroll(_WHEEL)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Up the page."""
        self._scroll(-_WHEEL)

    def on_click(self, event: events.Click) -> None:
        """A click selects a tool, a second one opens it."""
        line = self._top + event.y - 1
        for at, tool in self._tools():
            if at == line:
                self._cursor = tool
                self._scroll(0)
                if event.chain > 1:
                    self.post_message(self.Opened())

    def on_resize(self, event: events.Resize) -> None:
        """Another width, another page."""
        self._scroll(0)
