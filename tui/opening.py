"""Opening the log of a list's row, what is known of its writer, and where was looked."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from sessionlog.errors import SessionLogError
from sessionlog.evidence import Evidence
from sessionlog.formats.table import named
from sessionlog.logfile import open_log as descriptor
from sessionlog.logfile import stat_file
from sessionlog.paths import runs_folder
from sessionlog.records import Entry, Record, Status, moment
from sessionlog.source import format_of
from sessionlog.text import visible
from sessionlog.window import Log
from tui.entries import home
from tui.timeline import Timeline

if TYPE_CHECKING:
    from sessionlog.why.facts import Beside


LAST = 400
"""How many of the last records the head of a session goes by, and what failed in its row."""
_FEW = 16
"""Records between two rests."""


def open_log(entry: Entry, *, stays: bool = True) -> Log:
    """Open the log of a list's row; `stays` as the library has it. Raises NotALog or Unreadable."""
    fd = descriptor(entry.path, stays=stays)
    try:
        form = format_of(entry.path, fd)
    finally:
        os.close(fd)
    return Log(entry.path, form, stays=stays)


def began(entry: Entry) -> str:
    """When the run of a list's row began, as its timeline has it; "" where nothing tells."""
    try:
        log = open_log(entry, stays=False)
    except SessionLogError:
        return ""
    try:
        return Timeline(log).started()
    finally:
        log.close()


def last_records(
    log: Log, most: int = sys.maxsize, rest: Callable[[], None] = lambda: None
) -> list[Record]:
    """The records that the head goes by, in the log's order: those of the last `most` bytes."""
    last: list[Record] = []
    for record in islice(log.newest_first(), LAST):
        if last and log.size - record.span.offset > most:
            break
        if len(last) % _FEW == 0:
            rest()
        last.append(record)
    return last[::-1]


def is_alive(entry: Entry) -> bool | None:
    """Does the log's writer live? None: there is no evidence either way."""
    return True if entry.status is Status.RUNNING else None


def writer_of(entry: Entry) -> str:
    """The evidence for a living writer, in words."""
    try:
        seen = stat_file(entry.path)
    except OSError:
        return ""
    form = named(entry.format)
    if form is None:
        return ""
    found = Evidence([entry.path]).of(form, entry.path, entry.id, entry.workdir, seen)
    return f"alive, {found}" if found else ""


def beside_of(entry: Entry) -> Beside | None:
    """How the session's run ended, where its log does not tell and the journal does."""
    cut_off = entry.status in (Status.UNFINISHED, Status.TRUNCATED)
    if not cut_off or not os.path.isdir(runs_folder()):
        return None
    from sessionlog.supervise.beside import journal  # most people never handed anything over

    return journal().beside(entry.path, entry.resumed_from, moment(entry.updated))


def looked_in(paths: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Each place, and what was found there: for the screen that has nothing else to show."""
    return tuple((visible(home(path)), _finding(path)) for path in paths)


def _finding(path: str) -> str:
    if not os.path.exists(path):
        return "not there"
    return "no logs in it" if os.access(path, os.R_OK) else "may not be read"
