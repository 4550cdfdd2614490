"""Long looks through a log, taken in slices: the next error, a text, how often it stands there.

Pure: the clock comes in, a pane calls `work` between frames, and any key may end it.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from sessionlog.window import Strip
from tui.needle import Needle
from tui.timeline import Pos, Seeking

Clock = Callable[[], float]


class Look:
    """One look for a row."""

    def __init__(self, seeking: Seeking, failing: str) -> None:
        self._seeking = seeking
        self.failing = failing
        """What to say when there is none: "no error below"."""
        self.part = 0.0
        """How far it is, 0 to 1."""
        self.found: Pos | None = None
        """The row, once `work` said that the look is over; None: there is none."""

    def work(self, seconds: float, clock: Clock = time.perf_counter) -> bool:
        """Look on for so long; True when the look is over."""
        due = clock() + seconds
        try:
            while True:
                self.part = next(self._seeking)
                if clock() >= due:
                    return False
        except StopIteration as over:
            self.found = over.value
            return True


class Tally:
    """Counts how often a text stands in a log, as bytes."""

    def __init__(self, needle: Needle) -> None:
        self._needle = needle
        self._number = 0
        self.count = 0

    def work(self, strip: Strip, seconds: float, clock: Clock = time.perf_counter) -> bool:
        """Count on for so long; True when the log is counted through."""
        due = clock() + seconds
        while self._number < strip.chunks:
            self.count += self._needle.count(strip, self._number)
            self._number += 1
            if clock() >= due:
                break
        return self._number >= strip.chunks
