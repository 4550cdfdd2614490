"""A Codex session made out of plain messages: what the model is told, and what the screen shows.

The client draws a resumed session from its events alone, so each turn has those as well (as 0.171
writes them: a turn begins, its items are completed, it ends).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sessionlog.formats.base import Birth, Said
from sessionlog.formats.codex_lines import ORIGINATOR, VERSION, envelope, numbered, said
from sessionlog.formats.codex_place import PROVIDER, id_of, made


def composed(messages: Iterable[Said], birth: Birth) -> Iterator[bytes]:
    """The lines of a log that holds these messages, then `birth.told`; `birth.model` is the model
    provider that will answer."""
    id = id_of(birth.id, birth.parent)
    told = [Said("user", birth.told, birth.time)] if birth.told else []
    lines = _lines([*messages, *told], id, birth)
    for ordinal, (kind, payload, at) in enumerate(lines):
        yield numbered(envelope(kind, payload, at or birth.time), ordinal)


_Line = tuple[str, Mapping[str, Any], str]
"""Type, payload and time."""


def _lines(messages: list[Said], id: str, birth: Birth) -> Iterator[_Line]:
    yield "session_meta", _meta(id, birth), birth.time
    turn, last = "", ""
    for n, message in enumerate(messages):
        if message.role == "user":
            if turn:
                yield _event("task_complete", message.at, turn_id=turn, last_agent_message=last)
            turn = made(id, f"turn {n}")
            yield _event("task_started", message.at, turn_id=turn)
        key = made(id, f"item {n}")
        passed = {"turn_id": turn}
        item = said(message.role, message.text, id=f"msg_{key}",
                    internal_chat_message_metadata_passthrough=passed)  # fmt: skip
        yield "response_item", item, message.at
        shown = _shown(message, key)
        yield _event("item_completed", message.at, thread_id=id, turn_id=turn, item=shown)
        last = message.text if message.role == "assistant" else ""
    if turn and last:
        at = messages[-1].at
        yield _event("task_complete", at, turn_id=turn, last_agent_message=last)


def _meta(id: str, birth: Birth) -> dict[str, Any]:
    """The head. Where the messages come from is ours to know: the client passes it over."""
    return {
        "session_id": id, "id": id, "timestamp": birth.time, "cwd": birth.workdir or "/",
        "originator": ORIGINATOR, "cli_version": VERSION, "source": "cli", "thread_source": "user",
        "history_mode": "paginated", "resumed_from": birth.parent,
        "model_provider": birth.model or PROVIDER,
    }  # fmt: skip


def _event(kind: str, at: str, **more: Any) -> _Line:
    return "event_msg", {"type": kind, **more}, at


def _shown(message: Said, key: str) -> dict[str, Any]:
    """The message as the screen has it."""
    if message.role == "assistant":
        content: dict[str, Any] = {"type": "Text", "text": message.text}
        return {"type": "AgentMessage", "id": f"msg_{key}", "content": [content]}
    content = {"type": "text", "text": message.text, "text_elements": []}
    return {"type": "UserMessage", "id": key, "content": [content]}
