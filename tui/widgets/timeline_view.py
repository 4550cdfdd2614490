"""The timeline pane: rows of a log, a cursor, and what follows a log that grows.

The cost of a key is that of the rows in the pane. Long looks (the next error of a big log, a
text) run in slices between frames, counting in a thread; neither keeps a key waiting.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import tzinfo

from textual import events
from textual.message import Message
from textual.timer import Timer

from sessionlog.formats.base import RESET, TROUBLE, USER
from sessionlog.marks import Marks
from sessionlog.text import took, visible
from sessionlog.window import Change, Log
from tui.counting import Counting
from tui.destination import destination
from tui.folds import LEVELS, Filter
from tui.lines import Line
from tui.looking import Look, Tally
from tui.needle import Needle
from tui.row_lines import CLOCKS, Clock, ClockMode, lines_of
from tui.row_lines import Look as RowLook
from tui.rows import Row
from tui.timeline import Pos, Seeking, Timeline
from tui.viewport import Viewport
from tui.widgets.line_widget import LineWidget
from tui.words import seconds_of

_SLICE = 0.008
"""Seconds that a long look works between two frames."""
_FIRST = 0.008
"""Seconds of counting before the first paint: enough for a log of a megabyte."""
_SMALL = 4 << 20
"""Bytes of a log that is worth counting before it is shown."""
_AFTER = 0.05
"""Seconds until the counting thread starts: the first paint comes first."""
_TELL = 0.25
"""Seconds between two looks at how far the counting is."""
_BREATH = 0.002
"""Seconds between two slices of a long look: keys and paints come first."""
_WHEEL = 3


class TimelineView(LineWidget, can_focus=True):
    """Rows of one log. Opens at the end; `grown` takes in what was appended."""

    class RowMoved(Message):
        """The cursor is on another row, or its row changed."""

        def __init__(self, row: Row | None, pos: Pos | None) -> None:
            super().__init__()
            self.row, self.pos = row, pos

    class FollowChanged(Message):
        """The cursor sticks to the last row as the log grows, or not any more."""

        def __init__(self, following: bool) -> None:
            super().__init__()
            self.following = following

    class FoundCount(Message):
        """How often a text stands in the log, as far as it was looked through."""

        def __init__(self, count: int, done: bool) -> None:
            super().__init__()
            self.count, self.done = count, done

    class Told(Message):
        """A few words for the status line: "no error below"."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Counted(Message):
        """Messages and lines are counted further; `done`: to the end."""

        def __init__(self, done: bool) -> None:
            super().__init__()
            self.done = done

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
        self._looking: Look | None = None
        self._tally: Tally | None = None
        self._needle: Needle | None = None
        self._ticking: Timer | None = None
        self._told_row: Row | None = None
        self.following = False
        """Does the cursor stick to the last row?"""
        self.fresh = 0
        """Rows that came since the cursor left the end."""
        self.progress = ""
        """What is being looked for, and how far: "looking 41%"; "" when nothing is."""

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
        self._looking = self._tally = self._view = self._told_row = None
        self.progress = ""
        self.refresh()

    @property
    def timeline(self) -> Timeline | None:
        return self._view.timeline if self._view else None

    @property
    def row(self) -> Row | None:
        """The row under the cursor."""
        return self._view.row if self._view else None

    @property
    def pos(self) -> Pos | None:
        return self._view.cursor if self._view else None

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
        self._count()
        if self.following or change.kind == "replaced":
            self._view.end()
            self._moved()
        else:
            self.fresh += _rows_after(timeline, last)
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
                self.post_message(self.Counted(True))
            return
        self._counting = Counting(marks, twin)
        self.set_timer(_AFTER, self._counting.start)
        self.set_timer(_TELL, self._counted)

    def _counted(self) -> None:
        counting, view = self._counting, self._view
        if counting is None or view is None:
            return
        done = not counting.busy
        if done:
            self._stop_counting()
        else:
            self.set_timer(_TELL, self._counted)
        places = view.places()
        if view.timeline.renew():
            self._again(*places)
        self.post_message(self.Counted(done))

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
            return []
        if (view.width, view.height) != (width, height):
            view.resize(width, height)
        drawn: list[Line] = []
        above = ""
        columns, short = view.columns, view.columns.clock == 5
        for seen in view.seen:
            look = RowLook(
                columns, self._clock, above, seen.pos == view.cursor, self.has_focus,
                seen.row.place in view.opened, self._needle, self._elapsed(seen.row),
            )  # fmt: skip
            made = lines_of(seen.row, look)
            drawn += made[-seen.y :] if seen.y < 0 else made
            above = self._clock.tell(seen.row.at, short) or above
        if not drawn:
            return self._nothing()
        if self.fresh and not self.following:
            drawn[height - 1 :] = [self._news()]
        return drawn[:height]

    def _elapsed(self, row: Row) -> str:
        if row.sign != "run" or row.sort != "call":
            return ""
        since = seconds_of(row.at)
        return took(max(self._now() - since, 0)) if since is not None else ""

    def _news(self) -> Line:
        left = [("▼ ", "run"), (f"{self.fresh:,} new", "run bold"), (" below", "fg-2")]
        return Line(left, [("G", "fg-1 bold"), (" back to the end ", "fg-2")], "tint-run")

    def _nothing(self) -> list[Line]:
        words = self.timeline.filter.words if self.timeline else ""
        if words:
            return [Line([]), Line([(f"  no rows · {words} · ", "fg-2"), ("o a", "fg-1 bold"),
                                    (" shows all", "fg-2")])]  # fmt: skip
        return [Line([]), Line([("  nothing was written to this log", "fg-2")])]

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
        if self.following:
            self._follow(False)
            self.refresh()
        else:
            self.end()

    def _move(self, act: Callable[[Viewport], None]) -> None:
        view = self._view
        if view is None:
            return
        self._give_up()
        act(view)
        self._follow(view.at_end)
        self._moved()

    def _follow(self, following: bool) -> None:
        if following:
            self.fresh = 0
        if following != self.following:
            self.following = following
            self.post_message(self.FollowChanged(following))

    def _moved(self) -> None:
        row = self.row
        if row is not self._told_row:
            self._told_row = row
            self.post_message(self.RowMoved(row, self.pos))
        self.refresh()

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
        self._needle = Needle(text) if text else None
        self._tally = None
        if self._needle is None or self.timeline is None:
            self._give_up()
            self.refresh()
            return
        row = self.row
        if row is not None and self._needle.in_row(row):
            self.refresh()
        else:
            self.find_next()
        self._tally = Tally(self._needle)
        self._count_on()

    def find_next(self, forward: bool = True) -> None:
        """To the next row that holds the text."""
        needle, timeline = self._needle, self.timeline
        if needle is None or timeline is None:
            return
        strip = timeline.log.strip
        seeking = self._seek(
            needle.in_row, forward, lambda number: needle.in_chunk(strip, number)
        )
        self._start(seeking, visible(needle.text), forward)

    def _look(self, wanted: Callable[[Row], bool], bits: int, forward: bool, what: str) -> None:
        if self.timeline is not None:
            self._start(self._seek(wanted, forward, self.timeline.holding(bits)), what, forward)

    def _seek(
        self, wanted: Callable[[Row], bool], forward: bool, maybe: Callable[[int], bool]
    ) -> Seeking | None:
        view = self._view
        if view is None or view.cursor is None:
            return None
        return view.timeline.seek(view.cursor, wanted, forward, maybe)

    def _start(self, seeking: Seeking | None, what: str, forward: bool) -> None:
        self._give_up()
        if seeking is not None:
            self._looking = Look(seeking, f"no {what} {'below' if forward else 'above'}")
            self._look_on()

    def _look_on(self) -> None:
        """Look for a slice of time, and again after the next frame."""
        look, view = self._looking, self._view
        if look is None or view is None:
            return
        if not look.work(_SLICE):
            self.progress = f"looking {look.part:.0%}"
            self.set_timer(_BREATH, self._look_on)
            self.refresh()
            return
        self._give_up()
        if look.found is None:
            self.post_message(self.Told(look.failing))
        else:
            view.to(look.found)
            self._follow(view.at_end)
            self._moved()

    def _give_up(self) -> None:
        self._looking = None
        self.progress = ""

    def _count_on(self) -> None:
        """Count the hits of the whole log, in slices."""
        tally, timeline = self._tally, self.timeline
        if tally is None or timeline is None:
            return
        if self._looking is not None:  # the row comes before the number
            self.set_timer(_TELL, self._count_on)
            return
        done = tally.work(timeline.log.strip, _SLICE / 2)
        self.post_message(self.FoundCount(tally.count, done))
        if done:
            self._tally = None
        else:
            self.set_timer(_BREATH, self._count_on)

    def goto(self, text: str) -> None:
        """To a message number, a time of day, a share ("50%") or some time on ("+5m")."""
        view = self._view
        if view is None:
            return
        pos = destination(text.strip(), view.timeline, view.row, self._clock)
        if isinstance(pos, str):
            self.post_message(self.Told(pos))
        else:
            self._move(lambda view: view.to(pos))

    # -- what is shown ----------------------------------------------------------------------

    def set_filter(self, what: str, tool: str = "") -> None:
        """Show only such rows: all, errors, user, calls, messages, quiet, tool."""
        self._change(lambda timeline: setattr(timeline, "filter", Filter(what, tool)))

    def more(self) -> None:
        """Fold less."""
        self._fold_by(1)

    def less(self) -> None:
        """Fold more."""
        self._fold_by(-1)

    def _fold_by(self, step: int) -> None:
        if self.timeline is not None:
            at = LEVELS.index(self.timeline.level) + step
            level = LEVELS[min(max(at, 0), len(LEVELS) - 1)]
            self._change(lambda timeline: setattr(timeline, "level", level))

    def toggle_fold(self) -> None:
        """Open or close the fold under the cursor; of another row, its whole text."""
        view, row = self._view, self.row
        if view is None or row is None or view.cursor is None:
            return
        if row.sort == "fold":
            self._change(lambda timeline: timeline.fold(row.place))
            return
        number, index = view.cursor
        above = view.timeline.shown(number)[:index]
        fold = next((r for r in reversed(above) if r.sort == "fold"), None)
        if fold is not None and any(r in fold.records for r in row.records):
            self._change(lambda timeline: timeline.fold(fold.place))
            return
        view.toggle()
        self.refresh()

    def _change(self, act: Callable[[Timeline], None]) -> None:
        view = self._view
        if view is None:
            return
        self._give_up()
        cursor, top = view.places()
        act(view.timeline)
        self._again(cursor, top)
        self._follow(view.at_end)

    def toggle_clock(self) -> str:
        """Local time, since the start, UTC, in turn; gives the new one's name."""
        mode = CLOCKS[(CLOCKS.index(self._clock.mode) + 1) % len(CLOCKS)]
        self._set_clock(self.timeline, mode)
        self.refresh()
        return self.clock_name

    def _set_clock(self, timeline: Timeline | None, mode: ClockMode) -> None:
        started = timeline.started() if timeline and mode == "start" else ""
        self._clock = Clock(mode, started, self._clock.zone)

    @property
    def clock_name(self) -> str:
        """For the status line."""
        return {"local": "local time", "start": "since start", "utc": "UTC"}[self._clock.mode]

    @property
    def status(self) -> list[str]:
        """Facts for the status line: place, context, what is folded, what is going on."""
        timeline, row = self.timeline, self.row
        if timeline is None:
            return []
        marks, size = timeline.marks, timeline.log.size
        counted = marks.complete(size)
        total = f"{marks.messages:,}" + ("" if counted else "+")
        facts = [f"{row.n:,} of {total}" if row and row.n else f"{total} messages"]
        if not counted and size:
            facts.append(f"counting {len(marks) / max(timeline.chunks, 1):.0%}")
        facts += [timeline.filter.words, self.progress]
        if timeline.contexts.horizon:
            facts.append(f"{timeline.messages_in_context():,} in context")
        if timeline.level == "loud" and timeline.filter.what == "all" and marks.quiet:
            facts.append(f"{marks.quiet:,} quiet rows folded")
        return [fact for fact in facts if fact]

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


def _rows_after(timeline: Timeline, last: Pos | None) -> int:
    """Rows behind a position, up to a thousand."""
    if last is None:
        return 0
    now = timeline.last()
    count, pos = 0, last
    while pos != now and count < 1000:
        following = timeline.step(pos, 1)
        if following == pos:
            break
        pos, count = following, count + 1
    return count
