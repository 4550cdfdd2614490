"""OpenCode: a session is an object and a list of messages, each with its parts.

The client keeps them in a database (from 1.2), before that in a tree of files, and prints them as
one document (`opencode export`); `stores` gives all three in the shape of that document, a line
for the session and a line for each message. Read from the client's source and from logs of 1.2 to
1.18; `opencode_parts` has what a part says, `opencode_v2` the messages of version 2.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from sessionlog.formats.base import (
    Actor,
    Description,
    Head,
    decoded_bits,
    dict_of,
    event_record,
    list_of,
    other_record,
    standing,
    text_of,
)
from sessionlog.formats.opencode_actor import OpenCodeActor
from sessionlog.formats.opencode_lines import ORIGIN, REVERTED, TAIL
from sessionlog.formats.opencode_parts import ABORTED, Whole, error_text, part_records, time_of
from sessionlog.formats.opencode_usage import LAST, STEP, usage_of
from sessionlog.formats.opencode_v2 import TYPES, v2_records
from sessionlog.formats.parts import rest_of
from sessionlog.records import (
    Activity,
    Ending,
    Entry,
    Event,
    Kind,
    Message,
    Meta,
    Origin,
    Record,
    Reset,
    Span,
    Usage,
    shown_type,
)
from sessionlog.status import ANSWERING, WENT_BACK

_UNTITLED = re.compile(r"(?:New|Child) session - \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_GOES_ON = ("tool-calls", "unknown")
"""Words for an answer's end after which the client asks the model again."""
_FAILED = {
    "length": "the answer was cut at its longest",
    "content-filter": "the answer was refused",
    "error": "the answer failed",
}
_ABOUT = ("modelID", "providerID", "agent", "mode")


class OpenCode:
    """OpenCode's answers."""

    name = "opencode"
    agent = "opencode"
    actor: Actor | None = OpenCodeActor()

    def recognises(self, head: Head) -> bool:
        return any(_is_session(dict_of(v.get("info"))) or _is_message(v) for v in head.values)

    def plausible(self, value: dict[str, Any]) -> bool:
        return isinstance(value.get("info"), dict)

    def decode(self, value: dict[str, Any], span: Span) -> list[Record]:
        info = value.get("info")
        if not isinstance(info, dict):
            return [other_record("line", value, span)]
        if "role" not in info and "parts" not in value:
            if text_of(info.get("type")) in TYPES:
                return v2_records(info, span)
            return _session(info, span)
        return _message(info, value, span)

    def describe(
        self, path: str, oldest_first: Iterable[Record], newest_first: Iterable[Record]
    ) -> Description:
        """The session's own line has most of it; the first messages the prompt and the model."""
        meta, started, prompt = Meta(), "", ""
        for record in oldest_first:
            payload = record.payload
            started = started or record.at
            if isinstance(payload, Meta) and not meta.id:
                meta = payload
            elif isinstance(payload, Message):
                if payload.type == "user" and not prompt:
                    prompt = payload.text.strip().strip('"')  # `run` quotes what it is told
                meta = _with_model(meta, payload)
            if prompt and meta.model:
                break
        title = text_of(meta.extra.get("title"))
        title = "" if _UNTITLED.fullmatch(title) else title
        id = meta.id or path.rpartition("/")[2].removesuffix(".json").removesuffix(".jsonl")
        return Description(meta._replace(id=id, task=prompt), title or prompt, started)

    def ending(self, newest_first: Iterable[Record]) -> Ending:
        """The last message decides: an answer by its error or the word at its end."""
        records = iter(newest_first)
        seen: list[Record] = []
        for record in records:
            payload = record.payload
            if isinstance(payload, Event) and payload.ends and payload.ok is False:
                if payload.kind == ABORTED:
                    return Ending(True, payload.kind, False, "interrupted", f"error {ABORTED}")
                return Ending(True, payload.kind, False, payload.text, f"error {payload.kind}")
            seen.append(record)
            if isinstance(payload, Event) and payload.kind == LAST:
                return _decided(payload, seen, records)
            if isinstance(payload, Message) and payload.type == "user" and not payload.unsent:
                break
        return standing(chain(seen, records))

    def glimpse(self, path: str, head: bytes, tail: bytes, size: int) -> Entry | None:
        return None  # the store has the rows of a whole database at once

    def classify(self, data: bytes) -> int:
        return decoded_bits(self, data)

    def usage(self, record: Record) -> Usage | None:
        return usage_of(record)

    def alive(self, path: str, session_id: str) -> str | None:
        from sessionlog.formats.opencode_life import evidence

        return evidence(path, session_id)

    def subagents(self, path: str) -> list[str]:
        from sessionlog.formats.opencode_subagents import subagents_of

        return subagents_of(path)

    def started(self, path: str, half: Activity) -> str | None:
        from sessionlog.formats.opencode_subagents import session_beside

        return session_beside(path, text_of(half.extra.get("session")))


# -- what a line says --------------------------------------------------------------------------


def _is_session(info: Mapping[str, Any]) -> bool:
    """Ids of exports that were made anonymous may be anything."""
    named = text_of(info.get("id")).startswith("ses_")
    return "role" not in info and "time" in info and (named or "directory" in info)


def _is_message(value: Mapping[str, Any]) -> bool:
    info = dict_of(value.get("info"))
    return "time" in info and (
        (info.get("role") in ("user", "assistant") and isinstance(value.get("parts"), list))
        or (info.get("type") in TYPES and text_of(info.get("sessionID")) != "")
    )


def _session(info: Mapping[str, Any], span: Span) -> list[Record]:
    times, model = dict_of(info.get("time")), dict_of(info.get("model"))
    origin = dict_of(dict_of(info.get("metadata")).get(ORIGIN))
    parent, at = text_of(origin.get("id")), origin.get("at")
    forked = Origin(parent, at) if parent and type(at) is int else None
    meta = Meta(
        id=text_of(info.get("id")),
        model=text_of(model.get("id")),
        provider=text_of(model.get("providerID")),
        driver="opencode",
        workdir=text_of(info.get("directory")),
        forked_from=forked,
        resumed_from=parent if parent and forked is None else None,
        extra=rest_of(info, "id", "directory", "model"),
    )
    records = [Record(Kind.META, time_of(times.get("created")), meta, span)]
    if archived := time_of(times.get("archived")):
        records.append(event_record("archived", span, archived, part=1))
    return records


def _message(info: Mapping[str, Any], value: Mapping[str, Any], span: Span) -> list[Record]:
    times = dict_of(info.get("time"))
    at, key = time_of(times.get("created")), text_of(info.get("id"))
    role = text_of(info.get("role"))
    answer = f"{key} {times.get('created')}" if role == "assistant" else ""
    parts = list_of(value.get("parts"))
    whole = Whole(span, key, role, at, answer, _is_dropped(info, parts), _about(info))
    stands = value.get(REVERTED)
    records = [_compacted(info, value, span, at)] if _ends_compaction(info) else []
    for n, part in enumerate(parts):
        hidden = type(stands) is int and n >= stands
        records += part_records(part, whole._replace(unsent=True) if hidden else whole)
    records += _last(info, parts, whole, value)
    summary = info.get("summary") is True
    return [_told(record, n, key, summary) for n, record in enumerate(records)]


def _told(record: Record, part: int, key: str, summary: bool) -> Record:
    payload = record.payload
    if summary and isinstance(payload, Message) and payload.type == "assistant":
        payload = payload._replace(type="summary")
    return record._replace(part=part, key=key, payload=payload)


def _about(info: Mapping[str, Any]) -> dict[str, Any]:
    """Model and agent of a message; a person's names the model that is to answer."""
    about = {name: info[name] for name in _ABOUT if name in info}
    return {**dict_of(info.get("model")), **about}


def _is_dropped(info: Mapping[str, Any], parts: list[Any]) -> bool:
    """An answer with an error is never sent again; one that a person interrupted is, for what it
    holds besides reasoning. What is left of a message of which nothing is known is not, either."""
    if text_of(info.get("role")) not in ("user", "assistant"):
        return True
    error = dict_of(info.get("error"))
    quiet = ("step-start", "reasoning")
    held = any(dict_of(part).get("type") not in quiet for part in parts)
    return bool(error) and not (error.get("name") == ABORTED and held)


def _ends_compaction(info: Mapping[str, Any]) -> bool:
    return info.get("summary") is True and bool(info.get("finish")) and not info.get("error")


def _compacted(info: Mapping[str, Any], value: Mapping[str, Any], span: Span, at: str) -> Record:
    """A summary that is whole takes the place of all before the message that asked for it, or
    before the one from which on that message keeps them (`stores.opencode_lines` notes it)."""
    kept = text_of(value.get(TAIL)) or text_of(info.get("parentID"))
    return Record(Kind.RESET, at, Reset("compaction", keep=(kept, "")), span)


def _last(
    info: Mapping[str, Any], parts: list[Any], whole: Whole, value: Mapping[str, Any]
) -> Iterator[Record]:
    """How an answer ended: a note, then its error. A message without parts leaves a note, too."""
    times = dict_of(info.get("time"))
    ended = time_of(times.get("completed"))
    error = dict_of(info.get("error"))
    stepped = any(dict_of(part).get("type") == STEP for part in parts)
    known = ("role", "id", "sessionID", *(("tokens", "cost") if stepped else ()))
    extra = {**rest_of(info, *known), "ended": bool(ended)}
    if REVERTED in value:
        extra[REVERTED] = value[REVERTED]
    if whole.role == "assistant" or not parts:
        kind = LAST if whole.role == "assistant" else "message"
        yield event_record(kind, whole.span, ended or whole.at, text=text_of(info.get("finish")),
                           extra=extra)  # fmt: skip
    if error:
        name = text_of(error.get("name")) or "error"
        yield event_record(name, whole.span, ended or whole.at, quiet=False, ok=False,
                           ends=value.get(REVERTED) != 0, text=error_text(error),
                           extra=dict_of(error.get("data")))  # fmt: skip


# -- how it stands -----------------------------------------------------------------------------


def _decided(last: Event, seen: list[Record], older: Iterator[Record]) -> Ending:
    """The ending that the last answer makes, by its `finish` and its time of completion."""
    if last.extra.get(REVERTED) == 0:
        return Ending(True, None, None, WENT_BACK, "session.revert")
    finish = last.text
    if finish in _FAILED:
        return Ending(True, finish, False, _FAILED[finish], f"finish {finish}")
    if finish and finish not in _GOES_ON:
        said = _said(seen, older)
        return Ending(True, finish, True if finish == "stop" else None, said, f"finish {finish}")
    records = [*seen, *_of_line(seen, older)]
    ended = bool(last.extra.get("ended"))
    if ended and not finish and not _calls(records):
        return Ending(True, None, None, _text(records) or "done", "time.completed, without a call")
    found = standing(records)
    if found.evidence.startswith("a call without"):
        return found
    evidence = f"finish {finish}, and nothing after it" if finish else "no time.completed"
    return Ending(False, None, None, ANSWERING, evidence)


def _of_line(seen: list[Record], older: Iterator[Record]) -> Iterator[Record]:
    """The other records of the line that the last answer stands on."""
    offset = seen[-1].span.offset
    for record in older:
        if record.span.offset != offset:
            return
        yield record


def _said(seen: list[Record], older: Iterator[Record]) -> str:
    return _text(_of_line(seen, older)) or "done"


def _text(newest_first: Iterable[Record]) -> str:
    texts = (
        record.payload.text.strip()
        for record in newest_first
        if isinstance(record.payload, Message)
        and shown_type(record.payload) in ("assistant", "summary")
    )
    return next(filter(None, texts), "")


def _calls(records: Iterable[Record]) -> bool:
    return any(isinstance(r.payload, Message) and r.payload.activity for r in records)


def _with_model(meta: Meta, message: Message) -> Meta:
    """The model that the first messages name, where the session's own line names none."""
    model = text_of(message.extra.get("modelID"))
    if meta.model or not model:
        return meta
    return meta._replace(model=model, provider=text_of(message.extra.get("providerID")))
