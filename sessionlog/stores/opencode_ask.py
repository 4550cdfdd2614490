"""Questions to OpenCode's database, whatever stands in it.

Columns grow with every version, and SQLite takes any value for any column: rows have the columns
that are known and there, with text as text and a BLOB as bytes. Generated columns are left out,
since a few bytes of schema make gigabytes of them. Rows are put in order here, not by SQLite, so
that a damaged page costs what it holds.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

from sessionlog.stores.base import Unfit

_DATA = ("time_created", "time_updated", "data")
_COLUMNS = {
    "session": (
        "id", "slug", "project_id", "workspace_id", "directory", "path", "parent_id", "title",
        "agent", "version", "cost", "model", "permission", "metadata", "revert", "share_url",
        "summary_additions", "summary_deletions", "summary_files", "summary_diffs",
        "tokens_input", "tokens_output", "tokens_reasoning", "tokens_cache_read",
        "tokens_cache_write", "time_created", "time_updated", "time_compacting", "time_archived",
    ),
    "message": ("id", "session_id", *_DATA),
    "part": ("id", "message_id", "session_id", *_DATA),
    "session_message": ("id", "session_id", "type", "seq", *_DATA),
}  # fmt: skip
_NEEDED = {
    "session": {"id"},
    "message": {"id", "session_id", "data"},
    "part": {"message_id", "session_id", "data"},
    "session_message": {"session_id", "data"},
}
TABLES = frozenset(_COLUMNS)
_SMALL = 1 << 20
_SAFE = "-_.~"
_ODD = ".-~"
"""What a name may hold, and not begin with."""

Row = Mapping[str, Any]


def tables(db: sqlite3.Connection) -> set[str]:
    """Names of those tables that are known."""
    asked = "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0"
    return {name for (name,) in db.execute(asked) if name in TABLES}


def rows(
    db: sqlite3.Connection, table: str, column: str = "", values: Iterable[Any] = ()
) -> Iterator[Row]:
    """Rows of a table, in no order; with `column`, those that have one of the values there.

    Raises Unfit when a column is missing that tells what belongs to what, and when there is
    more than a database of that size holds.
    """
    names = columns(db, table)
    for row in picked(db, table, names, column, values):
        yield dict(zip(names, row, strict=True))


def picked(
    db: sqlite3.Connection,
    table: str,
    names: Iterable[str],
    column: str = "",
    values: Iterable[Any] = (),
    then: str = "",
) -> Iterator[tuple[Any, ...]]:
    """Some columns of `rows`; `then` follows in the question."""
    asked = f"SELECT {', '.join(names)} FROM {table}"
    values = list(values)
    if column:
        asked += f" WHERE {column} IN ({', '.join(map(_hole, values))})"
    asked += f" {then}"
    left = _most(db)
    for row in db.execute(asked, list(map(_bound, values))):
        left -= 8 + sum(len(value) for value in row if isinstance(value, str | bytes))
        if left < 0:
            raise Unfit(f"the table {table} gives more than the file can hold: it is damaged")
        yield row


def number_of(value: Any) -> float:
    """A number of a row; 0 for anything else that stands there."""
    return value if isinstance(value, int | float) else 0


def plain(value: Any) -> Any:
    """A value of a row as JSON has it; bytes that are no text become U+FFFD."""
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def order_of(*values: Any) -> tuple[tuple[int, Any], ...]:
    """What SQLite orders such values by: nothing, numbers, text, bytes."""
    return tuple(map(_rank, values))


def name_of(id: Any) -> str:
    """An id as the last part of a session's path: what is no letter or digit, and could lead
    elsewhere or be taken for an option, is percent-encoded. "" for no id."""
    if id is None or id in ("", b""):
        return ""
    raw = id if isinstance(id, bytes) else str(id).encode("utf-8", "surrogateescape")
    name = quote(raw, safe=_SAFE)
    return f"%{ord(name[0]):02X}{name[1:]}" if name[0] in _ODD else name


def ids_of(db: sqlite3.Connection, name: str) -> list[Any]:
    """The ids in the table of sessions that have this name: one, where the client made them."""
    if not name:
        return []
    if "%" not in name:
        found = [id for (id,) in picked(db, "session", ["id"], "id", [name])]
        if found:
            return list(dict.fromkeys(found))
    every = (id for (id,) in picked(db, "session", ["id"]))
    return list(dict.fromkeys(id for id in every if name_of(id) == name))


def columns(db: sqlite3.Connection, table: str) -> list[str]:
    """Names of those columns that are known. Raises Unfit when one is missing that has to be."""
    found = db.execute(f"PRAGMA table_xinfo({table})")
    stored = {name.lower() for _, name, _, _, _, _, hidden in found if hidden == 0}
    if missing := sorted(_NEEDED[table] - stored):
        raise Unfit(f"the table {table} has no column {missing[0]}")
    return [name for name in _COLUMNS[table] if name in stored]


def _most(db: sqlite3.Connection) -> int:
    """Bytes that rows may have: each is stored, in UTF-8 or in UTF-16. A damaged or hostile
    database has pages that stand for any number of rows."""
    (pages,), (size,) = (
        db.execute(f"PRAGMA {what}").fetchone() for what in ("page_count", "page_size")
    )
    return int(2 * pages * size + _SMALL)


def _hole(value: Any) -> str:
    return "CAST(? AS TEXT)" if value != _bound(value) else "?"


def _bound(value: Any) -> Any:
    """A value for a question; text that may be no UTF-8 goes back as it came."""
    odd = isinstance(value, str) and not value.isascii()
    return value.encode("utf-8", "surrogateescape") if odd else value


def _rank(value: Any) -> tuple[int, Any]:
    if value is None:
        return 0, 0
    if isinstance(value, int | float):
        return 1, value
    return (2, value) if isinstance(value, str) else (3, value)
