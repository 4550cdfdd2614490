"""The scripted model refuses what the services refuse: were it lenient, it would prove nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable
from http.client import HTTPConnection
from typing import Any

import pytest
from clients.model import Model
from clients.wire import Call, Heard, Turn, Wire, unpaired
from clients.wire_anthropic import Anthropic
from clients.wire_chat import Chat
from clients.wire_gemini import Gemini
from clients.wire_responses import Responses

Body = dict[str, Any]
PATHS = {
    "anthropic": "/v1/messages",
    "responses": "/v1/responses",
    "chat": "/v1/chat/completions",
    "gemini": "/v1beta/models/any:streamGenerateContent",
}
WIRES: dict[str, Wire] = {
    "anthropic": Anthropic(),
    "responses": Responses(),
    "chat": Chat(),
    "gemini": Gemini(),
}


def body(wire: str, *said: str, tools: bool = True) -> Body:
    """A request with a conversation of "user", "call", "result" and "later" (a user's word)."""
    pieces = [_PIECES[wire][word] for word in said]
    offered = _TOOLS[wire] if tools else {}
    return {_FIELD[wire]: pieces, "stream": True, **offered}


_FIELD = {"anthropic": "messages", "responses": "input", "chat": "messages", "gemini": "contents"}
_TOOLS: dict[str, Body] = {
    "anthropic": {"tools": [{"name": "t"}]},
    "responses": {"tools": [{"type": "function", "name": "t"}]},
    "chat": {"tools": [{"type": "function", "function": {"name": "t"}}]},
    "gemini": {"tools": [{"functionDeclarations": [{"name": "t"}]}]},
}
_PIECES: dict[str, dict[str, Body]] = {
    "anthropic": {
        "user": {"role": "user", "content": "hello"},
        "call": {"role": "assistant", "content": [
            {"type": "tool_use", "id": "c1", "name": "t", "input": {}}]},
        "result": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": "done"}]},
        "later": {"role": "assistant", "content": "meanwhile"},
    },
    "responses": {
        "user": {"type": "message", "role": "user", "content": [{"text": "hello"}]},
        "call": {"type": "function_call", "call_id": "c1", "name": "t", "arguments": "{}"},
        "result": {"type": "function_call_output", "call_id": "c1", "output": "done"},
        "later": {"type": "message", "role": "assistant", "content": [{"text": "meanwhile"}]},
    },
    "chat": {
        "user": {"role": "user", "content": "hello"},
        "call": {"role": "assistant", "content": None, "tool_calls": [
            {"id": "c1", "function": {"name": "t", "arguments": "{}"}}]},
        "result": {"role": "tool", "tool_call_id": "c1", "content": "done"},
        "later": {"role": "assistant", "content": "meanwhile"},
    },
    "gemini": {
        "user": {"role": "user", "parts": [{"text": "hello"}]},
        "call": {"role": "model", "parts": [{"functionCall": {"id": "c1", "name": "t"}}]},
        "result": {"role": "user", "parts": [
            {"functionResponse": {"id": "c1", "name": "t", "response": {"output": "done"}}}]},
        "later": {"role": "model", "parts": [{"text": "meanwhile"}]},
    },
}  # fmt: skip


def post(model: Model, wire: str, request: Body) -> tuple[int, str]:
    connection = HTTPConnection("127.0.0.1", model.server_port, timeout=30)
    try:
        connection.request("POST", PATHS[wire], json.dumps(request))
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    ("said", "open", "orphans"),
    [
        (("user", "call", "result"), [], []),
        (("user", "call"), ["c1"], []),
        (("user", "call", "user"), ["c1"], []),
        (("user", "result"), [], ["c1"]),
        (("user", "result", "call"), ["c1"], ["c1"]),
        (("user", "call", "result", "result"), [], ["c1"]),
    ],
)
def test_a_call_and_its_result_belong_together(
    wire: str, said: tuple[str, ...], open: list[str], orphans: list[str]
) -> None:
    heard = WIRES[wire].heard(body(wire, *said))
    assert unpaired(heard, WIRES[wire].adjacent) == (open, orphans)


@pytest.mark.parametrize("wire", [name for name, wire in WIRES.items() if wire.adjacent])
def test_a_result_that_comes_late_is_no_result(wire: str) -> None:
    heard = WIRES[wire].heard(body(wire, "user", "call", "user", "later", "result"))
    assert unpaired(heard, adjacent=True) == (["c1"], ["c1"])


@pytest.mark.parametrize("wire", WIRES)
def test_the_conversation_is_heard_in_its_order(wire: str) -> None:
    heard = WIRES[wire].heard(body(wire, "user", "call", "result", "later"))
    assert [(piece.kind, piece.id, piece.text) for piece in heard] == [
        ("text", "", "hello"), ("call", "c1", "t"), ("result", "c1", "done"),
        ("text", "", "meanwhile"),
    ]  # fmt: skip


@pytest.mark.parametrize("wire", WIRES)
def test_an_unpaired_call_is_refused_and_uses_no_turn_up(wire: str) -> None:
    with Model(0, [Turn("spoken")], "x") as model:
        status, words = post(model, wire, body(wire, "user", "call"))
        assert (status, "spoken" in words) == (400, False)
        status, words = post(model, wire, body(wire, "user", "call", "result"))
        assert (status, "spoken" in words) == (200, True)
    assert [(row.status, row.open) for row in model.asked] == [(400, ("c1",)), (200, ())]


@pytest.mark.parametrize("wire", WIRES)
def test_a_request_on_the_side_uses_no_turn_up(wire: str) -> None:
    with Model(0, [Turn("spoken")], "x") as model:
        assert "spoken" not in post(model, wire, body(wire, "user", tools=False))[1]
        assert "spoken" in post(model, wire, body(wire, "user"))[1]
    assert [row.main for row in model.asked] == [False, True]


@pytest.mark.parametrize("wire", WIRES)
def test_a_turn_streams_its_text_and_its_calls(wire: str) -> None:
    turn = Turn("A text that is longer than one piece of it.", (Call("t", {"a": 1}),))
    with Model(0, [turn], "x") as model:
        _, words = post(model, wire, body(wire, "user"))
    data = [line.removeprefix("data: ") for line in words.splitlines() if "data: " in line]
    said = json.dumps([json.loads(piece) for piece in data if piece != "[DONE]"])
    assert "A text that is longer th" in said
    assert said.count('"t"') >= 1


@pytest.mark.parametrize("wire", WIRES)
def test_a_turn_that_stalls_stops_behind_its_first_piece(wire: str) -> None:
    turn = Turn("The first piece of it is 24 characters long, and this is more.", (), True)
    with Model(0, [turn], "x") as model:
        connection = HTTPConnection("127.0.0.1", model.server_port, timeout=30)
        connection.request("POST", PATHS[wire], json.dumps(body(wire, "user")))
        assert model.answering.wait(30)
        model.over.set()
        words = connection.getresponse().read().decode()
        connection.close()
    assert "The first piece" in words
    assert "and this is more" not in words


def test_a_result_is_not_taken_for_another_calls() -> None:
    def heard(pieces: Iterable[tuple[str, str, int]]) -> list[Heard]:
        return [Heard(kind, "", "", id, place) for kind, id, place in pieces]

    both = heard([("call", "a", 1), ("call", "b", 1), ("result", "b", 2)])
    assert unpaired(both, adjacent=True) == (["a"], [])
