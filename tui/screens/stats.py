"""A run in numbers: where its time and its tokens went, which tools failed; one run or all listed.

Logs are counted in a thread, so a big one can be left at once.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from textual import on
from textual.geometry import Region
from textual.message import Message
from textual.widget import Widget

from sessionlog.figures import Stats
from sessionlog.measure import Unmeasured, measure_all
from sessionlog.records import Entry, Status
from sessionlog.text import one_line, visible
from tui import commands, copying, workers
from tui.screens.sheet import Sheet
from tui.widgets.stats_view import StatsView
from tui.widgets.top_bar import TopBar

_TELL = 0.1
"""Seconds between two words on how far it is."""
_SUM = 0.5
"""Seconds between two sums of several logs."""
_PAUSE = 0.001
"""Seconds in which the screen has the processor to itself, after each slice of counting."""


class StatsSheet(Sheet[tuple[str, str]]):
    """Answers ("tool", its name) when the calls of one are to be seen; None when it was left."""

    where = commands.STATS

    @dataclass(eq=False, repr=False)
    class Counting(Message):
        """How far the count is."""

        all: bool
        done: int
        whole: int

        def can_replace(self, message: Message) -> bool:
            """Only the last word counts."""
            return isinstance(message, StatsSheet.Counting)

    @dataclass(eq=False, repr=False)
    class Counted(Message):
        """Numbers; of several logs they are told as they come, `left` logs are missing."""

        all: bool
        stats: Stats
        left: int

    @dataclass(eq=False, repr=False)
    class Failed(Message):
        """A log could not be counted."""

        why: str

    def __init__(self, bar: TopBar, entry: Entry | None, entries: Sequence[Entry] = ()) -> None:
        """`entry`: the session to show; None: the sum over `entries`, which `a` asks for."""
        super().__init__(bar)
        self._entry = entry
        self._entries = tuple(e for e in entries if e.status is not None)
        self._all = entry is None
        self._found: dict[bool, Stats] = {}
        self._missing = 0
        self.view = StatsView(id="stats")

    # -- the parts -----------------------------------------------------------------------------

    def parts(self) -> Iterable[Widget]:
        """One pane."""
        return [self.view]

    def regions(self, body: Region) -> dict[str, Region]:
        """The whole width."""
        return {"stats": body}

    def refused(self, id: str) -> str:
        """Why a command cannot act now; "" when it can."""
        if id == "open" and self._all:
            return "all sessions together have no timeline: a shows one again"
        if id == "open" and self.view.tool is None:
            return "no tool to see the calls of"
        if id == "sum_all" and len(self._entries) < 2:
            return "there is one session"
        if id == "sum_all" and self._entry is None:
            return "no session is selected"
        if id == "copy" and not self.view.text:
            return "nothing is counted yet"
        return ""

    def on_mount(self) -> None:
        """Count."""
        self._show()

    # -- counting ------------------------------------------------------------------------------

    def _show(self) -> None:
        """Show what is asked for; count it if that was not done."""
        known = self._found.get(self._all)
        entries = self._entries if self._all or self._entry is None else (self._entry,)
        self.view.progress(0, 0)
        self.view.show(known, self._about())
        if known is None or (self._all and self._missing):
            what, whole = self._all, sum(entry.bytes for entry in entries)
            self.work("counting", lambda post, stopped: _count(entries, what, whole, post, stopped))
        self._tell()

    def _about(self) -> str:
        if self._all or self._entry is None:
            known, all = self._found.get(True), f"{len(self._entries):,} sessions"
            return f"{known.sessions:,} of {all} so far" if known and self._missing else all
        return one_line(self._entry.title) or one_line(self._entry.id)

    @on(Counting)
    def _counting(self, message: Counting) -> None:
        if message.all is self._all:
            self.view.progress(message.done, message.whole)
            self._tell(message.done * 100 // max(message.whole, 1))

    @on(Counted)
    def _counted(self, message: Counted) -> None:
        self._found[message.all] = message.stats
        if message.all:
            self._missing = message.left
        if message.all is self._all:
            self.view.show(message.stats, self._about())
            self._tell()

    @on(Failed)
    def _uncounted(self, message: Failed) -> None:
        self.status.warn(message.why)

    @on(StatsView.Moved)
    def _moved(self) -> None:
        self._tell()

    def _tell(self, share: int | None = None) -> None:
        left = f"{self._missing:,} more to count" if self._all and self._missing else ""
        if not left and not self._all and self._entry and self._entry.status is Status.RUNNING:
            left = "as it was when this was opened: the run goes on"
        known = self._found.get(self._all)
        if known is None and share is not None:
            left = f"{min(share, 100)}% counted"
        same = ""
        if not self._all and self._entry is not None:
            same = f"same text: sessionlog stats {visible(self._entry.id)}"
        self.status.tell(self.view.place or same, [(left, "fg")] if left else [])
        self.keys.refresh()

    # -- commands ------------------------------------------------------------------------------

    def leave(self) -> None:
        """From the sum back to the one; else out."""
        if self._all and self._entry is not None:
            self.sum_all()
        else:
            self.dismiss(None)

    def open(self) -> None:
        """The calls of the tool under the cursor, on the timeline."""
        if self.view.tool is not None:
            self.dismiss(("tool", self.view.tool))

    @on(StatsView.Opened)
    def _opened(self) -> None:
        if not self.refused("open"):
            self.open()

    def sum_all(self) -> None:
        """The sum over all listed sessions, or the one again."""
        self._all = not self._all
        self._show()

    def copy(self) -> None:
        """The page as text."""
        self.copied("the numbers", copying.of_text(self.view.text))


def _count(
    entries: Sequence[Entry], all: bool, whole: int, post: workers.Post, stopped: workers.Stopped
) -> None:
    """Count logs, and tell as it goes. Runs in a thread."""
    due = 0.0
    told = time.monotonic()

    def tick(done: int) -> bool:
        nonlocal due
        time.sleep(_PAUSE)
        if time.monotonic() >= due:
            due = time.monotonic() + _TELL
            post(StatsSheet.Counting(all, done, whole))
        return not stopped()

    total, left = Stats(sessions=0), len(entries)
    for stats in measure_all(entries, tick):
        left -= 1
        if isinstance(stats, Unmeasured):
            post(StatsSheet.Failed(stats.why))
            continue
        if not all:
            post(StatsSheet.Counted(False, stats, 0))
            return
        total.add(stats)
        if left and time.monotonic() - told >= _SUM:
            told = time.monotonic()
            post(StatsSheet.Counted(True, copy.deepcopy(total), left))
    if all and not stopped():
        post(StatsSheet.Counted(True, total, 0))
