"""What `claude -p --output-format stream-json` printed, saved to a file. Read only.

The client's own log of the run stands in its folder and can be resumed; this is what a script
kept. A `system`/`init` line begins a run, `assistant` and `user` lines hold blocks as its log does
(a subagent's name the call that started it), and a `result` line ends a turn; more may follow, and
so may whole further runs. With `--include-partial-messages` the API's own events stand between:
they come once more, whole. Not every line has a time. Seen with 2.1.332.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain, islice
from typing import Any

from sessionlog.dialects.claude_stream_json import result_of
from sessionlog.formats.base import (
    Actor,
    Description,
    Head,
    decoded_bits,
    dict_of,
    event_record,
    other_record,
    text_of,
)
from sessionlog.formats.claude_blocks import SYNTHETIC, is_interrupt, records_of
from sessionlog.formats.claude_ends import cut_off
from sessionlog.formats.claude_events import api_error, reset_of
from sessionlog.formats.parts import json_text, rest_of
from sessionlog.formats.tokens import anthropic, dollars
from sessionlog.records import (
    Ending,
    Entry,
    Kind,
    Message,
    Meta,
    Record,
    Result,
    Span,
    Usage,
)

_SPOKEN = ("assistant", "user")
_PASSING = (
    "stream_event", "rate_limit_event", "tool_progress", "tool_use_summary", "auth_status",
    "keep_alive", "control_request", "control_response", "control_cancel_request",
    "prompt_suggestion", "streamlined_text",
)  # fmt: skip
"""Lines that only say that something goes on."""
_RETRIES = ("api_retry", "api_error")
_IDS = ("type", "subtype", "uuid", "session_id")
_INIT = ("cwd", "model", "tools", "slash_commands", "agents", "skills", "plugins")
_HEAD = 200
"""Records among which the first prompt is looked for."""
_TAIL = 50
"""Records among which the last time is looked for: a result line has none."""
_SHORT = 200
"""Characters of a text that is only passed by."""


class ClaudeStream:
    """The answers for a saved stream."""

    name = "claude-stream"
    agent = "claude"
    actor: Actor | None = None

    def recognises(self, head: Head) -> bool:
        return any(map(_is_own, head.values))

    def plausible(self, value: dict[str, Any]) -> bool:
        return isinstance(value.get("type"), str) and "session_id" in value

    def decode(self, value: dict[str, Any], span: Span) -> list[Record]:
        kind, at = text_of(value.get("type")), text_of(value.get("timestamp"))
        key = text_of(value.get("uuid"))
        if kind in _SPOKEN and isinstance(value.get("message"), dict):
            return _said(value, span, at, key)
        if kind == "system":
            return [_system(value, span, at, key)]
        if kind == "result":
            return [Record(Kind.RESULT, at, _ended(value), span, key=key)]
        if kind in _PASSING:
            text = _passing(dict_of(value.get("event"))) or text_of(value.get("summary"))
            return [event_record(kind, span, at, key=key, text=text[:_SHORT])]
        return [other_record(kind or "line", value, span, at)]

    def describe(
        self, path: str, oldest_first: Iterable[Record], newest_first: Iterable[Record]
    ) -> Description:
        """A saved stream answers to its file's name: the id in it is that of the client's log."""
        meta, started, prompt, answer = Meta(), "", "", ""
        next((r for r in islice(newest_first, _TAIL) if r.at), None)  # the row's time: read so far
        for record in islice(oldest_first, _HEAD):
            payload = record.payload
            started = started or record.at
            if isinstance(payload, Meta) and not meta.driver:
                meta = payload
            elif isinstance(payload, Message) and not payload.sidechain:
                prompt = prompt or (payload.text if payload.type == "user" else "")
                answer = answer or (payload.text if payload.type == "assistant" else "")
            if meta.driver and started and prompt:
                break
        stem = path.rpartition("/")[2].removesuffix(".jsonl")
        return Description(meta._replace(id=stem, driver="claude"), prompt or answer, started)

    def ending(self, newest_first: Iterable[Record]) -> Ending:
        rest = iter(newest_first)
        for record in rest:
            payload = record.payload
            if isinstance(payload, Result):
                return _verdict(payload)
            if isinstance(payload, Meta):
                return cut_off([])
            if isinstance(payload, Message) and not payload.sidechain:
                if payload.type == "user" and is_interrupt(payload.text):
                    words = payload.text.strip().strip("[]")
                    return Ending(True, "interrupted", False, words, "the mark of an interrupt")
                return cut_off(chain([record], rest))
        return cut_off([])

    def glimpse(self, path: str, head: bytes, tail: bytes, size: int) -> Entry | None:
        return None  # such files are few

    def classify(self, data: bytes) -> int:
        return decoded_bits(self, data)

    def usage(self, record: Record) -> Usage | None:
        """The result line has the run's tokens, subagents' included; the lines of an answer have
        them as they were when it began."""
        payload = record.payload
        if isinstance(payload, Result):
            tokens = anthropic(payload.extra.get("usage"))
            cost = dollars(payload.extra.get("total_cost_usd"))
            return Usage(tokens, cost, counter="run") if tokens or cost is not None else None
        if not isinstance(payload, Message) or record.part:
            return None
        model = text_of(payload.extra.get("model"))
        return Usage(model=model) if model and model != SYNTHETIC else None

    def alive(self, path: str, session_id: str) -> str | None:
        return None  # who writes it has it open


def _is_own(value: Mapping[str, Any]) -> bool:
    kind = value.get("type")
    if not isinstance(value.get("session_id"), str) or "sessionId" in value:
        return False
    if kind in _SPOKEN:
        return isinstance(value.get("message"), dict) and "parent_tool_use_id" in value
    if kind == "system":
        return isinstance(value.get("subtype"), str)
    return kind == "result" and "is_error" in value


def _said(value: Mapping[str, Any], span: Span, at: str, key: str) -> list[Record]:
    """A line of the conversation, in the words of the client's own log."""
    parent = text_of(value.get("parent_tool_use_id"))
    like = {
        "type": value["type"], "message": value["message"], "sessionId": value.get("session_id"),
        "isSidechain": bool(parent), "agentId": text_of(value.get("agent_id")) or parent,
        "isMeta": value.get("isSynthetic"), "toolUseResult": value.get("tool_use_result"),
    }  # fmt: skip
    records = records_of(like, span, at, key)
    if value["type"] == "assistant" and value.get("error"):
        said = [r.payload.text for r in records if isinstance(r.payload, Message)]
        return [api_error({**like, "error": value["error"]}, "\n".join(said), span, at, key)]
    return records


def _system(value: Mapping[str, Any], span: Span, at: str, key: str) -> Record:
    kind = text_of(value.get("subtype")) or "system"
    if kind == "init":
        meta = Meta(
            text_of(value.get("session_id")), model=text_of(value.get("model")),
            provider="anthropic", driver="claude", workdir=text_of(value.get("cwd")),
            extra=rest_of(value, "type", "subtype", "uuid", *_INIT),
        )  # fmt: skip
        return Record(Kind.META, at, meta, span, key=key)
    if kind == "compact_boundary":
        return reset_of(dict_of(value.get("compact_metadata")), span, at, key)
    rest = rest_of(value, *_IDS)
    text = next((rest[name] for name in ("summary", "description", "stderr", "stdout", "error")
                 if rest.get(name) and isinstance(rest[name], str)), "")  # fmt: skip
    if kind in _RETRIES:
        words = text or json_text(rest)
        return event_record(
            "retry", span, at, key=key, quiet=False, ok=False, text=words[:_SHORT], extra=rest
        )
    return event_record(
        kind, span, at, key=key, text=text[:_SHORT], extra=rest,
        call_id=text_of(value.get("tool_use_id")),
    )  # fmt: skip


def _ended(value: Mapping[str, Any]) -> Result:
    """A result line; an ending that went well goes by the client's own word for it."""
    made = result_of(value)
    word = text_of(value.get("subtype")) or made.reason
    rest = rest_of(value, "type", "subtype", "result", "errors", "uuid")
    return made._replace(reason=made.reason if made.code else word, extra=rest)


def _verdict(result: Result) -> Ending:
    words = result.error or result.message or result.reason
    return Ending(True, result.reason or None, result.code == 0, words, "result line")


def _passing(event: Mapping[str, Any]) -> str:
    """What an event of the API brings: a piece of a text, of a thought or of arguments."""
    delta = dict_of(event.get("delta"))
    pieces = (delta.get(name) for name in ("text", "thinking", "partial_json"))
    return next((text for text in pieces if isinstance(text, str) and text), "")
