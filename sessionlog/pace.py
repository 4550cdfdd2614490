"""How fast a log is played back: what the time between two of its lines counts. Pure.

Seconds of a run are played one for one, silences longer than the idle cap count as the cap, and
no time of a log, missing, equal or running backwards, can make playback stand still or run away.
"""

from __future__ import annotations

from typing import NamedTuple

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
IDLES: tuple[float | None, ...] = (None, 2.0, 10.0)
"""Seconds that a silence counts at most, in the order a key goes through them; None: no cap."""
TINY = 0.02
"""Seconds between lines of one instant, or of times that run backwards."""
UNTIMED = 0.5
"""Seconds that a line without a time is waited for, so that a log without times can be read."""


def gap(before: float | None, at: float | None, *, loud: bool = True) -> float:
    """Seconds of run in front of a line: `at` is its own time (POSIX seconds, None: it has none),
    `before` the last one known. Never below zero; a bookkeeping line is not `loud`."""
    if at is None:
        return UNTIMED if loud else TINY
    if before is None:
        return 0.0
    return at - before if at > before else TINY


class Pace(NamedTuple):
    """Speed and idle cap of one playback."""

    speed: float = 1.0
    idle: float | None = 2.0
    """Seconds of run that a silence counts at most."""

    def counts(self, seconds: float) -> float:
        """Seconds of run that a gap is played for at speed 1."""
        return seconds if self.idle is None else min(seconds, self.idle)

    def waits(self, seconds: float) -> float:
        """Wall seconds that a gap takes."""
        return self.counts(seconds) / self.speed

    def faster(self, steps: int = 1) -> Pace:
        """So many steps up the table of speeds, or down, to the ends of it."""
        nearest = min(range(len(SPEEDS)), key=lambda i: abs(SPEEDS[i] - self.speed))
        return self._replace(speed=SPEEDS[min(max(nearest + steps, 0), len(SPEEDS) - 1)])

    def next_idle(self) -> Pace:
        """The next idle cap, around; after one of a command's own, no cap."""
        at = IDLES.index(self.idle) if self.idle in IDLES else -1
        return self._replace(idle=IDLES[(at + 1) % len(IDLES)])
