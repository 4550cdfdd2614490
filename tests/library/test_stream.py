"""Pieces in, whole blocks out: what a recorder may rely on, whatever the stream does."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import pytest

from sessionlog.stream import Block, StreamAssembler

Event = dict[str, Any]


def start(index: Any, type: str, **more: Any) -> Event:
    return {
        "type": "content_block_start",
        "index": index,
        "content_block": {"type": type, **more},
    }


def delta(index: Any, type: str, text: Any) -> Event:
    name = {
        "text_delta": "text",
        "thinking_delta": "thinking",
        "input_json_delta": "partial_json",
        "signature_delta": "signature",
    }[type]
    return {
        "type": "content_block_delta",
        "index": index,
        "delta": {"type": type, name: text},
    }


def stop(index: Any) -> Event:
    return {"type": "content_block_stop", "index": index}


def chat(finish: str | None = None, choice: int = 0, **delta: Any) -> Event:
    return {
        "object": "chat.completion.chunk",
        "choices": [{"index": choice, "delta": delta, "finish_reason": finish}],
    }


def chat_call(
    index: int | None, arguments: str = "", id: str | None = None, name: str | None = None
) -> Event:
    return {"index": index, "id": id, "function": {"name": name, "arguments": arguments}}


def added(index: int, type: str, **more: Any) -> Event:
    item = {"type": type, **more}
    return {"type": "response.output_item.added", "output_index": index, "item": item}


def done(index: int, type: str, **more: Any) -> Event:
    item = {"type": type, **more}
    return {"type": "response.output_item.done", "output_index": index, "item": item}


def response(kind: str, index: int, text: str) -> Event:
    return {"type": f"response.{kind}.delta", "output_index": index, "delta": text}


def fed(assembler: StreamAssembler, events: Iterable[Any]) -> list[Block]:
    return [block for event in events for block in assembler.feed(event)]


# What every dialect makes of the same answer


def anthropic_answer(cut: Callable[[str], list[str]]) -> list[Event]:
    return [
        {"type": "message_start", "message": {"usage": {"input_tokens": 3}}},
        start(0, "thinking", thinking="", signature=""),
        *(delta(0, "thinking_delta", piece) for piece in cut("Let me look.")),
        stop(0),
        {"type": "ping"},
        start(1, "text", text=""),
        *(delta(1, "text_delta", piece) for piece in cut("I read it. 😀")),
        stop(1),
        start(2, "tool_use", id="c1", name="Read", input={}),
        *(delta(2, "input_json_delta", piece) for piece in cut('{"path": "a.py", "n": 2}')),
        stop(2),
        {
            "type": "message_delta",
            "delta": {"stop_reason": "stop"},
            "usage": {"output_tokens": 9, "input_tokens": None},
        },
        {"type": "message_stop"},
    ]


def chat_answer(cut: Callable[[str], list[str]]) -> list[Event]:
    return [
        chat(role="assistant", content=""),
        *(chat(reasoning_content=piece) for piece in cut("Let me look.")),
        *(chat(content=piece) for piece in cut("I read it. 😀")),
        chat(tool_calls=[chat_call(0, "", "c1", "Read")]),
        *(chat(tool_calls=[chat_call(0, piece)]) for piece in cut('{"path": "a.py", "n": 2}')),
        chat("stop"),
        {"choices": [], "usage": {"input_tokens": 3, "output_tokens": 9}},
    ]


def responses_answer(cut: Callable[[str], list[str]]) -> list[Event]:
    name = "reasoning_summary_text"
    arguments = '{"path": "a.py", "n": 2}'
    return [
        {"type": "response.created", "response": {"status": "in_progress"}},
        added(0, "reasoning", summary=[]),
        *(response(name, 0, piece) for piece in cut("Let me look.")),
        done(0, "reasoning", summary=[{"type": "summary_text", "text": "Let me look."}]),
        added(1, "message", content=[]),
        *(response("output_text", 1, piece) for piece in cut("I read it. 😀")),
        done(1, "message", content=[{"type": "output_text", "text": "I read it. 😀"}]),
        added(2, "function_call", id="fc_9", call_id="c1", name="Read", arguments=""),
        *(response("function_call_arguments", 2, piece) for piece in cut(arguments)),
        {
            "type": "response.function_call_arguments.done",
            "output_index": 2,
            "arguments": arguments,
        },
        done(2, "function_call", id="fc_9", call_id="c1", name="Read", arguments=arguments),
        {
            "type": "response.completed",
            "response": {"status": "stop", "usage": {"input_tokens": 3, "output_tokens": 9}},
        },
    ]


ANSWER = [
    Block(0, "reasoning", "Let me look."),
    Block(1, "text", "I read it. 😀"),
    Block(
        2,
        "tool_use",
        id="c1",
        name="Read",
        arguments='{"path": "a.py", "n": 2}',
        input={"path": "a.py", "n": 2},
    ),
]
DIALECTS = pytest.mark.parametrize("answer", [anthropic_answer, chat_answer, responses_answer])
Answer = Callable[[Callable[[str], list[str]]], list[Event]]


@DIALECTS
def test_every_dialect_gives_the_same_blocks_however_its_pieces_are_split(answer: Answer) -> None:
    for seed in range(60):
        dice = random.Random(seed)

        def cut(text: str, dice: random.Random = dice) -> list[str]:
            marks = sorted(dice.randint(0, len(text)) for _ in range(dice.randint(0, 8)))
            ends = [0, *marks, len(text)]
            return [text[a:b] for a, b in pairwise(ends)]

        assembler = StreamAssembler()
        assert fed(assembler, answer(cut)) == ANSWER
        assert assembler.open == ()
        assert assembler.stop_reason == "stop"
        assert assembler.usage == {"input_tokens": 3, "output_tokens": 9}
        assert assembler.problem == ""


@DIALECTS
def test_a_stream_cut_anywhere_keeps_the_finished_blocks_and_the_raw_rest(answer: Answer) -> None:
    events = answer(list)
    for cut in range(len(events)):
        assembler = StreamAssembler()
        finished = fed(assembler, events[:cut])
        rest = assembler.unfinished()
        assert finished == ANSWER[: len(finished)]
        for block in rest:
            whole = ANSWER[block.index]
            assert not block.complete
            assert block.problem
            assert block.input is None  # half a call must never run
            assert whole.text.startswith(block.text)
            assert whole.arguments.startswith(block.arguments)
            assert assembler.partial(block.index) == block.text + block.arguments
        assert tuple(block.index for block in rest) == assembler.open
        assert assembler.unfinished() == rest  # looking changes nothing


# Calls


@pytest.mark.parametrize(
    ("pieces", "arguments", "input", "problem"),
    [
        ([], "", {}, False),
        (["", " "], " ", {}, False),
        (['{"a"', ":1}"], '{"a":1}', {"a": 1}, False),
        (['{"a"'], '{"a"', None, True),
        (["{}}"], "{}}", None, True),
        (["null"], "null", None, False),
        (['{"n": 1180591620717411303424}'], '{"n": 1180591620717411303424}', {"n": 2**70}, False),
        (["[" * 5000], "[" * 5000, None, True),
        # An emoji cut between its UTF-16 halves is one character again.
        (['{"a":"\ud83d', '\ude00"}'], '{"a":"😀"}', {"a": "😀"}, False),
        (['{"a":"\ud83d"}'], '{"a":"\ud83d"}', {"a": "\ud83d"}, False),
    ],
)
def test_arguments_are_parsed_at_the_end_of_their_block(
    pieces: list[str], arguments: str, input: object, problem: bool
) -> None:
    assembler = StreamAssembler()
    events = [start(0, "tool_use", id="c", name="t", input={})]
    assert fed(assembler, events + [delta(0, "input_json_delta", p) for p in pieces]) == []
    (block,) = assembler.feed(stop(0))
    assert (block.arguments, block.input) == (arguments, input)
    assert bool(block.problem) is problem
    assert block.complete


def test_arguments_given_whole_at_the_start_of_a_call_count_when_no_piece_follows() -> None:
    whole = start(0, "tool_use", id="c", name="t", input={"a": 1})
    (block,) = fed(StreamAssembler(), [whole, stop(0)])
    assert (block.arguments, block.input) == ('{"a":1}', {"a": 1})
    pieces = delta(0, "input_json_delta", '{"a":2}')
    (block,) = fed(StreamAssembler(), [whole, pieces, stop(0)])
    assert (block.arguments, block.input) == ('{"a":2}', {"a": 2})


def test_arguments_given_whole_that_json_has_no_word_for_do_not_raise() -> None:
    whole = start(0, "tool_use", id="c", name="t", input={"a": {1, 2}})
    (block,) = fed(StreamAssembler(), [whole, stop(0)])
    assert (block.arguments, block.input) == ("", {"a": {1, 2}})


def test_chat_calls_side_by_side_are_finished_only_at_the_finish_reason() -> None:
    # A later index does not end an earlier one: pieces of both may still come.
    assembler = StreamAssembler()
    events = [
        chat(tool_calls=[chat_call(0, "{", "a", "Read"), chat_call(1, "", "b", "Grep")]),
        chat(tool_calls=[chat_call(1, '{"x":')]),
        chat(tool_calls=[chat_call(0, "}"), chat_call(1, "1}")]),
    ]
    assert fed(assembler, events) == []
    assert assembler.open == (0, 1)
    assert assembler.feed(chat("tool_calls")) == [
        Block(0, "tool_use", id="a", name="Read", arguments="{}", input={}),
        Block(1, "tool_use", id="b", name="Grep", arguments='{"x":1}', input={"x": 1}),
    ]
    assert assembler.stop_reason == "tool_calls"


@pytest.mark.parametrize("index", [0, None])
def test_chat_calls_that_all_come_under_one_index_are_told_apart_by_id(index: int | None) -> None:
    assembler = StreamAssembler()
    events = [
        chat(tool_calls=[chat_call(index, '{"n":1}', "a", "Read")]),
        chat(tool_calls=[chat_call(index, '{"n":', "b", "Read")]),
        chat(tool_calls=[chat_call(index, "2}")]),
        chat("tool_calls"),
    ]
    assert [(b.id, b.input) for b in fed(assembler, events)] == [("a", {"n": 1}), ("b", {"n": 2})]


def test_a_chat_call_whose_id_and_name_come_with_every_chunk_is_one_call() -> None:
    events = [
        chat(tool_calls=[chat_call(0, '{"n":', "a", "Read")]),
        chat(tool_calls=[chat_call(0, "1", "a", "Read")]),
        chat(tool_calls=[chat_call(0, "}", "made-up")]),
        chat("tool_calls"),
    ]
    assert [(b.id, b.name, b.input) for b in fed(StreamAssembler(), events)] == [
        ("a", "Read", {"n": 1})
    ]


def test_a_chat_stream_that_ends_without_a_reason_is_finished_by_finish() -> None:
    assembler = StreamAssembler()
    assert fed(assembler, [chat(content="Hel"), chat(content="lo")]) == []
    assert assembler.finish() == [Block(0, "text", "Hello")]
    assert assembler.finish() == []


def test_a_chat_service_may_say_reasoning_under_either_name_or_both() -> None:
    events = [
        chat(reasoning="a"),
        chat(reasoning_content="b"),
        chat(reasoning="c", reasoning_content="c"),
        chat("stop"),
    ]
    assert fed(StreamAssembler(), events) == [Block(0, "reasoning", "abc")]


def test_chat_arguments_that_come_as_an_object_are_taken_as_they_are() -> None:
    whole: Event = {"index": 0, "id": "a", "function": {"name": "t", "arguments": {"n": 1}}}
    events = [chat(tool_calls=[whole]), chat(tool_calls=[chat_call(0)]), chat("tool_calls")]
    (block,) = fed(StreamAssembler(), events)
    assert (block.arguments, block.input) == ('{"n":1}', {"n": 1})


def test_only_the_first_choice_is_the_answer() -> None:
    events = [chat(content="a"), chat("stop", choice=1, content="b"), chat(content="c")]
    assembler = StreamAssembler()
    assert fed(assembler, events) == []
    assert assembler.feed(chat("stop")) == [Block(0, "text", "ac")]


def test_a_chat_answer_after_another_gets_new_blocks() -> None:
    events = [chat(content="a"), chat("stop"), chat(content="b"), chat("stop")]
    assert fed(StreamAssembler(), events) == [Block(0, "text", "a"), Block(1, "text", "b")]


# Anthropic's stream, well and badly behaved


def test_blocks_that_interleave_keep_their_own_pieces() -> None:
    assembler = StreamAssembler()
    events = [
        start(1, "tool_use", id="c", name="t", input={}),
        start(0, "text", text="A"),
        delta(1, "input_json_delta", '{"k":'),
        delta(0, "text_delta", "B"),
        delta(1, "input_json_delta", "1}"),
    ]
    assert fed(assembler, events) == []
    assert assembler.open == (0, 1)
    assert assembler.partial(0) == "AB"
    assert assembler.partial(1) == '{"k":1}'
    assert assembler.partial(7) == ""
    assert [b.input for b in assembler.feed(stop(1))] == [{"k": 1}]
    assert [b.text for b in assembler.feed(stop(0))] == ["AB"]
    assert assembler.partial(0) == ""


def test_a_signature_stays_with_its_reasoning_and_out_of_its_text() -> None:
    events = [
        start(0, "thinking", thinking="hm", signature=""),
        delta(0, "signature_delta", "se"),
        delta(0, "signature_delta", "al"),
        stop(0),
    ]
    assert fed(StreamAssembler(), events) == [Block(0, "reasoning", "hm", signature="seal")]


def test_an_unknown_type_of_block_keeps_its_name_and_what_its_start_said() -> None:
    events = [start(0, "redacted_thinking", data="xyz"), stop(0)]
    (block,) = fed(StreamAssembler(), events)
    assert block == Block(
        0, "redacted_thinking", input={"type": "redacted_thinking", "data": "xyz"}
    )
    search = start(1, "server_tool_use", id="s", name="web_search", input={})
    (block,) = fed(StreamAssembler(), [search, delta(1, "input_json_delta", '{"q":1}'), stop(1)])
    assert (block.type, block.id, block.input) == ("server_tool_use", "s", {"q": 1})
    whole = start(1, "server_tool_use", id="s", name="web_search", input={"q": 1})
    (block,) = fed(StreamAssembler(), [whole, stop(1)])
    assert (block.type, block.arguments, block.input) == ("server_tool_use", '{"q":1}', {"q": 1})


def test_a_piece_whose_start_was_lost_opens_its_block() -> None:
    events = [delta(3, "input_json_delta", "{}"), delta(4, "text_delta", "x"), stop(3), stop(4)]
    assert fed(StreamAssembler(), events) == [
        Block(3, "tool_use", arguments="{}", input={}),
        Block(4, "text", "x"),
    ]


def test_a_stop_without_a_start_and_a_second_stop_give_nothing() -> None:
    assembler = StreamAssembler()
    assert assembler.feed(stop(0)) == []
    assert len(fed(assembler, [start(0, "text"), stop(0), stop(0)])) == 1
    assert assembler.problem == ""


def test_a_piece_after_the_end_of_its_block_is_told_and_makes_no_second_block() -> None:
    assembler = StreamAssembler()
    events = [start(0, "text"), stop(0), delta(0, "text_delta", "late"), {"type": "message_stop"}]
    assert fed(assembler, events) == [Block(0, "text")]
    assert "block 0" in assembler.problem


def test_a_block_whose_stop_was_lost_is_finished_by_the_end_of_the_message() -> None:
    events = [start(0, "text"), delta(0, "text_delta", "x"), {"type": "message_stop"}]
    assert fed(StreamAssembler(), events) == [Block(0, "text", "x")]


def test_another_answer_hands_out_what_the_last_one_left_open_and_starts_afresh() -> None:
    # A retry begins with message_start while the broken answer still has a block open.
    assembler = StreamAssembler()
    fed(assembler, [start(0, "text"), delta(0, "text_delta", "half"), {"type": "error"}])
    assert assembler.problem
    (cut,) = assembler.feed({"type": "message_start", "message": {}})
    assert (cut.text, cut.complete) == ("half", False)
    assert (assembler.problem, assembler.stop_reason, assembler.usage) == ("", "", {})
    assert fed(assembler, [start(0, "text", text="whole"), stop(0)]) == [Block(0, "text", "whole")]


def test_an_index_used_again_is_another_block_even_if_no_answer_was_announced() -> None:
    events = [start(0, "text", text="a"), stop(0), start(0, "text", text="b"), stop(0)]
    assert [block.text for block in fed(StreamAssembler(), events)] == ["a", "b"]


def test_blocks_without_an_index_are_taken_in_order() -> None:
    events = [start(None, "text", text="a"), stop(None), start(None, "text", text="b"), stop(None)]
    assert fed(StreamAssembler(), events) == [Block(0, "text", "a"), Block(1, "text", "b")]


# OpenAI's Responses


def test_the_whole_item_at_the_end_wins_over_pieces_that_were_lost() -> None:
    events = [
        added(0, "message", id="m"),
        response("output_text", 0, "Hel"),
        done(0, "message", id="m", content=[{"text": "Hello"}, {"refusal": ", no"}]),
    ]
    assert fed(StreamAssembler(), events) == [Block(0, "text", "Hello, no", id="m")]
    lone = done(1, "function_call", call_id="c", name="t", arguments='{"a":1}')
    assembler = StreamAssembler()
    (block,) = fed(assembler, [lone, lone])
    assert (block.id, block.name, block.input) == ("c", "t", {"a": 1})
    assert assembler.problem == ""


def test_whole_arguments_count_even_when_the_stream_is_cut_before_their_item_ends() -> None:
    assembler = StreamAssembler()
    whole = {
        "type": "response.function_call_arguments.done",
        "output_index": 0,
        "arguments": '{"a":1}',
    }
    lost = response("function_call_arguments", 0, '{"a"')
    assert fed(assembler, [added(0, "function_call", call_id="c", name="t"), lost, whole]) == []
    assert assembler.partial(0) == '{"a":1}'


def test_a_custom_call_has_free_text_and_is_no_broken_json() -> None:
    patch = "*** Begin Patch"
    events = [
        added(0, "custom_tool_call", call_id="c", name="apply_patch", input=""),
        response("custom_tool_call_input", 0, patch),
        done(0, "custom_tool_call", call_id="c", name="apply_patch", input=patch),
    ]
    (block,) = fed(StreamAssembler(), events)
    assert (block.type, block.text, block.id, block.name, block.problem) == (
        ("custom_tool_call", patch, "c", "apply_patch", "")
    )


def test_parts_of_a_summary_are_paragraphs_while_they_come_and_when_they_are_done() -> None:
    assembler = StreamAssembler()
    part = {"type": "response.reasoning_summary_part.added", "output_index": 0}
    events = [
        added(0, "reasoning"),
        {**part, "summary_index": 0},
        response("reasoning_summary_text", 0, "One."),
        {**part, "summary_index": 1},
        response("reasoning_summary_text", 0, "Two."),
    ]
    fed(assembler, events)
    assert assembler.partial(0) == "One.\n\nTwo."
    whole = done(0, "reasoning", summary=[{"text": "One."}, {"text": "Two."}])
    whole["item"]["encrypted_content"] = "seal"
    assert fed(assembler, [whole]) == [Block(0, "reasoning", "One.\n\nTwo.", signature="seal")]


def test_an_answer_over_its_limit_is_finished_and_says_why() -> None:
    assembler = StreamAssembler()
    end = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    events = [
        response("output_text", 0, "x"),
        {"type": "response.incomplete", "response": end},
    ]
    assert fed(assembler, events) == [Block(0, "text", "x")]
    assert assembler.stop_reason == "max_output_tokens"


# Errors and hostile input


@pytest.mark.parametrize(
    ("event", "problem"),
    [
        (
            {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
            "overloaded_error: Overloaded",
        ),
        ({"type": "error", "code": "rate_limit", "message": "slow"}, "rate_limit: slow"),
        ({"error": {"message": "bad", "code": 400}}, "bad"),
        ({"error": "bad"}, "bad"),
        (
            {
                "type": "response.failed",
                "response": {"error": {"code": "server_error", "message": "m"}},
            },
            "server_error: m",
        ),
        ({"type": "error", "error": None}, "error"),
    ],
)
def test_an_error_is_told_and_leaves_the_open_block_cut(event: Event, problem: str) -> None:
    assembler = StreamAssembler()
    assert fed(assembler, [response("output_text", 0, "ha"), event]) == []
    assert assembler.problem == problem
    assert [(b.text, b.complete) for b in assembler.unfinished()] == [("ha", False)]


def _spoilt(dice: random.Random, value: Any) -> Any:
    """The value with something in it missing, null, or of another type."""
    if dice.random() < 0.1:
        return dice.choice([None, True, -1, 2**70, 1.5, "", "x", [], [None], {}, {"type": 1}])
    if isinstance(value, dict):
        return {k: _spoilt(dice, v) for k, v in value.items() if dice.random() > 0.05}
    if isinstance(value, list):
        return [_spoilt(dice, item) for item in value]
    return value


def test_no_spoilt_event_raises_and_everything_open_can_be_finished() -> None:
    dice = random.Random(7)
    answers = (anthropic_answer, chat_answer, responses_answer)
    events = [event for answer in answers for event in answer(list)]
    for _ in range(1500):
        assembler = StreamAssembler()
        blocks: list[Block] = []
        for event in dice.choices(events, k=25):
            blocks += assembler.feed(_spoilt(dice, event))
        assert len(assembler.unfinished()) == len(assembler.open)
        left = assembler.finish()
        assert all(block.complete for block in left)
        assert assembler.open == ()
        assert all(isinstance(b.text + b.id + b.name + b.arguments, str) for b in blocks + left)


@pytest.mark.parametrize("event", [None, [], "x", 1, {}, {"type": None}, {"type": []}])
def test_what_is_no_event_gives_nothing(event: Any) -> None:
    assembler = StreamAssembler()
    assert assembler.feed(event) == []
    assert assembler.open == ()
