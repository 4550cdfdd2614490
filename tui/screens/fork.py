"""The fork dialog: what the new log would hold, and where the cut may move.

Reading and writing run in a worker; nothing is written before `enter`, and where the log is
damaged before its end not before `!` either.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from textual import on
from textual.message import Message

from sessionlog.errors import DamagedLog, SessionLogError
from sessionlog.reader import load
from sessionlog.records import Entry
from sessionlog.session import Session
from sessionlog.text import visible, wrap
from tui import messages, previews
from tui.lines import Line
from tui.previews import count, field
from tui.rows import Row
from tui.screens.dialog import Dialog
from tui.signs import SIGNS
from tui.workers import guarded

if TYPE_CHECKING:
    from sessionlog.plan import Fork

_LOW = 20
"""Rows of a terminal below which the dialog shows fewer rows of the log."""


class _Left(Exception):
    """Nobody waits for it any more."""


class ForkDialog(Dialog):
    """`enter` forks; `j k` move the cut, `u U` to a user turn; `r` forks and hands over."""

    @dataclass
    class Loaded(Message):
        """The whole log was read."""

        session: Session

    @dataclass
    class Refused(Message):
        """The library would not: why, and whether `!` makes it go on."""

        why: str
        damaged: bool = False

    @dataclass
    class Written(Message):
        """The new log is there."""

        path: str

    def __init__(
        self, entry: Entry, row: Row | None, now: datetime | None = None, at: int = 0
    ) -> None:
        """Begins with a cut after message `at`; 0: at the row, or the end where there is none.

        `now` names the new log; None: the time it is planned, and again when it is written.
        """
        super().__init__()
        self.entry, self.now = entry, now
        self._row, self._at = row, at
        self.hands_over_at = 0
        """The message after which an agent shall go on, when it was left for that."""
        self._session: Session | None = None
        self._plan: Fork | None = None
        self._problem = ""
        self._asks = False
        """The log is damaged before its end: `!` goes on without the damaged lines."""
        self._force = False
        self._busy = f"reading the log of “{visible(entry.title or entry.id)[:60]}” …"

    # -- reading and writing -------------------------------------------------------------------

    def on_mount(self) -> None:
        """Read the log."""
        path = self.entry.path
        self._work("reading for a fork", lambda: self.Loaded(load(path, tell=self._goes_on)))

    def _goes_on(self, done: int, size: int) -> None:
        """Ends the reading when the dialog was left."""
        if not self.is_running:
            raise _Left

    def _write(self) -> Message:
        from sessionlog.forks import fork

        made = fork(self.entry.path, self._at, force=self._force, now=self.now)
        return self.Written(str(made))

    def _work(self, what: str, work: Callable[[], Message]) -> None:
        def attempt() -> None:
            try:
                self.post_message(work())
            except _Left:
                pass
            except DamagedLog as error:
                self.post_message(self.Refused(str(error), damaged=True))
            except (SessionLogError, OSError) as error:
                self.post_message(self.Refused(str(error)))

        self.run_worker(lambda: guarded(what, attempt, self.post_message), thread=True,
                        group="fork", exclusive=True, exit_on_error=False)  # fmt: skip

    @on(Loaded)
    def _loaded(self, message: Loaded) -> None:
        self._session, self._busy = message.session, ""
        self._renew_plan()

    @on(Refused)
    def _refused(self, message: Refused) -> None:
        self._busy, self._problem, self._asks = "", visible(message.why), message.damaged
        self.renew()

    @on(Written)
    def _done(self, message: Written) -> None:
        self.dismiss(message.path)

    @on(messages.Failed)
    def _failed(self, message: messages.Failed) -> None:
        self._busy, self._problem = "", visible(f"{message.what}: {message.error}")
        self.renew()

    def _renew_plan(self) -> None:
        if self._session is None:
            return
        self._problem = ""
        try:
            self._plan = self._planned(self._session)
            self._asks = self._plan.refused is not None
        except SessionLogError as error:
            self._plan, self._problem = None, visible(str(error))
        self.renew()

    def _planned(self, session: Session) -> Fork:
        """The plan at the cut. Raises NotPossible."""
        from sessionlog.forks import plan_fork

        self._at = self._at or previews.cut_at(session, self._row)
        plan = plan_fork(session, self._at, now=self.now)
        self._at = plan.at
        return plan

    # -- what is shown -------------------------------------------------------------------------

    @property
    def heading(self) -> str:
        """`Fork at 146`"""
        return f"Fork at {self._at}" if self._at else "Fork"

    def body(self, width: int) -> list[Line]:
        """The plan, or what stands in its way."""
        lines: list[Line] = [Line([])]
        if self._busy:
            return [*lines, Line([(self._busy, "fg-2")])]
        if self._session is not None and self._plan is not None:
            lines += self._said(self._session, self._plan, width)
        if self._problem:
            lines += [Line([(text, "fail")]) for text in wrap(self._problem, width, 6)]
        elif self._waits:
            lines += [Line([]), _damage()]
        return lines

    def _said(self, session: Session, plan: Fork, width: int) -> list[Line]:
        """Rows around the cut, what the fork holds, what it closes, where it goes."""
        low = self.size.height < _LOW + 8
        lines = previews.around(session, self._at, 2 if low else 3, 1 if low else 2, width)
        holds = (f"{count(plan.messages, 'message')}, ", "fg")
        origin = (f"forked from {previews.shown_id(session.id)} at {self._at}", "fg-2")
        return [
            *lines,
            Line([]),
            field("holds", holds, ("bytes copied as they are", "fg-2")),
            *previews.closed(plan.closed),
            *previews.moved(plan),
            *previews.left_out(plan.dropped),
            previews.new_log(plan.path),
            *([] if low else [field("remembers", origin)]),
            previews.parent(),
        ]

    def hints(self) -> list[tuple[str, str]]:
        """What can be done now."""
        leave = ("esc", "leave")
        if self._plan is None or self._busy:
            return [leave]
        found = [("j k", "move"), ("u", "turn"), leave]
        if self._problem:
            return found
        first = ("!", "accept damage") if self._waits else ("enter", "fork")
        return [first, ("r", "hand over"), *found]

    @property
    def _waits(self) -> bool:
        return self._asks and not self._force

    # -- keys ----------------------------------------------------------------------------------

    def pressed(self, key: str) -> None:
        """Write, accept damage, hand over, or move the cut."""
        if self._busy or self._session is None:
            return
        if key == "!" and self._asks:
            self._force, self._problem = True, ""
            self._renew_plan()
        elif key == "enter":
            if self._plan and not self._waits and not self._problem:
                self._busy = "writing …"
                self.renew()
                self._work("writing the fork", self._write)
        elif key == "r":
            if self._plan is not None:
                self.hands_over_at = self._at
                self.dismiss(None)
        elif self._moved(self._session, key):
            self._renew_plan()
        else:
            self.scroll_box({"pagedown": 8, "pageup": -8}.get(key, 0))

    def _moved(self, session: Session, key: str) -> bool:
        """Move the cut; False when the key does not."""
        if key in ("u", "U"):
            stops = previews.turns(session)
        elif key in ("j", "k", "down", "up", "home", "end", "g", "G"):
            stops = previews.cuts(session)
        else:
            return False
        if stops:
            self._at = _stop(stops, self._at, key)
        return True


def _stop(stops: list[int], at: int, key: str) -> int:
    """The next of the stops that a key leads to."""
    if key in ("home", "g", "end", "G"):
        return stops[0 if key in ("home", "g") else -1]
    index = bisect_left(stops, at)
    if key in ("j", "down", "U"):
        index += index < len(stops) and stops[index] == at
    else:
        index -= 1
    return stops[min(max(index, 0), len(stops) - 1)]


def _damage() -> Line:
    said = (" damaged before its end: look at the rows marked ▒, then ", "bytes")
    pieces = [SIGNS["bytes"], said, ("!", "fg-1 bold"), (" goes on without them", "bytes")]
    return Line(pieces, tint="tint-bytes")
