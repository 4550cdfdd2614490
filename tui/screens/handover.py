"""Hand over: what goes over, what will run, what has moved on since; nothing before `enter`.

The log is read and the files are looked at once, in a thread; a choice (another agent, note,
folder) only makes the plan anew. What `enter` sets off is done by whoever opened this screen.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, TypedDict, Unpack

from textual import on
from textual.geometry import Region
from textual.message import Message
from textual.widget import Widget

from sessionlog.errors import SessionLogError
from sessionlog.records import Entry
from sessionlog.secrets import mask
from sessionlog.text import visible, wrap
from tui import (
    commands,
    handover_facts,
    handover_lines,
    handover_waits,
    handover_work,
    messages,
    workers,
)
from tui.handover import Answer, Chosen, Go, Known, Look, Planned, Wrote
from tui.handover_diff import wrapped
from tui.handover_waits import Standing
from tui.layout import NARROW, WIDE
from tui.lines import Line, Piece
from tui.row_lines import Clock
from tui.screens.sheet import Sheet, side_by_side
from tui.widgets.handover_title import HandoverTitle
from tui.widgets.scroll_view import ScrollView
from tui.widgets.top_bar import TopBar

if TYPE_CHECKING:
    from sessionlog.resume import Resume

_BESIDE = {True: 67, False: 47}
"""Columns of what stands beside the conversation, with the rule, on wide terminals or not."""


class _Changed(TypedDict, total=False):
    """What may change of how it stands."""

    planned: Planned
    busy: str
    problem: str
    accepted: bool


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
        self._stands = Standing()
        self._chosen = Chosen()
        self._bare = self._diff = False
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
        below = handover_facts.brief_height(self._stands.planned, rest.height)
        if not below:
            return {"title": title, "transcript": rest}
        upper, lower = rest.split_horizontal(rest.height - below)
        return {"title": title, "transcript": upper, "facts": lower}

    def on_mount(self) -> None:
        """Read the log."""
        self._show()
        entry, at = self._entry, self._at or None

        def read(post: workers.Post, stopped: workers.Stopped) -> None:
            def say(words: str) -> None:
                if stopped():
                    raise handover_work.Stopped
                post(self.Said(words))

            with suppress(handover_work.Stopped):
                post(self.Read(handover_work.read(entry, at, say)))

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
        known, chosen, at, now = self._stands.known, self._chosen, self._at or None, self._now()
        if known is None:
            return
        self._become(busy="thinking it through …")

        def think(post: workers.Post, stopped: workers.Stopped) -> None:
            planned = handover_work.think(known, at, chosen, now)
            if not stopped():
                post(self.Thought(planned))

        self._work("planning", think, "plan")

    @on(Said)
    def _said(self, message: Said) -> None:
        self._become(busy=message.words)

    @on(Read)
    def _read(self, message: Read) -> None:
        self._stands = self._stands._replace(known=message.known)
        self._think()

    @on(Thought)
    def _thought(self, message: Thought) -> None:
        if message.planned.chosen != self._chosen:
            return  # another choice was made meanwhile
        planned = message.planned
        self._become(planned=planned, busy="", problem=planned.problem)
        if self._diff:
            self._compare()

    @on(Refused)
    def _refused(self, message: Refused) -> None:
        path, why = f"{self._entry.path}: ", message.why
        self._went_wrong(f"the log: {why.removeprefix(path)}" if why.startswith(path) else why)

    @on(messages.Failed)
    def _broke_off(self, message: messages.Failed) -> None:
        """An error of ours."""
        self._went_wrong(f"{message.what}: {message.error}")

    def _went_wrong(self, problem: str) -> None:
        """Say so; another choice can be made."""
        self._become(busy="", problem=problem)
        if self._diff:
            said = visible(problem)
            self.full.show(lambda width: [Line([(f" {text}", "fail")]) for text in
                                          wrap(said, width - 2, 6)],
                           handover_lines.diff_heading)  # fmt: skip

    @on(Written)
    def _written(self, message: Written) -> None:
        if message.path is not None:
            self.dismiss(Wrote(message.path))
            return
        self._become(busy="")
        self.status.answer(handover_waits.NOTHING)

    # -- what is shown -------------------------------------------------------------------------

    def _title(self) -> Line:
        return handover_lines.title(self._entry, self._resume, self._at, self._stands.busy)

    def _become(self, **changed: Unpack[_Changed]) -> None:
        self._stands = self._stands._replace(**changed)
        self._show()

    def _show(self) -> None:
        """Everything anew, as it stands."""
        stands, planned, bare = self._stands, self._stands.planned, self._bare
        waits = handover_lines.waits(stands, wide=self.size.width >= NARROW)
        self.title_line.show([self._title(), *waits])
        if planned is not None:
            now = self._now()
            self.rows.show(
                lambda width: self._conversation(planned, width, bare),
                lambda focused: handover_lines.heading(
                    planned.transcript, planned.resume, focused=focused
                ),
            )
            self.facts.show(lambda width: self._facts(planned, width, now, bare))
        self._tell()
        self.place()

    def _conversation(self, planned: Planned, width: int, bare: bool) -> list[Line]:
        """Where the note would fill the pane it is cut, so that what is before it can be seen."""
        most = max(self.rows.room // 2, 4)
        return handover_lines.conversation(
            planned.transcript, planned.resume, width, self._clock, most, bare=bare
        )

    def _facts(self, planned: Planned, width: int, now: datetime, bare: bool) -> list[Line]:
        if self.size.width >= NARROW:
            return handover_facts.facts(planned, width, bare=bare, now=now)
        return handover_facts.brief(planned, width, self.facts.size.height, bare=bare)

    def _tell(self) -> None:
        stands, resume = self._stands, self._resume
        words = f"enter waits: {stands.waits}"
        if not stands.waits and resume is not None:
            words = f"enter hands over to {visible(resume.agent.name)}"
        bare: list[Piece] = [("  secrets bare, b masks", "open")] if self._bare else []
        self.status.tell(stands.busy or words, [*bare, ("  0 written, 0 started", "fg-3")])
        self.keys.leave_out({"go"} if stands.asks else {"accept"})

    # -- commands ------------------------------------------------------------------------------

    def refused(self, id: str) -> str:
        """Why a key cannot act now."""
        return handover_waits.refused(self._stands, id)

    @property
    def _resume(self) -> Resume | None:
        return self._stands.planned.resume if self._stands.planned else None

    def leave(self) -> None:
        """Out of the diff, else back."""
        if self._diff:
            self.diff()
        else:
            self.dismiss(None)

    def go(self) -> None:
        """Hand it over; damage that waits is looked at first."""
        known, planned, resume = self._stands.known, self._stands.planned, self._resume
        if self._stands.asks and planned is not None and planned.refused is not None:
            self.dismiss(Look(planned.refused.span.offset))
        elif known is not None and resume is not None:
            self.dismiss(Go(known.session, resume, self._stands.accepted))

    def accept(self) -> None:
        """Go on without the damaged lines."""
        self._become(accepted=True)

    def write(self) -> None:
        """Write the new log, and start nothing."""
        known, resume = self._stands.known, self._resume
        if known is None:
            return
        at, force, now = self._at or None, self._stands.accepted, self._now()
        self._become(busy="writing …")

        def write(post: workers.Post, stopped: workers.Stopped) -> None:
            made = handover_work.write(known, at, resume, force=force, now=now)
            post(self.Written(made))

        self._work("writing the new log", write, "write")

    def note(self) -> None:
        """Edit what the agent is told."""
        from tui.screens.note import NoteDialog

        if self._resume is not None:
            self.app.push_screen(NoteDialog(self._resume.note), self._noted)

    def _noted(self, note: str | None) -> None:
        if note is not None:
            self._choose(self._chosen._replace(note=note or None))

    def agent(self) -> None:
        """Choose another agent."""
        from tui.screens.agent_choice import AgentDialog

        planned = self._stands.planned
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
        self.ask("folder", "working directory", self._resume.cwd if self._resume else "")

    def given(self, purpose: str, text: str) -> None:
        """The working directory; nothing means the session's own."""
        self._choose(self._chosen._replace(cwd=os.path.expanduser(text.strip()) or None))

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
        if self._resume is not None:
            text = shlex.join(self._resume.argv)
            self.copied("the command", visible(text if self._bare else mask(text), newlines=True))

    # -- the full diff -------------------------------------------------------------------------

    def diff(self) -> None:
        """Every changed record of the new log, and back."""
        self._diff = not self._diff
        if self._diff:
            self.full.show(lambda width: [Line([(" comparing …", "fg-2")])],
                           handover_lines.diff_heading)  # fmt: skip
            self.full.begin()
            self._compare()
        self.place()
        self.set_focus(self.main)

    def _compare(self) -> None:
        resume, bare = self._resume, self._bare
        if resume is None:
            return

        def compare(post: workers.Post, stopped: workers.Stopped) -> None:
            post(self.Compared(handover_work.compare(resume, bare)))

        self._work("comparing", compare, "diff")

    @on(Compared)
    def _compared(self, message: Compared) -> None:
        lines = message.lines
        self.full.show(lambda width: wrapped(lines, width), handover_lines.diff_heading)

    # -- the facts, from the conversation ------------------------------------------------------

    def detail_down(self) -> None:
        """Scroll the facts."""
        self.facts.scroll_by(3)

    def detail_up(self) -> None:
        """Scroll the facts."""
        self.facts.scroll_by(-3)
