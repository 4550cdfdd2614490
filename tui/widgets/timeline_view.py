"""The timeline pane: rows of a log, a cursor, and what follows a log that grows.

The cost of a key is that of the rows in the pane. Long looks (the next error of a big log, a
text) run in slices between frames, counting in a thread; neither keeps a key waiting.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import tzinfo

from textual import events
from textual.timer import Timer

from sessionlog.formats.base import RESET, TROUBLE, USER
from sessionlog.marks import Marks
from sessionlog.needle import Needle
from sessionlog.window import Change, Log
from tui.counting import Counting
from tui.destination import destination
from tui.folds import Filter
from tui.landing import uncovered
from tui.lines import Line
from tui.looking import Searcher
from tui.row_lines import CLOCKS, Clock, ClockMode
from tui.rows import Row
from tui.timeline import END_PLACE, Pos, Timeline
from tui.timeline_lines import facts, news, pane_lines
from tui.viewport import Viewport
from tui.widgets import timeline_told as told
from tui.widgets.line_widget import LineWidget

_FIRST = 0.008
"""Seconds of counting before the first paint: enough for a log of a megabyte."""
_SMALL = 4 << 20
"""Bytes of a log that is worth counting before it is shown."""
_AFTER = 0.05
"""Seconds until the counting thread starts: the first paint comes first."""
_TELL = 0.25
"""Seconds between two looks at how far the counting is."""
_WHEEL = 3


class TimelineView(LineWidget, can_focus=True):
    """Rows of one log. Opens at the end; `grown` takes in what was appended."""

    def __init__(
        self,
        *,
        id: str | None = None,
        now: Callable[[], float] = time.time,
        zone: tzinfo | None = None,
    ) -> None:
        super().__init__(id=id)
        self._now = now
        self._clock = Clock(zone=zone)
        self._view: Viewport | None = None
        self._counting: Counting | None = None
        self._search = Searcher(self)
        self._ticking: Timer | None = None
        self._told_row: Row | None = None
        self._stood: object = None
        self.following = False
        """Does the cursor stick to the last row?"""
        self.none = ""
        """What to say while no log is open."""
        self.fresh = 0
        """Rows that came since the cursor left the end."""

    # -- the log ----------------------------------------------------------------------------

    def open(self, log: Log, alive: bool | None = None) -> None:
        """Show a log, at its end. `alive`: does its writer live (None: not known)?"""
        self.close()
        timeline = Timeline(log, Marks(log.form))
        timeline.judge(alive)
        self._set_clock(timeline, self._clock.mode)
        self._view = Viewport(timeline, self.size.width or 80, self.size.height or 24)
        self._count(first=True)
        self._view.end()
        self.fresh = 0
        self._follow(True)
        self._ticks()
        self._moved()

    def close(self) -> None:
        """Let go of the log (its file is the opener's to close)."""
        self._stop_counting()
        self._search.clear()
        self._view = self._told_row = self._stood = None
        self._ticks()
        self.refresh()

    @property
    def timeline(self) -> Timeline | None:
        return self._view.timeline if self._view else None

    @property
    def row(self) -> Row | None:
        """The row under the cursor."""
        return self._view.row if self._view else None

    def judge(self, alive: bool | None) -> None:
        """Take in whether the log's writer lives."""
        if self._view is None:
            return
        places = self._view.places()
        self._view.timeline.judge(alive)
        self._again(*places)
        self._ticks()

    def grown(self) -> Change:
        """Look at the file again. "gone" and "replaced" are the caller's to tell."""
        if self._view is None:
            return Change("none")
        timeline = self._view.timeline
        change = timeline.log.refresh()
        if change.kind not in ("grew", "replaced"):
            return change
        places = self._view.places()
        last = timeline.last()
        self._stop_counting()
        timeline.grown(change)
        if change.kind == "replaced" or not self._clock.started:
            self._set_clock(timeline, self._clock.mode)
        self._count()
        if self.following or change.kind == "replaced":
            self._view.end()
            self._moved()
        else:
            self.fresh += timeline.count_after(last)
            self._again(*places)
        return change

    def _again(self, cursor: tuple[int, int] | None, top: tuple[int, int] | None) -> None:
        if self._view is not None:
            self._view.again(cursor, top)
            self._moved()

    # -- counting ---------------------------------------------------------------------------

    def _count(self, first: bool = False) -> None:
        """Count a little at once, and the rest in a thread."""
        timeline = self.timeline
        assert timeline is not None
        log, marks = timeline.log, timeline.marks
        due = time.perf_counter() + (0 if first and log.size > _SMALL else _FIRST)
        twin = log.strip.twin()
        done = marks.scan(twin, lambda: time.perf_counter() >= due, lambda: None)
        timeline.renew()
        if done:
            twin.close()
            if not first:
                self.post_message(told.Counted(True))
            return
        self._counting = counting = Counting(marks, twin)
        self.set_timer(_AFTER, counting.start)
        self.set_timer(_TELL, lambda: self._counted(counting))

    def _counted(self, counting: Counting) -> None:
        view = self._view
        if counting is not self._counting or view is None:
            return
        done = not counting.busy
        if done:
            self._stop_counting()
        else:
            self.set_timer(_TELL, lambda: self._counted(counting))
        places = view.places()
        if view.timeline.renew():
            self._again(*places)
        self.post_message(told.Counted(done))

    def _stop_counting(self) -> None:
        if self._counting is not None:
            self._counting.stop()
            self._counting = None

    def on_unmount(self) -> None:
        self._stop_counting()

    # -- drawing ----------------------------------------------------------------------------

    def lines(self, width: int, height: int) -> list[Line]:
        view = self._view
        if view is None:
            return [Line([]), Line([(f" {self.none}", "fg-3")])]
        tells = self.fresh > 0 and not self.following
        room = max(height - tells, 1)  # what is new is told below the rows, not upon one
        if (view.width, view.height) != (width, room):
            view.resize(width, room)
            self._stand()
        drawn = pane_lines(
            view, self._clock, focused=self.has_focus, needle=self._search.needle, now=self._now()
        )
        if tells and not view.shows_end:
            drawn += [Line([])] * (room - len(drawn))
            drawn.append(news(self.fresh))
        return drawn

    # -- moving (called by the table of commands) -------------------------------------------

    def cursor_down(self, count: int = 1) -> None:
        self._move(lambda view: view.move(count))

    def cursor_up(self, count: int = 1) -> None:
        self._move(lambda view: view.move(-count))

    def page_down(self) -> None:
        self._move(lambda view: view.scroll(max(view.height - 1, 1)))

    def page_up(self) -> None:
        self._move(lambda view: view.scroll(-max(view.height - 1, 1)))

    def half_page_down(self) -> None:
        self._move(lambda view: view.scroll(max(view.height // 2, 1)))

    def half_page_up(self) -> None:
        self._move(lambda view: view.scroll(-max(view.height // 2, 1)))

    def home(self) -> None:
        self._move(Viewport.home)

    def end(self) -> None:
        """To the last row; the cursor stays there as the log grows."""
        self._move(Viewport.end)

    def toggle_follow(self) -> None:
        """Stick to the last row, or let it go."""
        if not self.following:
            return self.end()
        self._follow(False)
        self.refresh()

    def _move(self, act: Callable[[Viewport], None]) -> None:
        view = self._view
        if view is None:
            return
        self._search.stop()
        act(view)
        self._follow(view.at_end)
        self._moved()

    def _follow(self, following: bool) -> None:
        if following:
            self.fresh = 0
        if following != self.following:
            self.following = following
            self.post_message(told.FollowChanged(following))

    def _moved(self) -> None:
        row = self.row
        if row is not self._told_row:
            self._told_row = row
            self.post_message(told.RowMoved(row, self._view.cursor if self._view else None))
        self._stand()
        self.refresh()

    def _stand(self) -> None:
        view = self._view
        seen = view.seen if view else []
        offsets = [one.row.place[0] for one in seen if one.row.place != END_PLACE]
        if view is None or not offsets:
            return
        stood = (view.row.place[0] if view.row else None, (offsets[0], offsets[-1]), self._clock)
        if stood != self._stood:
            self._stood = stood
            self.post_message(told.Stood(*stood))

    # -- looking ----------------------------------------------------------------------------

    def next_trouble(self, forward: bool = True) -> None:
        """To the next error, damage or open call."""
        self._look(lambda row: row.trouble, TROUBLE, forward, "error")

    def next_user(self, forward: bool = True) -> None:
        """To the next prompt of a person."""
        self._look(lambda row: row.sort == "user", USER, forward, "user turn")

    def next_reset(self, forward: bool = True) -> None:
        """To the next reset."""
        self._look(lambda row: row.sort == "reset", RESET, forward, "reset")

    def find(self, text: str) -> None:
        """Look for a text from the cursor on; "" ends the finding and its marks."""
        view = self._view
        if view is not None and view.cursor is not None:
            self._search.find(text, view.timeline, view.cursor)
        self.refresh()

    def mark(self, text: str, ignore_case: bool) -> None:
        """Mark a text that was found elsewhere; finding goes on with it."""
        view = self._view
        if view is not None and view.cursor is not None:
            self._search.find(text, view.timeline, view.cursor, ignore_case)
        self.refresh()

    @property
    def needle(self) -> Needle | None:
        """What is looked for, and marked in rows."""
        return self._search.needle

    def find_next(self, forward: bool = True) -> None:
        """To the next row that holds the text."""
        view = self._view
        if view is not None and view.cursor is not None:
            self._search.find_next(view.timeline, view.cursor, forward)

    def _look(self, wanted: Callable[[Row], bool], bits: int, forward: bool, what: str) -> None:
        view = self._view
        if view is not None and view.cursor is not None:
            timeline = view.timeline
            seeking = timeline.seek(view.cursor, wanted, forward, timeline.holding(bits))
            self._search.start(seeking, what, forward)

    @property
    def progress(self) -> str:
        """How far a look is: "looking 41%"; "" when nothing is looked for."""
        return self._search.progress

    def later(self, seconds: float, act: Callable[[], None]) -> None:
        self.set_timer(seconds, act)

    def found(self, pos: Pos) -> None:
        self._move(lambda view: view.to(pos))

    def missed(self, words: str) -> None:
        self.post_message(told.Told(words))
        self.refresh()

    def looked(self) -> None:
        self.post_message(told.Looked())

    def tallied(self, count: int, done: bool) -> None:
        self.post_message(told.FoundCount(count, done))

    def goto(self, text: str) -> None:
        """To a message number, a time of day, a share ("50%") or some time on ("+5m")."""
        view = self._view
        if view is None:
            return
        pos = destination(text.strip(), view.timeline, view.row, self._clock)
        if isinstance(pos, str):
            return self.missed(pos)
        self._move(lambda view: view.to(pos))

    def go(self, offset: int, part: int = 0) -> None:
        """To the row of the record there; what hides it (a filter, a fold) is taken away."""
        view = self._view
        if view is None:
            return
        pos = uncovered(view.timeline, (offset, part))
        view.renew()
        if pos is not None:
            self._move(lambda view: view.to(pos))

    # -- what is shown ----------------------------------------------------------------------

    def set_filter(self, what: str, tool: str = "") -> None:
        """Show only such rows: all, errors, user, calls, messages, quiet, tool."""
        self._change(lambda timeline: setattr(timeline, "filter", Filter(what, tool)))

    def more(self) -> None:
        """Fold less."""
        self._change(lambda timeline: timeline.unfold(1))

    def less(self) -> None:
        """Fold more."""
        self._change(lambda timeline: timeline.unfold(-1))

    def toggle_fold(self) -> None:
        """Open or close the fold under the cursor; of another row, its whole text."""
        view = self._view
        if view is None or view.cursor is None:
            return
        fold = view.timeline.fold_around(view.cursor)
        if fold is not None:
            self._change(lambda timeline: timeline.fold(fold))
        else:
            view.toggle()
            self.refresh()

    def _change(self, act: Callable[[Timeline], None]) -> None:
        view = self._view
        if view is None:
            return
        self._search.stop()
        cursor, top = view.places()
        act(view.timeline)
        self._again(cursor, top)
        self._follow(view.at_end)

    def toggle_clock(self) -> None:
        """Local time, since the start, UTC, in turn."""
        mode = CLOCKS[(CLOCKS.index(self._clock.mode) + 1) % len(CLOCKS)]
        self._set_clock(self.timeline, mode)
        self._stand()
        self.refresh()

    def _set_clock(self, timeline: Timeline | None, mode: ClockMode) -> None:
        started = timeline.started() if timeline and mode == "start" else ""
        self._clock = Clock(mode, started, self._clock.zone)

    @property
    def clock(self) -> Clock:
        return self._clock

    @property
    def at_end(self) -> bool:
        """Is the cursor on the last row it can be on?"""
        return self._view is None or self._view.at_end

    @property
    def status(self) -> list[str]:
        """Facts for the status line: place, context, what is folded, what is going on."""
        timeline = self.timeline
        going_on = self.progress or self._search.place(timeline, self.row)
        return facts(timeline, self.row, going_on) if timeline else []

    # -- mouse, focus, time -----------------------------------------------------------------

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self._move(lambda view: view.scroll(_WHEEL))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self._move(lambda view: view.scroll(-_WHEEL))

    def on_click(self, event: events.Click) -> None:
        seen = self._view.at(event.y) if self._view else None
        if seen is not None:
            self._move(lambda view: view.to(seen.pos))

    def _ticks(self) -> None:
        """A call that runs shows how long; nothing else moves by itself."""
        alive = self.timeline is not None and self.timeline.alive
        if alive and self._ticking is None:
            self._ticking = self.set_interval(1.0, self._tick)
        elif not alive and self._ticking is not None:
            self._ticking.stop()
            self._ticking = None

    def _tick(self) -> None:
        if self._view and any(seen.row.sign == "run" for seen in self._view.seen):
            self.refresh()
