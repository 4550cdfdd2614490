"""Claude Code: one log a session, a tree of records by uuid, read here in file order.

Walking from the last record to the root loses parallel tool results and all that stands before a
compaction, so only prompts are asked what they follow: those tell what was taken back. Anthropic
documents the place of the logs and calls their format internal: this was seen from 1.0.98 to
2.1.332.

`claude_blocks` has what was said, `claude_turns` where it went back, `claude_events` what the
client notes beside it, and `claude_life` and `claude_subagents` the files that stand around a log.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from sessionlog.formats import claude_life
from sessionlog.formats.base import (
    LOUD,
    Actor,
    Description,
    Head,
    decoded_bits,
    dict_of,
    other_record,
    text_of,
)
from sessionlog.formats.claude_actor import ClaudeActor
from sessionlog.formats.claude_blocks import records_of
from sessionlog.formats.claude_ends import ending_of
from sessionlog.formats.claude_events import (
    BOOKKEEPING,
    TITLES,
    api_error,
    attachment,
    bookkeeping,
    progress,
    system,
)
from sessionlog.formats.claude_facts import description_of
from sessionlog.formats.claude_glimpse import row
from sessionlog.formats.claude_subagents import started_by, subagents_of
from sessionlog.formats.claude_turns import goes_on, may_go_back
from sessionlog.formats.claude_usage import usage_of
from sessionlog.records import Activity, Ending, Entry, Message, Record, Span, Usage

_SPOKEN = ("user", "assistant", "system", "progress", "attachment")
_TORN_HEAD = re.compile(
    rb'\{"(?:parentUuid":(?:null|"[^"]*"),"(?:isSidechain|logicalParentUuid)"'
    rb'|type":"(?:queue-operation|file-history-snapshot|summary|last-prompt)",)'
)


class Claude:
    """Claude Code's answers."""

    name = "claude"
    agent = "claude"
    actor: Actor | None = ClaudeActor()

    def recognises(self, head: Head) -> bool:
        if any(isinstance(dict_of(v.get("message")).get("parts"), list) for v in head.values):
            return False  # Qwen Code puts the same envelope around Gemini's parts
        if head.values:
            return any(_is_own(value) for value in head.values)
        return bool(_TORN_HEAD.match(head.data.lstrip(b"\0 \t\r\n")))

    def plausible(self, value: dict[str, Any]) -> bool:
        """Not the message inside a record, which has a type of its own."""
        return isinstance(value.get("type"), str) and bool(
            {"uuid", "sessionId", "leafUuid", "snapshot"} & value.keys()
        )

    def decode(self, value: dict[str, Any], span: Span) -> list[Record]:
        records, back = _records(value, span), goes_on(value)
        return records if back is None else [r._replace(goes_on=back) for r in records]

    def may_go_back(self, data: bytes) -> bool:
        return may_go_back(data)

    def describe(
        self, path: str, oldest_first: Iterable[Record], newest_first: Iterable[Record]
    ) -> Description:
        return description_of(path, oldest_first, newest_first)

    def ending(self, newest_first: Iterable[Record]) -> Ending:
        return ending_of(newest_first)

    def glimpse(self, path: str, head: bytes, tail: bytes, size: int) -> Entry | None:
        return row(self.decode, path, head, tail, size)

    def classify(self, data: bytes) -> int:
        """By the first and the last bytes, as the client orders the keys; else by decoding."""
        if not data.endswith(b"}") or b"\0" in data:
            return decoded_bits(self, data)
        found = _FAST.match(data)
        if found is not None and found[1] in _FAST_QUIET:
            return 0
        if found is None:
            fine = _is_plain_answer(data)
        else:
            fine = found[1] == b"user" and _is_plain_result(data, found.end())
        return LOUD | 1 if fine else decoded_bits(self, data)

    def usage(self, record: Record) -> Usage | None:
        return usage_of(record)

    def alive(self, path: str, session_id: str) -> str | None:
        return claude_life.evidence(path, session_id)

    def subagents(self, path: str) -> list[str]:
        return subagents_of(path)

    def started(self, path: str, half: Activity) -> str | None:
        return started_by(path, half)


_SCALARS = rb'(?:"(?!type"|message")\w+":(?:"[^"\\]*"|null|true|false|\d+),)*'
_FAST = re.compile(rb"\{" + _SCALARS + rb'"type":"([\w-]+)"[,}]')
_FAST_QUIET = frozenset(word.encode() for word in ("progress", *TITLES, *BOOKKEEPING))
_FAST_RESULT = re.compile(
    rb'"message":\{"role":"user","content":\[\{(?:"tool_use_id":"[^"\\]*",)?"type":"tool_result",'
    rb'"content":"[^"\\]*(?:\\.[^"\\]*)*"(?:,"is_error":false)?(?:,"tool_use_id":"[^"\\]*")?\}\]\}'
)
_FAST_ANSWER = re.compile(
    rb"\{" + _SCALARS + rb'"message":\{(?:"\w+":(?:"[^"\\]*"|null),)*"content":\[\{"type":"'
    rb'(?:tool_use",|text","text":"[!#-\[\]-~]|thinking","thinking":"[!#-\[\]-~])'
)
_FAST_END = re.compile(
    rb'"type":"assistant","uuid":"[^"\\]*","timestamp":"[^"\\]*"'
    rb'(?:,"\w+":(?:"[^"\\]*"|null|true|false|\d+))*\}\Z'
)
_NEAR = 1000
"""Bytes in which an answer's envelope ends."""


def _is_plain_answer(data: bytes) -> bool:
    """One block of an answer, with something to show, and no error?"""
    return (
        _FAST_ANSWER.match(data) is not None
        and _FAST_END.search(data, max(len(data) - _NEAR, 0)) is not None
        and b'}],"stop_reason":' in data  # the list ends with an object,
        and b",{" not in data  # and has no second one
        and b'"isApiErrorMessage":true' not in data
    )


def _is_plain_result(data: bytes, at: int) -> bool:
    """One result of a call that did not fail?"""
    return _FAST_RESULT.match(data, at) is not None and b'"toolUseResult":"' not in data


def _records(value: dict[str, Any], span: Span) -> list[Record]:
    kind, at, key = (text_of(value.get(name)) for name in ("type", "timestamp", "uuid"))
    if kind in ("user", "assistant") and isinstance(value.get("message"), dict):
        records = records_of(value, span, at, key)
        if value.get("isApiErrorMessage") is True:
            return [api_error(value, _texts(records), span, at, key)]
        return records
    if kind == "progress":
        return [progress(value, span, at, key)]
    if kind == "attachment":
        return _attached(value, span, at, key)
    if kind in TITLES or kind in BOOKKEEPING:
        return [bookkeeping(kind, value, span, at)]
    if kind == "system":
        return [system(value, span, at, key)]
    return [other_record(kind or "record", value, span, at)._replace(key=key)]


def _is_own(value: Mapping[str, Any]) -> bool:
    kind = value.get("type")
    if kind == "summary":
        return "leafUuid" in value
    if kind in _SPOKEN:
        return "parentUuid" in value and ("sessionId" in value or "isSidechain" in value)
    known = isinstance(kind, str) and (kind in BOOKKEEPING or kind in TITLES)
    return known and ("sessionId" in value or "snapshot" in value)


def _texts(records: Iterable[Record]) -> str:
    texts = [r.payload.text for r in records if isinstance(r.payload, Message)]
    return "\n".join(filter(None, texts))


def _attached(value: Mapping[str, Any], span: Span, at: str, key: str) -> list[Record]:
    """A prompt that was typed while the model worked reaches it as an attachment."""
    body = dict_of(value.get("attachment"))
    if body.get("type") == "queued_command" and body.get("prompt"):
        typed = {**value, "type": "user", "message": {"content": body["prompt"]}}
        return records_of(typed, span, at, key)
    return [attachment(value, span, at, key)]
