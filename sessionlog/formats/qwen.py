"""Qwen Code: one log a session, a tree of records by uuid; the last record's branch counts.

The client goes from the last record to the root; a rewind is a record with an older parent.
Subagents have logs of their own (`subagents/<session>/agent-*.jsonl`) whose records are side
chains. Logs from before it had a format of its own are Gemini CLI's. Read from the client's public
source and from logs of 0.24.4; `qwen_parts` has what was said, `qwen_events` what is noted beside.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from sessionlog.formats import qwen_life
from sessionlog.formats.base import (
    Actor,
    Description,
    Head,
    decoded_bits,
    dict_of,
    other_record,
    text_of,
)
from sessionlog.formats.qwen_actor import QwenActor
from sessionlog.formats.qwen_ends import description_of, ending_of
from sessionlog.formats.qwen_events import OUTSIDE, QUIET, system
from sessionlog.formats.qwen_links import link_of
from sessionlog.formats.qwen_parts import records_of
from sessionlog.formats.qwen_subagents import started_by, subagents_of
from sessionlog.formats.qwen_usage import usage_of
from sessionlog.records import Activity, Ending, Entry, Record, Span, Usage

_TYPES = ("user", "assistant", "tool_result", "system")
_TORN_HEAD = re.compile(rb'\{"uuid":"[^"\\]*","parentUuid":(?:null|"[^"\\]*"),"sessionId":"')


class Qwen:
    """Qwen Code's answers."""

    name = "qwen"
    agent = "qwen"
    program = "qwen"
    package = "@qwen-code/qwen-code"
    hides_calls = False
    actor: Actor | None = QwenActor()

    def recognises(self, head: Head) -> bool:
        if head.values:
            return any(_is_own(value) for value in head.values)
        return bool(_TORN_HEAD.match(head.data.lstrip(b"\0 \t\r\n")))

    def plausible(self, value: dict[str, Any]) -> bool:
        """Not a part inside a message."""
        return value.get("type") in _TYPES and isinstance(value.get("uuid"), str)

    def decode(self, value: dict[str, Any], span: Span) -> list[Record]:
        kind, at, key = (text_of(value.get(name)) for name in ("type", "timestamp", "uuid"))
        if kind == "system":
            records = [system(value, span, at)]
        elif kind in _TYPES and isinstance(value.get("message"), dict | str):
            records = records_of(value, span, at, key)
        else:
            records = [other_record(kind or "record", value, span, at)]
        parent = _parent(value, key)
        return [record._replace(key=key, parent=parent) for record in records]

    def describe(
        self, path: str, oldest_first: Iterable[Record], newest_first: Iterable[Record]
    ) -> Description:
        return description_of(path, oldest_first, newest_first)

    def ending(self, newest_first: Iterable[Record]) -> Ending:
        return ending_of(newest_first)

    def glimpse(self, path: str, head: bytes, tail: bytes, size: int) -> Entry | None:
        return None  # prompt, model and title stand in records, which have to be decoded

    def classify(self, data: bytes) -> int:
        """A line of bookkeeping by its first bytes, as the client orders the keys; else by
        decoding."""
        found = _FAST.match(data)
        if found is None or not data.endswith(b"}") or b"\0" in data:
            return decoded_bits(self, data)
        if b'"type":"system"' not in found[0]:
            return decoded_bits(self, data)
        if found[1] in _FAST_QUIET or _FAST_EVENT.match(data, found.end()):
            return 0
        return decoded_bits(self, data)

    def usage(self, record: Record) -> Usage | None:
        return usage_of(record)

    def alive(self, path: str, session_id: str) -> str | None:
        return qwen_life.evidence(path, session_id)

    def subagents(self, path: str) -> list[str]:
        return subagents_of(path)

    def started(self, path: str, half: Activity) -> str | None:
        return started_by(path, half)

    def link(self, data: bytes) -> tuple[str, str] | None:
        """(uuid, parent) of a raw line; None where there is none."""
        return link_of(data)


_FAST = re.compile(
    rb'\{(?:"(?!subtype")\w+":(?:"[^"\\]*"|null|true|false|\d+),)*"subtype":"(\w+)",'
)
_FAST_QUIET = frozenset(word.encode() for word in QUIET)
_FAST_EVENT = re.compile(
    rb'"systemPayload":\{"uiEvent":\{"event.name":"qwen-code\.(?:api_response|tool_call)",'
)


def _parent(value: Mapping[str, Any], key: str) -> str | None:
    """What a record follows; None for one that the client does not go by."""
    if not key or "parentUuid" not in value or value.get("subtype") in OUTSIDE:
        return None
    return text_of(value["parentUuid"])


def _is_own(value: Mapping[str, Any]) -> bool:
    """A record with Gemini's parts, a tool's record, or a note with the client's payload."""
    if not isinstance(value.get("uuid"), str) or not isinstance(value.get("sessionId"), str):
        return False
    if value.get("type") == "system":
        return "systemPayload" in value
    parts = dict_of(value.get("message")).get("parts")
    return value.get("type") in _TYPES and (
        isinstance(parts, list) or value.get("type") == "tool_result"
    )
