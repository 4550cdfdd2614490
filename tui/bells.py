"""Runs that ring when they fail, end or fall silent: off until a person asks for it. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from sessionlog.alarm import Alarm
from sessionlog.records import Entry
from sessionlog.text import one_line

SILENT = 300.0
"""Seconds without a new byte after which a running log counts as silent."""
MODES = ("off", "bell", "bell and desktop notice")


class Ring(NamedTuple):
    """What happened to a run that is watched."""

    words: str
    """For the status line and the notice; visible."""
    notice: bool
    """Tell the desktop too."""


class _Watched:
    def __init__(self, entry: Entry, mode: str, now: float) -> None:
        self.mode = mode
        self._alarm = Alarm(SILENT)
        self._bytes, self._grew = entry.bytes, now
        self.see(entry, now)

    def see(self, entry: Entry, now: float) -> str | None:
        if entry.bytes != self._bytes:
            self._bytes, self._grew = entry.bytes, now
        return self._alarm.see(entry.status, entry.ok, self._grew, now)


class Bells:
    """The runs that ring, by their logs' paths."""

    def __init__(self) -> None:
        self._watched: dict[str, _Watched] = {}

    def mode(self, path: str) -> str:
        """One of MODES."""
        watched = self._watched.get(path)
        return watched.mode if watched else MODES[0]

    def turn(self, entry: Entry, now: float) -> str:
        """The next mode for that run; gives it. `now`: seconds of any steady clock."""
        mode = MODES[(MODES.index(self.mode(entry.path)) + 1) % len(MODES)]
        self._watched.pop(entry.path, None)
        if mode != MODES[0]:
            self._watched[entry.path] = _Watched(entry, mode, now)
        return mode

    def see(self, entries: Iterable[Entry], now: float) -> list[Ring]:
        """What is to be told of these sessions; O(1) while nothing rings."""
        if not self._watched:
            return []
        rings = []
        for entry in entries:
            watched = self._watched.get(entry.path)
            told = watched.see(entry, now) if watched else None
            if watched and told:
                title = one_line(entry.title or entry.id)[:80]
                rings.append(Ring(f"{title}: {told}", watched.mode == MODES[2]))
        return rings
