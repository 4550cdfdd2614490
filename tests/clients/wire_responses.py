"""OpenAI's Responses API."""

from __future__ import annotations

from collections.abc import Iterator
from json import dumps
from typing import Any

from clients.wire import Body, Event, Heard, Turn, pieces, words

_USAGE = {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110}


class Responses:
    """POST …/responses."""

    adjacent = False

    def serves(self, path: str) -> bool:
        return path.endswith("/responses")

    def offers(self, body: Body) -> bool:
        return bool(body.get("tools"))

    def heard(self, body: Body) -> list[Heard]:
        items = enumerate(body["input"])
        return [piece for place, item in items if (piece := _piece(item, place))]

    def whole(self, turn: Turn, tag: str) -> Body:
        return {
            "id": f"resp_{tag}", "object": "response", "status": "completed", "model": "scripted",
            "output": _items(turn, tag), "usage": _USAGE,
        }  # fmt: skip

    def events(self, turn: Turn, tag: str) -> Iterator[Event]:
        whole = self.whole(turn, tag)
        yield _event("response.created", response=whole | {"status": "in_progress", "output": []})
        for index, item in enumerate(whole["output"]):
            empty: Body = {"content": []} if item["type"] == "message" else {"arguments": ""}
            yield _event("response.output_item.added", output_index=index, item=item | empty)
            if item["type"] == "message":
                yield from _text(index, item)
            yield _event("response.output_item.done", output_index=index, item=item)
        yield _event("response.completed", response=whole)

    def refusal(self, open: list[str], orphans: list[str]) -> Body:
        words = (
            f"No tool output found for function call {open[0]}."
            if open
            else f"No tool call found for function call output with call_id {orphans[0]}."
        )
        return {"error": {"message": words, "type": "invalid_request_error", "param": "input"}}


def _piece(item: Body, place: int) -> Heard | None:
    kind = item.get("type", "message")
    if kind == "message":
        return Heard("text", item["role"], words(item["content"]), "", place)
    if kind.endswith("_call_output"):
        output = item["output"]
        return Heard("result", "tool", words(output), item["call_id"], place)
    if kind.endswith("_call") and item.get("call_id"):
        return Heard("call", "assistant", item.get("name") or kind, item["call_id"], place)
    return None


def _items(turn: Turn, tag: str) -> list[Body]:
    items: list[Body] = []
    if turn.text:
        content = [{"type": "output_text", "text": turn.text, "annotations": []}]
        items.append({"type": "message", "id": f"msg_{tag}", "role": "assistant",
                      "status": "completed", "content": content})  # fmt: skip
    for index, (name, arguments) in enumerate(turn.calls):
        items.append({"type": "function_call", "id": f"fc_{tag}_{index}", "status": "completed",
                      "call_id": f"call_{tag}_{index}", "name": name,
                      "arguments": dumps(arguments)})  # fmt: skip
    return items


def _text(index: int, item: Body) -> Iterator[Event]:
    where = {"item_id": item["id"], "output_index": index, "content_index": 0}
    part = item["content"][0]
    yield _event("response.content_part.added", **where, part=part | {"text": ""})
    for text, first in pieces(part["text"]):
        yield _event("response.output_text.delta", **where, delta=text)._replace(first=first)
    yield _event("response.output_text.done", **where, text=part["text"])
    yield _event("response.content_part.done", **where, part=part)


def _event(name: str, **data: Any) -> Event:
    return Event(name, {"type": name, **data})
