"""Is a session of OpenCode's database still being written?

The client has no pid file. A process that has the database open for writing may write any of its
sessions, so it counts for one that was changed since that process began.
"""

from __future__ import annotations

import os
import sqlite3

from sessionlog.errors import Unreadable
from sessionlog.stores.sqlite import holders, read

_BY = {"session": "id", "message": "session_id", "part": "session_id"}


def evidence(path: str, session_id: str) -> str | None:
    """What shows that a client runs this session; None when nothing does."""
    file, _, id = path.rpartition("/")
    if not os.path.isfile(file):
        return None
    began = {pid: time for pid in holders(file) if (time := _began(pid)) is not None}
    if not began:
        return None
    try:
        changed = read(file, lambda db: _changed(db, id)) / 1000
    except Unreadable:
        return None
    alive = [pid for pid, time in began.items() if time <= changed]
    return f"open for writing in pid {alive[-1]}, which changed it last" if alive else None


def _changed(db: sqlite3.Connection, id: str) -> int:
    """When anything of a session was written last, in Unix milliseconds."""
    times = [0]
    for table, column in _BY.items():
        asked = f"SELECT max(time_updated) FROM {table} WHERE {column} = ?"
        times.append(db.execute(asked, (id,)).fetchone()[0] or 0)
    return max(times)


def _began(pid: int) -> float | None:
    """When a process began, in seconds of Unix time; None when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="latin-1") as file:
            ticks = int(file.read().rpartition(")")[2].split()[19])
        with open("/proc/stat", encoding="ascii") as file:
            booted = next(int(line.split()[1]) for line in file if line.startswith("btime"))
    except (OSError, ValueError, IndexError, StopIteration):
        return None
    return booted + ticks / os.sysconf("SC_CLK_TCK")
