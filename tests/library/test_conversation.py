"""Repaired messages are ones that a service accepts: every call answered, right after its turn."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest

from sessionlog.conversation import INTERRUPTED, repair_messages

Message = dict[str, Any]


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(id: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "t", "input": {}}


def result(id: Any, content: str = "ok") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": content}


def interrupted(id: Any) -> dict[str, Any]:
    return {
        "type": "tool_result",
        "tool_use_id": id,
        "content": "Interrupted by the user.",
        "is_error": True,
    }


def user(*blocks: Any) -> Message:
    return {"role": "user", "content": list(blocks)}


def said(words: str) -> Message:
    return {"role": "user", "content": words}


def model(*blocks: Any) -> Message:
    return {"role": "assistant", "content": list(blocks)}


def calling(*ids: Any) -> Message:
    calls = [{"id": id, "type": "function", "function": {"name": "t"}} for id in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def tool(id: Any, content: str = "ok") -> Message:
    return {"role": "tool", "tool_call_id": id, "content": content}


def tool_interrupted(id: Any) -> Message:
    return {"role": "tool", "tool_call_id": id, "content": "Interrupted by the user."}


MALFORMED: list[Any] = [1, "x", {}, [None], [{}], [{"id": ""}]]
HEALTHY: dict[str, list[Any]] = {
    "nothing": [],
    "string content": [said("hi"), {"role": "assistant", "content": "hello"}],
    "no content at all": [{"role": "user"}, {"role": "assistant", "content": None}, {}],
    "an empty message": [said("hi"), model(), user()],
    "answered": [said("hi"), model(text("x"), call("a")), user(result("a"), text("go on"))],
    "answered side by side": [model(call("a"), call("b")), user(result("b"), result("a"))],
    "a message a result": [model(call("a"), call("b")), user(result("a")), user(result("b"))],
    "a message a call": [model(call("a")), model(call("b")), user(result("a"), result("b"))],
    "an id used again": [model(call("a")), user(result("a")), model(call("a")), user(result("a"))],
    "chat": [said("hi"), calling("a", "b"), tool("b"), tool("a"), calling("c"), tool("c")],
    "chat without ids": [
        {"role": "assistant", "tool_calls": [{"function": {"name": "t"}}]},
        {"role": "tool", "content": "ok"},
    ],
    "malformed": [
        None,
        "x",
        7,
        model(None, "x", {}, {"type": "tool_use"}, call(None), call([]), call("")),
    ],
    "malformed calls": [{"role": "assistant", "tool_calls": v} for v in MALFORMED],
}


@pytest.mark.parametrize("messages", HEALTHY.values(), ids=HEALTHY)
def test_a_conversation_with_nothing_to_repair_comes_back_equal_in_a_new_list(
    messages: list[Any],
) -> None:
    repaired = repair_messages(messages)
    assert repaired == messages
    assert repaired is not messages


BROKEN: dict[str, tuple[list[Any], list[Any]]] = {
    "an open call at the end": (
        [said("hi"), model(text("x"), call("a"))],
        [said("hi"), model(text("x"), call("a")), user(interrupted("a"))],
    ),
    "an open call in the middle": (
        [model(call("a")), said("go on"), model(text("y"))],
        [model(call("a")), user(interrupted("a")), said("go on"), model(text("y"))],
    ),
    "the next message holds no results": (
        [model(call("a")), user(text("go on"))],
        [model(call("a")), user(interrupted("a")), user(text("go on"))],
    ),
    "the next message holds results of the turn": (
        [model(call("a"), call("b"), call("c")), user(result("b"), text("go on"))],
        [
            model(call("a"), call("b"), call("c")),
            user(result("b"), interrupted("a"), interrupted("c"), text("go on")),
        ],
    ),
    "the results come a message each": (
        [model(call("a"), call("b"), call("c")), user(result("a")), user(result("b"), text("x"))],
        [
            model(call("a"), call("b"), call("c")),
            user(result("a")),
            user(result("b"), interrupted("c"), text("x")),
        ],
    ),
    "open calls of several turns": (
        [model(call("a")), model(call("b")), said("x"), model(call("c"))],
        [
            model(call("a")),
            model(call("b")),
            user(interrupted("a"), interrupted("b")),
            said("x"),
            model(call("c")),
            user(interrupted("c")),
        ],
    ),
    "an answer of several messages is not split": (
        [model(call("a")), model(text("and")), model(call("b")), user(result("b"))],
        [
            model(call("a")),
            model(text("and")),
            model(call("b")),
            user(result("b"), interrupted("a")),
        ],
    ),
    "an orphan with others": (
        [user(result("x"), text("hi")), model(text("y"))],
        [user(text("hi")), model(text("y"))],
    ),
    "an orphan alone in its message": (
        [said("hi"), user(result("x")), model(text("y"))],
        [said("hi"), model(text("y"))],
    ),
    "a result before its call": (
        [user(result("a")), model(call("a"))],
        [model(call("a")), user(interrupted("a"))],
    ),
    "a result without an id": (
        [model(call("a")), user(result(None), result({}), {"type": "tool_result"}, result("a"))],
        [model(call("a")), user(result("a"))],
    ),
    "a late result": (
        [model(call("a")), said("x"), model(text("y")), user(result("a", "late"), text("z"))],
        [
            model(call("a")),
            user(result("a", "late")),
            said("x"),
            model(text("y")),
            user(text("z")),
        ],
    ),
    "a late result beside one in time, its message emptied": (
        [model(call("a"), call("b")), user(result("b")), model(text("y")), user(result("a"))],
        [model(call("a"), call("b")), user(result("b"), result("a")), model(text("y"))],
    ),
    "a result behind other words": (
        [model(call("a"), call("b")), user(text("x"), result("a"))],
        [model(call("a"), call("b")), user(result("a"), interrupted("b"), text("x"))],
    ),
    "a second result": (
        [model(call("a")), user(result("a", "1"), result("a", "2")), user(result("a", "3"))],
        [model(call("a")), user(result("a", "1"))],
    ),
    "an id used again, open the first time": (
        [model(call("a")), said("x"), model(call("a")), user(result("a"))],
        [
            model(call("a")),
            user(interrupted("a")),
            said("x"),
            model(call("a")),
            user(result("a")),
        ],
    ),
    "a result among the model's own words": (
        [model(call("a"), result("a")), said("x")],
        [model(call("a")), user(result("a")), said("x")],
    ),
    "chat: open at the end": (
        [said("hi"), calling("a", "b"), tool("b")],
        [said("hi"), calling("a", "b"), tool("b"), tool_interrupted("a")],
    ),
    "chat: open in the middle": (
        [calling("a"), said("x"), calling("b"), tool("b")],
        [calling("a"), tool_interrupted("a"), said("x"), calling("b"), tool("b")],
    ),
    # This dialect wants the results directly behind the message with the calls.
    "chat: two calling messages in a row": (
        [calling("a"), calling("b"), tool("a"), tool("b")],
        [calling("a"), tool("a"), calling("b"), tool("b")],
    ),
    "chat: orphan, late and second results": (
        [tool("x"), calling("a", "b"), tool("a", "1"), said("y"), tool("b"), tool("a", "2")],
        [calling("a", "b"), tool("a", "1"), tool("b"), said("y")],
    ),
    "both dialects in one turn": (
        [{**calling("a"), "content": [call("b")]}, said("x")],
        [
            {**calling("a"), "content": [call("b")]},
            tool_interrupted("a"),
            user(interrupted("b")),
            said("x"),
        ],
    ),
}


@pytest.mark.parametrize(("messages", "expected"), BROKEN.values(), ids=BROKEN)
def test_a_broken_conversation_is_repaired(messages: list[Any], expected: list[Any]) -> None:
    before = copy.deepcopy(messages)
    assert repair_messages(messages) == expected
    assert repair_messages(expected) == expected
    assert messages == before


def test_what_a_message_says_beside_its_content_survives() -> None:
    messages = [model(call("a"), call("b")), {**user(result("a")), "name": "me"}]
    assert repair_messages(messages)[1] == {**user(result("a"), interrupted("b")), "name": "me"}


def test_the_words_of_an_interrupted_call_are_public() -> None:
    assert INTERRUPTED == "Interrupted by the user."


# Any conversation. The checks below are written on their own: they know the services' rules and
# nothing of how the repair works.


def _blocks(dice: random.Random, ids: list[Any]) -> list[Any]:
    def block() -> Any:
        kind, id = dice.random(), dice.choice(ids)
        if kind < 0.3:
            return call(id)
        if kind < 0.75:
            return result(id, str(dice.random()))
        return text("x") if kind < 0.97 else dice.choice([None, "x", 3, {}, {"type": None}])

    return [block() for _ in range(dice.randint(0, 4))]


def _chaos(dice: random.Random, dialect: str) -> list[Any]:
    """Messages in any order, with calls and results of a few ids anywhere."""
    ids: list[Any] = ["a", "b", "c", "d", 5, None, "", []][: dice.randint(2, 8)]
    messages: list[Any] = []
    for _ in range(dice.randint(0, 9)):
        kind = dice.random()
        if kind < 0.15:
            messages.append(dice.choice([said("x"), {"role": "assistant", "content": "y"}, {}]))
        elif kind < 0.17:
            messages.append(dice.choice([None, 3, "x", {"role": []}]))
        elif dialect == "chat" or (dialect == "both" and dice.random() < 0.5):
            some = [dice.choice(ids) for _ in range(dice.randint(0, 3))]
            messages.append(calling(*some) if kind < 0.5 else tool(dice.choice(ids), str(kind)))
        else:
            role = "assistant" if kind < 0.55 else "user"
            messages.append({"role": role, "content": _blocks(dice, ids)})
    return messages


def _paired(id: Any) -> bool:
    return isinstance(id, str | int) and id != ""


def _flat(messages: list[Any]) -> list[tuple[str, Any]]:
    """The conversation as a service reads it: calls, results and everything else in order."""
    flat: list[tuple[str, Any]] = []
    for message in messages:
        if not isinstance(message, dict):
            flat.append(("else", None))
            continue
        role, content = message.get("role"), message.get("content")
        said = "model" if role == "assistant" else "else"
        if role == "tool":
            flat.append(("result", message.get("tool_call_id")))
        elif isinstance(content, list) and content:
            for block in content:
                type = block.get("type") if isinstance(block, dict) else None
                if type == "tool_use" and role == "assistant":
                    flat.append(("call", block.get("id")))
                elif type == "tool_result":
                    flat.append(("result", block.get("tool_use_id")))
                else:
                    flat.append((said, None))
        else:
            flat.append((said, None))
        called = [c.get("id") for c in message.get("tool_calls") or []]
        flat += [("call", id) for id in called]
        if any(map(_paired, called)):
            flat.append(("ask", None))  # this dialect wants the results here
    return [(kind, id) for kind, id in flat if kind not in ("call", "result") or _paired(id)]


def _faults(messages: list[Any]) -> list[str]:
    """Calls without a result when their turn is over, and results that nothing waits for."""
    faults: list[str] = []
    waiting: set[Any] = set()
    asked = False
    for kind, id in [*_flat(messages), ("else", None)]:
        if kind == "call":
            if asked and waiting:
                faults.append(f"open {waiting}")
                waiting = set()
            asked = False
            waiting.add(id)
        elif kind == "result":
            if id not in waiting:
                faults.append(f"orphan, second or late {id}")
            waiting.discard(id)
            asked = True
        elif kind == "ask":
            asked = True
        elif waiting and (kind == "else" or asked):
            faults.append(f"open {waiting}")
            waiting = set()
    return faults


@pytest.mark.parametrize("dialect", ["blocks", "chat", "both"])
def test_any_conversation_is_whole_after_a_repair_and_a_second_one_changes_nothing(
    dialect: str,
) -> None:
    broken = 0
    for seed in range(4000):
        messages = _chaos(random.Random(seed), dialect)
        before = copy.deepcopy(messages)
        repaired = repair_messages(messages)
        assert messages == before, seed
        assert _faults(repaired) == [], seed
        assert repair_messages(repaired) == repaired, seed
        broken += bool(_faults(messages))
    assert broken > 1000  # the conversations do bite


def _others(messages: list[Any]) -> list[Any]:
    """Everything in a conversation that is no result, in order."""
    found: list[Any] = []
    for message in messages:
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, list):
            found += [
                b for b in content if not isinstance(b, dict) or b.get("type") != "tool_result"
            ]
        elif not isinstance(message, dict) or message.get("role") != "tool":
            found.append(message)
    return found


def _contents(messages: list[Any]) -> set[str]:
    """What the results say; every result made here says something else."""
    found: set[str] = set()
    for message in messages:
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, list):
            found |= {b["content"] for b in content if isinstance(b, dict) and "content" in b}
        elif isinstance(message, dict) and message.get("role") == "tool":
            found.add(message["content"])
    return found


def test_a_repair_touches_nothing_but_results_and_invents_only_interrupted_ones() -> None:
    for seed in range(2000):
        messages = _chaos(random.Random(seed), "both")
        repaired = repair_messages(messages)
        assert _others(repaired) == _others(messages), seed
        assert _contents(repaired) <= _contents(messages) | {INTERRUPTED}, seed
