"""What the fork and the repair dialog share: read, plan, show, ask, write.

Reading and writing run in a worker; nothing is written before `enter`, and where the log is
damaged before its end not before `!` either.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from textual import on
from textual.message import Message

from sessionlog.errors import DamagedLog, SessionLogError
from sessionlog.reader import load
from sessionlog.records import Entry
from sessionlog.session import Session
from sessionlog.text import visible, wrap
from tui import messages, previews
from tui.lines import Line
from tui.screens.dialog import Dialog
from tui.signs import SIGNS
from tui.workers import guarded


class PlanDialog(Dialog):
    """A subclass plans, tells and writes."""

    doing = ""

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

    def __init__(self, entry: Entry, now: datetime | None = None) -> None:
        super().__init__()
        self.entry = entry
        self.now = now
        """Names the new log; None: the time it is planned, and again when it is written."""
        self._session: Session | None = None
        self._plan: previews.Plan | None = None
        self._problem = ""
        self._asks = False
        """The log is damaged before its end: `!` goes on without the damaged lines."""
        self._force = False
        self._busy = f"reading the log of “{visible(entry.title or entry.id)[:60]}” …"

    # -- a subclass says -----------------------------------------------------------------------

    def planned(self, session: Session) -> previews.Plan:
        """What would be written. Raises NotPossible."""
        raise NotImplementedError

    def written(self, force: bool) -> str:
        """Write it, in a worker; gives the path. Raises SessionLogError."""
        raise NotImplementedError

    def said(self, session: Session, plan: previews.Plan, width: int) -> list[Line]:
        """The plan in lines."""
        raise NotImplementedError

    def plan_keys(self) -> list[tuple[str, str]]:
        """Keys beside enter and esc."""
        return []

    def moved(self, session: Session, key: str) -> bool:
        """Take a key that changes the plan; False when it does not."""
        return False

    # -- the dialog ----------------------------------------------------------------------------

    def on_mount(self) -> None:
        """Read the log."""
        self._work(f"reading for a {self.doing}", self._load)

    def _load(self) -> Message:
        return self.Loaded(load(self.entry.path))

    def _write(self) -> Message:
        return self.Written(self.written(self._force))

    def _work(self, what: str, work: Callable[[], Message]) -> None:
        def attempt() -> None:
            try:
                self.post_message(work())
            except DamagedLog as error:
                self.post_message(self.Refused(str(error), damaged=True))
            except (SessionLogError, OSError) as error:
                self.post_message(self.Refused(str(error)))

        self.run_worker(lambda: guarded(what, attempt, self.post_message), thread=True,
                        group=self.doing, exclusive=True, exit_on_error=False)  # fmt: skip

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
            self._plan = self.planned(self._session)
            self._asks = self._plan.refused is not None
        except SessionLogError as error:
            self._plan, self._problem = None, visible(str(error))
        self.renew()

    def body(self, width: int) -> list[Line]:
        """The plan, or what stands in its way."""
        lines: list[Line] = [Line([])]
        if self._busy:
            return [*lines, Line([(self._busy, "fg-2")])]
        if self._session is not None and self._plan is not None:
            lines += self.said(self._session, self._plan, width)
        if self._problem:
            lines += [Line([(text, "fail")]) for text in wrap(self._problem, width, 6)]
        elif self._asks and not self._force:
            lines += [Line([]), *self._damage()]
        return lines

    def _damage(self) -> list[Line]:
        said = (" damaged before its end: look at the rows marked ▒, then ", "bytes")
        pieces = [SIGNS["bytes"], said, ("!", "fg-1 bold"), (" goes on without them", "bytes")]
        return [Line(pieces, tint="tint-bytes")]

    def hints(self) -> list[tuple[str, str]]:
        """What can be done now."""
        found = [("esc", "leave")]
        if self._plan is None or self._busy:
            return found
        found = [*self.plan_keys(), *found]
        if not self._plan.needed or self._problem:
            return found
        return [("!", "accept damage") if self._waits else ("enter", self.doing), *found]

    @property
    def _waits(self) -> bool:
        return self._asks and not self._force

    def pressed(self, key: str) -> None:
        """Write, accept damage, or change the plan."""
        if self._busy or self._session is None:
            return
        if key == "!" and self._asks:
            self._force, self._problem = True, ""
            self._renew_plan()
        elif key == "enter":
            if self._plan and self._plan.needed and not self._waits and not self._problem:
                self._busy = "writing …"
                self.renew()
                self._work(f"writing the {self.doing}", self._write)
        elif self.moved(self._session, key):
            self._renew_plan()
        else:
            self.scroll_box({"pagedown": 8, "pageup": -8}.get(key, 0))
