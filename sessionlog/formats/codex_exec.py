"""What `codex exec --json` prints, kept in a file: one JSON object a line.

A thread begins, then turns of items; an item begins, maybe changes, and is completed
(codex-rs/exec/src/exec_events.rs, Codex 0.171). No times, no prompts, no model: those stand in the
thread's own rollout, which can be acted on; this is read alone. An interrupted turn prints nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
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
    standing,
    text_of,
)
from sessionlog.formats.codex_place import UUID
from sessionlog.formats.parts import json_text, rest_of
from sessionlog.formats.tokens import openai
from sessionlog.records import (
    Activity,
    Ending,
    Entry,
    Event,
    Kind,
    Message,
    Meta,
    Record,
    Span,
    Usage,
)

_TURNS = ("turn.started", "turn.completed", "turn.failed")
_ITEMS = ("item.started", "item.updated", "item.completed")
_SAID = {"agent_message": "assistant", "reasoning": "reasoning", "plan": "plan"}
_CALLS = {
    "command_execution": "shell", "mcp_tool_call": "", "collab_tool_call": "",
    "file_change": "apply_patch", "web_search": "web_search",
}  # fmt: skip
"""Items that are calls, and their tools; "" where the item names its own."""
_WHOLE = ("file_change", "web_search")
"""Calls that older versions print when they are over, and only then."""
_BAD = ("failed", "declined")
_OLD_TYPES = {"assistant_message": "agent_message"}
_LOOK = 200
"""Records in which a name for the run is looked for, or what it was in the middle of."""


class CodexExec:
    """The answers for what `codex exec --json` printed."""

    name = "codex-exec"
    agent = "codex"
    actor: Actor | None = None

    def recognises(self, head: Head) -> bool:
        return any(self.plausible(value) for value in head.values)

    def plausible(self, value: dict[str, Any]) -> bool:
        kind = value.get("type")
        return (
            (kind == "thread.started" and isinstance(value.get("thread_id"), str))
            or (kind in _ITEMS and isinstance(_named(dict_of(value.get("item"))).get("type"), str))
            or kind in _TURNS
        )

    def decode(self, value: dict[str, Any], span: Span) -> list[Record]:
        kind = text_of(value.get("type"))
        if kind == "thread.started":
            thread = text_of(value.get("thread_id"))
            return [Record(Kind.META, "", Meta(id=thread, extra=rest_of(value, "thread_id")), span)]
        if kind in _ITEMS and isinstance(value.get("item"), dict):
            return _item(kind, _named(value["item"]), span)
        if kind in _TURNS:
            return [_turn(kind, value, span)]
        if kind == "error":
            words = text_of(value.get("message"))
            again = words.startswith("Reconnecting")
            name = "stream_error" if again else "error"
            return [event_record(name, span, quiet=False, text=words, ok=False, ends=not again,
                                 extra=value)]  # fmt: skip
        return [other_record(kind or "record", value, span)]

    def describe(
        self, path: str, oldest_first: Iterable[Record], newest_first: Iterable[Record]
    ) -> Description:
        """A run is named by the first words of its answer: its prompt is not printed."""
        stem = path.rpartition("/")[2].removesuffix(".jsonl")
        named, title = "", ""
        for count, record in enumerate(oldest_first):
            payload = record.payload
            if isinstance(payload, Meta):
                named = named or payload.id
            elif isinstance(payload, Message) and payload.type == "assistant":
                title = payload.text.strip()
            if (named and title) or count >= _LOOK:
                break
        found = UUID.search(stem)
        return Description(Meta(id=named or (found[0] if found else stem)), title)

    def ending(self, newest_first: Iterable[Record]) -> Ending:
        """The last turn's own end, or the error that it came to."""
        records = iter(newest_first)
        seen: list[Record] = []
        for record in records:
            seen.append(record)
            payload = record.payload
            if isinstance(payload, Event) and payload.ends:
                text = payload.text or ("done" if payload.ok else "error")
                return Ending(True, None, payload.ok, text, f"{payload.kind} event")
            begins = isinstance(payload, Event) and payload.kind == "turn.started"
            if begins or isinstance(payload, Message | Meta):
                break
        return standing([*seen, *islice(records, _LOOK)])

    def glimpse(self, path: str, head: bytes, tail: bytes, size: int) -> Entry | None:
        return None  # such logs are few and short

    def classify(self, data: bytes) -> int:
        return decoded_bits(self, data)

    def usage(self, record: Record) -> Usage | None:
        """The thread's tokens so far, at the end of each turn."""
        event = record.payload
        if not isinstance(event, Event) or event.kind != "turn.completed":
            return None
        tokens = openai(event.extra.get("usage"))
        return Usage(tokens, counter=event.kind) if tokens else None

    def alive(self, path: str, session_id: str) -> str | None:
        return None


def _turn(kind: str, value: Mapping[str, Any], span: Span) -> Record:
    if kind == "turn.failed":
        words = text_of(dict_of(value.get("error")).get("message"))
        return event_record(kind, span, quiet=False, text=words, ok=False, ends=True, extra=value)
    done = kind == "turn.completed"
    return event_record(kind, span, ok=True if done else None, ends=done, extra=value)


def _named(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """The item with its type, which was called `item_type` up to about 0.44."""
    kind = item.get("item_type")
    if "type" in item or not isinstance(kind, str):
        return item
    return {**rest_of(item, "item_type"), "type": _OLD_TYPES.get(kind, kind)}


def _item(what: str, item: Mapping[str, Any], span: Span) -> list[Record]:
    """An item counts once: what is said when it is over, a call when it begins."""
    kind, id = text_of(item.get("type")), text_of(item.get("id"))
    if kind in _CALLS and (what != "item.updated"):
        begins, whole = what == "item.started", kind in _WHOLE
        if not (begins and whole):
            return _call(item, kind, id, span, asks=begins or whole, answers=not begins)
    if what != "item.completed":
        return [event_record(what, span, tool=kind, call_id=id, extra=item)]
    text = text_of(item.get("text"))
    if kind in _SAID:
        answer = f"{id}@{span.offset}" if kind == "agent_message" else ""
        return [message_record(_SAID[kind], text, span, key=id, quiet=not text.strip(),
                               answer=answer, extra=rest_of(item, "type", "text"))]  # fmt: skip
    if kind == "error":
        text = text_of(item.get("message"))
        return [event_record("warning", span, quiet=False, text=text, extra=item)]
    if kind == "todo_list":
        return [event_record(kind, span, text=_steps(item), extra=item)]
    return [event_record(kind or what, span, quiet=False, text=text, extra=item)]


def _call(
    item: Mapping[str, Any], kind: str, id: str, span: Span, *, asks: bool, answers: bool
) -> list[Record]:
    tool = _CALLS[kind] or text_of(item.get("tool")) or "tool"
    if kind == "mcp_tool_call":
        tool = f"mcp__{text_of(item.get('server'))}__{tool}"
    call = id or f"{tool}@{span.offset}"
    records = []
    if asks:
        extra = rest_of(item, "id", "type", "tool", "server", "command", "arguments", "changes")
        asked = Activity("request", call, tool, json_text(_given(kind, item)), extra=extra)
        records.append(message_record("activity", "", span, key=id, activity=asked))
    if answers:
        result, failure = _outcome(item)
        half = response(tool, call, result, failure, extra=rest_of(item, "id", "type"))
        text = failure if failure is not None else json_text(result)
        records.append(message_record("activity", text, span, part=len(records), key=id,
                                      activity=half))  # fmt: skip
    return records


def _given(kind: str, item: Mapping[str, Any]) -> Any:
    """The arguments of a call, as far as they are printed."""
    if kind == "command_execution":
        return {"command": text_of(item.get("command"))}
    if kind == "file_change":
        return {"changes": list_of(item.get("changes"))}
    if kind == "web_search":
        return {"query": text_of(item.get("query"))}
    if kind == "mcp_tool_call":
        return item.get("arguments") or {}
    return {k: item[k] for k in ("prompt", "receiver_thread_ids") if item.get(k)}


def _outcome(item: Mapping[str, Any]) -> tuple[Any, str | None]:
    """(result, why it failed)."""
    output, code = text_of(item.get("aggregated_output")), item.get("exit_code")
    words = text_of(dict_of(item.get("error")).get("message"))
    state = text_of(item.get("status"))
    if words or state in _BAD or (type(code) is int and code != 0):
        ending = f"exit code {code}" if type(code) is int else state
        return None, words or (f"{output.rstrip()}\n{ending}".lstrip() if output else ending)
    if item.get("type") == "command_execution":
        return output, None
    gave = dict_of(item.get("result"))
    texts = [text_of(dict_of(part).get("text")) for part in list_of(gave.get("content"))]
    return "\n".join(filter(None, texts)) or gave or item.get("agents_states") or state, None


def _steps(item: Mapping[str, Any]) -> str:
    steps = [dict_of(step) for step in list_of(item.get("items"))]
    return "\n".join(
        f"[{'x' if step.get('completed') else ' '}] {text_of(step.get('text'))}" for step in steps
    )
