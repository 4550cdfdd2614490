"""Where a run that was handed over is written.

Most agents append to the log that they are given; the native engine starts another one, which
names the first as its origin (observed: clients.md, zot 0777c1b).
"""

from __future__ import annotations

import os

from sessionlog.listing import glance, logs_in


class Onward:
    """Looks for the log of a run. Made just before the run is started."""

    def __init__(self, log: str, id: str) -> None:
        self._log, self._id = log, id
        self._size = _size(log)
        self._lines = _lines(log)
        self._there = set(self._logs())

    def before(self, path: str) -> int:
        """Lines that stood in that log before the run."""
        return self._lines if path == self._log else 0

    def where(self) -> str | None:
        """The log that is written to, once that can be seen."""
        if _size(self._log) != self._size:
            return self._log
        for path in self._logs():
            if path not in self._there and glance(path).resumed_from == self._id:
                return path
        return None

    def _logs(self) -> list[str]:
        return list(logs_in([os.path.dirname(self._log) or "."]))


def _lines(path: str) -> int:
    try:
        with open(path, "rb") as file:
            return sum(1 for _ in file)
    except OSError:
        return 0


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return -1
