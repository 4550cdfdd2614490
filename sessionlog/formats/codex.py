"""The logs of OpenAI's Codex CLI: rollouts, one JSON object a line.

``{timestamp, type, payload}`` since about 0.32, with an `ordinal` since 0.149; before that a head
without a type and bare items without times. `response_item`, what the model exchanged, is the
base; `event_msg`, what the screen showed, tells it again and adds errors and turns. Read from the
client's public source and from logs of 0.39 to 0.171.

A fork of 0.149 and later holds only what is new and names the rest by `history_base`. What this
format reads is a file's lines; `stores.codex_fork` puts the parent's before them where it is found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from sessionlog.formats.base import (
    LOUD,
    Actor,
    Description,
    Head,
    decoded_bits,
    dict_of,
    event_record,
    in_flight,
    message_record,
    other_record,
    standing,
    text_of,
)
from sessionlog.formats.codex_actor import CodexActor
from sessionlog.formats.codex_events import QUIET, STARTED, ended_by, event_of, usage
from sessionlog.formats.codex_files import started_by, subagents_of
from sessionlog.formats.codex_glimpse import row
from sessionlog.formats.codex_head import read_head
from sessionlog.formats.codex_items import item_records, messages_of
from sessionlog.formats.codex_renew import is_old_head
from sessionlog.formats.parts import rest_of
from sessionlog.formats.tokens import openai
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

_ENVELOPES = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
_SNAPSHOTS = ("turn_context", "world_state", "token_usage_record", "session_state")
_ITEMS = ("message", "reasoning", "function_call", "function_call_output", "local_shell_call")
_ASKED = Ending(False, None, None, ANSWERING, "a turn was begun, and nothing was said in it")
_LOOK = 200
"""Records that the ending of an open turn looks at."""


class Codex:
    """Codex's answers."""

    name = "codex"
    agent = "codex"
    actor: Actor | None = CodexActor()

    def recognises(self, head: Head) -> bool:
        return is_old_head(head.first) or any(
            _enveloped(value) or value.get("record_type") == "state" for value in head.values
        )

    def plausible(self, value: dict[str, Any]) -> bool:
        """Also the bare items of old logs, though an envelope may hold such an object."""
        return isinstance(value.get("type"), str) and (
            "payload" in value or value["type"] in _ITEMS
        )

    def decode(self, value: dict[str, Any], span: Span) -> list[Record]:
        kind, at = text_of(value.get("type")), text_of(value.get("timestamp"))
        payload = value.get("payload")
        if isinstance(payload, dict):
            return _from_envelope(kind, payload, span, at)
        if not kind and is_old_head(value):
            return [Record(Kind.META, at, _meta(value), span)]
        if "record_type" in value:
            name = text_of(value["record_type"]) or "record"
            return [event_record(name, span, at, extra=value)]
        if kind and "payload" not in value:
            return item_records(value, span, at)
        return [other_record(kind or "record", value, span, at)]

    def describe(
        self, path: str, oldest_first: Iterable[Record], newest_first: Iterable[Record]
    ) -> Description:
        return read_head(oldest_first).description(path)

    def ending(self, newest_first: Iterable[Record]) -> Ending:
        """A turn that was closed, with nothing said after it, is an ending; a turn that was begun
        and not closed is none. Logs of before 0.40 tell of no turns: there an answer without a
        call is an ending."""
        seen: list[Record] = []
        spoke, turns = "", False
        records = iter(newest_first)
        for record in records:
            if len(seen) < _LOOK:
                seen.append(record)
            payload = record.payload
            if isinstance(payload, Reset) and payload.turns and not spoke:
                return Ending(True, None, None, WENT_BACK, "a rollback is last")
            if isinstance(payload, Event):
                if payload.ends and not spoke:
                    return ended_by(payload, records)
                if payload.ends and payload.kind != "error":
                    turns = False
                    break
                if payload.kind in STARTED and not spoke:  # nothing was said in this turn yet
                    asked = any(_is_said(record) for record in records)
                    return _ASKED if asked else standing(seen)
                turns = turns or payload.kind in STARTED or "turn_id" in payload.extra
                if payload.kind in STARTED or (spoke == "assistant" and _tells_turns(payload)):
                    break
            elif isinstance(payload, Message) and not spoke:
                said = shown_type(payload)
                spoke = said if said not in ("system", "summary") else ""
            if spoke not in ("", "assistant") and len(seen) == _LOOK:
                break
        if spoke == "assistant" and not turns and not in_flight(seen):
            return Ending(True, None, True, "done", "the last item is an answer")
        return standing(seen)

    def glimpse(self, path: str, head: bytes, tail: bytes, size: int) -> Entry | None:
        return row(self.decode, path, head, tail, size)

    def classify(self, data: bytes) -> int:
        """By the first bytes, as the client orders the keys; else by decoding."""
        found = _FAST.match(data)
        if found is None or not data.endswith(b"}"):
            return decoded_bits(self, data)
        outer, inner = found[1], found[2] or b""
        if outer in _FAST_SNAPSHOTS or (outer == b"event_msg" and inner in _FAST_QUIET):
            return 0
        if outer == b"response_item" and (
            inner in (b"function_call", b"custom_tool_call")
            or (inner == b"message" and _FAST_SPOKEN.match(data, found.end()))
            or (inner.endswith(b"_call_output") and _FAST_FINE.search(data, found.end(), _NEAR))
        ):
            return LOUD | 1
        return decoded_bits(self, data)

    def usage(self, record: Record) -> Usage | None:
        """Two running totals of the thread: `token_count` events have it with the last step, and
        may repeat; since 0.149 a `token_usage_record` has it too, and loses none when the client
        is killed. A fork goes on from its parent's total. Input includes what was cached."""
        event = record.payload
        if not isinstance(event, Event):
            return None
        if event.kind == "turn_context":
            return Usage(model=event.text) if event.text else None
        if event.kind == "token_count":
            info = dict_of(event.extra.get("info"))
            total, step = info.get("total_token_usage"), info.get("last_token_usage")
        elif event.kind == "token_usage_record":
            total, step = event.extra.get("thread_token_usage"), event.extra.get("usage")
        else:
            return None
        tokens = openai(total)
        return Usage(tokens, counter=event.kind, step=openai(step)) if tokens else None

    def alive(self, path: str, session_id: str) -> str | None:
        return None  # its pid files are those of a background server, not of a session

    def subagents(self, path: str) -> list[str]:
        return subagents_of(path)

    def started(self, path: str, half: Activity) -> str | None:
        return started_by(path, half)


_FAST = re.compile(
    rb'\{"timestamp":"[^"\\]*",(?:"ordinal":\d+,)?"type":"(\w+)","payload":\{(?:"type":"(\w+)")?'
)
_FAST_SPOKEN = re.compile(
    rb',(?:"status":"\w*",)?(?:"id":"[^"\\]*",)?"role":"(?:assistant|developer)"'
)
_FAST_FINE = re.compile(
    rb'"output":"(?:Chunk ID: \w+\\n)?(?:Wall time: [\d.]+ seconds\\nProcess exited with code 0\\n'
    rb"|Exit code: 0\\n)"
)
_FAST_QUIET = frozenset(word.encode() for word in QUIET)
_FAST_SNAPSHOTS = frozenset(word.encode() for word in _SNAPSHOTS)
_NEAR = 600
"""Bytes of a line in which the head of an output stands."""


def _enveloped(value: Mapping[str, Any]) -> bool:
    return value.get("type") in _ENVELOPES and isinstance(value.get("payload"), dict)


def _from_envelope(kind: str, payload: dict[str, Any], span: Span, at: str) -> list[Record]:
    if kind == "response_item":
        return item_records(payload, span, at)
    if kind == "event_msg":
        return event_of(payload, span, at)
    if kind == "session_meta":
        return [Record(Kind.META, at, _meta(payload), span), *_goes_on(payload, span, at)]
    if kind == "compacted":
        return _compacted(payload, span, at)
    if kind in _SNAPSHOTS:
        text = text_of(payload.get("model")) or usage(dict_of(payload.get("thread_token_usage")))
        return [event_record(kind, span, at, text=text, extra=payload)]
    return [other_record(kind or "record", payload, span, at, quiet=kind.endswith("_metadata"))]


def _is_said(record: Record) -> bool:
    return isinstance(record.payload, Message) and shown_type(record.payload) != "system"


def _meta(payload: Mapping[str, Any]) -> Meta:
    """A fork of before 0.149 repeats its parent's head too; the first is the session's own.

    A subagent is told by who started it, and a session that was composed here by what of.
    """
    parent = text_of(payload.get("forked_from_id"))
    spawned = dict_of(dict_of(dict_of(payload.get("source")).get("subagent")).get("thread_spawn"))
    starter = text_of(payload.get("parent_thread_id")) or text_of(spawned.get("parent_thread_id"))
    return Meta(
        id=text_of(payload.get("id")) or text_of(payload.get("session_id")),
        provider=text_of(payload.get("model_provider")),
        workdir=text_of(payload.get("cwd")),
        resumed_from=starter or text_of(payload.get("resumed_from")) or None,
        forked_from=Origin(parent) if parent else None,
        extra=rest_of(payload, "id", "model_provider", "cwd"),
    )


def _goes_on(payload: Mapping[str, Any], span: Span, at: str) -> list[Record]:
    """A note of the session whose records come before this one's, which may not be at hand."""
    base = dict_of(payload.get("history_base"))
    thread, end = text_of(base.get("thread_id")), base.get("end_ordinal_exclusive")
    if not thread:
        return []
    text = f"goes on from {thread}, whose first {end} records belong to it"
    extra = {"history_base": base}
    return [event_record("fork", span, at, part=1, quiet=False, text=text, extra=extra)]


def _compacted(payload: Mapping[str, Any], span: Span, at: str) -> list[Record]:
    """The new context; its summary, which stands in it as a prompt, follows as a message."""
    summary = text_of(payload.get("message"))
    context = tuple(
        message
        for message in messages_of(payload.get("replacement_history"))
        if not summary or message.text != summary
    )
    records = [Record(Kind.RESET, at, Reset("compaction", context=context), span)]
    if summary:
        records.append(message_record("summary", summary, span, at, part=1))
    return records


def _tells_turns(event: Event) -> bool:
    """Is it an event that names its turn in every log that has turns?"""
    return event.kind == "turn_context" or "record_type" in event.extra
