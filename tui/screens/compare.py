"""Two runs beside each other: a fork and its parent, or any two. Both logs are read in a thread."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from textual import on
from textual.geometry import Region
from textual.message import Message
from textual.widget import Widget

from sessionlog.compare import compare
from sessionlog.errors import SessionLogError
from sessionlog.facing import Section, facing
from sessionlog.records import Entry
from sessionlog.sides import SideLog, summary
from tui import commands, copying, workers
from tui.beside_rows import BesideRows
from tui.row_lines import Clock
from tui.screens.sheet import Sheet, side_by_side
from tui.widgets.choice_list import ChoiceList, likeliest
from tui.widgets.compare_view import WIDE, CompareView
from tui.widgets.detail_pane import DetailPane
from tui.widgets.top_bar import TopBar

_TELL = 0.1
"""Seconds between two words on how far it is."""
_PAUSE = 0.001
"""Seconds in which the screen has the processor to itself, after each slice of reading."""
_DETAILED = 27
"""Lines of the body from which on the rows under the cursor are shown at length, too."""
_LOOK = 0.06
"""Seconds the cursor rests on a row before it is shown at length."""


class Place(NamedTuple):
    """The row to go to in a log."""

    entry: Entry
    offset: int
    part: int


class CompareSheet(Sheet[Place]):
    """Answers the row to go to; None when it was left."""

    where = commands.COMPARE

    @dataclass(eq=False, repr=False)
    class Reading(Message):
        """How far the logs are read: bytes, of bytes."""

        done: int
        whole: int

        def can_replace(self, message: Message) -> bool:
            """Only the last word counts."""
            return isinstance(message, CompareSheet.Reading)

    @dataclass(eq=False, repr=False)
    class Met(Message):
        """Both are read and compared."""

        entries: tuple[Entry, Entry]
        logs: tuple[SideLog, SideLog]
        sections: tuple[Section, ...]
        said: str

    @dataclass(eq=False, repr=False)
    class Unread(Message):
        """One could not be read."""

        why: str

    def __init__(
        self, bar: TopBar, entry: Entry, other: Entry | None, entries: Sequence[Entry] = (), *,
        clock: Callable[[], float] = time.time, times: Callable[[Entry], Clock] = lambda _: Clock(),
    ) -> None:  # fmt: skip
        """`other` (the parent of a fork, say) stands left; None: it is chosen among `entries`.
        `times` tells the times of a session."""
        super().__init__(bar)
        self._entry, self._other = entry, other
        self._chooses = other is None
        """Is the other one being chosen?"""
        self._rows: BesideRows | None = None
        self.view = CompareView(id="compare")
        self._times = times
        title = entry.title.strip().partition("\n")[0] or entry.id
        self.choices = ChoiceList(f"Compare {copying.of_text(title)[:60]} with", id="choices",
                                  clock=clock)  # fmt: skip
        self.choices.offer(likeliest(entry, entries))
        self.details = (DetailPane(id="left"), DetailPane(id="right"))
        self._is_left = False
        """The screen was left: what is read by then is let go of."""

    # -- the parts -----------------------------------------------------------------------------

    def parts(self) -> Iterable[Widget]:
        """The rows, the list to choose from, and the two rows at length."""
        return [self.view, self.choices, *self.details]

    @property
    def main(self) -> Widget:
        """The part that keys go to."""
        return self.choices if self._chooses else self.view

    def regions(self, body: Region) -> dict[str, Region]:
        """The rows, and under them, where there is room, those under the cursor at length."""
        if self._chooses:
            return {"choices": body}
        if body.height < _DETAILED or self._rows is None:
            return {"compare": body}
        upper, lower = body.split_horizontal(body.height - body.height // 3)
        if body.width < WIDE:
            return {"compare": upper, ("left", "right")[self.view.shown_side]: lower}
        left, right = side_by_side(lower, (body.width - 1) // 2)
        return {"compare": upper, "left": left, "right": right}

    def on_mount(self) -> None:
        """Read, or ask for the other one."""
        self._begin()

    def on_unmount(self) -> None:
        """Let go of the logs."""
        self._is_left = True
        self._close()

    def _close(self) -> None:
        if self._rows is not None:
            self._rows.close()
            self._rows = None

    def refused(self, id: str) -> str:
        """Why a command cannot act now; "" when it can."""
        if self._chooses:
            if id == "open" and self.choices.chosen is None:
                return "no session to compare with"
            if id in ("next_difference", "prev_difference", "other_side", "toggle_fold", "copy"):
                return "first choose the session to compare with"
        elif id in ("open", "copy") and (self._rows is None or not self.view.number):
            return "nothing on this side here"
        return ""

    # -- reading -------------------------------------------------------------------------------

    def _begin(self) -> None:
        self._close()
        self._chooses = self._other is None
        if self._other is not None:
            pair = (self._other, self._entry)
            clocks = (self._times(pair[0]), self._times(pair[1]))
            self.view.begin(pair, clocks)
            for pane, clock in zip(self.details, clocks, strict=True):
                pane.set_clock(clock)
            self.work("comparing", lambda post, stopped: _meet(pair, post, stopped))
        self._turn(self._chooses)

    def _turn(self, chooses: bool) -> None:
        """Show the list to choose from, or the comparison."""
        self._chooses = chooses
        self.place()
        self.set_focus(self.main)
        self._tell()

    @on(Reading)
    def _reading(self, message: Reading) -> None:
        self.view.progress(message.done, message.whole)

    @on(Met)
    def _met(self, message: Met) -> None:
        rows = BesideRows(message.entries, message.logs)
        if self._is_left or self._other is None or message.entries[0].path != self._other.path:
            rows.close()  # another one was chosen meanwhile
            return
        self._close()
        self._rows = rows
        self.place()
        self.view.show(rows, message.sections, message.said)

    @on(Unread)
    def _unread(self, message: Unread) -> None:
        self.status.warn(message.why)

    @on(CompareView.Moved)
    def _moved(self) -> None:
        self._tell()
        self.set_timer(_LOOK, self._look)

    def _look(self) -> None:
        """Show the rows under the cursor at length."""
        rows = self._rows
        if rows is None or self.size.height - 3 < _DETAILED:
            return
        for side, (pane, row) in enumerate(zip(self.details, self.view.pair, strict=True)):
            pane.show(row, rows.log(side) if row is not None else None)
        if self.size.width < WIDE:
            self.place()

    def _tell(self) -> None:
        if self._chooses:
            self.status.tell(self.choices.place, [])
        else:
            side = ("left", "right")[self.view.shown_side]
            self.status.tell(self.view.place, [(side, "fg-3")])
        self.keys.refresh()

    # -- commands ------------------------------------------------------------------------------

    def open(self) -> None:
        """Go to the row in its log; in the list: compare with that session."""
        if self._chooses:
            self._other = self.choices.chosen
            self._begin()
            return
        rows, n, side = self._rows, self.view.number, self.view.shown_side
        if rows is not None and self._other is not None and n:
            at = rows.logs[side].side.place(n)
            self.dismiss(Place((self._other, self._entry)[side], at.offset, at.part))

    @on(CompareView.Opened)
    @on(ChoiceList.Chosen)
    def _opened(self) -> None:
        if not self.refused("open"):
            self.open()

    def choose(self) -> None:
        """Another session to compare with."""
        self._turn(True)

    def leave(self) -> None:
        """From the choice back to what is compared; else out."""
        if self._chooses and self._other is not None:
            self._turn(False)
        else:
            self.dismiss(None)

    def filter(self) -> None:
        """Ask for the text of the session to compare with."""
        if not self._chooses:
            self.choose()
        self.ask("session", "compare with")

    def given(self, purpose: str, text: str) -> None:
        """Only the sessions with that text; a lone one is chosen."""
        self.choices.narrow(text)
        self._tell()

    def typed(self, purpose: str, text: str) -> None:
        """The list is narrowed while the text is typed."""
        self.choices.narrow(text)

    def undone(self, purpose: str) -> None:
        """All of them again."""
        self.choices.narrow("")

    def copy(self) -> None:
        """The row under the cursor, on its side."""
        row = self.view.pair[self.view.shown_side]
        if row is not None:
            self.copied("the row", copying.of_row(row))


def _meet(pair: tuple[Entry, Entry], post: workers.Post, stopped: workers.Stopped) -> None:
    """Read both logs and compare them. Runs in a thread."""
    whole, due, opened = sum(entry.bytes for entry in pair), 0.0, []
    try:
        before = 0
        for entry in pair:
            log = SideLog(entry.path)
            opened.append(log)

            def tick(done: int, before: int = before) -> bool:
                nonlocal due
                time.sleep(_PAUSE)
                if time.monotonic() >= due:
                    due = time.monotonic() + _TELL
                    post(CompareSheet.Reading(before + done, max(whole, 1)))
                return not stopped()

            if not log.read(tick):
                break
            before += entry.bytes
        else:
            logs = (opened[0], opened[1])
            comparison = compare(logs[0].side, logs[1].side)
            sections = tuple(facing(comparison, logs[0].side, logs[1].side))
            met = CompareSheet.Met(pair, logs, sections, summary(comparison, logs))
            if not stopped() and post(met) is not False:
                opened = []  # they are the screen's now
    except SessionLogError as error:
        post(CompareSheet.Unread(str(error)))
    finally:
        for log in opened:
            log.close()
