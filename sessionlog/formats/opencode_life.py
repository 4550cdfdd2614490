"""Is a session of OpenCode's database still being written?

The client has no pid file. A process that has the database open for writing may write any of its
sessions, so it counts for one that was changed since that process began.
"""

from __future__ import annotations

import os
import sqlite3
import time

from sessionlog.errors import Unreadable
from sessionlog.processes import began as started
from sessionlog.stores.opencode_ask import ids_of, number_of, picked, tables
from sessionlog.stores.sqlite import holders, read

_FRESH = 1.0
"""Seconds for which a look at the processes counts."""


def evidence(path: str, session_id: str) -> str | None:
    """What shows that a client runs this session; None when nothing does."""
    file, _, name = path.rpartition("/")
    if not os.path.isfile(file):
        return None
    began = {pid: begun for pid in _holders(file) if (begun := started(pid)) is not None}
    if not began:
        return None
    try:
        changed = read(file, lambda db: _changed(db, name)) / 1000
    except Unreadable:
        return None
    alive = [pid for pid, begun in began.items() if begun <= changed]
    return f"open for writing in pid {alive[-1]}, which changed it last" if alive else None


_looked: tuple[str, float, tuple[int, ...]] = "", 0.0, ()
"""Database, time on the clock, and processes: the last look at them."""


def _holders(file: str) -> tuple[int, ...]:
    """One look at all processes serves the rows of a listing."""
    global _looked
    now = time.monotonic()
    if _looked[0] != file or now - _looked[1] > _FRESH:
        _looked = file, now, holders(file)
    return _looked[2]


def _changed(db: sqlite3.Connection, name: str) -> float:
    """When anything of a session was written last, in Unix milliseconds."""
    ids, latest = ids_of(db, name), 0.0
    for table in tables(db):
        column = "id" if table == "session" else "session_id"
        times = picked(db, table, ["time_updated"], column, ids)
        latest = max([latest, *(number_of(told) for (told,) in times)])
    return latest
