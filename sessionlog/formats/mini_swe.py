"""mini-swe-agent: one document a run, of which the store makes a line a step
(`stores.trajectory`): an answer of the model and all that came back before the next.

Version 1 has plain messages, one command in each answer, and what it gave in the user message
behind it; version 2 has tool calls of either API of OpenAI, and notes what it did under `extra`.
From the agent's public source (1.0 to 2.3) and trajectories of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sessionlog.formats.base import (
    Actor,
    Description,
    Head,
    decoded_bits,
    dict_of,
    event_record,
    list_of,
    message_record,
    other_record,
    response,
    text_of,
)
from sessionlog.formats.mini_commands import (
    TOOL,
    Command,
    commands,
    opens,
    text_in,
    without_command,
)
from sessionlog.formats.parts import image_at, rest_of
from sessionlog.formats.swe_agent import INSTEAD, described, end_record, run_ending, total_usage
from sessionlog.formats.tokens import openai
from sessionlog.records import (
    Activity,
    Ending,
    Entry,
    Image,
    Kind,
    Message,
    Meta,
    Record,
    Span,
    Usage,
    stamp,
)

_CODE = re.compile(r"\s*(?:<exception>.*?</exception>\s*)?<returncode>\s*(-?\d+)\s*</", re.DOTALL)
_NOTES = ("FormatError", "LimitsExceeded", "TimeExceeded")
"""Interrupts that the agent tells the model of; of the others a person does."""
_CARRIED = ("role", "content", "tool_calls", "tool_call_id", "call_id", "output", "type",
            "reasoning_content", "thinking_blocks", "extra", "function_call", "timestamp",
            "provider_specific_fields")  # fmt: skip
_KEPT = ("cost", "returncode", "exception_info", "interrupt_type", "exit_status")

Body = Mapping[str, Any]


class MiniSwe:
    """mini-swe-agent's answers."""

    name = "mini-swe-agent"
    agent = "mini-swe-agent"
    actor: Actor | None = None
    instead = INSTEAD.format(agent="mini-swe-agent")

    def recognises(self, head: Head) -> bool:
        return "trajectory_format" in head.first

    def plausible(self, value: dict[str, Any]) -> bool:
        return "messages" in value or "info" in value or "trajectory_format" in value

    def decode(self, value: dict[str, Any], span: Span) -> list[Record]:
        if "trajectory_format" in value:
            meta = Meta(driver="mini-swe-agent", extra=rest_of(value, "messages"))
            return [Record(Kind.META, "", meta, span)]
        if "info" in value:
            return [end_record(value, span)]
        messages = list_of(value.get("messages"))
        if not messages:
            return [other_record("record", value, span)]
        records = _turn([dict_of(m) or {"content": m} for m in messages], span)
        return [record._replace(part=part) for part, record in enumerate(records)]

    def describe(
        self, path: str, oldest_first: Iterable[Record], newest_first: Iterable[Record]
    ) -> Description:
        """The file's name is the id: that of the instance."""
        name = path.rpartition("/")[2].removesuffix(".json").removesuffix(".traj")
        return described(name, oldest_first, newest_first)

    def ending(self, newest_first: Iterable[Record]) -> Ending:
        return run_ending(newest_first)

    def glimpse(self, path: str, head: bytes, tail: bytes, size: int) -> Entry | None:
        return None

    def classify(self, data: bytes) -> int:
        return decoded_bits(self, data)

    def usage(self, record: Record) -> Usage | None:
        """Version 2 keeps what the service answered, with its tokens; the cost is the run's."""
        payload = record.payload
        if not isinstance(payload, Message):
            return total_usage(record)
        told = dict_of(payload.extra.get("usage"))
        model = text_of(payload.extra.get("model"))
        tokens = openai(told)
        return Usage(tokens, model=model, answer=payload.answer) if tokens or model else None

    def alive(self, path: str, session_id: str) -> str | None:
        return None


def _turn(messages: list[Body], span: Span) -> Iterator[Record]:
    """The blocks of an answer, then what came back: the commands of the text are answered by the
    user messages behind it, those of tool calls by their ids. Never none."""
    asked: list[Command] = []
    rest = messages
    if opens(messages[0]):
        asked, rest = commands(messages[0]), messages[1:]
        yield from _answer(messages[0], asked, span)
    waiting = [command for command in asked if not command.id]
    for message in rest:
        extra = dict_of(message.get("extra"))
        role = message.get("role")
        if role == "exit":
            words = text_of(extra.get("exit_status")) or text_in(message.get("content"))
            yield event_record("exit", span, _at(message), text=words, extra=dict(extra))
        elif id := text_of(message.get("tool_call_id")) or text_of(message.get("call_id")):
            command = next((c for c in asked if c.id == id), Command(id, TOOL, ""))
            yield _result(message, command, span)
        elif waiting and role == "user" and "interrupt_type" not in extra:
            yield _result(message, waiting.pop(0), span)
        else:
            yield _said(message, span, bool(asked) or messages is rest)


def _answer(message: Body, asked: list[Command], span: Span) -> Iterator[Record]:
    at, extra = _at(message), dict_of(message.get("extra"))
    raw = dict_of(extra.get("response")) or message
    about = _about(message) | {key: raw[key] for key in ("usage", "model") if key in raw}
    answer = text_of(raw.get("id")) or f"@{span.offset}"
    items = [dict_of(item) for item in list_of(message.get("output"))]
    for text in _thoughts(message, items):
        yield message_record("reasoning", text, span, at, answer=answer, quiet=not text.strip())
    text = text_in(message.get("content")) or "\n\n".join(
        text_in(item.get("content")) for item in items if item.get("type") == "message"
    )
    if any(not command.id for command in asked):
        text = without_command(text)
    kind = "assistant" if message.get("role") != "user" else "user"
    if text.strip() or not asked:
        yield message_record(kind, text, span, at, answer=answer, extra=about)
        about = {}
    for command in asked:
        half = Activity("request", command.id, command.tool, command.arguments)
        yield message_record("activity", "", span, at, activity=half, answer=answer, extra=about)
        about = {}


def _thoughts(message: Body, items: list[Body]) -> Iterator[str]:
    if thought := text_of(message.get("reasoning_content")):
        yield thought
    else:
        blocks = list_of(message.get("thinking_blocks"))
        yield from (text_of(dict_of(block).get("thinking")) for block in blocks)
    for item in items:
        if item.get("type") == "reasoning":
            yield text_in(item.get("summary")) or text_in(item.get("content"))


def _result(message: Body, command: Command, span: Span) -> Record:
    """What a command gave. It failed when its exit code is not 0, as the agent notes or, in
    version 1, as its template tells the model."""
    content = message.get("content", message.get("output"))
    text, code = text_in(content), dict_of(message.get("extra")).get("returncode")
    if code is None and (found := _CODE.match(text)):
        code = int(found[1])
    failed = type(code) is int and code != 0
    failure = (text or f"exit code {code}") if failed else None
    half = response(command.tool, command.id, text, failure, arguments=command.arguments)
    return message_record("activity", text, span, _at(message), images=_images(content),
                          activity=half, extra=_about(message))  # fmt: skip


def _said(message: Body, span: Span, free: bool) -> Record:
    """A prompt, or a note of the agent's: an answer without exactly one command is sent back.
    `free`: it stands behind no such answer."""
    role, kind = text_of(message.get("role")), text_of(message.get("type"))
    extra = _about(message)
    note = dict_of(message.get("extra")).get("interrupt_type")
    if note in _NOTES or (note is None and not free):
        extra["note"] = note or "FormatError"
        role = "system"
    content = message.get("content")
    shown = "user" if role == "user" else role or kind or "message"
    return message_record("system" if shown == "developer" else shown, text_in(content), span,
                          _at(message), images=_images(content), extra=extra)  # fmt: skip


def _about(message: Body) -> dict[str, Any]:
    """What is kept of a message besides what is shown; the service's whole answer is not."""
    extra = dict_of(message.get("extra"))
    return rest_of(message, *_CARRIED) | {key: extra[key] for key in _KEPT if key in extra}


def _at(message: Body) -> str:
    """Seconds since 1970 in either version; version 1.0 has no times."""
    extra = dict_of(message.get("extra"))
    told = extra.get("timestamp", message.get("timestamp"))
    if isinstance(told, bool) or not isinstance(told, int | float):
        return told if isinstance(told, str) else ""
    try:
        return stamp(told)
    except OverflowError:  # an integer beyond all floats
        return ""


def _images(content: Any) -> tuple[Image, ...]:
    parts = [dict_of(part) for part in list_of(content)]
    urls = [p["image_url"] for p in parts if "image_url" in p]
    return tuple(image_at(text_of(url) or text_of(dict_of(url).get("url"))) for url in urls)
