"""Where the sessions of OpenCode's subagents are: beside the one that started them.

In the database under their own id, in the tree in the same folder; each names its parent.
"""

from __future__ import annotations

import os
import re
import sqlite3
from typing import Any

from sessionlog.errors import Unreadable
from sessionlog.stores.opencode_ask import ids_of, name_of, order_of, picked
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
    file, _, name = path.rpartition("/")
    if not os.path.isfile(file):
        return []
    try:
        return [f"{file}/{child}" for child in read(file, lambda db: _below(db, name))]
    except Unreadable:
        return []


def _is_there(db: sqlite3.Connection, id: str) -> bool:
    return bool(ids_of(db, id))


def _below(db: sqlite3.Connection, name: str) -> list[str]:
    """Names of the sessions below one."""
    own = ids_of(db, name)
    found: list[Any] = []
    waiting = own[:1]
    while waiting and len(found) < _MOST:
        some = picked(db, "session", ["time_created", "id"], "parent_id", [waiting.pop(0)])
        children = [id for _, id in sorted(some, key=lambda row: order_of(*row))]
        new = [id for id in children if name_of(id) and id not in found and id not in own]
        found += new
        waiting += new
    return [name_of(id) for id in found]
