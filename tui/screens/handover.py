"""Hand over: what goes over, what will run, what has moved on since; nothing before `enter`.

The log is read and the files are looked at once, in a thread; a choice (another agent, note,
folder) only makes the plan anew. What `enter` sets off is done by whoever opened this screen.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from textual import on
from textual.geometry import Region
from textual.message import Message
from textual.widget import Widget

from sessionlog.errors import SessionLogError
from sessionlog.records import Entry
from sessionlog.secrets import mask
from sessionlog.text import visible
from tui import commands, handover_facts, handover_lines, handover_work, workers
from tui.handover import Answer, Chosen, Go, Known, Look, Planned, Wrote
from tui.layout import NARROW, WIDE
from tui.lines import Line
from tui.row_lines import Clock
from tui.screens.sheet import Sheet, side_by_side
from tui.widgets.handover_title import HandoverTitle
from tui.widgets.scroll_view import ScrollView
from tui.widgets.top_bar import TopBar

_BESIDE = {True: 67, False: 47}
"""Columns of what stands beside the conversation, with the rule, on wide terminals or not."""
NOTHING = "nothing to repair: every call is answered, no byte is lost"


class HandoverSheet(Sheet[Answer]):
    """Answers `Go`, `Wrote` or `Look`; None when it was left."""

    where = commands.HANDOVER

    @dataclass(eq=False, repr=False)
    class Said(Message):
        """What the thread is at."""

        words: str

    @dataclass(eq=False, repr=False)
    class Read(Message):
        """The log was read and the files were looked at."""

        known: Known

    @dataclass(eq=False, repr=False)
    class Thought(Message):
        """It was thought through."""

        planned: Planned

    @dataclass(eq=False, repr=False)
    class Refused(Message):
        """The library would not: why."""

        why: str

    @dataclass(eq=False, repr=False)
    class Written(Message):
        """The new log is there; None: there was nothing to repair."""

        path: str | None

    @dataclass(eq=False, repr=False)
    class Compared(Message):
        """The full diff."""

        lines: list[Line]

    def __init__(
        self, bar: TopBar, entry: Entry, *, at: int = 0, now: Callable[[], datetime], clock: Clock
    ) -> None:
        """`at`: hand over a fork after that message; 0: all of it."""
        super().__init__(bar)
        self._entry, self._at, self._now, self._clock = entry, at, now, clock
        self._known: Known | None = None
        self._planned: Planned | None = None
        self._chosen = Chosen()
        self._busy = "reading the log …"
        self._problem = ""
        self._accepted = self._bare = self._diff = False
        self._diffed: list[Line] = []
        self.title_line = HandoverTitle(self._title(), id="title")
        self.rows = ScrollView(id="transcript", ends=True)
        self.facts = ScrollView(id="facts")
        self.full = ScrollView(id="diff")

    # -- the parts -----------------------------------------------------------------------------

    def parts(self) -> Iterable[Widget]:
        """Conversation, title, facts, diff."""
        return [self.rows, self.title_line, self.facts, self.full]

    @property
    def main(self) -> Widget:
        """The diff while it is shown."""
        return self.full if self._diff else self.rows

    def regions(self, body: Region) -> dict[str, Region]:
        """The facts beside the conversation, or below it where it is narrow."""
        title, rest = body.split_horizontal(min(self.title_line.height, body.height - 4))
        if self._diff:
            return {"title": title, "diff": rest}
        if body.width >= NARROW:
            left, right = side_by_side(rest, body.width - _BESIDE[body.width >= WIDE])
            return {"title": title, "transcript": left, "facts": right}
        below = handover_facts.brief_height(self._planned, rest.height)
        if not below:
            return {"title": title, "transcript": rest}
        upper, lower = rest.split_horizontal(rest.height - below)
        return {"title": title, "transcript": upper, "facts": lower}

    def on_mount(self) -> None:
        """Read the log."""
        self._tell()
        entry, at = self._entry, self._at or None

        def read(post: workers.Post, stopped: workers.Stopped) -> None:
            known = handover_work.read(entry, at, lambda words: post(self.Said(words)))
            if not stopped():
                post(self.Read(known))

        self._work("reading for a handing over", read, "read")

    def on_resize(self) -> None:
        """What stands in the way is worded for the width."""
        self._show()

    # -- workers -------------------------------------------------------------------------------

    def _work(
        self, what: str, act: Callable[[workers.Post, workers.Stopped], None], group: str
    ) -> None:
        def attempt(post: workers.Post, stopped: workers.Stopped) -> None:
            try:
                act(post, stopped)
            except (SessionLogError, OSError) as error:
                post(self.Refused(str(error)))

        self.work(what, attempt, group)

    def _think(self) -> None:
        """Plan for what is chosen now; a newer plan takes the place of an older."""
        known, chosen, at, now = self._known, self._chosen, self._at or None, self._now()
        if known is None:
            return
        self._busy = "thinking it through …"
        self._tell()

        def think(post: workers.Post, stopped: workers.Stopped) -> None:
            planned = handover_work.think(known, at, chosen, now)
            if not stopped():
                post(self.Thought(planned))

        self._work("planning", think, "plan")

    @on(Said)
    def _said(self, message: Said) -> None:
        self._busy = message.words
        self._tell()

    @on(Read)
    def _read(self, message: Read) -> None:
        self._known = message.known
        self._think()

    @on(Thought)
    def _thought(self, message: Thought) -> None:
        if message.planned.chosen != self._chosen:
            return  # another choice was made meanwhile
        self._planned, self._busy, self._problem = message.planned, "", message.planned.problem
        if self._diff:
            self._compare()
        self._show()

    @on(Refused)
    def _refused(self, message: Refused) -> None:
        self._busy, self._problem = "", message.why
        self._show()

    @on(Written)
    def _written(self, message: Written) -> None:
        if message.path is not None:
            self.dismiss(Wrote(message.path))
            return
        self._busy = ""
        self._show()
        self.status.answer(NOTHING)

    # -- what is shown -------------------------------------------------------------------------

    def _title(self) -> Line:
        resume = self._planned.resume if self._planned else None
        return handover_lines.title(self._entry, resume, self._at, self._busy)

    def _show(self) -> None:
        """Everything anew, for the plan there is."""
        planned, bare = self._planned, self._bare
        waits = handover_lines.waits(
            planned.refused if planned else None, planned.missing if planned else (),
            self._problem, accepted=self._accepted, wide=self.size.width >= NARROW,
        )  # fmt: skip
        self.title_line.show([self._title(), *waits])
        if planned is not None:
            resume, shown = planned.resume, planned.transcript
            clock, now = self._clock, self._now()
            self.rows.show(
                lambda width: handover_lines.conversation(shown, resume, width, clock),
                lambda focused: handover_lines.heading(shown, resume, focused=focused),
            )
            self.facts.show(lambda width: self._facts(planned, width, now, bare))
        self._tell()
        self.place()

    def _facts(self, planned: Planned, width: int, now: datetime, bare: bool) -> list[Line]:
        if self.size.width >= NARROW:
            return handover_facts.facts(planned, width, bare=bare, now=now)
        return handover_facts.brief(planned, width, self.facts.size.height, bare=bare)

    def _tell(self) -> None:
        waits = self._waits()
        name = ""
        if self._planned is not None and self._planned.resume is not None:
            name = visible(self._planned.resume.agent.name)
        words = f"enter waits: {waits}" if waits else f"enter hands over to {name}"
        self.status.tell(self._busy or words, [("  0 written, 0 started", "fg-3")])
        self.title_line.refresh()
        asks = self._asks
        self.keys.leave_out({"go"} if asks else {"accept"})

    @property
    def _asks(self) -> bool:
        """Does damage before the end wait for a person?"""
        damaged = self._planned is not None and self._planned.refused is not None
        return damaged and not self._accepted

    def _waits(self) -> str:
        """Why it cannot go now; "" when it can."""
        if self._busy or self._planned is None:
            return self._busy.removesuffix(" …") or self._problem or "there is no plan"
        if self._planned.resume is None or self._problem:
            return self._problem or "there is no plan"
        reasons = ["damage before the end"] if self._asks else []
        return ", ".join([*reasons, *map(handover_facts.in_short, self._planned.missing)])

    # -- commands ------------------------------------------------------------------------------

    def refused(self, id: str) -> str:
        """Why a key cannot act now."""
        planned = self._planned
        if id == "go":
            return "" if self._asks and not self._busy else self._go_refused()
        if id in ("accept", "note", "agent", "screen_or_not", "folder", "write", "diff", "copy"):
            if self._known is None or self._busy.startswith("writing"):
                return self._busy.removesuffix(" …") or self._problem
            return self._refused_now(id, planned)
        return ""

    def _go_refused(self) -> str:
        waits = self._waits()
        return f"enter waits: {waits}" if waits else ""

    def _refused_now(self, id: str, planned: Planned | None) -> str:
        resume = planned.resume if planned else None
        if id == "accept" and not self._asks:
            return "! has nothing to accept: no damage before the end"
        if id == "write" and self._asks:
            return "write: damage before the end; ! accepts it"
        if id == "write" and resume is not None and resume.plan is None and not resume.carried:
            return f"write: {NOTHING}" if self._is_whole else "write: the log goes as it stands"
        if id in ("note", "copy") and resume is None:
            return f"{id}: there is no plan yet; a chooses another agent"
        if id == "screen_or_not" and resume is not None and resume.agent.output:
            return f"screen: {visible(resume.agent.name)} is recorded, so it runs headless"
        if id == "diff" and resume is not None and resume.carried:
            return "diff: every line is new; the conversation is written anew in the native format"
        if id == "diff" and (resume is None or resume.plan is None):
            return "diff: the log goes over as it stands"
        return ""

    @property
    def _is_whole(self) -> bool:
        known = self._known
        return known is not None and not known.session.open_calls

    def leave(self) -> None:
        """Out of the diff, else back."""
        if self._diff:
            self.diff()
        else:
            self.dismiss(None)

    def go(self) -> None:
        """Hand it over; damage that waits is looked at first."""
        planned = self._planned
        if planned is None or self._known is None:
            return
        if self._asks and planned.refused is not None:
            self.dismiss(Look(planned.refused.span.offset))
        elif planned.resume is not None:
            self.dismiss(Go(self._known.session, planned.resume, self._accepted))

    def accept(self) -> None:
        """Go on without the damaged lines."""
        self._accepted = True
        self._show()

    def write(self) -> None:
        """Write the new log, and start nothing."""
        known, resume = self._known, self._planned.resume if self._planned else None
        if known is None:
            return
        at, force, now = self._at or None, self._accepted, self._now()
        self._busy = "writing …"
        self._tell()

        def write(post: workers.Post, stopped: workers.Stopped) -> None:
            made = handover_work.write(known, at, resume, force=force, now=now)
            post(self.Written(made))

        self._work("writing the new log", write, "write")

    def note(self) -> None:
        """Edit what the agent is told."""
        from tui.screens.note import NoteDialog

        resume = self._planned.resume if self._planned else None
        if resume is not None:
            self.app.push_screen(NoteDialog(resume.note), self._noted)

    def _noted(self, note: str | None) -> None:
        if note is not None:
            self._choose(self._chosen._replace(note=note or None))

    def agent(self) -> None:
        """Choose another agent."""
        from tui.screens.agent_choice import AgentDialog

        planned = self._planned
        if planned is not None:
            current = planned.resume.agent.name if planned.resume else ""
            box = AgentDialog(planned.agents, current, screen=self._chosen.screen)
            self.app.push_screen(box, self._agreed)

    def _agreed(self, name: str | None) -> None:
        if name is not None:
            self._choose(self._chosen._replace(agent=name))

    def screen_or_not(self) -> None:
        """On this screen, or without a terminal."""
        self._choose(self._chosen._replace(screen=not self._chosen.screen))

    def folder(self) -> None:
        """Ask for another working directory."""
        resume = self._planned.resume if self._planned else None
        self.ask("folder", "working directory", resume.cwd if resume else "")

    def given(self, purpose: str, text: str) -> None:
        """The working directory; nothing means the session's own."""
        self._choose(self._chosen._replace(cwd=text.strip() or None))

    def _choose(self, chosen: Chosen) -> None:
        if chosen != self._chosen:
            self._chosen = chosen
            self._think()

    def bare(self) -> None:
        """Secrets as they are, or masked."""
        self._bare = not self._bare
        if self._diff:
            self._compare()
        self._show()
        self.status.answer("secrets are shown as they are" if self._bare else "secrets masked")

    def copy(self) -> None:
        """The command, as one would type it."""
        resume = self._planned.resume if self._planned else None
        if resume is not None:
            text = shlex.join(resume.argv)
            self.copied("the command", visible(text if self._bare else mask(text), newlines=True))

    # -- the full diff -------------------------------------------------------------------------

    def diff(self) -> None:
        """Every changed record of the new log, and back."""
        self._diff = not self._diff
        if self._diff:
            self.full.show(lambda width: [Line([(" comparing …", "fg-2")])])
            self.full.begin()
            self._compare()
        self.place()
        self.set_focus(self.main)

    def _compare(self) -> None:
        planned, bare = self._planned, self._bare
        if planned is None or planned.resume is None:
            return
        resume = planned.resume

        def compare(post: workers.Post, stopped: workers.Stopped) -> None:
            post(self.Compared(handover_work.compare(resume, bare)))

        self._work("comparing", compare, "diff")

    @on(Compared)
    def _compared(self, message: Compared) -> None:
        lines = message.lines
        self.full.show(lambda width: lines, handover_lines.diff_heading)

    # -- the facts, from the conversation ------------------------------------------------------

    def detail_down(self) -> None:
        """Scroll the facts."""
        self.facts.scroll_by(3)

    def detail_up(self) -> None:
        """Scroll the facts."""
        self.facts.scroll_by(-3)
