"""What `codex exec --json` printed, kept in a file: each item once, and how the turn ended."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import build
import pytest

from sessionlog.errors import NotPossible
from sessionlog.formats.codex_exec import CodexExec
from sessionlog.listing import glance
from sessionlog.reader import load
from sessionlog.records import Event, Tokens, shown_type
from sessionlog.repairs import repair
from sessionlog.session import Session
from sessionlog.usage import Meter

BEGIN = build.line({"type": "thread.started", "thread_id": build.CODEX_ID})
TURN = build.line({"type": "turn.started"})
DONE = build.line({"type": "turn.completed", "usage": {
    "input_tokens": 400, "cached_input_tokens": 100, "output_tokens": 40}})  # fmt: skip


def item(what: str, id: str, type: str, **more: Any) -> bytes:
    return build.line({"type": f"item.{what}", "item": {"id": id, "type": type, **more}})


def command(what: str, id: str = "item_2", **more: Any) -> bytes:
    state = {"command": "ls", "aggregated_output": "", "exit_code": None, "status": "in_progress"}
    return item(what, id, "command_execution", **{**state, **more})


ANSWER = item("completed", "item_1", "agent_message", text="I'll look.")
RUN = [command("started"), command("completed", aggregated_output="a.txt\n", exit_code=0,
                                   status="completed")]  # fmt: skip


def session(folder: Path, *lines: bytes, tail: bytes = b"") -> Session:
    return load(build.log(folder / "out.jsonl", lines, tail))


def told(read: Session) -> list[tuple[str, str]]:
    return [(shown_type(step.message), step.message.text) for step in read.history]


def test_a_run_reads_as_its_conversation_and_its_ending(tmp_path: Path) -> None:
    read = session(tmp_path, BEGIN, TURN, ANSWER, *RUN, DONE)
    assert (read.format, read.id, read.title) == ("codex-exec", build.CODEX_ID, "I'll look.")
    assert told(read) == [("assistant", "I'll look."), ("call", ""), ("response", "a.txt\n")]
    assert (read.status, read.ok, read.open_calls) == ("complete", True, ())
    row = glance(read.path)
    assert (row.agent, row.status, row.stop) == ("codex", "complete", "done")


def test_items_are_read_under_their_older_names_too(tmp_path: Path) -> None:
    said = {"id": "i0", "item_type": "assistant_message", "text": "Hello."}
    old = build.line({"type": "item.completed", "item": said})
    session = load(build.log(tmp_path / "run.jsonl", [BEGIN, old, DONE]))
    assert [(shown_type(m), m.text) for m in session.messages] == [("assistant", "Hello.")]


def test_a_killed_run_has_its_call_open(tmp_path: Path) -> None:
    read = session(tmp_path, BEGIN, TURN, ANSWER, *RUN, command("started", "item_3"))
    assert [call.call_id for call in read.open_calls] == ["item_3"]
    assert (read.status, read.ending.text) == ("unfinished", "in shell: ls")
    torn = session(tmp_path / "x", BEGIN, TURN, ANSWER, tail=RUN[0][:30])
    assert torn.status == "truncated"


def test_a_turn_that_failed_says_why(tmp_path: Path) -> None:
    failed = build.line({"type": "turn.failed", "error": {"message": "no quota"}})
    error = build.line({"type": "error", "message": "no quota"})
    for lines in ((error, failed), (error,), (failed,)):
        read = session(tmp_path / str(len(lines)), BEGIN, TURN, ANSWER, *lines)
        assert (read.status, read.ok, read.ending.text) == ("complete", False, "no quota")


def test_another_try_is_no_end_and_neither_is_a_turn_before_the_last(tmp_path: Path) -> None:
    again = build.line({"type": "error", "message": "Reconnecting... 1/5"})
    assert session(tmp_path, BEGIN, TURN, ANSWER, again).status == "unfinished"
    assert session(tmp_path / "x", BEGIN, TURN, ANSWER, DONE, TURN).status == "unfinished"


@pytest.mark.parametrize("started", [True, False])
def test_a_patch_is_one_call_whether_its_beginning_is_printed_or_not(
    tmp_path: Path, started: bool
) -> None:
    # versions differ: some print only its end
    changes = [{"path": "a", "kind": "update"}]
    end = item("completed", "item_4", "file_change", changes=changes, status="completed")
    begin = [
        item("started", "item_4", "file_change", changes=changes, status="in_progress"),
        item("updated", "item_4", "file_change", changes=changes, status="in_progress"),
    ]
    read = session(tmp_path, BEGIN, TURN, ANSWER, *(begin if started else []), end, DONE)
    assert (read.calls, read.open_calls, read.orphan_results) == (1, (), ())
    assert read.history[1].message.activity is not None
    assert read.history[1].message.activity.name == "apply_patch"


def test_a_list_that_grows_is_one_event_that_shows(tmp_path: Path) -> None:
    steps = [{"text": "a", "completed": True}, {"text": "b", "completed": False}]
    lines = [item(what, "item_1", "todo_list", items=steps) for what in
             ("started", "updated", "completed")]  # fmt: skip
    read = session(tmp_path, BEGIN, TURN, *lines)
    shown = [r.payload for r in read.records if isinstance(r.payload, Event)]
    assert [event.text for event in shown if event.kind == "todo_list"] == ["[x] a\n[ ] b"]
    assert read.history == ()


@pytest.mark.parametrize(
    ("end", "text", "failure"),
    [
        ({"exit_code": 2, "aggregated_output": "no\n"}, "no\nexit code 2", "no\nexit code 2"),
        ({"exit_code": 1}, "exit code 1", "exit code 1"),
        ({"status": "declined"}, "declined", "declined"),
        ({"exit_code": 0, "aggregated_output": "yes"}, "yes", None),
    ],
)
def test_a_commands_end_says_whether_it_failed(
    tmp_path: Path, end: dict[str, Any], text: str, failure: str | None
) -> None:
    read = session(tmp_path, BEGIN, command("started"), command("completed", **end))
    half = read.history[-1].message
    assert half.activity is not None
    assert (half.text, half.activity.failure) == (text, failure)


def test_a_tool_of_a_server_keeps_its_name_its_arguments_and_its_result(tmp_path: Path) -> None:
    call = {"server": "docs", "tool": "find", "arguments": {"q": "x"}}
    result = {"content": [{"type": "text", "text": "hit"}]}
    read = session(
        tmp_path, BEGIN, item("started", "item_1", "mcp_tool_call", **call),
        item("completed", "item_1", "mcp_tool_call", **call, result=result, status="completed"),
    )  # fmt: skip
    asked, answered = (step.message.activity for step in read.history)
    assert asked is not None
    assert answered is not None
    assert (asked.name, asked.arguments) == ("mcp__docs__find", '{"q":"x"}')
    assert answered.result == "hit"


def test_tokens_are_the_threads_so_far(tmp_path: Path) -> None:
    read = session(tmp_path, BEGIN, TURN, ANSWER, DONE)
    meter = Meter()
    for record in read.records:
        if (usage := CodexExec().usage(record)) is not None:
            meter.take(usage)
    assert meter.close().tokens == Tokens(input=300, output=40, cache_read=100)


def test_it_is_read_and_not_acted_on(tmp_path: Path) -> None:
    read = session(tmp_path, BEGIN, TURN, command("started"))
    with pytest.raises(NotPossible):
        repair(read.path)
    assert os.listdir(tmp_path) == ["out.jsonl"]


def test_lines_of_other_programs_are_damage_and_what_is_not_known_stays(tmp_path: Path) -> None:
    odd = [build.line({"type": "item.completed", "item": {"id": "i", "type": "new", "text": "x"}}),
           build.line({"type": "new.thing", "a": 1}), b"a warning\n"]  # fmt: skip
    read = session(tmp_path, BEGIN, *odd, TURN)
    assert len(read.damages) == 1
    assert len(read.records) == 4
