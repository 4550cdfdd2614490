"""Sessions as JSON objects and as plain text lines: what commands print.

The objects are the contract that scripts rely on (version 1). Text from a log is made visible
before it is printed; in JSON, control and bidi characters are escaped, so that no byte of a log
can act on a terminal.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from sessionlog import codec
from sessionlog.formats.native import verdict
from sessionlog.records import (
    Damage,
    Entry,
    Event,
    Message,
    Meta,
    Origin,
    Other,
    Record,
    Reset,
    Result,
    moment,
    shown_type,
)

if TYPE_CHECKING:
    from sessionlog.session import Numbered, Session

VERSION = 1
_ESCAPED = {
    code: json.dumps(chr(code))[1:-1]
    for code in (
        *range(0x7F, 0xA0), 0xAD, 0x061C, 0x180E, *range(0x200B, 0x2010), *range(0x2028, 0x202F),
        *range(0x2060, 0x2070), 0xFEFF, *range(0xFFF0, 0xFFFC), *range(0xE0000, 0xE0080),
    )
}  # fmt: skip
"""Controls, directions and what nobody sees. In JSON an escape is the same text, so nothing is
lost, and more may be escaped than would be marked on the screen."""
_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
_EMPTY: dict[str, Any] = {
    "kind": None, "n": None, "type": None, "at": None, "text": "", "tool": None, "call_id": None,
    "arguments": None, "result": None, "ok": None, "pair": None, "open": False,
    "in_context": False, "line": None, "offset": None, "length": None,
}  # fmt: skip
"""The fields that every object of `show` has, in order."""


def json_line(value: dict[str, Any]) -> str:
    """One JSON object on one line, safe to print."""
    text = codec.dumps({"v": VERSION, **value}).decode()
    return text if text.isascii() and "\x7f" not in text else text.translate(_ESCAPED)


def time_of(at: str) -> str | None:
    """A time of a log as RFC 3339 with an offset; None when it is no time."""
    if _TIME.fullmatch(at):
        return at
    time = moment(at)
    return None if time is None else time.isoformat().replace("+00:00", "Z")


def of_entry(entry: Entry) -> dict[str, Any]:
    """What `list` prints of a session."""
    return {
        "id": entry.id, "path": entry.path, "format": entry.format, "agent": entry.agent,
        "title": entry.title.strip().partition("\n")[0].strip(), "task": entry.task,
        "model": entry.model, "workdir": entry.workdir,
        "started": time_of(entry.started), "updated": time_of(entry.updated),
        "status": entry.status, "reason": entry.reason, "ok": entry.ok, "damage": entry.damage,
        "resumed_from": entry.resumed_from, "forked_from": of_origin(entry.forked_from),
        "bytes": entry.bytes, "stop": entry.stop,
    }  # fmt: skip


def of_origin(origin: Origin | None) -> dict[str, Any] | None:
    return None if origin is None else {"id": origin.id, "at": origin.at}


def of_damage(damage: Damage) -> dict[str, Any]:
    span = damage.span
    return {
        "line": span.line, "offset": span.offset, "length": span.length,
        "why": damage.why, "salvaged": damage.salvaged,
    }  # fmt: skip


def of_lost(damage: Damage) -> dict[str, Any]:
    """A damage as `show` prints it among the records."""
    return {**_EMPTY, "kind": "damage", "type": "damage", **of_damage(damage)}


def of_check(session: Session) -> dict[str, Any]:
    """What `check` prints of a session."""
    return {
        "id": session.id, "path": session.path, "format": session.format,
        "status": session.status, "reason": session.reason, "ok": session.ok,
        "messages": len(session.history), "events": len(session.events),
        "users": session.users, "assistants": session.assistants, "calls": session.calls,
        "open_calls": [
            {"n": c.n, "call_id": c.call_id, "tool": c.tool} for c in session.open_calls
        ],
        "orphan_results": [{"n": o.n, "call_id": o.call_id} for o in session.orphan_results],
        "damages": [of_damage(damage) for damage in session.damages],
        "in_flight": [
            {"tool": c.tool, "call_id": c.call_id or None, "since": time_of(c.since), "n": c.n}
            for c in session.in_flight
        ],
    }  # fmt: skip


def of_session(session: Session) -> Iterator[dict[str, Any]]:
    """What `show` prints: one object for each record and damage, in file order."""
    numbered = {(s.record.span.offset, s.record.part): s for s in session.history}
    things: list[Record | Damage] = [*session.records, *session.damages]
    things.sort(key=_place)
    for thing in things:
        if isinstance(thing, Damage):
            yield of_lost(thing)
        else:
            yield of_record(thing, numbered.get((thing.span.offset, thing.part)))


def _place(thing: Record | Damage) -> tuple[int, int]:
    return thing.span.offset, getattr(thing, "part", 0)


def of_record(record: Record, step: Numbered | None) -> dict[str, Any]:
    """One record as `show` prints it; `step` is its numbered message."""
    line, offset, length = record.span
    shown: dict[str, Any] = {
        **_EMPTY, "kind": record.kind, "type": record.kind, "at": time_of(record.at),
        "line": line, "offset": offset, "length": length,
    }  # fmt: skip
    payload = record.payload
    if isinstance(payload, Message):
        shown.update(_message(payload, step))
    elif isinstance(payload, Event):
        shown.update(
            type=payload.kind, text=payload.text, tool=payload.tool or None,
            call_id=payload.call_id or None, ok=payload.ok,
        )  # fmt: skip
        if payload.iteration:
            shown["iteration"] = payload.iteration
    elif isinstance(payload, Result):
        shown.update(
            type=payload.reason or "result", text=payload.message, error=payload.error or None,
            failure=payload.failure, code=payload.code, iterations=payload.iterations,
            calls=payload.calls, continuations=payload.continuations, cycles=payload.cycles,
            settles=payload.settles, ok=verdict(payload),
        )  # fmt: skip
    elif isinstance(payload, Meta):
        shown.update(
            text=payload.task, id=payload.id, task=payload.task, model=payload.model,
            provider=payload.provider, driver=payload.driver, workdir=payload.workdir,
            resumed_from=payload.resumed_from, forked_from=of_origin(payload.forked_from),
        )  # fmt: skip
    elif isinstance(payload, Reset):
        shown.update(text=payload.why)
    elif isinstance(payload, Other):
        shown.update(type=payload.name, data=payload.data)
    extra = getattr(payload, "extra", None)
    if extra:
        shown["extra"] = dict(extra)
    return shown


def _message(message: Message, step: Numbered | None) -> dict[str, Any]:
    shown: dict[str, Any] = {"type": shown_type(message), "text": message.text}
    if step is not None:
        shown.update(n=step.n, pair=step.pair, open=step.open, in_context=step.in_context)
    if message.sidechain:
        shown["sidechain"] = message.sidechain
    if message.images:
        shown["images"] = [
            {"media_type": i.media_type, "digest": i.digest, "size": i.size, "source": i.source}
            for i in message.images
        ]
    activity = message.activity
    if activity is not None:
        shown.update(tool=activity.name or None, call_id=activity.id or None)
        shown.update(arguments=activity.arguments or None)
        if activity.kind == "response":
            failed = activity.failure is not None
            shown.update(result=activity.result, ok=not failed)
            if failed and not message.text:
                shown["text"] = activity.failure
    return shown
