"""Acting on plain chat logs: each in its own dialect, several blocks on a line."""

from __future__ import annotations

import json
import os
from pathlib import Path
from random import Random
from typing import Any

import build
import harm
import pytest
import wild

from sessionlog.errors import NotPossible, SessionLogError
from sessionlog.forks import fork, plan_fork
from sessionlog.reader import load
from sessionlog.repairs import plan_repair, repair
from sessionlog.session import Session

TEXT = "Interrupted by the user."


def made(folder: Path, *lines: Any) -> Path:
    return build.log(folder / "run.jsonl", [build.line(value) for value in lines])


def values(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def use(*ids: str) -> dict[str, Any]:
    blocks = [{"type": "tool_use", "id": id, "name": "sh", "input": {}} for id in ids]
    return {"role": "assistant", "content": [{"type": "text", "text": "I look."}, *blocks]}


def gave(*ids: str, text: str = "") -> dict[str, Any]:
    blocks: list[Any] = [{"type": "tool_result", "tool_use_id": id, "content": "ok"} for id in ids]
    return {"role": "user", "content": [*blocks, *([{"type": "text", "text": text}] * bool(text))]}


def closing(id: str) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": id, "content": TEXT, "is_error": True}
    return {"role": "user", "content": [block]}


def whole(session: Session) -> Session:
    assert not session.open_calls
    assert not session.orphan_results
    assert not plan_repair(session).needed
    return session


USER = {"role": "user", "content": "go"}


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ({**use("t1"), "timestamp": 1.50}, {**closing("t1"), "timestamp": 1.5}),
        (
            {
                "role": "assistant", "content": None, "created_at": "2026-11-27T22:00:00Z",
                "tool_calls": [
                    {"id": "t1", "type": "function", "function": {"name": "sh", "arguments": "{}"}}
                ],
            },
            {
                "role": "tool", "tool_call_id": "t1", "content": TEXT,
                "created_at": "2026-11-27T22:00:00Z",
            },
        ),
        (
            {"role": "assistant", "function_call": {"name": "sh", "arguments": "{}"}},
            {"role": "function", "name": "sh", "content": TEXT},
        ),
        (
            {"role": "assistant", "function_call": {"id": "t1", "name": "sh", "arguments": "{}"}},
            {"role": "tool", "tool_call_id": "t1", "content": TEXT},
        ),
        (
            {"role": "assistant", "parts": [{"type": "tool_use", "id": "t1", "name": "sh"}]},
            closing("t1"),
        ),
        (
            {"role": None, "type": "tool_call", "id": "t1", "name": "sh", "arguments": "{}"},
            {"type": "tool_result", "name": "sh", "id": "t1", "result": TEXT, "is_error": True},
        ),
        (
            {"type": "tool_call", "function": {"name": "sh"}, "arguments": "{}"},
            {"type": "tool_result", "name": "sh", "result": TEXT, "is_error": True},
        ),
        (
            {"type": "tool_call", "id": "t1", "name": "sh", "arguments": "{}"},
            {"type": "tool_result", "name": "sh", "id": "t1", "result": TEXT, "is_error": True},
        ),
    ],
)  # fmt: skip
def test_an_open_call_is_closed_in_the_dialect_it_was_made_in(
    tmp_path: Path, asked: dict[str, Any], answer: dict[str, Any]
) -> None:
    path = made(tmp_path, USER, asked, USER)
    new = repair(path)
    assert new == tmp_path / "run-repaired.jsonl"
    assert values(new) == [USER, asked, answer, USER]
    whole(load(new))


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        ([use("a", "b"), gave("a")], [use("a", "b"), gave("a"), closing("b")]),
        # results come first in a user's turn: the closing line goes before the text
        (
            [use("a", "b"), gave("a", text="and?")],
            [use("a", "b"), closing("b"), gave("a", text="and?")],
        ),
        # a line with a late result gives up that block alone
        (
            [use("a"), USER, use("b"), gave("a", "b", text="x")],
            [use("a"), gave("a"), USER, use("b"), gave("b", text="x")],
        ),
        ([use("a"), USER, gave("a", text="x")], [use("a"), gave("a"), USER, gave(text="x")]),
        ([use("a"), USER, gave("a")], [use("a"), gave("a"), USER]),
        ([use("a", "b"), USER, gave("a", "b")], [use("a", "b"), gave("a", "b"), USER]),
        (
            [use("a"), USER, use("b"), USER, gave("b", "a")],
            [use("a"), gave("a"), USER, use("b"), gave("b"), USER],
        ),
        # so does one with a result of no call
        ([use("a"), gave("z", "a")], [use("a"), gave("a")]),
        ([USER, gave("z")], [USER]),
    ],
)
def test_blocks_of_one_line_are_answered_and_moved_one_by_one(
    tmp_path: Path, lines: list[Any], wanted: list[Any]
) -> None:
    new = repair(made(tmp_path, *lines))
    assert values(new) == wanted
    whole(load(new))


def test_what_is_not_touched_on_a_line_keeps_its_bytes(tmp_path: Path) -> None:
    odd = (
        b'{"n" : 1180591620717411303424, "role":"user",'
        b'"content" : [ {"type":"text","text":"<\\u003c"} '
        b',{"type":"tool_result","tool_use_id":"z","content":NaN}], "x":1, "x":2}\n'
    )
    path = build.log(tmp_path / "run.jsonl", [build.line(USER), odd])
    assert repair(path).read_bytes().splitlines()[1] == (
        b'{"n" : 1180591620717411303424, "role":"user","content" : '
        b'[{"type":"text","text":"<\\u003c"}], "x":1, "x":2}'
    )


def test_a_fork_does_not_tear_a_line_apart_and_says_what_it_holds(tmp_path: Path) -> None:
    path = made(tmp_path, USER, use("a", "b"), gave("a", "b"))
    plan = plan_fork(load(path), 2)
    assert (plan.at, plan.messages, [call.n for call in plan.closed]) == (4, 6, [3, 4])
    new = fork(path, 2)
    assert new.name == "run-fork-4.jsonl"
    assert values(new) == [USER, use("a", "b"), closing("a"), closing("b")]
    assert fork(path, 2).name == "run-fork-4-2.jsonl"
    assert fork(path, 1).read_bytes() == build.line(USER)


def test_a_call_that_nothing_names_is_left_out_and_told(tmp_path: Path) -> None:
    nameless = {"type": "tool_call", "function": {"name": {}}, "arguments": "{}"}
    path = made(tmp_path, USER, nameless, {"type": "tool_result", "name": "t", "result": "x"}, USER)
    plan = plan_repair(load(path))
    assert (plan.closed, plan.messages, [d.span.line for d in plan.dropped]) == ((), 2, [2])
    assert plan.refused is None
    new = repair(path)
    assert values(new) == [USER, USER]
    whole(load(new))
    assert values(fork(path, 2)) == [USER]
    assert values(fork(path, 2, tmp_path / "as-it-is.jsonl", repair=False)) == [USER, nameless]


SAYS = {"role": "assistant", "content": "I look."}
NAMED = build.chat_call("c1", "sh", "{}")
NAMELESS: dict[str, Any] = {"type": "function", "function": {"arguments": "{}"}}
ANSWERED = {"role": "tool", "tool_call_id": "c1", "content": TEXT}


@pytest.mark.parametrize(
    ("asks", "stays"),
    [
        ({**SAYS, "tool_calls": [NAMELESS]}, [SAYS]),
        ({**SAYS, "content": None, "tool_calls": [NAMELESS]}, []),
        ({**SAYS, "function_call": {"arguments": "{}"}}, [SAYS]),
        (
            {**SAYS, "tool_calls": [NAMELESS, NAMED, NAMELESS]},
            [{**SAYS, "tool_calls": [NAMED]}, ANSWERED],
        ),
        (
            {"role": "assistant", "thinking": "Hm.", "tool_calls": [NAMELESS]},
            [{"role": "assistant", "thinking": "Hm."}],
        ),
        (
            {"role": "assistant", "content": [{"type": "tool_use"}, {"type": "text", "text": "x"}]},
            [{"role": "assistant", "content": [{"type": "text", "text": "x"}]}],
        ),
        ({"role": "assistant", "content": {"type": "tool_use", "input": {}}}, []),
        (
            {"role": "user", "content": [{"type": "tool_use", "input": {}}, *gave("z")["content"]]},
            [],
        ),
    ],
)
def test_what_stands_beside_a_call_that_nothing_names_stays(
    tmp_path: Path, asks: dict[str, Any], stays: list[Any]
) -> None:
    new = repair(made(tmp_path, USER, asks, USER))
    assert values(new) == [USER, *stays, USER]
    whole(load(new))


def odd(value: Any, random: Random) -> Any:
    """The value with one thing in it lost, doubled, or something else."""
    if isinstance(value, dict) and value and random.random() < 0.9:
        key = random.choice(list(value))
        if random.random() < 0.2:
            return {k: v for k, v in value.items() if k != key}
        return {**value, key: odd(value[key], random)}
    if isinstance(value, list) and value and random.random() < 0.9:
        at = random.randrange(len(value))
        return [*value[:at], *[odd(value[at], random)] * random.choice((1, 1, 2)), *value[at + 1 :]]
    return random.choice(("", None, 0, {}, [], [[]], "c1", "shell", {"name": "shell"}, True))


def harmed(seed: int) -> bytes:
    """A chat log in which calls and results lost their ids, names, shapes and places."""
    random = Random(seed)
    found = [json.loads(line) for line in wild.chat(seed, 12)]
    for _ in range(6):
        call: dict[str, Any] = {"type": "tool_call", "id": random.choice(wild.IDS), "name": "shell"}
        given = {**call, "type": "tool_result", "result": "ok"}
        parts = [{"type": "tool_use", "id": "c1", "name": "shell"}, gave("c1")["content"][0]]
        mixed = {"role": "assistant", "content": parts, "tool_calls": [NAMED]}
        for value in random.sample((call, given, mixed, {**USER, "parts": parts}), 2):
            found.insert(random.randrange(1, len(found)), value)
    for _ in range(random.randrange(12)):
        at = random.randrange(len(found))
        found[at] = odd(found[at], random)
    lines = [json.dumps(value).encode() + b"\n" for value in found]
    return harm.harmed(lines, seed).data if seed % 4 == 3 else b"".join(lines)


def chat_of(path: Path) -> Session | None:
    """The session; None where too little of it is left to be known as chat."""
    try:
        session = load(path)
    except SessionLogError:
        return None
    return session if session.format == "chat" and session.history else None


@pytest.mark.parametrize("seed", range(120))
def test_a_new_log_has_no_open_call_and_no_orphan_whatever_the_old_one_lost(
    tmp_path: Path, seed: int
) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(harmed(seed))
    if chat_of(path) is None:
        return
    session = load(path)
    plan = plan_repair(session)
    new = load(repair(path, tmp_path / "new.jsonl", force=True))
    assert len(whole(new).history) == plan.messages
    for at in range(1, len(session.history) + 1):
        forked = plan_fork(session, at)
        try:
            made = chat_of(fork(path, at, tmp_path / f"at-{at}.jsonl", force=True))
        except NotPossible:  # nothing but results of no call
            assert forked.messages == 0
            continue
        assert made is None or len(whole(made).history) == forked.messages


def test_a_whole_conversation_on_a_line_is_refused(tmp_path: Path) -> None:
    path = made(tmp_path, {"messages": [USER, use("a")]})
    with pytest.raises(NotPossible, match="whole conversation"):
        repair(path)
    path = made(tmp_path, USER, use("a"), {"messages": [USER, use("b")]})
    with pytest.raises(NotPossible, match="whole conversation"):
        repair(path)
    assert os.listdir(tmp_path) == [path.name]
    call = {"type": "tool_call", "id": "a", "name": "send", "arguments": {"messages": []}}
    whole(load(repair(made(tmp_path, call, USER))))


FOLDER = os.environ.get("SESSIONLOG_CASES", "")
SAMPLES = [
    path
    for place in ("chat", "openzot", "made/zot")
    for path in sorted(Path(FOLDER or os.devnull, place).rglob("*.jsonl"))
]


@pytest.mark.skipif(not FOLDER, reason="SESSIONLOG_CASES is not set")
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_every_sample_can_be_forked_anywhere_and_repaired(tmp_path: Path, sample: Path) -> None:
    path = tmp_path / sample.name
    path.write_bytes(sample.read_bytes())
    session = load(path)
    whole(load(repair(path, force=True)))
    for at in range(1, len(session.history) + 1):
        new = load(fork(path, at, tmp_path / f"at-{at}.jsonl", force=True), strict=True)
        assert len(whole(new).history) == plan_fork(session, at).messages
