"""The tables of OpenCode's database, as lines in the shape of the client's export.

Messages are ordered as the client orders them, by their time and id, parts by their id; version 2
keeps messages whole in a table of their own, by their number. What is damaged costs itself, and
leaves a line that is no JSON.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sessionlog import codec
from sessionlog.formats.base import dict_of
from sessionlog.formats.opencode_lines import message_line, noted, one_line, session_line
from sessionlog.stores.base import Unfit
from sessionlog.stores.opencode_ask import Row, ids_of, number_of, order_of, plain, rows, tables
from sessionlog.stores.sqlite import is_damage

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


def lines_of(db: sqlite3.Connection, name: str) -> Iterator[bytes]:
    """The lines of a session. Raises Unfit when there is none of that name."""
    there = tables(db)
    ids = ids_of(db, name)
    infos = [info_of(row) for row in rows(db, "session", "id", ids)] if ids else []
    if not infos:
        raise Unfit(f"holds no session {name}; it may have been deleted")
    yield from (session_line(codec.dumps(info)) for info in infos)
    if "message" in there:
        messages = _messages(db, ids, "part" in there)
        yield from noted(messages, dict_of(infos[0].get("revert")))
    if "session_message" in there:
        yield from _messages_v2(db, ids)


def read_of(
    db: sqlite3.Connection, table: str, column: str = "", values: Iterable[Any] = ()
) -> tuple[list[Row], str]:
    """Rows up to a damage of the database, and what that is; "" for none."""
    found: list[Row] = []
    try:
        for row in rows(db, table, column, values):
            found.append(row)
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        return found, f"the table {table} is damaged behind {len(found)} rows: {error}"
    return found, ""


def _messages(db: sqlite3.Connection, ids: list[Any], parted: bool) -> Iterator[bytes]:
    """Parts whose message is gone come first: the last line stands for how the session ended."""
    found, *lost = read_of(db, "message", "session_id", ids)
    parts: dict[Any, list[Row]] = {}
    if parted:
        pieces, why = read_of(db, "part", "session_id", ids)
        lost.append(why)
        for piece in sorted(pieces, key=_place):
            parts.setdefault(piece["message_id"], []).append(piece)
    there = {row["id"] for row in found}
    for id in [id for id in parts if id not in there]:
        yield from _lines({"id": id, "session_id": ids[0]}, codec.dumps({}), parts.pop(id))
    yield from (_note(why) for why in lost if why)
    for row in sorted(found, key=_place):
        yield from message_of(row, parts.pop(row["id"], ()))


def _note(why: str) -> bytes:
    return one_line(why.encode("utf-8", "replace"))


def _place(row: Row) -> Any:
    """Parts are ordered by their id alone."""
    created = None if "message_id" in row else row.get("time_created")
    return order_of(created, row.get("id"))


def message_of(row: Row, parts: Iterable[Row]) -> Iterator[bytes]:
    """The line of a message; data that is no JSON comes behind it, a line each."""
    return _lines(row, _data(row), list(parts))


def _lines(row: Row, data: bytes, parts: list[Row]) -> Iterator[bytes]:
    named = {"id": plain(row["id"]), "sessionID": plain(row["session_id"])}
    info = _joined(data, named)
    whole = [(part, _part(part)) for part in parts]
    body = info if info is not None else codec.dumps(named)
    yield message_line(body, (made for _, made in whole if made is not None))
    yield from (_data(part) for part, made in whole if made is None)
    if info is None:
        yield data


def _part(row: Row) -> bytes | None:
    """A part with its ids; None where its data is no object."""
    names = {"id": "id", "sessionID": "session_id", "messageID": "message_id"}
    return _joined(_data(row), {name: plain(row.get(key)) for name, key in names.items()})


def _messages_v2(db: sqlite3.Connection, ids: list[Any]) -> Iterator[bytes]:
    found, lost = read_of(db, "session_message", "session_id", ids)
    if lost:
        yield _note(lost)
    for row in sorted(found, key=lambda row: (number_of(row.get("seq")), _place(row))):
        names = {"id": row.get("id"), "sessionID": row["session_id"], "type": row.get("type")}
        info = _joined(_data(row), {name: plain(value) for name, value in names.items()})
        yield session_line(info) if info is not None else _data(row)


def info_of(row: Row) -> dict[str, Any]:
    """A session's row as the client exports it: what is null is not there."""
    row = {name: plain(value) for name, value in row.items()}
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


def _value(text: Any) -> Any:
    """A column of JSON; what is none stays text."""
    if not isinstance(text, str):
        return text
    try:
        return codec.loads(text.encode("utf-8", "surrogatepass"))
    except ValueError:
        return text


def _data(row: Row) -> bytes:
    data = row["data"]
    if isinstance(data, int | float):
        data = str(data)
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogateescape")
    return one_line(data) if data else b"no data"


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
