"""Where the sessions of OpenCode's subagents are: beside the one that started them.

In the database under their own id, in the tree in the same folder; each names its parent.
"""

from __future__ import annotations

import os
import re
import sqlite3

from sessionlog.errors import Unreadable
from sessionlog.stores.sqlite import read

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_MOST = 1000
"""Sessions that are looked for below one."""


def session_beside(path: str, id: str) -> str | None:
    """The log of the session with this id in the same keeping; None where there is none. What a
    log says is never taken for a path."""
    if not _ID.fullmatch(id):
        return None
    file, _, own = path.rpartition("/")
    if os.path.isfile(file):
        try:
            there = read(file, lambda db: _is_there(db, id))
        except Unreadable:
            return None
        return f"{file}/{id}" if there and id != own else None
    other = os.path.join(file, f"{id}.json")
    return other if other != path and os.path.isfile(other) else None


def subagents_of(path: str) -> list[str]:
    """Paths of the logs of all subagents of a session in a database, oldest first, those of their
    own included; [] for one that is kept otherwise."""
    file, _, id = path.rpartition("/")
    if not os.path.isfile(file):
        return []
    try:
        return [f"{file}/{child}" for child in read(file, lambda db: _below(db, id))]
    except Unreadable:
        return []


def _is_there(db: sqlite3.Connection, id: str) -> bool:
    return db.execute("SELECT 1 FROM session WHERE id = ?", (id,)).fetchone() is not None


def _below(db: sqlite3.Connection, id: str) -> list[str]:
    found: list[str] = []
    waiting = [id]
    while waiting and len(found) < _MOST:
        asked = "SELECT id FROM session WHERE parent_id = ? ORDER BY time_created, id"
        children = [child for (child,) in db.execute(asked, (waiting.pop(0),))]
        new = [child for child in children if child not in found and child != id]
        found += new
        waiting += new
    return found
