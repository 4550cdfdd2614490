"""How long a whole log plays, under each idle cap: what is left, and what the cap saves. Pure.

Counted chunk by chunk in the background; one thread counts, another reads what is done.
8 bytes a chunk and cap.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Iterable

from sessionlog.pace import IDLES, Pace
from tui.replay import Transport
from tui.track import Beat, Track

SLICE = 0.003
"""Seconds of work between two pauses: a screen in the same process stays alive."""
PAUSE = 0.003


class Tempo:
    """Sums over the chunks of one log, as far as it was counted."""

    def __init__(self, idle: float | None = None) -> None:
        """`idle`: a cap that is none of the usual ones."""
        self._paces = {cap: Pace(idle=cap) for cap in (*IDLES, idle)}
        self._sums = {cap: array("d", [0.0]) for cap in self._paces}
        self._size = -1

    def __len__(self) -> int:
        """Chunks that are counted."""
        return len(self._sums[None]) - 1

    def complete(self, size: int) -> bool:
        """Is a log of `size` bytes counted through?"""
        return self._size == size

    def restart(self, first: int) -> None:
        """Forget the chunks from `first` on: the log grew, or is another one."""
        self._size = -1
        for sums in self._sums.values():
            del sums[first + 1 :]

    def take(self, beats: Iterable[Beat]) -> None:
        """Count the next chunk."""
        waits = [beat.wait for beat in beats]
        for cap, sums in reversed(self._sums.items()):  # None last: it makes the chunk count
            sums.append(sums[-1] + sum(map(self._paces[cap].counts, waits)))

    def fill(
        self,
        track: Track,
        stop: Callable[[], bool] = lambda: False,
        rest: Callable[[], None] = lambda: time.sleep(PAUSE),
        clock: Callable[[], float] = time.perf_counter,
    ) -> bool:
        """Count on to the end of a log; False when `stop` ended it before.

        Works in slices of SLICE seconds by `clock`, then calls `rest` and asks `stop`.
        """
        due = clock() + SLICE
        while len(self) < track.log.chunks:
            self.take(track.beats(len(self)))
            if clock() >= due:
                if stop():
                    return False
                rest()
                due = clock() + SLICE
        self._size = track.log.size
        return True

    def saved(self, idle: float | None) -> float:
        """Seconds of the whole run that a cap leaves out."""
        return self._sums[None][-1] - self._sums[idle][-1]

    def left(self, transport: Transport) -> float:
        """Seconds of run that are played from here to the end. O(lines of one chunk)."""
        beat, pace = transport.beat, transport.pace
        beats = transport.track.beats(beat.number)
        here = sum(pace.counts(later.wait) for later in beats[beat.nth + 1 :])
        sums = self._sums[pace.idle]
        following = transport.following
        passed = transport.share * pace.counts(following.wait) if following else 0.0
        return max(here + sums[-1] - sums[min(beat.number + 1, len(self))] - passed, 0.0)
