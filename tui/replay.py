"""The transport of a replay: a place in a log that moves as time goes by. Pure: time comes in.

The place is a beat (the last line that is there) and a share of the way to the next one. Only the
next line's time is ever needed, so a log of any size starts to play at once, and no speed, pause
or jump loses a line or shows one twice.
"""

from __future__ import annotations

from collections.abc import Callable

from sessionlog.pace import Pace
from tui.track import Beat, Track

BURST = 400
"""Lines that one advance goes over at most: what is too fast to be shown is not owed."""
LONGEST = 0.25
"""Seconds that one advance counts at most: a program that slept does not catch up."""
SKIPPED = 5000
"""Lines that one step or skip goes over at most."""


class Transport:
    """Plays a track."""

    def __init__(self, track: Track, beat: Beat, pace: Pace | None = None) -> None:
        self.track = track
        self.beat = beat
        """The last line that is there."""
        self.share = 0.0
        """How much of the time to the next line has passed, 0 to 1."""
        self.pace = pace or Pace()
        self.playing = False

    @property
    def following(self) -> Beat | None:
        """The line that comes next; None at the end."""
        return self.track.after(self.beat)

    @property
    def clock(self) -> float | None:
        """What the clock of the run shows (POSIX seconds); it runs through silences that are cut,
        only faster."""
        at, following = self.beat.at, self.following
        if at is None or following is None or following.at is None:
            return at
        return at + self.share * max(following.at - at, 0.0)

    def advance(self, seconds: float) -> bool:
        """So many wall seconds go by; True when lines came. At the end nothing moves."""
        if not self.playing:
            return False
        left = min(seconds, LONGEST) * self.pace.speed
        before = self.beat
        for _ in range(BURST):
            following = self.following
            if following is None:
                self.share = 0.0
                break
            counts = self.pace.counts(following.wait)
            rest = (1 - self.share) * counts
            if left < rest:
                self.share += left / counts
                break
            left -= rest
            self.beat, self.share = following, 0.0
        return self.beat != before

    def set_pace(self, pace: Pace) -> None:
        """Another speed or idle cap: the clock stays where it is."""
        self.pace = pace

    def renew(self) -> None:
        """The log grew: the last line may be longer now."""
        beats = self.track.beats(self.beat.number)
        if self.beat.nth < len(beats):
            self.beat = beats[self.beat.nth]

    def to(self, beat: Beat) -> None:
        """To a moment."""
        self.beat, self.share = beat, 0.0

    def step(self, forward: bool = True) -> None:
        """To the next line that shows something, or the one before; to the end of the log where
        there is none. Pauses."""
        self.playing = False
        self.to(self._nearest(forward, lambda beat: beat.loud))

    def _nearest(self, forward: bool, wanted: Callable[[Beat], bool]) -> Beat:
        beat = self.beat
        for _ in range(SKIPPED):
            other = self.track.beside(beat, forward)
            if other is None:
                break
            beat = other
            if wanted(beat):
                break
        return beat

    def skip(self, seconds: float) -> None:
        """So many seconds of what is played on, or back where negative."""
        if seconds >= 0:
            self._skip_on(seconds)
        else:
            self._skip_back(-seconds)

    def _skip_on(self, left: float) -> None:
        for _ in range(SKIPPED):
            following = self.following
            if following is None:
                self.share = 0.0
                return
            counts = self.pace.counts(following.wait)
            rest = (1 - self.share) * counts
            if left < rest:
                self.share += left / counts
                return
            left -= rest
            self.to(following)

    def _skip_back(self, left: float) -> None:
        following = self.following
        passed = self.share * self.pace.counts(following.wait) if following else 0.0
        for _ in range(SKIPPED):
            if left <= passed:
                break
            before = self.track.before(self.beat)
            if before is None:
                self.share = 0.0
                return
            left -= passed
            passed = self.pace.counts(self.beat.wait)
            self.to(before)
            following = self.following
        counts = self.pace.counts(following.wait) if following else 0.0
        self.share = max(passed - left, 0.0) / counts if counts else 0.0

    def until(self, beat: Beat) -> float:
        """Seconds of run that are played until a later moment. O(lines between)."""
        following = self.following
        if following is None or beat.start <= self.beat.start:
            return 0.0
        passed = self.share * self.pace.counts(following.wait)
        return self.track.played(self.beat, beat, self.pace) - passed
