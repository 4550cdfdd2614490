"""A thread that counts a log through while it is shown."""

from __future__ import annotations

import threading

from sessionlog.marks import Marks
from sessionlog.window import Strip


class Counting:
    """Counts marks until the end of a strip, or until it is stopped (within milliseconds).

    Owns the strip. While it is busy nobody else may change the marks; reading them is safe.
    """

    def __init__(self, marks: Marks, strip: Strip) -> None:
        self._stop = threading.Event()
        self._marks = marks
        self._strip = strip
        self._thread = threading.Thread(target=self._run, daemon=True, name="marks")

    def start(self) -> None:
        """Begin, unless it was stopped before."""
        if not self._stop.is_set():
            self._thread.start()

    @property
    def busy(self) -> bool:
        """Has it not come to its end yet?"""
        return self._thread.ident is None or self._thread.is_alive()

    def stop(self) -> None:
        """End it and wait for that."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()
        self._strip.close()

    def _run(self) -> None:
        self._marks.scan(self._strip, self._stop.is_set)
