"""The full screens that open in front of the browser, and what it does with their answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessionlog.errors import SessionLogError
from sessionlog.records import Entry
from tui import commands
from tui.opening import is_alive, open_log
from tui.subagents import Subagents
from tui.tools import label_of
from tui.words import seconds_of

if TYPE_CHECKING:
    from sessionlog.pace import Pace
    from tui.handover import Answer as HandoverAnswer
    from tui.screens.browser import Browser
    from tui.screens.compare import Place as ComparePlace
    from tui.screens.replay import Left
    from tui.screens.why import Asked
    from tui.searching import Place, SearchState

BACK = 600.0
"""Seconds before the end from which the last minutes are replayed."""


class Sheets:
    """One method a screen; each is imported when it is asked for."""

    def __init__(self, browser: Browser) -> None:
        self._at = browser
        self._search: SearchState | None = None
        self.subagents = Subagents(browser)

    @property
    def _target(self) -> Entry | None:
        at = self._at
        return at.sessions.selected if at.view.focus == commands.LIST else at.entry

    def _show(self, entry: Entry) -> None:
        """Have the session open, the timeline with the focus."""
        self._at.sessions.select(entry.path)
        self._at.open(entry)
        if self._at.view.focus == commands.LIST:
            self._at.focus_pane(commands.TIMELINE)

    # -- why -----------------------------------------------------------------------------------

    def why(self) -> None:
        """Why the run stopped."""
        from tui.screens.why import WhySheet

        at, entry = self._at, self._target
        if entry is None:
            return
        tell = at.clock_of(at.timeline.clock_name)
        refused = {id: at.actions.refused(id) for id in ("fork", "hand_over")}
        sheet = WhySheet(at.new_bar(), entry, now=lambda: at.now, clock=tell, refused=refused)
        at.app.push_screen(sheet, lambda asked: self._after_why(entry, asked))

    def _after_why(self, entry: Entry, asked: Asked | None) -> None:
        if asked is None:
            return
        self._show(entry)
        if asked.what == "row":
            self._at.timeline.go(asked.offset)
        elif asked.what == "fork":
            self._at.actions.fork_at(entry, asked.at)
        elif asked.what == "hand over":
            self.hand_over(entry)
        elif asked.what == "replay":
            self._replay(entry, self._minutes_ago())

    def _minutes_ago(self) -> int | None:
        """The byte of the log at which its last minutes begin."""
        timeline = self._at.timeline.timeline
        end = seconds_of(timeline.ended()) if timeline else None
        pos = timeline.at_time(end - BACK) if timeline and end is not None else None
        return timeline.row(pos).place[0] if timeline and pos is not None else None

    # -- replay --------------------------------------------------------------------------------

    def replay(self) -> None:
        """Play the log from the cursor on; from its end there is nothing to play, so from its
        start."""
        at, entry = self._at, self._target
        if entry is None:
            return
        is_open = at.view.focus != commands.LIST and not at.timeline.at_end
        row = at.timeline.row if is_open else None
        self._replay(entry, row.place[0] if row else None)

    def play(self, pace: Pace) -> None:
        """Play the open log from its start."""
        if self._at.entry is not None:
            self._replay(self._at.entry, None, pace)

    def _replay(self, entry: Entry, offset: int | None, pace: Pace | None = None) -> None:
        from tui.screens.replay import Replay

        at = self._at
        try:
            log = open_log(entry)
        except SessionLogError as error:
            at.status.answer(str(error))
            return
        if not any(log.chunk(number).records for number in range(min(log.chunks, 2))):
            log.close()
            at.status.answer("replay: nothing was written to this log")
            return
        timeline = at.timeline.timeline
        is_open = timeline is not None and at.entry is not None and at.entry.path == entry.path
        marks = timeline.marks if timeline is not None and is_open else None
        sheet = Replay(
            at.new_bar(), entry, log, marks, offset=offset, alive=is_alive(entry), pace=pace,
            clock=at.timeline.clock, now=at.clock,
        )  # fmt: skip
        at.app.push_screen(sheet, lambda left: self._after_replay(entry, left))

    def _after_replay(self, entry: Entry, left: Left | None) -> None:
        if left is None:
            return
        if left.made:
            self._at.made(left.made)
            return
        self._show(entry)
        if left.offset is not None:
            self._at.timeline.go(left.offset)
        if left.asks == "why":
            self.why()
        if left.hands_over_at:
            self.hand_over(entry, left.hands_over_at)

    # -- hand over -----------------------------------------------------------------------------

    def hand_over(self, entry: Entry | None = None, at: int = 0) -> None:
        """Preview what an agent would go on with: all of the session, or a fork after message
        `at`."""
        from tui.screens.handover import HandoverSheet

        browser, entry = self._at, entry or self._target
        if entry is not None:
            sheet = HandoverSheet(browser.new_bar(), entry, at=at, now=lambda: browser.now,
                                  clock=browser.timeline.clock)  # fmt: skip
            browser.app.push_screen(sheet, lambda answer: self._handed(entry, answer))

    def _handed(self, entry: Entry, answer: HandoverAnswer | None) -> None:
        from tui.handover import Go, Look, Wrote

        if isinstance(answer, Look):
            self._show(entry)
            self._at.timeline.go(answer.offset)
        elif isinstance(answer, Wrote):
            self._at.made(answer.path)
        elif isinstance(answer, Go):
            self._at.hands.go(answer)

    def stop_now(self) -> None:
        """Kill what was handed over, at once."""
        self._at.hands.stop(self._target)

    def stop_gently(self) -> None:
        """Interrupt it; what has not ended after a moment is killed."""
        self._at.hands.stop(self._target, gently=True)

    def into_subagent(self) -> None:
        """The log of the subagent that the row's call started."""
        self.subagents.enter()

    def out_of_subagent(self) -> None:
        """Back to the call."""
        self.subagents.leave()

    # -- search --------------------------------------------------------------------------------

    def search(self) -> None:
        """A text in all logs that are listed."""
        from tui.screens.search import SearchSheet
        from tui.searching import SearchState

        at = self._at
        if self._search is None:
            self._search = SearchState()
        word = at.timeline.needle.text if at.timeline.needle else ""
        entries = [entry for entry in at.entries if entry.status is not None]
        sheet = SearchSheet(at.new_bar(), entries, self._search, clock=at.clock, word=word)
        at.app.push_screen(sheet, self._after_search)

    def _after_search(self, place: Place | None) -> None:
        if place is None:
            return
        self._show(place.entry)
        timeline = self._at.timeline
        timeline.go(place.offset, place.part)
        if place.text:
            timeline.mark(place.text, place.ignore_case)
            self._at.detail.mark(timeline.needle)

    # -- compare -------------------------------------------------------------------------------

    def compare(self) -> None:
        """The run beside its parent; beside another one where its parent is not here."""
        from tui.screens.compare import CompareSheet

        at, entry = self._at, self._target
        if entry is not None:
            parent = at.sessions.forest.parent(entry)
            sheet = CompareSheet(at.new_bar(), entry, parent, at.entries, clock=at.clock,
                                 times=at.timeline.clock)  # fmt: skip
            at.app.push_screen(sheet, self._after_compare)

    def _after_compare(self, place: ComparePlace | None) -> None:
        if place is not None:
            self._show(place.entry)
            self._at.timeline.go(place.offset, place.part)

    # -- stats ---------------------------------------------------------------------------------

    def stats(self) -> None:
        """The numbers of a run, or of all that are listed."""
        from tui.screens.stats import StatsSheet

        at, entry = self._at, self._target
        if entry is not None:
            sheet = StatsSheet(at.new_bar(), entry, at.entries)
            at.app.push_screen(sheet, lambda answer: self._after_stats(entry, answer))

    def _after_stats(self, entry: Entry, answer: object) -> None:
        if isinstance(answer, tuple):
            self._show(entry)
            self._at.timeline.set_filter("tool", label_of(answer[1]))
            self._at.tell()
