"""Anthropic's Messages API."""

from __future__ import annotations

from collections.abc import Iterator
from json import dumps
from typing import Any

from clients.wire import Body, Event, Heard, Turn, pieces, words

_USAGE = {"input_tokens": 100, "output_tokens": 10}


class Anthropic:
    """POST …/messages."""

    adjacent = True

    def serves(self, path: str) -> bool:
        return path.endswith("/messages")

    def offers(self, body: Body) -> bool:
        return bool(body.get("tools"))

    def heard(self, body: Body) -> list[Heard]:
        heard: list[Heard] = []
        place, role = 0, ""
        for message in body["messages"]:
            place += message["role"] != role  # turns of one role are one to the service
            role, content = message["role"], message["content"]
            blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
            heard += [piece for block in blocks if (piece := _piece(role, block, place))]
        return heard

    def whole(self, turn: Turn, tag: str) -> Body:
        return {
            "id": f"msg_{tag}", "type": "message", "role": "assistant", "model": "scripted",
            "content": _blocks(turn, tag), "stop_reason": "tool_use" if turn.calls else "end_turn",
            "stop_sequence": None, "usage": _USAGE,
        }  # fmt: skip

    def events(self, turn: Turn, tag: str) -> Iterator[Event]:
        whole = self.whole(turn, tag)
        yield _event("message_start", message=whole | {"content": [], "stop_reason": None})
        for index, block in enumerate(whole["content"]):
            yield from _block_events(index, block)
        delta = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
        yield _event("message_delta", delta=delta, usage=_USAGE)
        yield _event("message_stop")

    def refusal(self, open: list[str], orphans: list[str]) -> Body:
        if open:
            words = (
                "`tool_use` ids were found without `tool_result` blocks immediately after: "
                f"{', '.join(open)}. Each `tool_use` block must have a corresponding "
                "`tool_result` block in the next message."
            )
        else:
            words = (
                f"unexpected `tool_use_id` found in `tool_result` blocks: {', '.join(orphans)}. "
                "Each `tool_result` block must have a corresponding `tool_use` block in the "
                "previous message."
            )
        return {"type": "error", "error": {"type": "invalid_request_error", "message": words}}


def _piece(role: str, block: Body, place: int) -> Heard | None:
    if block["type"] == "text":
        return Heard("text", role, block["text"], "", place)
    if block["type"] == "tool_use":
        return Heard("call", role, block["name"], block["id"], place)
    if block["type"] == "tool_result":
        return Heard("result", role, words(block.get("content")), block["tool_use_id"], place)
    return None


def _blocks(turn: Turn, tag: str) -> list[Body]:
    blocks: list[Body] = [{"type": "text", "text": turn.text}] if turn.text else []
    for index, (name, arguments) in enumerate(turn.calls):
        id = f"toolu_{tag}_{index}"
        blocks.append({"type": "tool_use", "id": id, "name": name, "input": arguments})
    return blocks


def _block_events(index: int, block: Body) -> Iterator[Event]:
    empty: Body = {"text": ""} if block["type"] == "text" else {"input": {}}
    yield _event("content_block_start", index=index, content_block=block | empty)
    if block["type"] == "text":
        for text, first in pieces(block["text"]):
            delta = {"type": "text_delta", "text": text}
            yield _event("content_block_delta", index=index, delta=delta)._replace(first=first)
    else:
        delta = {"type": "input_json_delta", "partial_json": dumps(block["input"])}
        yield _event("content_block_delta", index=index, delta=delta)
    yield _event("content_block_stop", index=index)


def _event(name: str, **data: Any) -> Event:
    return Event(name, {"type": name, **data})
