"""Why did it stop: the library's answer on a page, each statement a way to its row."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from textual import on
from textual.geometry import Region
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget

from sessionlog.errors import SessionLogError
from sessionlog.records import Entry, Status
from sessionlog.secrets import mask
from sessionlog.text import clip, one_line, visible
from sessionlog.text import width as columns_of
from sessionlog.why.look import Looked, look
from sessionlog.why.said import Clock
from tui import commands, messages, workers
from tui.layout import NARROW, WIDE
from tui.lines import Line
from tui.log_row import LogRow
from tui.screens.sheet import Sheet, side_by_side
from tui.why_lines import as_text, fork_point, next_steps
from tui.widgets.detail_pane import DetailPane
from tui.widgets.line_widget import LineWidget
from tui.widgets.top_bar import TopBar
from tui.widgets.why_view import WhyView

_TALL = 38
"""Lines of the body from which there is room for a detail below the page."""


_AGAIN, _SELDOM = 1.0, 60.0
"""Seconds after which a run that goes on is looked at again, by the size of its log."""
_SMALL = 2 << 20


class Asked(NamedTuple):
    """What the person wants after reading why."""

    what: str
    """row, fork, hand over, replay."""
    offset: int = -1
    """Byte of the row."""
    at: int = 0
    """Message of the cut; 0: the end."""


class _Title(LineWidget):
    """What the page is about."""

    def __init__(self, entry: Entry, *, id: str) -> None:
        super().__init__(id=id)
        self._title = one_line(entry.title or entry.task) or visible(entry.id)

    def lines(self, width: int, height: int) -> list[Line]:
        question = "Why did it stop"
        title = clip(self._title, max(width - columns_of(question) - 4, 1))
        return [Line([("▌", "accent"), (question, "fg-1 bold")], [(f"  {title} ", "fg-2")],
                     "surface")]  # fmt: skip


class _Cancelled(Exception):
    """The page was left while the log was read."""


class WhySheet(Sheet[Asked]):
    """Reads the log in a thread; the answer is that of `sessionlog why`."""

    where = commands.WHY

    @dataclass(eq=False, repr=False)
    class Read(Message):
        """How far the reading is: bytes, of bytes."""

        done: int
        total: int

    @dataclass(eq=False, repr=False)
    class Answered(Message):
        """The answer, or why there is none."""

        looked: Looked | None
        problem: str = ""

    def __init__(
        self,
        bar: TopBar,
        entry: Entry,
        *,
        now: Callable[[], datetime],
        clock: Clock,
        refused: dict[str, str],
    ) -> None:
        """`clock` tells times as the timeline does; `refused`: why fork or hand over cannot act."""
        super().__init__(bar)
        self._entry, self._now, self._clock = entry, now, clock
        self._cannot = refused
        self.view = WhyView(id="page")
        self.detail = DetailPane(id="detail")
        self._row = LogRow()
        self._looked: Looked | None = None
        self._next: Timer | None = None

    def parts(self) -> Iterable[Widget]:
        """The page, its title, and the row of the statement under the cursor."""
        return [self.view, _Title(self._entry, id="title"), self.detail]

    def regions(self, body: Region) -> dict[str, Region]:
        """The detail beside the page where there is room, else below it, else not."""
        title, rest = body.split_horizontal(1)
        if body.width >= WIDE:
            left, right = side_by_side(rest, body.width - 67)
            return {"title": title, "page": left, "detail": right}
        if body.height > _TALL:
            upper, lower = rest.split_horizontal(rest.height - 9)
            return {"title": title, "page": upper, "detail": lower}
        return {"title": title, "page": rest}

    def on_mount(self) -> None:
        """Read the log."""
        self.status.tell("a number at the right opens its row", [("from the log alone ", "fg-3")])
        self._look()

    def _look(self) -> None:
        path, now = self._entry.path, self._now()
        if self._next is not None:  # who came back meanwhile looks at once
            self._next.stop()

        def read(post: workers.Post, stopped: workers.Stopped) -> None:
            def progress(done: int, total: int) -> None:
                if stopped():
                    raise _Cancelled
                post(self.Read(done, total))

            try:
                post(self.Answered(look(path, now, _seldom(progress))))
            except SessionLogError as error:
                post(self.Answered(None, str(error)))
            except _Cancelled:
                pass

        self.work("reading why it stopped", read)

    def on_unmount(self) -> None:
        """Let the detail's log go."""
        self._row.close()

    @on(Read)
    def _read(self, message: Read) -> None:
        if self._looked is None:
            self.view.wait(f"reading {message.done / max(message.total, 1):.0%}")

    @on(Answered)
    def _answered(self, message: Answered) -> None:
        self._looked = message.looked
        if message.looked is None:
            self.view.wait(visible(message.problem))
            return
        steps = next_steps(message.looked, self._cannot)
        self.view.show(message.looked, steps, self._clock)
        if message.looked.read_from:
            self.status.tell("calls, errors and repeats of the last 8 MB; messages and silences "
                             "of all", [("from the log alone ", "fg-3")])  # fmt: skip
        self.keys.refresh()
        if message.looked.why.status is Status.RUNNING:
            soon = message.looked.size <= _SMALL
            self._next = self.set_timer(_AGAIN if soon else _SELDOM, self._look_again)

    def _look_again(self) -> None:
        if self in self.app.screen_stack:
            self._look()

    def resumed(self) -> None:
        """A run that goes on is looked at again."""
        if self._looked is not None and self._looked.why.status is Status.RUNNING:
            self._look()

    @on(messages.Failed)
    def _broke_off(self, message: messages.Failed) -> None:
        if self._looked is None:
            self.view.wait(visible(f"{message.what} ended: {message.error}"))

    @on(WhyView.Moved)
    def _moved(self) -> None:
        statement = self.view.statement
        if statement is None or statement.offset < 0 or self.size.width < NARROW:
            self.detail.show(None, None)
            return
        row = self._row.at(self._entry, (statement.offset, 0), statement.n, statement.line)
        self.detail.show(row, self._row.log)

    @on(WhyView.Opened)
    def _opened(self) -> None:
        self.open()

    # -- commands ------------------------------------------------------------------------------

    def refused(self, id: str) -> str:
        """What cannot be done with this log."""
        if id in ("fork", "hand_over") and self._cannot.get(id):
            return self._cannot[id]
        if (
            id in ("open", "copy", "next_trouble", "fork", "hand_over", "replay")
            and not self._looked
        ):
            return "the log is still being read"
        return ""

    def open(self) -> None:
        """To the row of the statement."""
        statement = self.view.statement
        if statement is None or statement.offset < 0:
            self.status.answer("this statement is about no row")
        else:
            self.dismiss(Asked("row", statement.offset))

    def fork(self) -> None:
        """A new log that ends before what went wrong."""
        if self._looked is not None:
            self.dismiss(Asked("fork", at=fork_point(self._looked)))

    def hand_over(self) -> None:
        """An agent goes on, every call closed."""
        self.dismiss(Asked("hand over"))

    def replay(self) -> None:
        """The last ten minutes, played."""
        self.dismiss(Asked("replay"))

    def copy(self) -> None:
        """The page as text."""
        if self._looked is not None:
            self.copied("the page", mask(as_text(self._looked, self._clock)))


def _seldom(tell: Callable[[int, int], None], every: int = 4 << 20) -> Callable[[int, int], None]:
    """Tell of progress each few megabytes."""
    told = -every

    def seldom(done: int, total: int) -> None:
        nonlocal told
        if done - told >= every:
            told = done
            tell(done, total)

    return seldom
