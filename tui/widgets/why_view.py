"""The page "why did it stop": statements, a cursor on those that lead to a row, ways on."""

from __future__ import annotations

from textual import events
from textual.message import Message

from sessionlog.why.look import Looked
from sessionlog.why.said import Clock, Statement, clock_of
from tui.lines import Line
from tui.why_lines import Step, Told, step_lines, told
from tui.widgets.line_widget import LineWidget


class WhyView(LineWidget, can_focus=True):
    """Scrolls as the cursor goes."""

    class Moved(Message):
        """Another statement is under the cursor."""

    class Opened(Message):
        """A click on the statement under the cursor."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._looked: Looked | None = None
        self._steps: list[Step] = []
        self._clock: Clock = clock_of
        self._at = -1
        self._top = 0
        self._words = "reading …"

    def wait(self, words: str) -> None:
        """Say how far the reading is."""
        self._words = words
        self.refresh()

    def show(self, looked: Looked, steps: list[Step], clock: Clock) -> None:
        """Show an answer, the cursor on the most telling row; or a later one, the cursor where it
        is."""
        is_first = self._looked is None
        self._looked, self._steps, self._clock = looked, steps, clock
        if not is_first:  # the same run, some time later
            self._at = min(self._at, len(self._page()) - 1)
            self.refresh()
            return
        self._at, self._top = -1, 0
        troubled = [i for i, one in enumerate(self._page()) if one.leads and one.statement.level]
        self._at = troubled[0] - 1 if troubled else -1
        self.cursor_down()

    @property
    def statement(self) -> Statement | None:
        """The one under the cursor."""
        page = self._page()
        return page[self._at].statement if 0 <= self._at < len(page) else None

    def _page(self) -> list[Told]:
        if self._looked is None:
            return []
        return told(self._looked, self.size.width or 80, self._clock)

    def lines(self, width: int, height: int) -> list[Line]:
        """The page from where it is scrolled to."""
        if self._looked is None:
            return [Line([]), Line([(f"  {self._words}", "fg-2")])]
        made: list[Line] = []
        first = last = 0
        for i, one in enumerate(self._page()):
            if i == self._at:
                first, last = len(made), len(made) + len(one.lines)
                tint = "sel" if self.has_focus else "sel-off"
                made += [line._replace(tint=tint) for line in one.lines]
            else:
                made += one.lines
        made += [Line([]), *step_lines(self._steps)]
        self._top = min(max(self._top, last - height), first if last > height else self._top)
        self._top = max(min(self._top, first, len(made) - height), 0)
        if last <= height and first < height:
            self._top = 0
        return made[self._top : self._top + height]

    # -- moving --------------------------------------------------------------------------------

    def _step(self, by: int, wanted: str = "") -> None:
        page = self._page()
        at = self._at + by
        while 0 <= at < len(page):
            if page[at].leads and (not wanted or page[at].statement.level == wanted):
                self._at = at
                self.post_message(self.Moved())
                break
            at += by
        self.refresh()

    def cursor_down(self) -> None:
        """The next statement with a row."""
        self._step(1)

    def cursor_up(self) -> None:
        """The one before."""
        self._step(-1)

    next_row = half_page_down = page_down = cursor_down
    half_page_up = page_up = cursor_up

    def next_trouble(self) -> None:
        """The next error."""
        self._step(1, "fail")

    def prev_trouble(self) -> None:
        """The error before."""
        self._step(-1, "fail")

    def home(self) -> None:
        """The first."""
        self._at = -1
        self.cursor_down()

    def end(self) -> None:
        """The last."""
        self._at = len(self._page())
        self.cursor_up()

    def on_click(self, event: events.Click) -> None:
        """To the statement; once more: to its row."""
        y = event.y + self._top
        for i, one in enumerate(self._page()):
            if y < len(one.lines):
                if one.leads and i == self._at:
                    self.post_message(self.Opened())
                elif one.leads:
                    self._at = i
                    self.post_message(self.Moved())
                    self.refresh()
                return
            y -= len(one.lines)
