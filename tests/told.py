"""What a client's model is told, and whether it could be: read by JSON alone, so that nothing of
the library's reading is in it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import orjson

Value = dict[str, Any]


class Told(NamedTuple):
    """A piece of what the model is told."""

    kind: str
    """user, said, call, result."""
    id: str = ""
    """Of a call, and of the result that answers it."""
    text: str = ""
    answer: str = ""
    """The answer whose block it is, where the client keeps an answer's blocks together."""


class Retold(NamedTuple):
    """A log as its client has it."""

    told: list[Told]
    wrong: list[str]
    """Links that lead nowhere, ids that stand there twice."""


def value_of(line: bytes) -> Value | None:
    """The object on a line; bad UTF-8 is replaced, as the clients do."""
    for data in (line, line.decode("utf-8", "replace").encode()):
        try:
            value = orjson.loads(data)
        except ValueError:
            try:
                value = json.loads(data)
            except (ValueError, RecursionError):
                continue
        return value if isinstance(value, dict) else None
    return None


def unread(data: bytes) -> list[str]:
    """The lines that are no objects, in a log of lines."""
    lines = data.split(b"\n")
    wrong = [f"no object: {line[:90]!r}" for line in lines[:-1] if value_of(line) is None]
    return wrong + ([f"no end: {lines[-1][:90]!r}"] if lines[-1] else [])


def pairing(told: Iterable[Told]) -> list[str]:
    """Calls that are not answered in their turn, and results of no call."""
    wrong: list[str] = []
    waiting: dict[str, int] = {}
    asking = ""
    for piece in told:
        if piece.kind == "result":
            if not waiting.get(piece.id):
                wrong.append(f"result of no call: {piece}")
                continue
            waiting[piece.id] -= 1
            if not waiting[piece.id]:
                del waiting[piece.id]
            asking = ""
            continue
        if waiting and not (piece.kind != "user" and _goes_on(piece, asking)):
            wrong.append(f"{sorted(waiting)} open before {piece}")
            waiting.clear()
        if piece.kind == "call":
            waiting[piece.id] = waiting.get(piece.id, 0) + 1
            asking = piece.answer
    if waiting:
        wrong.append(f"{sorted(waiting)} open at the end")
    return wrong


def _goes_on(piece: Told, asking: str) -> bool:
    return piece.answer == asking and (bool(asking) or piece.kind == "call")


def objects(data: bytes) -> Iterator[Value]:
    """The objects of the lines, of broken and glued ones each that is whole."""
    decoder = json.JSONDecoder()
    for line in data.split(b"\n"):
        value = value_of(line)
        if value is not None:
            yield value
            continue
        text, at = line.decode("utf-8", "replace"), 0
        while (at := text.find("{", at)) >= 0:
            try:
                value, at = decoder.raw_decode(text, at)
            except (ValueError, RecursionError):
                at += 1
                continue
            yield value


def dict_of(value: Any) -> Value:
    return value if isinstance(value, dict) else {}


def list_of(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def text_of(value: Any) -> str:
    return value if isinstance(value, str) else ""


def flat(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def item_told(item: Value) -> Iterator[Told]:
    kind = text_of(item.get("type"))
    if kind.endswith("_call_output"):
        yield Told("result", text_of(item.get("call_id")), flat(item.get("output")))
    elif kind.endswith("_call"):
        yield Told("call", text_of(item.get("call_id")))
    elif kind == "message" and item.get("role") in ("user", "assistant", "system", "developer"):
        said = "said" if item.get("role") == "assistant" else "user"
        yield Told(said, "", flat(item.get("content")))
    elif kind == "reasoning":
        yield Told("said", "", flat(item.get("summary")))


def parts_told(message: Value, answer: str) -> Iterator[Told]:
    model = message.get("role") == "model"
    made = []
    for part in map(dict_of, list_of(message.get("parts"))):
        if isinstance(part.get("functionCall"), dict):
            made.append(Told("call", text_of(part["functionCall"].get("id")), "", answer))
        elif isinstance(part.get("functionResponse"), dict):
            found = part["functionResponse"]
            made.append(Told("result", text_of(found.get("id")), flat(found)))
        else:
            made.append(Told("said" if model else "user", "", flat(part), answer * model))
    yield from sorted(made, key=lambda piece: piece.kind != "result")
