"""The full screens that open in front of the browser, and what it does with their answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sessionlog.errors import SessionLogError
from sessionlog.records import Entry
from tui import commands
from tui.folds import Filter
from tui.opening import is_alive, open_log
from tui.screens.frame import Answer
from tui.subagents import Subagents
from tui.way import Step
from tui.words import seconds_of

if TYPE_CHECKING:
    from sessionlog.pace import Pace
    from tui.handover import Answer as HandoverAnswer
    from tui.rows import Row
    from tui.screens.browser import Browser
    from tui.screens.compare import Place as ComparePlace
    from tui.screens.replay import Left
    from tui.screens.sheet import Sheet
    from tui.screens.why import Asked
    from tui.searching import Place, SearchState

LATE = 600.0
"""Seconds before the end from which the last minutes are replayed."""
_KEPT = 8
"""Screens that are kept as they were left."""
Back = Callable[[], None]
"""Goes to the screen that led to another one, when that is left."""


class Sheets:
    """One method a screen; each is imported when it is asked for."""

    def __init__(self, browser: Browser) -> None:
        self._at = browser
        self._search: SearchState | None = None
        self._kept: list[Sheet[Any]] = []
        self.subagents = Subagents(browser)

    @property
    def _target(self) -> Entry | None:
        at = self._at
        return at.sessions.selected if at.view.focus == commands.LIST else at.entry

    def _open(
        self, sheet: Sheet[Answer], after: Callable[[Answer, Back], None], back: Back | None = None
    ) -> None:
        """Show a screen. When it answers `after` acts, and may come back to it as it was left;
        when it is left `back` goes to what led to it."""
        app = self._at.app

        def left(answer: Answer | None) -> None:
            if answer is None:
                if back is not None:
                    back()
                return
            self._kept.append(sheet)
            self._forget(len(self._kept) - _KEPT)
            after(answer, again)

        def again() -> None:
            if sheet in self._kept:
                self._kept.remove(sheet)
                app.uninstall_screen(sheet)
                sheet.bar.update(self._at.entries)
                app.push_screen(sheet, left)
                sheet.resumed()
            elif back is not None:
                back()

        app.push_screen(sheet, left)

    def _forget(self, count: int) -> None:
        """The first of the kept screens end."""
        for sheet in self._kept[: max(count, 0)]:
            self._end(sheet)

    def _end(self, sheet: Sheet[Any]) -> None:
        """Nothing comes back to it."""
        self._kept.remove(sheet)
        self._at.app.uninstall_screen(sheet)
        sheet.remove()

    def opened(self, path: str) -> None:
        """A log is opened: screens that did not lead to it end."""
        self._at.way.opened(path)
        if self._at.way.last is None:
            self._forget(len(self._kept))

    def _lead(self, entry: Entry, back: Back, filter: Filter = Filter()) -> None:  # noqa: B008
        """Have the session open, the timeline with the focus; leaving it goes back, over panes that
        are as they were."""
        at = self._at
        was, row, focus = at.entry, at.timeline.row, at.view.focus

        def returns() -> None:
            at.focus_pane(focus)
            back()
            if was is not None and was.path != entry.path:
                self.go_to(was, row)

        at.way.came(Step(entry.path, returns, filter=filter))
        self._show(entry)

    def go_to(self, entry: Entry, row: Row | None) -> None:
        """Have the session open, at a row of it."""
        self._at.sessions.select(entry.path)
        self._at.open(entry)
        if row is not None:
            self._at.timeline.go(*row.place)

    def _show(self, entry: Entry) -> None:
        """Have the session open, the timeline with the focus."""
        self._at.sessions.select(entry.path)
        self._at.open(entry)
        if self._at.view.focus == commands.LIST:
            self._at.focus_pane(commands.TIMELINE)

    # -- why -----------------------------------------------------------------------------------

    def why(self, back: Back | None = None) -> None:
        """Why the run stopped."""
        from tui.screens.why import WhySheet

        at, entry = self._at, self._target
        if entry is None:
            return
        refused = {id: at.actions.refused(id) for id in ("fork", "hand_over")}
        sheet = WhySheet(at.new_bar(), entry, now=lambda: at.now, clock=at.clock_of(entry).full,
                         refused=refused)  # fmt: skip
        self._open(sheet, lambda asked, again: self._after_why(entry, asked, again), back)

    def _after_why(self, entry: Entry, asked: Asked, again: Back) -> None:
        if asked.what == "row":
            self._lead(entry, again)
            self._at.timeline.go(asked.offset)
        elif asked.what == "fork":
            self._at.actions.fork_at(entry, asked.at, back=again)
        elif asked.what == "hand over":
            self.hand_over(entry, back=again)
        elif asked.what == "replay":
            self._at.open(entry)
            self._replay(entry, self._minutes_ago(), back=again)

    def _minutes_ago(self) -> int | None:
        """The byte of the log at which its last minutes begin."""
        timeline = self._at.timeline.timeline
        end = seconds_of(timeline.ended()) if timeline else None
        pos = timeline.at_time(end - LATE) if timeline and end is not None else None
        return timeline.row(pos).place[0] if timeline and pos is not None else None

    # -- replay --------------------------------------------------------------------------------

    def replay(self) -> None:
        """Play the log from the cursor on; from its end there is nothing to play, so from its
        start."""
        at, entry = self._at, self._target
        if entry is None:
            return
        is_list = at.view.focus == commands.LIST
        row = at.timeline.row if not is_list and not at.timeline.at_end else None
        # from the list it goes back there: what stands beside it is as it was, too
        back = (lambda: None) if is_list else None
        self._replay(entry, row.place[0] if row else None, back=back)

    def play(self, pace: Pace) -> None:
        """Play the open log from its start."""
        if self._at.entry is not None:
            self._replay(self._at.entry, None, pace)

    def _replay(
        self, entry: Entry, offset: int | None, pace: Pace | None = None, back: Back | None = None
    ) -> None:
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
        self._open(sheet, lambda left, again: self._after_replay(entry, left, again, back))

    def _after_replay(self, entry: Entry, left: Left, again: Back, back: Back | None) -> None:
        if left.asks == "why":
            self._at.open(entry)
            return self.why(again)
        if left.hands_over_at:
            return self.hand_over(entry, left.hands_over_at, again)
        self._end(self._kept[-1])
        if left.made:
            self._at.made(left.made)
        elif back is not None:
            back()
        else:
            self._show(entry)
            if left.offset is not None:
                self._at.timeline.go(left.offset)

    # -- hand over -----------------------------------------------------------------------------

    def hand_over(self, entry: Entry | None = None, at: int = 0, back: Back | None = None) -> None:
        """Preview what an agent would go on with: all of the session, or a fork after message
        `at`."""
        from tui.screens.handover import HandoverSheet

        browser, entry = self._at, entry or self._target
        if entry is not None:
            sheet = HandoverSheet(browser.new_bar(), entry, at=at, now=lambda: browser.now,
                                  clock=browser.clock_of(entry))  # fmt: skip
            self._open(sheet, lambda answer, again: self._handed(entry, answer, again), back)

    def _handed(self, entry: Entry, answer: HandoverAnswer, again: Back) -> None:
        from tui.handover import Go, Look, Wrote

        if isinstance(answer, Look):
            self._lead(entry, again)
            self._at.timeline.go(answer.offset)
            return
        self._end(self._kept[-1])
        if isinstance(answer, Wrote):
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
        self._open(sheet, self._after_search)

    def _after_search(self, place: Place, again: Back) -> None:
        self._lead(place.entry, again)
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
                                 times=at.clock_of)  # fmt: skip
            self._open(sheet, self._after_compare)

    def _after_compare(self, place: ComparePlace, again: Back) -> None:
        self._lead(place.entry, again)
        self._at.timeline.go(place.offset, place.part)

    # -- stats ---------------------------------------------------------------------------------

    def stats(self) -> None:
        """The numbers of a run, or of all that are listed."""
        from tui.screens.stats import StatsSheet

        at, entry = self._at, self._target
        if entry is not None:
            sheet = StatsSheet(at.new_bar(), entry, at.entries)
            self._open(sheet, lambda answer, again: self._after_stats(entry, answer[1], again))

    def _after_stats(self, entry: Entry, tool: str, again: Back) -> None:
        def back() -> None:
            self._at.timeline.set_filter("all")
            again()

        self._lead(entry, back, Filter("tool", tool))
        self._at.timeline.set_filter("tool", tool)
        self._at.tell()
