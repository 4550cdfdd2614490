"""What the rows of sessions do not tell of their stop, above all which failed although they ended
by themselves: `why` does, from the last records, as for the head of an open session.

A thread asks while nobody presses a key: the newest first, each again only when its log changed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from sessionlog.amiss import failure_of
from sessionlog.errors import SessionLogError
from sessionlog.logfile import kept_in
from sessionlog.records import Entry, Status
from tui import messages, workers
from tui.opening import last_records, open_log
from tui.stop import gather, why_of

if TYPE_CHECKING:
    from tui.screens.browser import Browser

REST = 0.5
"""Seconds without a key after which it goes on."""
_LOOK = 0.05
"""Seconds between two looks whether it may."""
_BREATH = 0.001
"""Seconds in which the screen has the processor to itself, after each few records."""
_TELL = 0.25
"""Seconds between two words on what was found."""
MOST = 1 << 20
"""Bytes of a log that are read, from its end; one that has to be read whole may have no more."""
ALL = 64 << 20
"""Bytes of all of them."""


class Failures:
    """What is known of them; only the browser's own thread uses it."""

    def __init__(self, browser: Browser) -> None:
        self._at = browser
        self._told: dict[str, tuple[Entry, Entry]] = {}
        """By path: the row that was asked about, and what it is with the answer."""
        self._asking = False
        self._pressed = time.monotonic()

    def of(self, entry: Entry) -> Entry:
        """The row with what failed, as far as that is known of its log as it is now."""
        asked, told = self._told.get(entry.path, (None, entry))
        return told if asked == entry else entry

    def wait(self) -> None:
        """A key was pressed: nothing else is to be done for a while."""
        self._pressed = time.monotonic()

    def ask(self, entries: Iterable[Entry]) -> None:
        """Ask about those, newest first, that are not known yet. O(sessions)."""
        if self._asking or not (left := self._left(entries)):
            return
        self._asking = True
        self._at.work("asking why", partial(_ask, left, self._quiet, self._take), group="why")

    def _left(self, entries: Iterable[Entry]) -> list[Entry]:
        left, size = [], 0
        for entry in entries:
            if entry.status not in (None, Status.RUNNING):
                size += min(entry.bytes, MOST)
                if size > ALL:
                    break
                if entry.path not in self._told or self._told[entry.path][1] != entry:
                    left.append(entry)
        return left

    def _quiet(self) -> bool:
        return self._at.is_current and time.monotonic() - self._pressed >= REST

    def _take(self, told: Iterable[tuple[Entry, Entry]], more: bool) -> None:
        self._told.update((asked.path, (asked, entry)) for asked, entry in told)
        self._asking = more
        self._at.relist()


def _ask(
    entries: Sequence[Entry], quiet: Callable[[], bool],
    take: Callable[[Iterable[tuple[Entry, Entry]], bool], None],
    post: workers.Post, stopped: workers.Stopped,
) -> None:  # fmt: skip
    """Ask about each, and tell what came of it. Runs in a thread."""

    def rest() -> None:
        time.sleep(_BREATH)
        while not quiet() and not stopped():
            time.sleep(_LOOK)

    told: list[tuple[Entry, Entry]] = []
    due = time.monotonic() + _TELL
    for entry in entries:
        rest()
        if stopped():
            return
        told.append((entry, entry._replace(failure=failure(entry, rest))))
        if told[-1][1].failure and time.monotonic() >= due:
            post(messages.Came(partial(take, tuple(told), True)))
            told.clear()
            due = time.monotonic() + _TELL
    post(messages.Came(partial(take, tuple(told), False)))


def failure(entry: Entry, rest: Callable[[], None] = lambda: None) -> str:
    """Why a session stopped, where its row does not tell; "" where it does, or none can tell."""
    if entry.bytes > MOST and kept_in(entry.path) is not None:
        return ""
    try:
        log = open_log(entry, stays=False)
    except SessionLogError:
        return ""
    try:
        return failure_of(entry, why_of(entry, gather(last_records(log, MOST, rest))))
    finally:
        log.close()
