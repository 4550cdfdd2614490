"""Plain chat in all its dialects: who said what, which calls were made, nothing dropped."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import build
import pytest
from build import chat, chat_call, line

from sessionlog import codec
from sessionlog.formats.base import decoded_bits
from sessionlog.formats.chat import Chat
from sessionlog.listing import glance
from sessionlog.reader import load
from sessionlog.records import Activity, Event, Kind, Message, Other, Record, Span, shown_type
from sessionlog.session import Session

CASES = os.environ.get("SESSIONLOG_CASES", "")
FORMAT = Chat()


def session(folder: Path, *lines: bytes, tail: bytes = b"") -> Session:
    return load(build.log(folder / "talk.jsonl", lines, tail))


def decoded(data: bytes, offset: int = 0) -> list[Record]:
    return FORMAT.decode(codec.loads(data), Span(1, offset, len(data)))


def told(data: bytes) -> list[tuple[str, str]]:
    """(type, text) of the messages of a line."""
    messages = [r.payload for r in decoded(data) if isinstance(r.payload, Message)]
    return [(shown_type(message), message.text) for message in messages]


def activities(data: bytes) -> list[Activity]:
    messages = [r.payload for r in decoded(data) if isinstance(r.payload, Message)]
    return [message.activity for message in messages if message.activity is not None]


def test_a_conversation_reads_as_it_was_held(tmp_path: Path) -> None:
    read = session(
        tmp_path, chat("system", "Be brief."), chat("user", "List it", model="m-1"),
        chat("assistant", None, tool_calls=[chat_call("c1"), chat_call("c2")]),
        chat("tool", "a", tool_call_id="c1"), chat("tool", "b", tool_call_id="c2"),
        chat("assistant", "Two files.", 9),
    )  # fmt: skip
    assert [shown_type(m) for m in read.messages] == [
        "system", "user", "call", "call", "response", "response", "assistant"]  # fmt: skip
    assert (read.users, read.calls, read.assistants, read.open_calls) == (1, 2, 2, ())
    assert (read.id, read.title, read.meta.model) == ("talk", "List it", "m-1")
    assert (read.status, read.ok, read.started) == ("complete", None, build.at(1))


def test_a_row_of_a_listing_tells_the_same(tmp_path: Path) -> None:
    path = build.log(tmp_path / "talk.jsonl", [chat("user", "Hi"), chat("assistant", "Ho")])
    row = glance(str(path))
    assert (row.format, row.agent, row.title) == ("chat", "", "Hi")
    assert (row.status, row.ok) == ("complete", None)


@pytest.mark.parametrize(
    ("lines", "status", "stop"),
    [
        ([chat("assistant", "Ho")], "complete", "done"),
        ([], "unfinished", "while the model answered"),
        ([chat("assistant", "Ho", tool_calls=[chat_call("c1")])], "unfinished", "in shell: ls"),
        ([chat("assistant", "", tool_calls=[chat_call("c1")]),
          chat("tool", "x", tool_call_id="c1")], "unfinished", "while the model answered"),
        ([line({"type": "error", "text": "no route"})], "unfinished", "no route"),
        ([chat("assistant", "Ho"), line({"type": "error", "text": "no route"})],
         "complete", "no route"),
    ],
)  # fmt: skip
def test_only_an_answer_without_a_call_is_an_ending(
    tmp_path: Path, lines: list[bytes], status: str, stop: str
) -> None:
    read = session(tmp_path, chat("user", "Hi"), *lines)
    assert (read.status, read.ok, read.ending.text) == (status, None, stop)


def test_blocks_of_one_message_come_in_their_order() -> None:
    content = [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "I look"},
               {"type": "text", "text": "now."},
               {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "a"}},
               {"type": "text", "text": "And wait."}]  # fmt: skip
    assert told(chat("assistant", content)) == [
        ("reasoning", "Hm."), ("assistant", "I look\n\nnow."), ("call", ""),
        ("assistant", "And wait."),
    ]  # fmt: skip
    assert [r.part for r in decoded(chat("assistant", content))] == [0, 1, 2, 3]
    assert activities(chat("assistant", content))[0].arguments == '{"path":"a"}'


def test_results_in_a_users_message_are_no_prompt() -> None:
    parts = [{"type": "text", "text": "b"}]
    content = [
        {"type": "tool_result", "tool_use_id": "t1", "content": "gone", "is_error": True},
        {"type": "tool_result", "tool_use_id": "t2", "content": parts},
    ]
    first, second = activities(chat("user", content))  # fmt: skip
    assert (first.kind, first.id, first.failure) == ("response", "t1", "gone")
    assert (second.id, second.result, second.failure) == ("t2", "b", None)
    assert [kind for kind, _ in told(chat("user", content))] == ["response", "response"]


def test_pictures_stay_with_the_text_they_came_with() -> None:
    content = [{"type": "text", "text": "Look"},
               {"type": "image_url", "image_url": {"url": "https://x.example/a.png"}},
               {"type": "image", "source": {"type": "base64", "media_type": "image/png",
                                            "data": "AAAA"}}]  # fmt: skip
    (record,) = decoded(chat("user", content))
    assert isinstance(record.payload, Message)
    assert [image.source for image in record.payload.images] == ["url", "inline"]


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        (line({"type": "tool_call", "function": {"name": "git"}, "arguments": "x"}),
         line({"type": "tool_result", "name": "git", "result": "ok"})),
        (line({"type": "tool_call", "id": "7", "name": "git", "arguments": {"a": 1}}),
         line({"type": "tool_result", "tool_call_id": "7", "result": {"n": 1}})),
        (chat("assistant", None, function_call={"name": "git", "arguments": "{}"}),
         chat("function", "ok", name="git")),
    ],
)  # fmt: skip
def test_calls_without_ids_pair_by_their_tool(
    tmp_path: Path, asked: bytes, answered: bytes
) -> None:
    read = session(tmp_path, chat("user", "Hi"), asked, answered, asked, answered)
    assert (read.calls, read.open_calls, read.orphan_results) == (2, (), ())


def test_a_result_that_is_no_text_is_kept_as_it_stands() -> None:
    (answer,) = activities(line({"type": "tool_result", "name": "git", "result": {"n": 1}}))
    assert answer.result == {"n": 1}


def test_a_line_may_hold_a_whole_conversation(tmp_path: Path) -> None:
    turns = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]
    held = line({"messages": turns})
    read = session(tmp_path, held, held)
    assert [m.text for m in read.messages] == ["Hi", "Ho"]  # the last line's alone
    assert len(read.history) == 4
    assert [r.kind for r in decoded(held)] == [Kind.MESSAGE, Kind.MESSAGE]
    assert [r.kind for r in decoded(held, offset=9)][:1] == [Kind.RESET]


def test_what_a_conversation_holds_besides_is_kept() -> None:
    held = line({"messages": [{"role": "user", "content": "Hi"}, 7], "tools": ["x"]})
    others = [r.payload for r in decoded(held) if isinstance(r.payload, Other)]
    assert [other.data for other in others] == [7, {"tools": ["x"]}]


def test_thoughts_have_fields_of_their_own_in_some_dialects() -> None:
    assert told(chat("assistant", "Ho", reasoning_content="Hm.")) == [
        ("reasoning", "Hm."), ("assistant", "Ho")]  # fmt: skip


def test_an_error_line_is_shown_in_its_own_words() -> None:
    for value in (
        {"text": "x"}, {"message": "x"}, {"error": {"message": "x"}}, {"content": "x"},
    ):  # fmt: skip
        (record,) = decoded(line({"type": "error", **value}))
        assert isinstance(record.payload, Event)
        assert (record.payload.text, record.payload.ok, record.quiet) == ("x", False, False)


def test_times_are_told_as_they_stand_or_counted() -> None:
    assert decoded(chat("user", "x"))[0].at == build.at(1)
    for stamp in (1795824000, 1795824000000, 1795824000.0):
        assert decoded(line({"role": "user", "content": "x", "timestamp": stamp}))[0].at == (
            "2026-11-28T00:00:00Z"
        )
    assert decoded(line({"role": "user", "content": "x", "timestamp": 10**400}))[0].at == ""


JUNK: tuple[Any, ...] = (
    None, True, -1, 2**70, "", "x", [], [None], [[1]], {}, {"type": []}, {"function": 1},
    [{"type": {}, "text": 1}], [{"type": "image"}],
)  # fmt: skip
SAMPLES = (
    chat("assistant", [{"type": "tool_use", "id": "t", "name": "n", "input": {}}],
         tool_calls=[chat_call("c")], function_call={"name": "f"}, reasoning="r"),
    chat("user", [{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text"}]},
                  {"type": "image", "source": {"type": "base64", "data": "AA"}}, "text"]),
    chat("tool", "x", tool_call_id="c", error="e"), line({"type": "tool_call", "function": {}}),
    line({"type": "tool_result", "result": 1}), line({"type": "error", "error": {"message": "m"}}),
    line({"messages": [{"role": "user", "content": "x"}], "timestamp": 1}),
)  # fmt: skip


def test_fields_of_wrong_types_raise_nothing_and_lose_nothing() -> None:
    chance = random.Random(7)
    for sample in SAMPLES:
        for _ in range(60):
            value = _mangled(codec.loads(sample), chance)
            if not isinstance(value, dict):
                continue
            records = FORMAT.decode(value, Span(1, 5, 1))
            assert records
            assert [record.part for record in records] == list(range(len(records)))
            FORMAT.ending(records)
            FORMAT.describe("x.jsonl", records, records)
            decoded_bits(FORMAT, codec.dumps(value))


def _mangled(value: Any, chance: random.Random) -> Any:
    if chance.random() < 0.15:
        return chance.choice(JUNK)
    if isinstance(value, dict):
        return {key: _mangled(item, chance) for key, item in value.items()}
    if isinstance(value, list):
        return [_mangled(item, chance) for item in value]
    return value


def test_marks_of_a_programs_own_among_the_messages_are_no_messages(tmp_path: Path) -> None:
    thought = [{"type": "think", "think": "hm"}, {"type": "text", "text": "Ho"}]
    lines = [
        line({"role": "_system_prompt", "content": "Be brief."}),
        line({"role": "_checkpoint", "id": 0}), line({"role": "user", "content": "Hi"}),
        line({"role": "_usage", "token_count": 12}), line({"role": "_checkpoint", "id": 1}),
        line({"role": "assistant", "content": thought}),
        line({"role": "_usage", "token_count": 15}),
    ]  # fmt: skip
    read = session(tmp_path, *lines)
    assert [(shown_type(m), m.text) for m in read.messages] == [
        ("system", "Be brief."),
        ("user", "Hi"),
        ("reasoning", "hm"),
        ("assistant", "Ho"),
    ]
    assert [e.kind for e in read.events] == ["checkpoint", "usage", "checkpoint", "usage"]
    assert (read.status, read.ok) == ("complete", None)


@pytest.mark.parametrize(
    ("name", "id"), [("messages.jsonl", "s-1"), ("context.jsonl", "s-1"), ("talk.jsonl", "talk")]
)
def test_a_log_that_has_the_name_of_all_goes_by_its_folder(
    tmp_path: Path, name: str, id: str
) -> None:
    (tmp_path / "s-1").mkdir()
    path = build.log(tmp_path / "s-1" / name, [chat("user", "Hi")])
    assert load(path).id == glance(str(path)).id == id


@pytest.mark.skipif(not CASES, reason="SESSIONLOG_CASES names no folder of sample logs")
def test_the_sample_chats_give_the_right_reading() -> None:
    for path in Path(CASES, "chat").glob("*.jsonl"):
        read = load(path)
        assert (read.format, read.status, read.ok) == ("chat", "complete", None)
        assert (read.users, read.open_calls, read.orphan_results, read.damages) == (1, (), (), ())
