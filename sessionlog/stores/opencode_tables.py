"""The tables of OpenCode's database, as lines in the shape of the client's export.

Columns grow with every version, so rows are taken with whatever they have, and what is missing is
left out. Messages are ordered as the client orders them, by their time and id, parts by their id;
version 2 keeps messages whole in a table of their own, by their number.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from sessionlog import codec
from sessionlog.errors import Unreadable
from sessionlog.formats.base import dict_of
from sessionlog.formats.opencode_lines import message_line, noted, one_line, session_line

_PLAIN = {
    "id": "id", "slug": "slug", "project_id": "projectID", "workspace_id": "workspaceID",
    "directory": "directory", "path": "path", "parent_id": "parentID", "title": "title",
    "agent": "agent", "version": "version", "cost": "cost",
}  # fmt: skip
_JSON = ("model", "permission", "metadata", "revert")
_GROUPS = {
    "summary": ("summary_", ("additions", "deletions", "files")),
    "tokens": ("tokens_", ("input", "output", "reasoning")),
    "time": ("time_", ("created", "updated", "compacting", "archived")),
}

Row = Mapping[str, Any]


def tables(db: sqlite3.Connection) -> set[str]:
    """Names of the tables."""
    return {name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type='table'")}


def lines_of(db: sqlite3.Connection, path: str, id: str) -> Iterator[bytes]:
    """The lines of a session. Raises Unreadable when there is none of that id."""
    row = next(dicts(db, "SELECT * FROM session WHERE id = ?", id), None)
    if row is None:
        raise Unreadable(f"{path}: holds no session {id}; it may have been deleted")
    info = info_of(row)
    yield session_line(codec.dumps(info))
    there = tables(db)
    messages = _messages(db, id, "part" in there)
    yield from noted(messages, dict_of(info.get("revert")))
    if "session_message" in there:
        yield from _messages_v2(db, id)


def _messages(db: sqlite3.Connection, id: str, parted: bool) -> Iterator[bytes]:
    parts: dict[str, list[Row]] = {}
    if parted:
        found = dicts(db, "SELECT * FROM part WHERE session_id = ? ORDER BY message_id, id", id)
        parts = {key: list(rows) for key, rows in groupby(found, lambda row: row["message_id"])}
    asked = "SELECT * FROM message WHERE session_id = ? ORDER BY time_created, id"
    for row in dicts(db, asked, id):
        yield from message_of(row, parts.pop(row["id"], ()))
    for rows in parts.values():  # their message is gone
        lost = {"id": rows[0]["message_id"], "sessionID": id}
        yield message_line(codec.dumps(lost), _whole(rows))


def message_of(row: Row, parts: Iterable[Row]) -> Iterator[bytes]:
    """The line of a message; data that is no JSON comes behind it, a line each."""
    parts = list(parts)
    named = {"id": row["id"], "sessionID": row["session_id"]}
    info = _joined(_data(row), named)
    yield message_line(info if info is not None else codec.dumps(named), _whole(parts))
    yield from (_data(lost) for lost in parts if _part(lost) is None)
    if info is None:
        yield _data(row)


def _whole(parts: Iterable[Row]) -> Iterator[bytes]:
    return (part for part in map(_part, parts) if part is not None)


def _part(row: Row) -> bytes | None:
    """A part with its ids; None where its data is no object."""
    names = {"id": "id", "sessionID": "session_id", "messageID": "message_id"}
    return _joined(_data(row), {name: row[key] for name, key in names.items()})


def _messages_v2(db: sqlite3.Connection, id: str) -> Iterator[bytes]:
    asked = "SELECT * FROM session_message WHERE session_id = ? ORDER BY time_created, id"
    rows = dicts(db, asked, id)
    for row in sorted(rows, key=lambda row: row.get("seq") or 0):
        named = {"id": row["id"], "sessionID": row["session_id"], "type": row.get("type")}
        info = _joined(_data(row), named)
        yield session_line(info) if info is not None else _data(row)


def info_of(row: Row) -> dict[str, Any]:
    """A session's row as the client exports it: what is null is not there."""
    info = {name: row[key] for key, name in _PLAIN.items() if row.get(key) is not None}
    for name, (prefix, keys) in _GROUPS.items():
        group = {key: row[prefix + key] for key in keys if row.get(prefix + key) is not None}
        if group:
            info[name] = group
    cache = {key: row.get(f"tokens_cache_{key}") for key in ("read", "write")}
    if "tokens" in info and None not in cache.values():
        info["tokens"]["cache"] = cache
    if row.get("share_url"):
        info["share"] = {"url": row["share_url"]}
    for key in _JSON:
        if (value := _value(row.get(key))) is not None:
            info[key] = value
    if (diffs := _value(row.get("summary_diffs"))) is not None:
        info.setdefault("summary", {})["diffs"] = diffs
    return info


def dicts(db: sqlite3.Connection, asked: str, *values: str) -> Iterator[Row]:
    """Rows by the names of their columns."""
    cursor = db.execute(asked, values)
    names = [column[0] for column in cursor.description]
    for row in cursor:
        yield dict(zip(names, row, strict=True))


def _value(text: Any) -> Any:
    """A column of JSON; what is none stays text."""
    if not isinstance(text, str):
        return text if not isinstance(text, bytes) else text.decode("utf-8", "replace")
    try:
        return codec.loads(text.encode("utf-8", "surrogatepass"))
    except ValueError:
        return text


def _data(row: Row) -> bytes:
    data = row.get("data")
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogatepass")
    return one_line(data) if isinstance(data, bytes) else b""


def _joined(data: bytes, ids: Mapping[str, Any]) -> bytes | None:
    """An object with its ids, which are columns, behind its own members; None for what is none."""
    value = _object(data)
    if value is None:
        return None
    more = codec.dumps({key: id for key, id in ids.items() if id is not None and key not in value})
    if not value:
        return more
    return data.rstrip()[:-1] + (b"," + more[1:] if more != b"{}" else b"}")


def _object(data: bytes) -> dict[str, Any] | None:
    for way in (codec.peek, codec.loads):
        try:
            value = way(data)
        except ValueError:
            continue
        return value if isinstance(value, dict) else None
    return None
