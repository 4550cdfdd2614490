"""The rows of a listing for all sessions of an OpenCode database, by a few questions.

A row needs the session's own line, its first message and its last: these are decoded as any line
is, and the format says what they mean. A session with more messages that is in the middle of
something, that was taken back, is of version 2 or odd in any way is read whole instead.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from sessionlog import codec
from sessionlog.formats.base import dict_of
from sessionlog.formats.opencode import OpenCode
from sessionlog.formats.opencode_lines import session_line
from sessionlog.formats.opencode_parts import time_of
from sessionlog.records import Entry, Record, Span
from sessionlog.status import WAITS, judge, last_at, waits
from sessionlog.stores.opencode_ask import (
    Row,
    columns,
    name_of,
    number_of,
    order_of,
    picked,
    rows,
    tables,
)
from sessionlog.stores.opencode_tables import info_of, message_of, read_of
from sessionlog.stores.sqlite import is_damage

_AT_ONCE = 250
"""Sessions whose messages are asked for at once."""
_LONGEST = 1 << 18
"""Characters of a part that is decoded for a row."""


class _Source(NamedTuple):
    """What a row is made from."""

    row: Row
    ends: tuple[Row | None, ...]
    """The first message and the last, as many as there are; None for one that is not found."""
    whole: bool
    """Are these all messages?"""


class Rows(NamedTuple):
    """What a listing wants of a database."""

    order: list[str]
    """Names of the sessions that a person began, newest first."""
    entries: dict[str, Entry]
    """By name; those are missing that have to be read whole."""
    made_from: dict[str, _Source]
    """By name; those are missing that have to be read whole."""
    lost: str = ""
    """What is no session though it stands among them; "" for nothing."""


def rows_of(db: sqlite3.Connection, path: str, old: Rows | None = None) -> Rows:
    """The rows of all sessions. Costs two messages for each that changed since `old` was made."""
    found, damaged = read_of(db, "session")
    named = {name_of(row["id"]): row for row in sorted(found, key=_age)}
    nameless = sum(not name_of(row["id"]) for row in found)
    without = f"{nameless} of its sessions without an id" if nameless else ""
    sessions = {name: row for name, row in reversed(named.items()) if name}
    lost = "; ".join(filter(None, (damaged, without)))
    parents = {name: name_of(row.get("parent_id")) for name, row in sessions.items()}
    begun = _begun(parents)
    order = [name for name in sessions if name in begun]
    made_from = _made_from(db, sessions)
    known = old.made_from if old is not None else {}
    new = {name: rows for name, rows in made_from.items() if known.get(name) != rows}
    kept = made_from.keys() - new.keys()
    entries = {name: e for name, e in old.entries.items() if name in kept} if old else {}
    for name, entry in _entries(db, path, new):
        entries[name] = entry
    return Rows(order, entries, made_from, lost)


def _begun(parents: Mapping[str, str]) -> set[str]:
    """Those that a person began: all that have none above them, or go round in a ring."""
    below: dict[str, list[str]] = {}
    for name, above in parents.items():
        below.setdefault(above, []).append(name)
    top = {name for name, above in parents.items() if above not in parents}
    reached, waiting = set(top), list(top)
    while waiting:
        children = below.get(waiting.pop(), ())
        reached.update(children)
        waiting += children
    return top | (parents.keys() - reached)


def _made_from(db: sqlite3.Connection, sessions: Mapping[str, Row]) -> dict[str, _Source]:
    """By name, those with an id as the client makes them, whose messages can be told apart."""
    there = tables(db)
    if not there >= {"message", "part"}:
        return {}
    plain = {name: row for name, row in sessions.items() if row["id"] == name}
    try:
        ends = _ends(db)
        ids = {id for name in plain for id in ends.get(name, _NONE).ids if isinstance(id, str)}
        messages = _messages(db, sorted(ids))
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        return {}
    made: dict[str, _Source] = {}
    for name, row in plain.items():
        found = ends.get(name, _NONE)
        if found.number or "session_message" not in there:
            both = tuple(messages.get((name, id)) for id in found.ids)
            made[name] = _Source(row, both, found.number <= len(both))
    return made


class _Ends(NamedTuple):
    ids: tuple[Any, ...]
    """Of the first message and of the last, as many as there are."""
    number: int
    """Of all messages."""


_NONE = _Ends((), 0)


def _ends(db: sqlite3.Connection) -> dict[Any, _Ends]:
    """The ends of each session that has messages, in one go over all of them."""
    names = [
        name for name in ("session_id", "id", "time_created") if name in columns(db, "message")
    ]
    first: dict[Any, Any] = {}
    last: dict[Any, Any] = {}
    count: Counter[Any] = Counter()
    for session, id, *created in picked(db, "message", names):
        place = order_of(*(created or [None]), id)
        first[session] = min(first.get(session, place), place)
        last[session] = max(last.get(session, place), place)
        count[session] += 1
    both = {
        session: dict.fromkeys((first[session][-1][1], last[session][-1][1])) for session in first
    }
    return {session: _Ends(tuple(ids), count[session]) for session, ids in both.items()}


def _messages(db: sqlite3.Connection, ids: list[str]) -> dict[tuple[Any, Any], Row | None]:
    """Messages by their session and id; None where there are two."""
    found: dict[tuple[Any, Any], Row | None] = {}
    for at in range(0, len(ids), _AT_ONCE):
        for row in rows(db, "message", "id", ids[at : at + _AT_ONCE]):
            key = row["session_id"], row["id"]
            found[key] = row if key not in found else None
    return found


def _entries(
    db: sqlite3.Connection, path: str, sources: Mapping[str, _Source]
) -> Iterator[tuple[str, Entry]]:
    """So many at a time, since their messages are held meanwhile."""
    names = list(sources)
    for at in range(0, len(names), _AT_ONCE):
        some = [(name, sources[name]) for name in names[at : at + _AT_ONCE]]
        ids = {
            message["id"] for _, source in some for message in source.ends if message is not None
        }
        parts = _parts(db, sorted(ids))
        if parts is None:
            continue
        for name, source in some:
            lines = [_line(message, parts) for message in source.ends]
            entry = _entry(path, source, [line for line in lines if line is not None])
            if entry is not None:
                yield name, entry


def _age(row: Row) -> Any:
    return number_of(row.get("time_created")), order_of(row["id"])


def _line(message: Row | None, parts: Mapping[str, list[Row]]) -> bytes | None:
    """The line of a message; None where it holds more than is decoded for a row."""
    if message is None:
        return None
    mine = parts.get(message["id"], [])
    for part in mine:
        foreign = part["session_id"] != message["session_id"]
        data = part["data"]
        if foreign or (isinstance(data, str | bytes) and len(data) >= _LONGEST):
            return None
    return next(message_of(message, sorted(mine, key=lambda part: order_of(part.get("id")))))


def _parts(db: sqlite3.Connection, ids: list[str]) -> dict[str, list[Row]] | None:
    """The parts of some messages; None where they are damaged."""
    found: dict[str, list[Row]] = {}
    pieces, damaged = read_of(db, "part", "message_id", ids)
    for piece in pieces:
        found.setdefault(piece["message_id"], []).append(piece)
    return found if not damaged else None


def _entry(path: str, source: _Source, lines: list[bytes]) -> Entry | None:
    info = info_of(source.row)
    if len(lines) < len(source.ends) or dict_of(info.get("revert")):
        return None
    form = OpenCode()
    records = _records(form, (session_line(codec.dumps(info)), *lines))
    place = f"{path}/{source.row['id']}"
    described = form.describe(place, iter(records), reversed(records))
    ending = form.ending(reversed(records))
    if not ending.ended:
        if not source.whole:
            return None
        if waits(described.meta, described.started, records[-1] if records else None):
            ending = ending._replace(text=WAITS)
    meta, times = described.meta, _times(info)
    return Entry(
        meta.id, place, form.name, form.agent, described.title, meta.task or described.title,
        meta.model, meta.workdir, described.started,
        last_at(reversed(records)) or time_of(times.get("updated")),
        judge(ending, torn=False, alive=False), ending.reason, ending.ok, None,
        meta.resumed_from, meta.forked_from, stop=ending.text,
    )  # fmt: skip


def _times(info: Mapping[str, Any]) -> Mapping[str, Any]:
    return dict_of(info.get("time"))


def _records(form: OpenCode, lines: Iterable[bytes]) -> list[Record]:
    return [record for n, line in enumerate(lines) for record in _decoded(form, line, n)]


def _decoded(form: OpenCode, line: bytes, n: int) -> Iterator[Record]:
    try:
        value = codec.loads(line)
    except ValueError:
        return
    yield from form.decode(value, Span(n + 1, n, len(line)))
