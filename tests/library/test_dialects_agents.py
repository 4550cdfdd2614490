"""Streams of agents: Claude Code's and Codex's lines, and the words in which they end."""

from __future__ import annotations

import json
from typing import Any

import pytest
import streams

from sessionlog.dialects.base import Standing
from sessionlog.dialects.table import dialect
from sessionlog.records import Activity, Event, Message, Payload


def read(name: str, *values: Any) -> tuple[list[Payload], Standing]:
    """What a dialect makes of some lines, and how it stands after them."""
    taker = dialect(name)
    payloads: list[Payload] = []
    for value in values:
        line = value if isinstance(value, bytes) else json.dumps(value).encode()
        payloads += taker.take(line)
    payloads += taker.rest(b"")
    return payloads, taker.standing()


def halves(payloads: list[Payload]) -> list[Activity]:
    return [p.activity for p in payloads if isinstance(p, Message) and p.activity]


def said(payloads: list[Payload]) -> list[tuple[str, str]]:
    """Messages and events that are no calls."""
    return [
        (p.type, p.text) if isinstance(p, Message) else (p.kind, p.text)
        for p in payloads
        if isinstance(p, Event) or (isinstance(p, Message) and p.activity is None)
    ]


# -- Claude Code ---------------------------------------------------------------------------------


def claude(*values: Any) -> tuple[list[Payload], Standing]:
    return read("claude-stream-json", *values)


def assistant(*blocks: Any, id: str = "m1", **more: Any) -> dict[str, Any]:
    message = {"id": id, "model": "m", "content": list(blocks)}
    return {"type": "assistant", "message": message, "session_id": "s", **more}


def user(*blocks: Any, **more: Any) -> dict[str, Any]:
    message = {"role": "user", "content": list(blocks)}
    return {"type": "user", "message": message, "session_id": "s", **more}


def streamed(event: Any) -> dict[str, Any]:
    return {"type": "stream_event", "event": event, "session_id": "s"}


def ending(subtype: str = "success", **more: Any) -> dict[str, Any]:
    return {"type": "result", "subtype": subtype, "session_id": "s", "num_turns": 3, **more}


TEXT = {"type": "text", "text": "Looking."}


def test_a_block_that_comes_streamed_and_whole_is_recorded_once() -> None:
    blocks = [("reasoning", "Hm."), ("text", "Looking."), ("call", "ls")]
    plain = streams.claude([blocks]).data.splitlines()
    partial = streams.claude_partial([blocks]).data.splitlines()
    messages = [[p for p in claude(*lines)[0] if isinstance(p, Message)]
                for lines in (plain, partial)]  # fmt: skip
    assert [len(of) for of in messages] == [4, 4]
    late = [json.loads(line) for line in partial]
    late.sort(key=lambda value: value["type"] == "assistant")  # whole ones after all pieces
    assert len([p for p in claude(*late)[0] if isinstance(p, Message)]) == 4


def test_the_same_words_said_twice_are_recorded_twice() -> None:
    assert said(claude(assistant(TEXT), assistant(TEXT))[0]) == [("bot", "Looking.")] * 2


def test_a_block_that_was_whole_already_is_no_partial_one() -> None:
    events = streams.anthropic_events("m1", [("text", "Looking.")])
    before_stop = [streamed(event) for event in events[:-3]]
    payloads, standing = claude(*before_stop, assistant(TEXT))
    assert said(payloads) == [("bot", "Looking.")]
    assert standing.partial == ()
    assert standing.cut == "the stream was cut between two blocks of an answer"


@pytest.mark.parametrize(
    ("content", "failed", "result", "failure"),
    [
        ("fine", False, "fine", None),
        ([{"type": "text", "text": "a"}, {"type": "image"}], False, "a\n[image]", None),
        ("Exit code 1", True, None, "Exit code 1"),
        (None, False, "", None),
    ],
)
def test_results_of_tools_in_every_shape(
    content: Any, failed: bool, result: Any, failure: Any
) -> None:
    block = {"type": "tool_result", "tool_use_id": "t", "content": content, "is_error": failed}
    [half] = halves(claude(user(block))[0])
    assert (half.id, half.result, half.failure) == ("t", result, failure)


def test_what_a_subagent_does_is_narration() -> None:
    call = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}
    payloads, _ = claude(
        assistant(TEXT, parent_tool_use_id="p"), assistant(call, parent_tool_use_id="p")
    )
    assert said(payloads) == [("subagent", "Looking."), ("subagent", '{"command":"ls"}')]


def test_an_error_of_the_service_is_no_word_of_the_model() -> None:
    spoken = {"type": "text", "text": "API Error: 529 overloaded"}
    line = assistant(spoken, error="server_error")
    payloads, standing = claude(line, ending(is_error=True, result=spoken["text"]))
    assert said(payloads)[0] == ("error", "API Error: 529 overloaded")
    assert standing.result is not None
    assert (standing.result.reason, standing.result.error) == ("error", spoken["text"])


@pytest.mark.parametrize(
    ("value", "reason", "error", "code"),
    [
        (ending(result="Done."), "stop", "", 0),
        (ending("error_max_turns"), "error_max_turns", "", 1),
        (ending("error_during_execution", errors=["boom"]), "error", "boom", 1),
        (ending("error_during_execution"), "error", "error_during_execution", 1),
        (ending("error_during_execution", terminal_reason="aborted_tools"), "aborted",
         "Interrupted by the user.", 1),
    ],
)  # fmt: skip
def test_the_result_line_is_the_end(value: Any, reason: str, error: str, code: int) -> None:
    _, standing = claude(assistant(TEXT), value)
    result = standing.result
    assert result is not None
    assert (result.reason, result.error, result.code) == (reason, error, code)
    assert (result.iterations, result.extra["session_id"]) == (3, "s")


def test_a_turn_after_a_result_takes_the_end_back() -> None:
    assert claude(ending(), assistant(TEXT))[1].result is None
    assert claude(ending(), user(TEXT))[1].result is None
    odd = {"type": "system", "subtype": "task_notification", "session_id": "s"}
    assert claude(ending(), odd)[1].result is not None


def test_retries_and_compactions_are_events_that_why_knows() -> None:
    retry = {"type": "system", "subtype": "api_retry", "session_id": "s", "attempt": 2}
    compact = {"type": "system", "subtype": "compact_boundary", "session_id": "s",
               "compact_metadata": {"trigger": "auto"}}  # fmt: skip
    status = {"type": "system", "subtype": "status", "session_id": "s"}
    assert said(claude(retry, compact, status)[0]) == [
        ("retry", '{"attempt":2}'), ("compact", '{"trigger":"auto"}'),
    ]  # fmt: skip


def test_lines_that_are_no_json_are_what_was_printed() -> None:
    payloads, _ = claude(b"npm warn deprecated", assistant(TEXT))
    assert said(payloads) == [("output", "npm warn deprecated"), ("bot", "Looking.")]


# -- Codex ---------------------------------------------------------------------------------------


def codex(*values: Any) -> tuple[list[Payload], Standing]:
    return read("codex-exec-json", {"type": "turn.started"}, *values)


def item(type: str, done: bool = True, **more: Any) -> dict[str, Any]:
    what = "item.completed" if done else "item.started"
    return {"type": what, "item": {"id": "item_1", "type": type, **more}}


@pytest.mark.parametrize(
    ("more", "result", "failure"),
    [
        ({"aggregated_output": "hi\n", "exit_code": 0, "status": "completed"}, "hi\n", None),
        ({"aggregated_output": "no\n", "exit_code": 2, "status": "failed"}, None,
         "no\nexit status 2"),
        ({"aggregated_output": "", "exit_code": None, "status": "declined"}, None, "declined"),
    ],
)  # fmt: skip
def test_a_command_is_a_call_of_the_shell(more: Any, result: Any, failure: Any) -> None:
    started = item("command_execution", done=False, command="ls", status="in_progress")
    done = item("command_execution", command="ls", **more)
    for values in ((started, done), (done,)):
        asked, answer = halves(codex(*values)[0])
        assert (asked.name, asked.arguments) == ("shell", '{"command":"ls"}')
        assert (answer.id, answer.result, answer.failure) == (asked.id, result, failure)


@pytest.mark.parametrize(
    ("value", "name", "arguments", "result", "failure"),
    [
        (item("file_change", changes=[{"path": "a", "kind": "add"}], status="completed"),
         "apply_patch", '{"changes":[{"path":"a","kind":"add"}]}', "completed", None),
        (item("mcp_tool_call", server="db", tool="ask", arguments={"q": 1}, status="completed",
              result={"content": [{"type": "text", "text": "42"}]}),
         "mcp__db__ask", '{"q":1}', "42", None),
        (item("mcp_tool_call", server="db", tool="ask", error={"message": "no"}, status="failed"),
         "mcp__db__ask", "{}", None, "no"),
        (item("web_search", query="x"), "web_search", '{"query":"x"}', "completed", None),
    ],
)  # fmt: skip
def test_other_items_that_are_calls(
    value: Any, name: str, arguments: str, result: Any, failure: Any
) -> None:
    asked, answer = halves(codex(value)[0])
    assert (asked.name, asked.arguments) == (name, arguments)
    assert (answer.result, answer.failure) == (result, failure)


def test_items_that_are_no_calls_are_words_or_events() -> None:
    steps = [{"text": "look", "completed": True}, {"text": "mend", "completed": False}]
    payloads, _ = codex(
        item("reasoning", text="Hm."), item("agent_message", text="Done."),
        item("todo_list", items=steps), item("error", message="careful"), item("new", x=1),
    )  # fmt: skip
    assert said(payloads) == [
        ("reasoning", "Hm."), ("bot", "Done."), ("todo_list", "[x] look\n[ ] mend"),
        ("warning", "careful"), ("new", '{"x":1}'),
    ]  # fmt: skip


def test_a_failed_turn_is_the_end_in_its_own_words_told_once() -> None:
    payloads, standing = codex(
        {"type": "error", "message": "Reconnecting... 1/5"},
        {"type": "error", "message": "usage limit"},
        {"type": "turn.failed", "error": {"message": "usage limit"}},
    )
    assert said(payloads) == [("retry", "Reconnecting... 1/5"), ("error", "usage limit")]
    assert standing.result is not None
    assert (standing.result.reason, standing.result.error) == ("error", "usage limit")


def test_usage_is_the_threads_total_and_threads_add_up() -> None:
    def turn(tokens: int) -> dict[str, Any]:
        usage = {"input_tokens": tokens, "output_tokens": 1}
        return {"type": "turn.completed", "usage": usage}

    another = {"type": "thread.started", "thread_id": "t2"}
    payloads, standing = codex(turn(10), turn(15), another, turn(7))
    used = [text for kind, text in said(payloads) if kind == "usage"]
    assert used == ["input 10 output 1", "input 15 output 1", "input 22 output 2"]
    assert standing.result is not None
    assert standing.result.reason == "stop"
