"""One log that is replayed: the transport, the log as it stood, and what is known around it.

Pure over a Log; the screen moves it and draws it.
"""

from __future__ import annotations

from sessionlog.formats.base import RESET, TROUBLE, USER
from sessionlog.marks import Marks
from sessionlog.pace import Pace
from sessionlog.window import Change, Log
from tui import ahead, pairs
from tui.deck_lines import Playing, playing
from tui.knew import Knowledge
from tui.map_spots import spots_of
from tui.minimap import Minimap
from tui.moments import Moments
from tui.outlook import Outlook
from tui.past import PastTimeline
from tui.replay import Transport
from tui.row_lines import Clock
from tui.rows import Row
from tui.tempo import Tempo
from tui.timeline import Pos, Seeking, Timeline
from tui.track import Track

SOUGHT = {
    "trouble": (ahead.is_trouble, TROUBLE, "error"),
    "user": (ahead.is_turn, USER, "user turn"),
    "reset": (ahead.is_reset, RESET, "reset"),
}
"""What jumps look for: which rows, the marks of their chunks, and its name."""


class Reel:
    """Owns the log, and closes it. The log must hold something."""

    def __init__(
        self,
        log: Log,
        marks: Marks,
        *,
        offset: int | None = None,
        alive: bool | None = None,
        pace: Pace | None = None,
    ) -> None:
        """`offset`: byte of the line to begin at (None: the first)."""
        self.log, self.marks = log, marks
        self.alive = alive
        """Does the writer live?"""
        self.track = Track(log)
        first = self.track.first if offset is None else self.track.holding(offset)
        assert first is not None, "an empty log has nothing to play"
        self.whole = Timeline(log, marks)
        """The rows of all of the log, the future included."""
        self.whole.judge(alive)
        self.past = PastTimeline(log, marks)
        """Those that are there."""
        self.past.judge(alive)
        self.transport = Transport(self.track, first, pace)
        self.moments = Moments(self.track, self.whole)
        self.outlook = Outlook(self.moments, self.transport)
        self.knowledge = Knowledge(log, marks)
        self.tempo: Tempo | None = None
        """How long the log plays; None while that is not known."""
        self.map = Minimap([])
        self._counted = -1

    def close(self) -> None:
        """Let go of the log."""
        for owner in (self.past, self.knowledge, self.log):
            owner.close()

    def counted(self) -> bool:
        """Take in what the marks count by now; False when that is nothing new."""
        if len(self.marks) == self._counted:
            return False
        self._counted = len(self.marks)
        self.whole.renew()
        self.map = Minimap(spots_of(self.whole))
        self.past.cut(self.past.size)
        self.knowledge.forget()
        return True

    def grown(self, change: Change) -> None:
        """The log grew: the moment stays, the end is another."""
        self.track.forget(change.first)
        self.transport.renew()
        self.whole.forget(max(change.first - pairs.LOOK, 0))
        self.past.changed(change.first)
        self.outlook.forget()
        self.tempo = None
        self._counted = -1

    def seek(self, what: str, *, forward: bool) -> Seeking:
        """A look for the next moment of one of SOUGHT, or the one before."""
        wanted, bits, _ = SOUGHT[what]
        beat = self.transport.beat
        if forward:
            return ahead.later(self.whole, beat.end, wanted, bits)
        return ahead.earlier(self.whole, beat.start, wanted, bits)

    def cut_row(self, pos: Pos | None) -> Row | None:
        """The row that a fork of this moment ends with: a call that runs has no result yet."""
        while pos is not None and self.past.row(pos).sign == "run":
            above = self.past.step(pos, -1)
            if above == pos:
                break
            pos = above
        return None if pos is None else self.past.row(pos)

    def state(self, clock: Clock) -> Playing:
        """What the bar says."""
        counted = "" if self.marks.complete(self.log.size) else "+"
        state = playing(self.transport, clock, self.tempo, self.outlook.seconds)
        return state._replace(
            n=self.past.messages_so_far, total=f"{self.marks.messages:,}{counted}",
            live=bool(self.alive),
        )  # fmt: skip
