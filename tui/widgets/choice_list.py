"""A list of sessions to choose one from, the likeliest first."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from textual import events
from textual.message import Message

from sessionlog.records import Entry
from tui import entries
from tui.lines import Line
from tui.list_filter import Filter, hints
from tui.widgets.line_widget import LineWidget


class ChoiceList(LineWidget, can_focus=True):
    """A question and the sessions that may answer it."""

    class Chosen(Message):
        """A session was clicked twice."""

    def __init__(self, question: str, *, id: str, clock: Callable[[], float] = time.time) -> None:
        super().__init__(id=id)
        self._question = question
        self._clock = clock
        self._all: tuple[Entry, ...] = ()
        self._shown: tuple[Entry, ...] = ()
        self._text = ""
        self._cursor = self._top = 0

    def offer(self, choices: Sequence[Entry]) -> None:
        """Take the sessions, the likeliest first."""
        self._all = tuple(choices)
        self.narrow("")

    def narrow(self, text: str) -> None:
        """Only those with this text; "" for all."""
        self._text = text
        self._shown = tuple(filter(Filter(text=text), self._all))
        self._cursor = self._top = 0
        self.refresh()

    @property
    def chosen(self) -> Entry | None:
        """The session under the cursor."""
        return self._shown[self._cursor] if self._shown else None

    @property
    def place(self) -> str:
        """`3 of 13`, for the status line."""
        return f"{self._cursor + 1 if self._shown else 0} of {len(self._shown):,}"

    # -- moving --------------------------------------------------------------------------------

    def cursor_down(self) -> None:
        """Next session."""
        self._go(self._cursor + 1)

    def cursor_up(self) -> None:
        """The session before."""
        self._go(self._cursor - 1)

    def page_down(self) -> None:
        """A page down."""
        self._go(self._cursor + self._room)

    def page_up(self) -> None:
        """A page up."""
        self._go(self._cursor - self._room)

    half_page_down, half_page_up = page_down, page_up

    def home(self) -> None:
        """To the likeliest."""
        self._go(0)

    def end(self) -> None:
        """To the last."""
        self._go(len(self._shown) - 1)

    @property
    def _room(self) -> int:
        return max(self.size.height - 1, 1)

    def _go(self, index: int) -> None:
        self._cursor = max(0, min(index, len(self._shown) - 1))
        self._top = max(min(self._top, self._cursor), self._cursor - self._room + 1)
        self.refresh()

    # -- drawing -------------------------------------------------------------------------------

    def lines(self, width: int, height: int) -> list[Line]:
        """The question and a line for each session."""
        gutter = ("▌", "accent") if self.has_focus else (" ", "")
        title = Line(
            [gutter, (self._question, "fg-1 bold")], [("  likeliest first ", "fg-3")], "surface"
        )
        if not self._shown:
            said = "no session has that text" if self._all else "there is no other session"
            return [title, Line([(f" {said}", "fg-2")]), *hints(self._text, width)]
        now = self._clock()
        made = [title]
        for index in range(self._top, min(self._top + self._room, len(self._shown))):
            entry, selected = self._shown[index], index == self._cursor
            made.append(entries.lines_of(entry, width, now, selected, self.has_focus)[0])
        return made[:height]

    # -- mouse ---------------------------------------------------------------------------------

    def on_click(self, event: events.Click) -> None:
        """Select; twice: choose."""
        if 1 <= event.y <= len(self._shown) - self._top:
            self._go(self._top + event.y - 1)
            if event.chain > 1:
                self.post_message(self.Chosen())

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel moves the cursor."""
        event.stop()
        self.cursor_down()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel moves the cursor."""
        event.stop()
        self.cursor_up()


def likeliest(entry: Entry, others: Sequence[Entry]) -> list[Entry]:
    """The sessions that one may want to compare with: the same task, folder, agent first."""
    candidates = [e for e in others if e.path != entry.path and e.status is not None]
    return sorted(candidates, key=lambda other: -_likeness(entry, other))


def _likeness(entry: Entry, other: Entry) -> int:
    same = (
        bool(entry.title) and entry.title == other.title,
        bool(entry.workdir) and entry.workdir == other.workdir,
        entry.agent == other.agent,
    )
    return sum(weight * known for weight, known in zip((4, 2, 1), same, strict=True))
