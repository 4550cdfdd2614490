"""OpenCode's database (from 1.2): many sessions in one file."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator

from sessionlog.errors import Unreadable
from sessionlog.records import Entry
from sessionlog.stores.base import Mark
from sessionlog.stores.opencode_rows import Rows, rows_of
from sessionlog.stores.opencode_tables import lines_of, tables
from sessionlog.stores.sqlite import MAGIC, mark_of, read

_TABLES = {"session", "message"}
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
            if self._ours != (path, mark := mark_of(path)) and read(path, tables) >= _TABLES:
                self._ours = path, mark
            return self._ours == (path, mark)
        except (Unreadable, OSError):
            return False

    def sessions(self, path: str) -> list[str]:
        """Those that a person began: a subagent's is opened from the call that started it."""
        try:
            rows = self._known(path)
        except (Unreadable, OSError):
            return []
        return rows.order

    def lines(self, path: str, id: str) -> Iterator[bytes]:
        yield from read(path, lambda db: list(lines_of(db, path, id)))

    def mark(self, path: str, id: str) -> Mark:
        return mark_of(path)

    def glimpse(self, path: str, id: str) -> Entry | None:
        """All rows of the database are made at once, and kept while it does not change."""
        return self._known(path).entries.get(id)

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
