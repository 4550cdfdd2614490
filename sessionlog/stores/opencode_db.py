"""OpenCode's database (from 1.2): many sessions in one file."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterator

from sessionlog.errors import Unreadable
from sessionlog.paths import open_regular, stem_of
from sessionlog.records import Entry
from sessionlog.stores.base import Mark
from sessionlog.stores.opencode_ask import TABLES, tables
from sessionlog.stores.opencode_rows import Rows, rows_of
from sessionlog.stores.opencode_tables import lines_of
from sessionlog.stores.sqlite import MAGIC, mark_of, read

_LOOK = 1 << 20
"""Bytes of a database that cannot be read in which words of its schema are looked for."""
_FEW = 2
"""Of its tables, how many make a database one of these."""
_KEPT = 8
"""Databases whose rows are kept at hand."""


class OpenCodeDatabase:
    """Sessions of one database."""

    many = True

    def __init__(self) -> None:
        self._rows: OrderedDict[str, tuple[Mark, Rows]] = OrderedDict()
        self._ours: tuple[str, Mark] | None = None
        """The last database that was looked at and found to be one of these."""

    def keeps(self, path: str, head: bytes) -> bool:
        """A new database has all it holds in its -wal, so its head alone does not tell."""
        if not head.startswith(MAGIC):
            return False
        try:
            mark = mark_of(path)
            if self._ours != (path, mark) and len(read(path, tables) & TABLES) >= _FEW:
                self._ours = path, mark
            return self._ours == (path, mark)
        except (Unreadable, OSError):
            return _may_be_ours(path)

    def sessions(self, path: str) -> list[str]:
        """Those that a person began: a subagent's is opened from the call that started it."""
        try:
            rows = self._known(path)
        except (Unreadable, OSError):
            return [""]
        return rows.order + ([""] if rows.lost else [])

    def lines(self, path: str, id: str) -> Iterator[bytes]:
        if not id:
            raise Unreadable(self._why(path))
        yield from read(path, lambda db: list(lines_of(db, id)))

    def mark(self, path: str, id: str) -> Mark:
        return mark_of(path)

    def glimpse(self, path: str, id: str) -> Entry | None:
        """All rows of the database are made at once, and kept while it does not change."""
        if id:
            return self._known(path).entries.get(id)
        return Entry(stem_of(path), path, "unknown", reason=self._why(path))

    def _why(self, path: str) -> str:
        """Why the file itself, without the id of a session, is no log."""
        rows = self._known(path)
        return f"{path}: {rows.lost or 'holds several sessions: name one, by its path or its id'}"

    def _known(self, path: str) -> Rows:
        mark = mark_of(path)
        kept = self._rows.get(path)
        if kept is None or kept[0] != mark:
            old = kept[1] if kept is not None else None
            rows = read(path, lambda db: rows_of(db, path, old))
            kept = self._rows[path] = mark, rows
            while len(self._rows) > _KEPT:
                self._rows.popitem(last=False)
        return kept[1]


def _may_be_ours(path: str) -> bool:
    """Of a database that cannot be read: by its name, or by a column's name in its schema."""
    if os.path.basename(path).startswith("opencode"):
        return True
    try:
        with open(open_regular(path), "rb") as file:
            return b"session_id" in file.read(_LOOK)
    except (Unreadable, OSError):
        return False
