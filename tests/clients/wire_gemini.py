"""Gemini's generateContent and streamGenerateContent."""

from __future__ import annotations

from collections.abc import Iterator
from json import dumps
from typing import Any

from clients.wire import Body, Event, Heard, Turn, pieces

_USAGE = {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110}


class Gemini:
    """POST …/models/X:generateContent and :streamGenerateContent."""

    adjacent = True

    def serves(self, path: str) -> bool:
        return path.endswith((":generateContent", ":streamGenerateContent"))

    def offers(self, body: Body) -> bool:
        return bool(body.get("tools"))

    def heard(self, body: Body) -> list[Heard]:
        return [
            piece
            for place, content in enumerate(body["contents"])
            for part in content.get("parts") or ()
            if (piece := _piece(content.get("role", "user"), part, place))
        ]

    def whole(self, turn: Turn, tag: str) -> Body:
        text = [{"text": turn.text}] if turn.text else []
        return _answer(tag, text + _calls(turn, tag), "STOP")

    def events(self, turn: Turn, tag: str) -> Iterator[Event]:
        for text, first in pieces(turn.text):
            yield Event("", _answer(tag, [{"text": text}]), first)
        if turn.calls:
            yield Event("", _answer(tag, _calls(turn, tag)))
        yield Event("", _answer(tag, [{"text": ""}], "STOP"))

    def refusal(self, open: list[str], orphans: list[str]) -> Body:
        words = (
            "Please ensure that the number of function response parts is equal to the number of "
            "function call parts of the function call turn."
            if open
            else "Please ensure that function response turn comes immediately after a function "
            "call turn."
        )
        return {"error": {"code": 400, "message": words, "status": "INVALID_ARGUMENT"}}


def _piece(role: str, part: Body, place: int) -> Heard | None:
    if call := part.get("functionCall"):
        return Heard("call", role, call["name"], call.get("id") or call["name"], place)
    if result := part.get("functionResponse"):
        text = _text(result.get("response"))
        return Heard("result", role, text, result.get("id") or result["name"], place)
    if part.get("text") and not part.get("thought"):
        return Heard("text", role, part["text"], "", place)
    return None


def _text(response: Any) -> str:
    """The output or the error; what else there is as JSON."""
    fields = response if isinstance(response, dict) else {}
    return str(fields.get("output") or fields.get("error") or dumps(response))


def _calls(turn: Turn, tag: str) -> list[Body]:
    return [
        {"functionCall": {"id": f"call_{tag}_{index}", "name": name, "args": arguments}}
        for index, (name, arguments) in enumerate(turn.calls)
    ]


def _answer(tag: str, parts: list[Body], finish: str = "") -> Body:
    candidate = {"content": {"role": "model", "parts": parts}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], "usageMetadata": _USAGE, "modelVersion": "scripted",
            "responseId": f"resp_{tag}"}  # fmt: skip
