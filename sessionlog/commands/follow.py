"""`sessionlog follow`: a log as it grows, until its run ends."""

from __future__ import annotations

import argparse
import os
import select
import sys
import threading
import time
from collections import deque
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

from sessionlog import shown
from sessionlog.alarm import Alarm
from sessionlog.commands.common import DONE, FOUND, complain, counted, found, ref, say
from sessionlog.commands.rows import items_of, row_line
from sessionlog.errors import SessionLogError, SessionNotFound
from sessionlog.follower import Batch, Follower, near_end
from sessionlog.follower import counted as counted_before
from sessionlog.intake import Start
from sessionlog.logfile import open_log, stat_log, watched
from sessionlog.notice import Notice
from sessionlog.records import Status
from sessionlog.source import EMPTY, format_of
from sessionlog.text import visible
from sessionlog.vigil import Vigil

ROWS = 10
"""Rows of what is there already that are printed when nothing else is asked for."""
WHOLE = 16 << 20
"""Bytes of a log that is read whole for its last rows; of a longer one the start is counted."""
_SAYS = {
    "replaced": "another file, or rewritten: from its start",
    "cut": "cut short: from its start",
    "gone": "not there any more; waiting for it",
    "back": "there again",
}


def arguments(sub: argparse.ArgumentParser) -> None:
    """What it takes."""
    ref(sub)
    sub.add_argument("--from", type=counted, dest="first", metavar="N", help="from message N")
    sub.add_argument("--all", action="store_true", help="from the start (with --json: always)")
    sub.add_argument("--wait", action="store_true", help="wait for a log that is not there yet")
    sub.add_argument("--bell", action="store_true", help="ring when the run fails, ends, stops")
    sub.add_argument("--silent", type=counted, metavar="MINUTES",
                     help="ring, too, when nothing came for so long")  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Do it."""
    path = _path(options)
    whole = options.all or options.json or options.first is not None
    start = Start() if whole else _start(path)
    with (
        closing(Follower(path, start)) as follower,
        closing(Notice(watched(path))) as notice,
        closing(_Front(path, start)) as front,
    ):
        printer = _Printer(options.json, options.first, None if whole else ROWS, front)
        vigil = Vigil(path, options.wait, time.monotonic())
        bell = _Bell(vigil, options)
        if not _to_the_end(follower, notice, printer, vigil, bell):
            return DONE
        printer.take(follower.finish(), follower)
        printer.caught_up()
    print(vigil.ending(time.monotonic()), file=sys.stderr)
    bell.ring(time.monotonic())
    return DONE if vigil.entry.complete and vigil.entry.ok is not False else FOUND


def _to_the_end(
    follower: Follower, notice: Notice, printer: _Printer, vigil: Vigil, bell: _Bell
) -> bool:
    """Print what comes until the run is over; False when nobody reads it any more."""
    known: int | None = None
    while True:
        batch = follower.look()
        printer.take(batch, follower)
        if batch.behind:
            continue
        printer.caught_up()
        now = time.monotonic()
        vigil.see(known not in (None, follower.offset), now)
        known = follower.offset
        # what it says may go by bytes that came after the look
        if vigil.over(now) and vigil.entry.bytes == known:
            return True
        bell.ring(now)
        if _unread():
            return False
        notice.wait(vigil.pause(now))


def _path(options: argparse.Namespace) -> str:
    """The log that is meant; it may be empty still, and with --wait not there."""
    try:
        path = found(options, options.ref).path
    except SessionNotFound:
        if not options.wait:
            raise
        _wait(options.ref)
        return str(options.ref)
    fd = open_log(path)
    try:
        if os.fstat(fd).st_size:
            format_of(path, fd)
    finally:
        os.close(fd)
    return path


def _wait(what: str) -> None:
    print(f"waiting for {visible(what)}", file=sys.stderr, flush=True)


def _start(path: str) -> Start:
    """Where the last rows begin, if the log is too long to read it all for them."""
    try:
        return near_end(path, ROWS) if stat_log(path).st_size > WHOLE else Start()
    except OSError:  # not there yet
        return Start()


class _Bell:
    """Rings when there is something that a person who does not look should know, if asked for."""

    def __init__(self, vigil: Vigil, options: argparse.Namespace) -> None:
        self._vigil = vigil
        wanted = options.bell or options.silent
        self._alarm = Alarm(options.silent and options.silent * 60) if wanted else None
        if self._alarm is not None:  # an end is news, even one that was there at once
            self._alarm.see(Status.RUNNING, None, vigil.grew, vigil.grew)

    def ring(self, now: float) -> None:
        """Ring, and say why, if it is time."""
        vigil = self._vigil
        if self._alarm is None:
            return
        status = vigil.entry.status if vigil.done else Status.RUNNING
        said = self._alarm.see(status, vigil.entry.ok, vigil.grew, now)
        if said:
            print(f"\a{said}", file=sys.stderr, flush=True)


def _unread() -> bool:
    """Did whoever read our answer go away? Nothing tells until the next write."""
    try:
        poll = select.poll()
        poll.register(sys.stdout.fileno(), 0)
        return any(what & (select.POLLERR | select.POLLHUP) for _, what in poll.poll(0))
    except (OSError, ValueError, AttributeError):
        return False


class _Front:
    """What stands in front of the first row that was read; of a long log it is counted while
    rows are printed already, without numbers until then."""

    def __init__(self, path: str, start: Start) -> None:
        self.known: Start | None = None if start.offset else start
        self._stopped = threading.Event()
        self._path, self._offset = path, start.offset
        if self.known is None:
            threading.Thread(target=self._count, name="count", daemon=True).start()

    def close(self) -> None:
        self._stopped.set()

    def anew(self) -> None:
        """The log is read from its start."""
        self.close()
        self.known = Start()

    def _count(self) -> None:
        try:
            known = counted_before(self._path, self._offset, self._stopped.is_set)
        except (SessionLogError, OSError):  # gone meanwhile: rows stay without numbers
            return
        if not self._stopped.is_set():
            self.known = known

    def place(self, item: dict[str, Any]) -> dict[str, Any]:
        """An item whose numbers count from the first row, with those of the whole log."""
        for key in ("n", "pair", "line"):
            if item[key] is not None and self.known is None:
                item[key] = None
            elif item[key] is not None and self.known is not None:
                item[key] += self.known.line - 1 if key == "line" else self.known.messages
        return item


class _Printer:
    """Prints what comes; of what is there already only the last rows, if so many are given."""

    def __init__(self, as_json: bool, first: int | None, rows: int | None, front: _Front) -> None:
        self._front = front
        self._json = as_json
        self._first = first
        self._rows = rows
        self._n = 0
        self._kept: deque[dict[str, Any]] | None = deque(maxlen=rows) if rows else None
        self._there = False
        self._problem = ""

    def take(self, batch: Batch, follower: Follower) -> None:
        """Print a batch, or keep its last rows until all that is there has come."""
        if batch.event and self._there:  # before there was a log, it was waited for
            self._event(batch.event, follower)
        self._there = self._there or not follower.gone
        if follower.problem and follower.problem != self._problem and not follower.gone:
            if follower.problem.endswith(EMPTY):
                _wait(f"{follower.path}, which is empty so far")
            else:
                complain(follower.problem)
        self._problem = follower.problem
        for item in map(self._front.place, items_of(batch.records, batch.steps, batch.damages)):
            self._n = item["n"] or self._n  # events belong to the message before them
            if self._first is not None and self._n < self._first:
                continue
            if self._kept is not None:
                self._kept.append(item)
            else:
                self._say(item)

    def caught_up(self) -> None:
        """From here on everything is new."""
        kept, self._kept = self._kept, None
        for item in kept or ():
            self._say(item)

    def _event(self, event: str, follower: Follower) -> None:
        complain(f"{follower.path}: {_SAYS[event]}")
        if self._json:
            at = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
            notice = {"kind": "notice", "n": None, "type": event, "at": at, "text": _SAYS[event]}
            say([shown.json_line(notice)])
        if event in ("replaced", "cut"):
            self._n = 0
            self._front.anew()
            self._kept = deque(maxlen=self._rows) if self._rows else None

    def _say(self, item: dict[str, Any]) -> None:
        say([shown.json_line(item) if self._json else row_line(item, comes=True)])
