"""How a run stands while its log is followed: is it over, and how did it end?

The rule is the listing's; this one knows when to ask it again, and what silence means.
"""

from __future__ import annotations

import os
import time

from sessionlog.life import lock_holder
from sessionlog.listing import glance, with_life
from sessionlog.logfile import stat_log
from sessionlog.records import Status
from sessionlog.text import ago, visible

QUIET = 0.3
"""Seconds that an ended log has to stay as it is: agents write a few lines after the last word."""
LATELY = 60.0
"""Seconds since the last change in which a log without a writer in sight may still be going on."""
READ = 0.1
"""Seconds between two readings of head and tail while the log grows, at least."""
ASK, SHARE = 0.5, 200
"""Seconds between two questions whether the writer lives: at least, and in costs of a question."""


class Vigil:
    """How the run stands, asked ever so often that asking costs next to nothing.

    A run is over when its ending is recorded, or when its writer was seen to live and is gone.
    Silence ends nothing: a call may run for hours without a byte. Only where no writer was ever
    seen, and nothing changed lately, there is nothing to wait for.
    """

    def __init__(self, path: str, patient: bool, now: float) -> None:
        """`patient`: wait for a writer that is not there yet. `now`: seconds of the clock that
        every call gives."""
        self.path = path
        self.done = False
        self.grew = now - _age(path)
        """When the log grew last."""
        self._patient = patient
        self._due = now
        self._read = now
        self._stale = False
        self._alive = self._missed = 0
        """How often in a row its writer was seen, and then not: one look may fall on the moment
        in which an agent opens its log for one line. A lock is held for long: it counts twice."""
        self.see(False, now)

    def see(self, grew: bool, now: float) -> None:
        """Ask again, if it is time. `grew`: the log did, since the last time."""
        if grew:
            self.grew = now
            self._patient = self._stale = True
        if now < self._due and not (self._stale and now >= self._read):
            return
        began = time.perf_counter()
        self.entry = glance(self.path, closely=False)
        if self.entry.complete:  # some logs look so while a call runs
            self.entry = with_life([self.entry])[0]
        self._stale = False
        self._read = now + max(READ, 20 * (time.perf_counter() - began))
        if now >= self._due:
            if self.entry.status not in (None, Status.COMPLETE):
                self.entry = with_life([self.entry])[0]
                self._count(self.entry.status is Status.RUNNING)
            self._due = now + max(ASK, SHARE * (time.perf_counter() - began))

    def _count(self, lives: bool) -> None:
        if lives:
            self._alive, self._missed = self._alive + 1 + _is_locked(self.path), 0
        else:
            self._missed += 1
            if self._alive < 2:
                self._alive = 0

    def over(self, now: float) -> bool:
        """Is the run over?"""
        quiet = now - self.grew
        if self.entry.status is Status.COMPLETE:
            self.done = quiet >= QUIET
        elif self.entry.status in (Status.UNFINISHED, Status.TRUNCATED):
            unknown = not self._alive and not self._patient and quiet > LATELY
            self.done = unknown or (self._alive > 1 and self._missed > 1)
        else:
            self.done = False
        return self.done

    def pause(self, now: float) -> float:
        """Seconds until there is something to ask, if nothing comes."""
        if self.entry.status is Status.COMPLETE:
            return max(self.grew + QUIET - now, 0.01)
        return max(min(self._due, self._read if self._stale else self._due) - now, 0.01)

    def ending(self, now: float) -> str:
        """How it ended, in one line."""
        entry = self.entry if self.entry.complete else glance(self.path)
        stop = visible(entry.stop)
        if entry.complete:
            word = "failed" if entry.ok is False else "ended"
            reason = visible(entry.reason or "")
            said = ": ".join(dict.fromkeys(part for part in (reason, stop) if part))
            return f"{word}: {said}" if said else word
        tool, _, call = stop.removeprefix("in ").partition(": ")
        while_ran = f"while {tool} ran" if stop.startswith("in ") else stop
        told = f": {call}" if call else ""
        if self._alive > 1:
            return f"{entry.status}: writer gone {while_ran}{told}".rstrip()
        since = ago(now - self.grew)
        return f"{entry.status}: no writer seen, last change {since} ago, {while_ran}{told}"


def _is_locked(path: str) -> bool:
    try:
        return lock_holder(os.stat(path)) is not None
    except OSError:
        return False


def _age(path: str) -> float:
    """Seconds since the file's last change; 0 where there is none."""
    try:
        return max(time.time() - stat_log(path).st_mtime, 0.0)
    except OSError:
        return 0.0
