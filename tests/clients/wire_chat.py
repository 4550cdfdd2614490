"""OpenAI's chat completions, which many others speak."""

from __future__ import annotations

from collections.abc import Iterator
from json import dumps

from clients.wire import Body, Event, Heard, Turn, pieces, words

_USAGE = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}


class Chat:
    """POST …/chat/completions."""

    adjacent = True

    def serves(self, path: str) -> bool:
        return path.endswith("/chat/completions")

    def offers(self, body: Body) -> bool:
        return bool(body.get("tools"))

    def heard(self, body: Body) -> list[Heard]:
        heard: list[Heard] = []
        place, role = 0, ""
        for message in body["messages"]:
            place += not message["role"] == role == "tool"  # a turn's results are one turn
            role, text = message["role"], words(message.get("content"))
            if role == "tool":
                heard.append(Heard("result", role, text, message["tool_call_id"], place))
                continue
            if text:
                heard.append(Heard("text", role, text, "", place))
            for call in message.get("tool_calls") or ():
                heard.append(Heard("call", role, call["function"]["name"], call["id"], place))
        return heard

    def whole(self, turn: Turn, tag: str) -> Body:
        calls = [call for _, call in _calls(turn, tag)]
        message = {"role": "assistant", "content": turn.text or None}
        choice = {"index": 0, "message": message | ({"tool_calls": calls} if calls else {}),
                  "finish_reason": _finish(turn)}  # fmt: skip
        return {"id": f"chatcmpl-{tag}", "object": "chat.completion", "created": 0,
                "model": "scripted", "choices": [choice], "usage": _USAGE}  # fmt: skip

    def events(self, turn: Turn, tag: str) -> Iterator[Event]:
        yield _chunk(tag, {"role": "assistant", "content": ""})
        for text, first in pieces(turn.text):
            yield _chunk(tag, {"content": text})._replace(first=first)
        for index, call in _calls(turn, tag):
            yield _chunk(tag, {"tool_calls": [{"index": index, **call}]})
        yield _chunk(tag, {}, _finish(turn))
        yield Event("", _head(tag) | {"choices": [], "usage": _USAGE})
        yield Event("", "[DONE]")

    def refusal(self, open: list[str], orphans: list[str]) -> Body:
        words = (
            "An assistant message with 'tool_calls' must be followed by tool messages responding "
            "to each 'tool_call_id'. The following tool_call_ids did not have response messages: "
            f"{', '.join(open)}"
            if open
            else "Messages with role 'tool' must be a response to a preceding message with "
            f"'tool_calls' ({', '.join(orphans)})."
        )
        return {"error": {"message": words, "type": "invalid_request_error", "param": "messages"}}


def _calls(turn: Turn, tag: str) -> Iterator[tuple[int, Body]]:
    for index, (name, arguments) in enumerate(turn.calls):
        function = {"name": name, "arguments": dumps(arguments)}
        yield index, {"id": f"call_{tag}_{index}", "type": "function", "function": function}


def _finish(turn: Turn) -> str:
    return "tool_calls" if turn.calls else "stop"


def _head(tag: str) -> Body:
    return {"id": f"chatcmpl-{tag}", "object": "chat.completion.chunk", "created": 0,
            "model": "scripted"}  # fmt: skip


def _chunk(tag: str, delta: Body, finish: str | None = None) -> Event:
    return Event("", _head(tag) | {"choices": [{"index": 0, "delta": delta,
                                                "finish_reason": finish}]})  # fmt: skip
