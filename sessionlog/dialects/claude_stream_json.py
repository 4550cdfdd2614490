"""`claude -p --output-format stream-json`: one JSON object a line (Claude Code 2.1).

`system` lines (init tells model, folder and session), `assistant` and `user` lines with blocks as
in the Messages API, and a `result` line for each turn, after which more may come. With
`--include-partial-messages` the API's own events come too, as `stream_event`: they tell what is in
the making, and the block that they finish comes once more whole in an `assistant` line. What a
subagent says (`parent_tool_use_id`) is another run: it becomes events.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from sessionlog.dialects.answers import ERROR, spent_so_far
from sessionlog.dialects.base import (
    INTERRUPTED,
    TOLD,
    About,
    Standing,
    dict_of,
    last_line,
    list_of,
    loaded,
    request,
    response,
    text_of,
    told,
    written,
)
from sessionlog.dialects.blocks import Blocks, said, unfinished, where
from sessionlog.dialects.plain import Plain
from sessionlog.formats.tokens import anthropic
from sessionlog.records import Activity, Event, Message, Payload, Result, Tokens
from sessionlog.stream import Block

_SYNTHETIC = "<synthetic>"
_PASSING = ("hook_started", "hook_progress", "status", "task_progress", "thinking_tokens")
"""Kinds of system lines that only say that something goes on."""
_SILENT = ("tool_progress", "keep_alive", "control_request", "control_response",
           "control_cancel_request", "streamlined_text")  # fmt: skip
_RETRIES = ("api_retry", "api_error")
_IDS = ("type", "subtype", "session_id", "uuid")


class ClaudeStreamJson:
    """Lines in, payloads out."""

    def __init__(self) -> None:
        self._plain = Plain()
        self._blocks = Blocks()
        self._answer = ""
        """Id of the API's message whose blocks come now."""
        self._streamed: Counter[tuple[str, str]] = Counter()
        self._whole: Counter[tuple[str, str]] = Counter()
        self._open = False
        """An answer streams and has not ended."""
        self._answers = 0
        self._before = Tokens()
        self._now = Tokens()
        self._spent = Tokens()
        self._result: Result | None = None

    def take(self, line: bytes) -> Iterator[Payload]:
        value = loaded(line)
        kind = text_of(value.get("type")) if value else ""
        if value is None or not kind:
            yield from self._plain.take(line)
            return
        yield from self._plain.rest()
        if value.get("parent_tool_use_id"):
            yield from _of_subagent(kind, value)
        elif kind == "stream_event":
            yield from self._stream(dict_of(value.get("event")), len(line))
        elif kind == "assistant":
            yield from self._assistant(value, dict_of(value.get("message")))
        elif kind == "user":
            self._result = None
            yield from self._told()
            yield from _user(dict_of(value.get("message")))
        elif kind == "system":
            yield from _system(text_of(value.get("subtype")), value)
        elif kind == "result":
            yield from self._ended(value)
        elif kind not in _SILENT:
            yield Event(kind, text=told(value, *_IDS))

    def rest(self, line: bytes) -> Iterator[Payload]:
        yield from last_line(self, line)
        yield from self._plain.rest()

    def standing(self) -> Standing:
        if self._result is not None:
            return Standing(self._result, answers=self._answers)
        streams = [block for block in self._blocks.unfinished() if _key(block) not in self._whole]
        inside = where(streams)
        between = "between two blocks of an answer" if self._open else "before its result"
        place = f"in the middle of {inside}" if inside else between
        partial = tuple(map(unfinished, streams))
        return Standing(None, f"the stream was cut {place}", partial, self._answers)

    # -- what the model says -----------------------------------------------------------------------

    def _stream(self, event: Mapping[str, Any], size: int) -> Iterator[Payload]:
        """One of the API's own events."""
        kind = event.get("type")
        if kind == "message_start":
            yield from self._begin(text_of(dict_of(event.get("message")).get("id")))
        if kind in ("message_start", "message_stop"):
            self._open = kind == "message_start"
        for block in self._blocks.feed(event, size):
            for payload in said(block):
                yield from self._once(payload, self._streamed, self._whole)
        yield from self._blocks.flooded()
        self._used(self._blocks.assembler.usage)

    def _assistant(self, value: Mapping[str, Any], message: Mapping[str, Any]) -> Iterator[Payload]:
        """A line with blocks of an answer that are whole."""
        if message.get("model") == _SYNTHETIC or value.get("error"):
            words = " ".join(
                text_of(dict_of(b).get("text")) for b in list_of(message.get("content"))
            )
            yield Event(ERROR, text=words or text_of(value.get("error")))
            return
        yield from self._begin(text_of(message.get("id")))
        self._used(dict_of(message.get("usage")))
        for block in map(dict_of, list_of(message.get("content"))):
            for payload in _block(block):
                yield from self._once(payload, self._whole, self._streamed)

    def _begin(self, id: str) -> Iterator[Payload]:
        """Blocks of the answer of this id come now."""
        self._result = None
        if id and id == self._answer:
            return
        yield from self._told()
        self._answer = id
        self._answers += 1
        self._streamed.clear()
        self._whole.clear()
        self._before, self._now = self._before.plus(self._now), Tokens()

    def _once(
        self, payload: Payload, here: Counter[tuple[str, str]], there: Counter[tuple[str, str]]
    ) -> Iterator[Payload]:
        """A block that comes both streamed and whole is recorded when it comes first."""
        if isinstance(payload, Message):
            key = _key(payload)
            here[key] += 1
            if here[key] <= there[key]:
                return
        yield payload

    def _used(self, usage: Mapping[str, Any]) -> None:
        """The same answer's usage comes again and again, and grows."""
        tokens = anthropic(usage)
        if tokens is not None:
            self._now = Tokens(*map(max, self._now, tokens))

    def _told(self) -> Iterator[Payload]:
        """The tokens of the run so far, when there are more than were told."""
        spent = self._before.plus(self._now)
        if spent != self._spent:
            self._spent = spent
            yield spent_so_far(spent)

    # -- the end of a turn -------------------------------------------------------------------------

    def _ended(self, value: Mapping[str, Any]) -> Iterator[Payload]:
        """The result line; it tells the usage of all turns so far, subagents included."""
        spent = self._before.plus(self._now)
        if (tokens := anthropic(value.get("usage"))) is not None:
            all_turns = Tokens(*map(max, spent, tokens))
            self._before = all_turns.minus(self._now)
        yield from self._told()
        self._result = result_of(value)
        words = told(value, *_IDS, "result", "usage", "modelUsage", "errors", "permission_denials")
        yield Event("turn", text=f"{self._result.reason} {words}")


def _key(said: Message | Block) -> tuple[str, str]:
    """What tells a block from the others of its answer, streamed or whole."""
    if isinstance(said, Block):
        kind = "bot" if said.type == "text" else said.type
        return ("activity", said.id) if said.type.endswith("tool_use") else (kind, said.text)
    activity = said.activity
    return said.type, activity.id or activity.arguments if activity else said.text


def result_of(value: Mapping[str, Any]) -> Result:
    """How the turn ended: a limit by its own name, which `why` knows, all else as an error."""
    subtype, words = text_of(value.get("subtype")), text_of(value.get("result"))
    extra = {k: value[k] for k in ("session_id", "total_cost_usd") if k in value}
    turns = value.get("num_turns")
    rounds = turns if type(turns) is int else 0
    if subtype == "success" and not value.get("is_error"):
        return Result("stop", words, iterations=rounds, extra=extra)
    if text_of(value.get("terminal_reason")).startswith("aborted"):
        return Result("aborted", error=INTERRUPTED, code=1, iterations=rounds, extra=extra)
    errors = "; ".join(filter(None, map(text_of, list_of(value.get("errors")))))
    limit = subtype.startswith("error_max")
    reason = subtype if limit else ERROR
    error = errors or words or ("" if limit else subtype or ERROR)
    return Result(reason, error=error, code=1, iterations=rounds, extra=extra)


def _block(block: Mapping[str, Any]) -> Iterator[Payload]:
    """A whole block of an answer."""
    kind, text = text_of(block.get("type")), text_of(block.get("text"))
    if kind == "text":
        if text.strip():
            yield Message("bot", text)
    elif kind == "thinking":
        if (thought := text_of(block.get("thinking"))).strip():
            yield Message("reasoning", thought)
    elif kind.endswith("tool_use"):
        arguments = written(block.get("input") or {})
        yield request(text_of(block.get("id")), text_of(block.get("name")), arguments)
    elif kind.endswith("tool_result"):
        yield _answered(block)
    else:
        yield Event("block", text=kind)


def _user(message: Mapping[str, Any]) -> Iterator[Payload]:
    """Results of tools, and what a person or the client says."""
    content = message.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    for block in map(dict_of, list_of(content)):
        if block.get("type") == "tool_result":
            yield _answered(block)
        elif text := _text([block]).strip():
            yield Message("user", text)


def _answered(block: Mapping[str, Any]) -> Message:
    """What came back of a call."""
    asked = Activity("request", text_of(block.get("tool_use_id")))
    content = block.get("content")
    result = _text(list_of(content)) if isinstance(content, list) else content or ""
    return response(asked, result, block.get("is_error") is True)


def _text(blocks: list[Any]) -> str:
    """The texts of blocks; of others, what they are."""
    said = (dict_of(block) for block in blocks)
    return "\n".join(text_of(b.get("text")) or f"[{text_of(b.get('type'))}]" for b in said)


def _of_subagent(kind: str, value: Mapping[str, Any]) -> Iterator[Payload]:
    """What a subagent says or does, as narration: it is no part of this conversation."""
    if kind not in ("assistant", "user"):
        return
    content = dict_of(value.get("message")).get("content")
    if isinstance(content, str):
        yield Event("subagent", text=content)
    for block in map(dict_of, list_of(content)):
        for payload in _block(block):
            if isinstance(payload, Message) and payload.activity is not None:
                activity = payload.activity
                text = activity.arguments if activity.kind == "request" else payload.text
                yield Event("subagent", tool=activity.name, text=text)
            elif isinstance(payload, Message):
                yield Event("subagent", text=payload.text)


def _system(subtype: str, value: Mapping[str, Any]) -> Iterator[Payload]:
    """What the client tells of itself."""
    if subtype == "init":
        names = ("model", "cwd", "session_id", "claude_code_version", "permissionMode")
        words = ", ".join(f"{name} {value[name]}" for name in names if value.get(name))
        yield Event("session", text=words)
    elif subtype in _RETRIES:
        yield Event("retry", text=told(value, *_IDS))
    elif subtype == "compact_boundary":
        yield Event("compact", text=told(dict_of(value.get("compact_metadata"))))
    elif subtype not in _PASSING:
        yield Event(subtype or "system", text=told(value, *_IDS)[:TOLD])


def about(value: Mapping[str, Any]) -> About | None:
    """What a line tells of the run; hooks may have their say before the line that does."""
    if value.get("subtype") != "init" and value.get("type") == "system":
        return None
    return About(text_of(value.get("model")), text_of(value.get("cwd")))
