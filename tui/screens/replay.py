"""A log played as it happened. What it shows is the past: nothing runs, and nothing is written.

The pure parts know the time (`tui.replay`), the log as it stood (`tui.past`) and where things are
(`tui.ahead`); here a timer moves them, and only as long as it plays.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from textual import on
from textual.geometry import Region
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget

from sessionlog.marks import Marks
from sessionlog.pace import Pace
from sessionlog.records import Entry
from sessionlog.window import Log
from tui import commands, copying, workers
from tui.commands import Command
from tui.counting import Counting
from tui.deck_lines import told
from tui.entries import home
from tui.layout import WIDE
from tui.lines import Line
from tui.looking import Searcher
from tui.player import Player
from tui.reel import SOUGHT, Reel
from tui.replay import Transport
from tui.row_lines import CLOCKS, Clock
from tui.run_line import run_line
from tui.screens.sheet import Sheet, side_by_side
from tui.tempo import Tempo
from tui.timeline import Pos
from tui.track import Beat, Track
from tui.widgets.past_pane import PastPane
from tui.widgets.replay_view import ReplayView
from tui.widgets.top_bar import TopBar
from tui.widgets.transport import TransportBar

FRAME = 1 / 30
"""Seconds between two frames of what plays."""
_REST = 0.06
"""Seconds after a move until what takes a look around follows: a held key needs none."""
_BREATH = 0.004
_SLICE = 0.004
"""Seconds that the look for the next error works between two frames."""
_GROW = 0.25
"""Seconds between two looks at a log whose writer lives."""
_COUNT = 0.5
"""Seconds between two looks at how far messages are counted."""
_LARGEST = 256 << 20
"""Bytes of a log whose playing time is counted through; of a longer one it is not told."""
_TALL = 30
"""Rows of a terminal from which there is room for the detail below the rows."""
_LOW = 10
"""Rows that it has there."""
_DETAIL = 66
"""Columns that it has beside them."""
PAST = "the past, not the disk: nothing runs"


class Left(NamedTuple):
    """How a replay was left."""

    offset: int | None = None
    """Byte of the log at which the row of its last moment begins."""
    asks: str = ""
    """What the person wants instead: "why", or ""."""
    made: str = ""
    """Path of the fork that was made."""
    hands_over_at: int = 0
    """The message after which an agent shall go on; 0: none shall."""


class Replay(Sheet[Left]):
    """Plays one log that holds something. Owns the log, and closes it."""

    where = commands.REPLAY

    @dataclass(eq=False, repr=False)
    class Timed(Message):
        """How long the log plays is counted."""

        tempo: Tempo

    def __init__(
        self,
        bar: TopBar,
        entry: Entry,
        log: Log,
        marks: Marks | None,
        *,
        offset: int | None = None,
        alive: bool | None = None,
        pace: Pace | None = None,
        clock: Clock | None = None,
        plays: bool = True,
        now: Callable[[], float] = time.time,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        """`offset`: byte of the line to begin at (None: the first). `marks` are counted by someone
        else; None: nobody counts, so that is done here. `alive`: does the writer live? `steady`
        tells seconds that pass."""
        super().__init__(bar)
        self._counting: Counting | None = None
        if marks is None:
            marks = Marks(log.form)
            self._counting = Counting(marks, log.strip.twin())
        self._entry, self._plays_at_once = entry, plays
        self._now, self._steady = now, steady
        self.reel = reel = Reel(log, marks, offset=offset, alive=alive, pace=pace)
        self._clock = (clock or Clock())._replace(started=reel.whole.started())
        title = entry.title or entry.task or entry.id
        self.rows = ReplayView(reel.past, title, about(entry), id="rows")
        self.detail = PastPane(id="detail", is_always_told=True)
        self.deck = TransportBar(self._run_line, id="deck")
        self._search = Searcher(self)
        self._player = Player(
            reel.transport, reel.moments, lambda: self.rows.row, lambda: self.rows.room
        )
        self._with_detail: bool | None = None
        """What was asked for; None: as there is room."""
        self._frames: Timer | None = None
        self._resting: Timer | None = None
        self._frame_at = 0.0

    @property
    def transport(self) -> Transport:
        """What plays."""
        return self.reel.transport

    # -- the parts -----------------------------------------------------------------------------

    def parts(self) -> Iterable[Widget]:
        """Rows, the detail of the last, the transport."""
        return [self.rows, self.detail, self.deck]

    def regions(self, body: Region) -> dict[str, Region]:
        """The detail beside the rows, or below them, or not at all."""
        rows, deck = body.split_horizontal(body.height - 3)
        if not self._has_detail(body):
            return {"rows": rows, "deck": deck}
        if body.width >= WIDE:
            left, right = side_by_side(rows, rows.width - _DETAIL - 1)
            return {"rows": left, "detail": right, "deck": deck}
        upper, lower = rows.split_horizontal(rows.height - min(_LOW, rows.height // 2))
        return {"rows": upper, "detail": lower, "deck": deck}

    def _has_detail(self, body: Region) -> bool:
        if self._with_detail is not None:
            return self._with_detail
        return body.width >= WIDE or body.height >= _TALL - 3

    def on_mount(self) -> None:
        """Begin to play; what takes longer comes after the first paint."""
        self.rows.set_clock(self._clock)
        self.detail.set_clock(self._clock)
        self._frames = self.set_interval(FRAME, self._frame, pause=True)
        self._moved()
        self._play(self._plays_at_once)
        self.set_interval(_COUNT, self._count)
        if self._counting is not None:
            self.set_timer(_REST, self._counting.start)
        if self.reel.alive:
            self.set_interval(_GROW, self._grow)
        elif self.reel.log.size <= _LARGEST:
            self.work("timing the run", self._time_run, "tempo")

    def on_unmount(self) -> None:
        """Let go of the log."""
        if self._counting is not None:
            self._counting.stop()
        self.reel.close()

    # -- time ----------------------------------------------------------------------------------

    def _play(self, playing: bool) -> None:
        """Play or pause. While it is paused no timer runs for it."""
        self.transport.playing = playing
        self._frame_at = self._steady()
        if self._frames is not None:
            self._frames.resume() if playing else self._frames.pause()
        self._tell()

    def _frame(self) -> None:
        """One frame: the lines that are due come, all of them in one paint."""
        now = self._steady()
        passed, self._frame_at = now - self._frame_at, now
        if self.transport.advance(passed):
            self._moved()
        else:
            self.rows.tick(self.transport.clock)
            self._tell()
        if self.transport.following is None and not self.reel.alive:
            self._play(False)

    def _go(self, beat: Beat) -> None:
        """To a moment."""
        self._search.stop()
        self.transport.to(beat)
        self._moved()

    def _moved(self) -> None:
        """Another line is the last one: rows and bar follow, the rest when it stays there."""
        self.rows.show(self.transport.beat.end, self.transport.clock)
        row = self.rows.row
        self.detail.show(row, self.reel.log)
        self._tell(moved=True)
        if self._resting is None:
            self._resting = self.set_timer(_REST, self._rested)

    def _rested(self) -> None:
        """What takes a look around: what the agent knew, when a result comes, the next error."""
        self._resting = None
        row = self.rows.row
        if row is not None:
            arrives = self._clock.tell(self.reel.moments.arrives(row), short=False)
            self.detail.tell(self.reel.knowledge.at(row), arrives)
        if not self.reel.outlook.look(_SLICE):
            self._resting = self.set_timer(_BREATH, self._rested)
        self._tell()

    def _tell(self, *, moved: bool = False) -> None:
        """Bar and status line say where it is."""
        self.deck.tell(self.reel.state(self._clock), moved=moved)
        progress = self._search.progress
        self.status.tell(" · ".join(filter(None, (PAST, progress))), [(self._clock.name, "fg-3")])

    def _run_line(self, columns: int) -> Line:
        beat, track = self.transport.beat, self.transport.track
        ends = told(self._clock, track.begins)[:5], told(self._clock, track.ends)[:5]
        share = beat.end / max(self.reel.log.size, 1)
        return run_line(self.reel.map, columns, share, beat.start, ends)

    # -- what becomes known meanwhile ----------------------------------------------------------

    def _time_run(self, post: workers.Post, stopped: workers.Stopped) -> None:
        """In a thread, with a log of its own."""
        tempo, log = Tempo(self.transport.pace.idle), Log(self.reel.log.path, self.reel.log.form)
        try:
            if tempo.fill(Track(log), stopped):
                post(self.Timed(tempo))
        finally:
            log.close()

    @on(Timed)
    def _timed(self, message: Timed) -> None:
        if not self.reel.alive:
            self.reel.tempo = message.tempo
            self._tell()

    def _count(self) -> None:
        """Messages may be counted further: numbers and the map follow."""
        if self.reel.counted():
            self.rows.renew()
            self._moved()

    def _grow(self) -> None:
        """A log whose writer lives: its end moves on."""
        change = self.reel.log.refresh()
        if change.kind in ("replaced", "gone"):
            self.dismiss(Left())
        elif change.kind == "grew":
            self.reel.grown(change)
            self._count_on(change.first)
            self._moved()

    def _count_on(self, first: int) -> None:
        """Where it is counted here, go on from a chunk."""
        if self._counting is not None:
            self._counting.stop()
            self.reel.marks.restart(first)
            self._counting = Counting(self.reel.marks, self.reel.log.strip.twin())
            self._counting.start()

    # -- keys ----------------------------------------------------------------------------------

    def run_command(self, command: Command) -> None:
        """What moves the transport is the player's."""
        act = getattr(self._player, command.id, None)
        way, _, what = command.id.partition("_")
        if what in SOUGHT:
            return self._seek(what, forward=way == "next")
        if act is None:
            return super().run_command(command)
        self._search.stop()
        act()
        self._moved()
        self._play(self.transport.playing)
        if command.id == "idle":
            idle = self.transport.pace.idle
            self.status.answer(f"silences: {idle:g} s at most" if idle else "silences: all of them")

    def leave(self) -> None:
        """Back, at the row that was played last."""
        self._play(False)
        self.dismiss(Left(self._offset))

    @property
    def _offset(self) -> int | None:
        row = self.rows.row
        return row.place[0] if row else None

    def why(self) -> None:
        """Leave for why the run stopped."""
        self._play(False)
        self.dismiss(Left(self._offset, asks="why"))

    def fork(self) -> None:
        """Preview a fork of what is there now."""
        from tui.screens.fork import ForkDialog

        self._play(False)
        now = datetime.fromtimestamp(self._now(), UTC)
        dialog = ForkDialog(self._entry, self.reel.cut_row(self.rows.pos), now)

        def left(path: str | None) -> None:
            if path or dialog.hands_over_at:
                cut = dialog.hands_over_at
                self.dismiss(Left(self._offset, made=path or "", hands_over_at=cut))

        self.app.push_screen(dialog, left)

    def goto(self) -> None:
        """Ask for a moment."""
        self.ask("goto", "go to  143, 03:31, +5m, 50%:")

    def given(self, purpose: str, text: str) -> None:
        """Where to go."""
        found = self.reel.moments.goto(text, self.transport.beat, self.rows.row, self._clock)
        if isinstance(found, str):
            self.status.answer(found)
        else:
            self._go(found)

    def toggle_clock(self) -> None:
        """Local time, time since the start, UTC."""
        mode = CLOCKS[(CLOCKS.index(self._clock.mode) + 1) % len(CLOCKS)]
        self._clock = self._clock._replace(mode=mode)
        self.rows.set_clock(self._clock)
        self.detail.set_clock(self._clock)
        self._moved()

    def toggle_raw(self) -> None:
        """The record as it stands, or as it is shown."""
        self._view(raw=not self.detail.is_raw)

    def view_shown(self) -> None:
        """View 1: the row as it is shown."""
        self._view()

    def view_raw(self) -> None:
        """View 2: the record as it stands."""
        self._view(raw=True)

    def view_knew(self) -> None:
        """View 3: what the agent knew."""
        self._view(knew=True)

    def _view(self, *, raw: bool = False, knew: bool = False) -> None:
        self.detail.set_view(raw=raw)
        self.detail.set_knew(knew)
        if "detail" not in self.placed(self.size):
            self.zoom()

    def zoom(self) -> None:
        """With the detail or without it."""
        self._with_detail = "detail" not in self.placed(self.size)
        self.place()

    open = zoom

    def copy(self) -> None:
        """Copy the row as it reads."""
        row = self.rows.row
        self.copied("the row", copying.of_row(row) if row else "")

    # -- jumps ---------------------------------------------------------------------------------

    def _seek(self, what: str, *, forward: bool) -> None:
        seeking = self.reel.seek(what, forward=forward)
        self._search.start(seeking, SOUGHT[what][2], forward)

    def later(self, seconds: float, act: Callable[[], None]) -> None:
        """Go on with a look, frames and keys in between."""
        self.set_timer(seconds, act)

    def found(self, pos: Pos) -> None:
        """The line that was looked for, by its place."""
        beat = self.transport.track.holding(pos[0])
        if beat is not None:
            self._go(beat)

    def missed(self, words: str) -> None:
        """There is none."""
        self.status.answer(words)
        self._tell()

    def looked(self) -> None:
        """A look has come further."""
        self._tell()

    def tallied(self, count: int, done: bool) -> None:
        """No text is looked for here."""


def about(entry: Entry) -> str:
    """Agent and folder, for the title."""
    return " ".join(filter(None, (entry.agent or entry.format, home(entry.workdir))))
