"""Streams of models' services: what each event says, and what stands around the events."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
import streams

from sessionlog.dialects.base import Standing
from sessionlog.dialects.lines import Lines
from sessionlog.dialects.table import dialect
from sessionlog.records import Event, Message, Payload


def sent(*values: Any) -> bytes:
    """Events with these values as their data."""
    texts = (value if isinstance(value, str) else json.dumps(value) for value in values)
    return b"".join(f"data: {text}\n\n".encode() for text in texts)


def read(name: str, data: bytes) -> tuple[list[Payload], Standing]:
    """What a dialect makes of a stream, and how it stands at its end."""
    taker, lines = dialect(name), Lines(1 << 20)
    payloads = [payload for line in lines.feed(data) for payload in taker.take(line.data)]
    rest = lines.rest()
    payloads += taker.rest(rest.data if rest else b"")
    return payloads, taker.standing()


def told(payloads: Iterable[Payload]) -> list[tuple[str, ...]]:
    """The payloads in short."""
    short: list[tuple[str, ...]] = []
    for payload in payloads:
        if isinstance(payload, Event):
            short.append((payload.kind, payload.text))
        elif isinstance(payload, Message) and payload.activity is None:
            short.append((payload.type, payload.text))
        elif isinstance(payload, Message) and payload.activity is not None:
            half = payload.activity
            said = half.arguments if half.kind == "request" else half.failure or str(half.result)
            short.append((half.kind, half.id, half.name, said))
    return short


START = {"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 7}}}
STOP = {"type": "message_stop"}


def test_usage_is_the_total_of_the_run_in_the_native_engines_words() -> None:
    stream = streams.anthropic([[("text", "One.")], [("text", "Two.")]])
    payloads, standing = read("anthropic-sse", stream.data)
    used = [event for kind, *event in told(payloads) if kind == "usage"]
    assert used == [["input 15 output 20"], ["input 30 output 40"]]
    assert standing.answers == 2


@pytest.mark.parametrize("make", [streams.responses, streams.chat])
def test_openais_usage_counts_each_answer_once(make: Any) -> None:
    payloads, _ = read("openai-sse", make([[("text", "One.")], [("text", "Two.")]]).data)
    used = [event for kind, *event in told(payloads) if kind == "usage"]
    assert used == [["input 15 output 20"], ["input 30 output 40"]]


@pytest.mark.parametrize("shape", ["anthropic", "responses", "chat"])
def test_a_stream_whose_last_answer_asks_for_a_tool_has_no_verdict(shape: str) -> None:
    stream = streams.MAKERS[shape]([[("call", "ls")]], None)
    _, standing = read(stream.dialect, stream.data)
    assert (standing.result, standing.cut) == (None, "")


@pytest.mark.parametrize(
    ("stop", "reason", "code"),
    [("end_turn", "stop", 0), ("max_tokens", "max_tokens", 1), ("refusal", "refusal", 1)],
)
def test_why_the_last_answer_ended_is_how_the_stream_ended(
    stop: str, reason: str, code: int
) -> None:
    delta = {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 1}}
    _, standing = read("anthropic-sse", sent(START, delta, STOP))
    assert standing.result is not None
    assert (standing.result.reason, standing.result.code) == (reason, code)


ERROR = {"type": "overloaded_error", "message": "Overloaded"}


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("anthropic-sse", sent(START, {"type": "error", "error": ERROR}),
         "overloaded_error: Overloaded"),
        ("anthropic-sse", b"HTTP/1.1 529 \r\n\r\n" + json.dumps({"type": "error", "error": ERROR})
         .encode(), "overloaded_error: Overloaded"),
        ("openai-sse", sent({"error": {"code": "rate_limit_exceeded", "message": "Slow down"}}),
         "rate_limit_exceeded: Slow down"),
        ("openai-sse", b"HTTP/1.1 401 Unauthorized\n\n" + json.dumps(
            {"error": {"type": "invalid_request_error", "message": "No key"}}, indent=4).encode(),
         "invalid_request_error: No key"),
        ("openai-sse", sent({"type": "response.created"}, {"type": "response.failed", "response":
         {"status": "failed", "error": {"code": "server_error", "message": "Oops"}}}),
         "server_error: Oops"),
    ],
)  # fmt: skip
def test_an_error_of_the_service_is_the_end_in_its_own_words(
    name: str, data: bytes, words: str
) -> None:
    payloads, standing = read(name, data)
    assert standing.result is not None
    assert (standing.result.reason, standing.result.error) == ("error", words)
    assert ("error", words) in told(payloads)


def test_an_answer_after_an_error_overcomes_it() -> None:
    data = sent(START, {"type": "error", "error": ERROR})
    payloads, standing = read("anthropic-sse", data + streams.anthropic([[("text", "Hi.")]]).data)
    assert standing.result is not None
    assert standing.result.reason == "stop"
    assert ("bot", "Hi.") in told(payloads)


def test_an_answer_that_another_one_follows_unfinished_is_told_as_cut() -> None:
    first, second = (streams.anthropic([[("text", word)]]).data for word in ("One.", "Two."))
    half = first[: first.index(b"event: content_block_stop")]
    payloads, standing = read("anthropic-sse", half + second)
    assert told(payloads)[:2] == [
        ("partial", "One."),
        ("cut", "an answer was cut in the middle of block 1, a text; another one began"),
    ]
    assert (standing.cut, standing.answers) == ("", 2)


def test_comments_crlf_and_data_over_several_lines_are_read() -> None:
    lines = json.dumps(START, indent=1).split("\n")
    data = ": ping\n\nid: 7\nretry: 10\nevent: message_start\n"
    data += (
        "".join(f"data: {line}\n" for line in lines) + "\n" + "event: message_stop\ndata: {}\n\n"
    )
    for text in (data, data.replace("\n", "\r\n")):
        payloads, standing = read("anthropic-sse", text.encode())
        assert told(payloads) == []
        assert (standing.answers, standing.cut) == (1, "")


def test_an_event_that_is_not_json_is_told_and_costs_no_neighbour() -> None:
    whole = streams.anthropic([[("text", "Hi.")]]).data
    payloads, _ = read("anthropic-sse", b"data: {oops\n\n" + whole)
    assert told(payloads)[0] == ("damage", "an event of 5 bytes that is not JSON: {oops")
    assert ("bot", "Hi.") in told(payloads)


def test_lines_that_are_no_events_are_kept_as_output() -> None:
    data = b"warming up\n\n" + streams.chat([[("text", "Hi.")]]).data + b"bye\n"
    payloads, _ = read("openai-sse", data)
    assert [told(payloads)[at] for at in (0, -1)] == [("output", "warming up"), ("output", "bye")]


def test_the_sizes_of_chunks_are_no_output() -> None:
    stream = streams.chat([[("text", "Hi.")]]).data
    chunks = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    for event in stream.split(b"\n\n")[:-1]:
        chunks += b"%x\r\n%s\n\n\r\n" % (len(event) + 2, event)
    payloads, standing = read("openai-sse", chunks + b"0\r\n\r\n")
    assert [kind for kind, *_ in told(payloads)] == ["http", "bot", "usage"]
    assert standing.result is not None


def test_calls_that_the_service_makes_itself_come_with_their_results() -> None:
    item = {"type": "mcp_call", "id": "mcp_1", "name": "lookup", "arguments": '{"q": 1}',
            "output": "found"}  # fmt: skip
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed",
              "action": {"type": "search", "query": "x"}}  # fmt: skip
    payloads, standing = read("openai-sse", sent(
        {"type": "response.created"},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 1, "item": search},
        {"type": "response.completed", "response": {"status": "completed"}},
    ))  # fmt: skip
    assert told(payloads) == [
        ("request", "mcp_1", "lookup", '{"q": 1}'),
        ("response", "mcp_1", "lookup", "found"),
        ("request", "ws_1", "web_search", '{"type":"search","query":"x"}'),
        ("response", "ws_1", "web_search", "completed"),
    ]
    assert standing.result is not None


def test_free_text_for_a_tool_is_json_as_arguments() -> None:
    item = {"type": "custom_tool_call", "call_id": "c1", "name": "apply_patch"}
    payloads, _ = read("openai-sse", sent(
        {"type": "response.created"},
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "input": ""}},
        {"type": "response.custom_tool_call_input.delta", "output_index": 0, "delta": "*** Begin"},
        {"type": "response.output_item.done", "output_index": 0,
         "item": {**item, "input": "*** Begin"}},
    ))  # fmt: skip
    assert told(payloads) == [("request", "c1", "apply_patch", '{"input":"*** Begin"}')]


def test_a_body_of_many_lines_that_never_ends_is_taken_in_linear_time() -> None:
    taker = dialect("openai-sse")
    body = [b"{", *[b"x"] * (1 << 20)]
    payloads = [payload for line in body for payload in taker.take(line)]
    assert len(payloads) > 1 << 18
