"""The rows of a listing for all sessions of an OpenCode database, by a few questions.

A row needs the session's own line, its first message and its last: these are decoded as any line
is, and the format says what they mean. A session that is in the middle of something, was taken
back, or is of version 2 is read whole instead.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, NamedTuple

from sessionlog import codec
from sessionlog.formats.base import dict_of, text_of
from sessionlog.formats.opencode import OpenCode
from sessionlog.formats.opencode_lines import session_line
from sessionlog.formats.opencode_parts import time_of
from sessionlog.records import Entry, Record, Span, Status
from sessionlog.stores.opencode_tables import Row, dicts, info_of, message_of, tables

_AT_ONCE = 250
"""Sessions whose messages are asked for at once."""
_LONGEST = 1 << 18
"""Characters of a part that is decoded for a row."""
_NTH = """
    SELECT message.* FROM session JOIN message ON message.id = (
        SELECT id FROM message WHERE session_id = session.id
        ORDER BY time_created {0}, id {0} LIMIT 1
    )
"""


_Source = tuple[Row, Row | None, Row | None]


class Rows(NamedTuple):
    """What a listing wants of a database."""

    order: list[str]
    """Ids of the sessions that a person began, newest first."""
    entries: dict[str, Entry]
    """By id; those are missing that have to be read whole."""
    made_from: dict[str, _Source]
    """By id: the rows of the session, its first message and its last."""


def rows_of(db: sqlite3.Connection, path: str, old: Rows | None = None) -> Rows:
    """The rows of all sessions. Costs two messages for each that changed since `old` was made."""
    sessions = sorted(dicts(db, "SELECT * FROM session"), key=_age, reverse=True)
    ids = {row["id"] for row in sessions}
    order = [row["id"] for row in sessions if row.get("parent_id") not in ids]
    if "part" not in tables(db):
        return Rows(order, {}, {})
    first, last = _messages(db, "ASC"), _messages(db, "DESC")
    made_from = {row["id"]: (row, first.get(row["id"]), last.get(row["id"])) for row in sessions}
    known = old.made_from if old is not None else {}
    new = {id: rows for id, rows in made_from.items() if known.get(id) != rows}
    entries = {id: e for id, e in old.entries.items() if id in ids - new.keys()} if old else {}
    for entry in _entries(db, path, list(new.values())):
        entries[entry.id] = entry
    return Rows(order, entries, made_from)


def _entries(db: sqlite3.Connection, path: str, sources: list[_Source]) -> Iterator[Entry]:
    """So many at a time, since their messages are held meanwhile."""
    for at in range(0, len(sources), _AT_ONCE):
        some = sources[at : at + _AT_ONCE]
        ids = [message["id"] for source in some for message in source[1:] if message is not None]
        parts = _parts(db, ids)
        for row, first, last in some:
            entry = _entry(path, row, _line(first, parts), _line(last, parts))
            if entry is not None:
                yield entry


def _age(row: Row) -> tuple[int, str]:
    created = row.get("time_created")
    return (created if isinstance(created, int) else 0), text_of(row.get("id"))


def _messages(db: sqlite3.Connection, order: str) -> dict[str, Row]:
    """The first or the last message of each session."""
    return {row["session_id"]: row for row in dicts(db, _NTH.format(order))}


def _line(message: Row | None, parts: Mapping[str, list[Row | None]]) -> bytes | None:
    """The line of a message; None where it holds more than is decoded for a row."""
    mine = parts.get(message["id"], []) if message is not None else [None]
    if message is None or None in mine:
        return None
    return next(iter(message_of(message, [part for part in mine if part is not None])))


def _parts(db: sqlite3.Connection, ids: list[str]) -> dict[str, list[Row | None]]:
    """The parts of some messages; None for one that is too long."""
    holes = ",".join("?" * len(ids))
    asked = f"SELECT * FROM part WHERE message_id IN ({holes}) ORDER BY message_id, id"
    found = groupby(dicts(db, asked, *ids), lambda row: text_of(row["message_id"]))
    return {
        id: [row if len(row.get("data") or "") < _LONGEST else None for row in rows]
        for id, rows in found
    }


def _entry(path: str, row: Row, first: bytes | None, last: bytes | None) -> Entry | None:
    info = info_of(row)
    if first is None or last is None or dict_of(info.get("revert")):
        return None
    form = OpenCode()
    records = _records(form, (session_line(codec.dumps(info)), first, last))
    place = f"{path}/{row['id']}"
    described = form.describe(place, iter(records), reversed(records))
    ending = form.ending(reversed(records))
    if not ending.ended:
        return None
    meta, times = described.meta, _times(info)
    return Entry(
        meta.id, place, form.name, form.agent, described.title, meta.task or described.title,
        meta.model, meta.workdir, described.started,
        max((r.at for r in records[-1:]), default="") or time_of(times.get("updated")),
        Status.COMPLETE, ending.reason, ending.ok, None, meta.resumed_from, meta.forked_from,
        stop=ending.text,
    )  # fmt: skip


def _times(info: Mapping[str, Any]) -> Mapping[str, Any]:
    return dict_of(info.get("time"))


def _records(form: OpenCode, lines: Iterable[bytes]) -> list[Record]:
    return [record for n, line in enumerate(lines) for record in _decoded(form, line, n)]


def _decoded(form: OpenCode, line: bytes, n: int) -> Iterator[Record]:
    """One where first and last are the same message does no harm: it is decoded twice."""
    try:
        value = codec.loads(line)
    except ValueError:
        return
    yield from form.decode(value, Span(n + 1, n, len(line)))
