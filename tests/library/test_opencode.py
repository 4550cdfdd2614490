"""OpenCode's messages: what was said, what the model is told of it again, how the run stands."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import opencode_logs as oc
import pytest
from opencode_logs import answer, export, healthy, info, killed, part, text, tool, user

from sessionlog.formats.opencode import OpenCode
from sessionlog.reader import load
from sessionlog.records import Event, Kind, Origin, Span, Status, Tokens, shown_type
from sessionlog.session import Session
from sessionlog.usage import Meter

CASES = os.environ.get("SESSIONLOG_CASES", "")


def session(folder: Path, *messages: oc.Message, **head: Any) -> Session:
    return load(export(folder / "x.json", list(messages), info(**head)))


def kinds(read: Session) -> list[str]:
    return [shown_type(step.message) for step in read.history]


def told(read: Session) -> list[str]:
    return [message.text for message in read.messages]


def events(read: Session, kind: str) -> list[Event]:
    return [event for event in read.events if event.kind == kind]


def test_a_run_reads_as_its_conversation_and_its_ending(tmp_path: Path) -> None:
    read = session(tmp_path, *healthy())
    assert kinds(read) == ["user", "call", "response", "assistant"]
    assert (read.status, read.ok, read.reason) == (Status.COMPLETE, True, "stop")
    assert (read.users, read.assistants, read.calls, read.open_calls) == (1, 2, 1, ())
    assert (read.id, read.title, read.meta.model) == (oc.SESSION, "Fix it", "m")
    assert (read.meta.workdir, read.meta.provider) == ("/srv/app", "p")
    assert (read.ending.text, read.ending.evidence) == ("Done.", "finish stop")


def test_the_parts_of_an_answer_are_messages_in_their_order(tmp_path: Path) -> None:
    parts = (part("reasoning", 201, text="hm"), "Look.", tool(202), tool(203, id="b"), "Then.")
    read = session(tmp_path, user(1, "Go"), answer(2, *parts))
    assert kinds(read) == ["user", "reasoning", "assistant", "call", "response", "call",
                           "response", "assistant"]  # fmt: skip
    assert [step.pair for step in read.history] == [None, None, None, 5, 4, 7, 6, None]
    assert {step.message.answer for step in read.history[1:]} == {read.history[1].message.answer}


def test_a_running_call_is_open_and_shows_what_it_printed(tmp_path: Path) -> None:
    read = session(tmp_path, *killed())
    assert [(call.tool, call.call_id) for call in read.open_calls] == [("bash", "call_202")]
    assert [event.text for event in events(read, "output so far")] == ["started\n"]
    assert (read.status, read.ending.text) == (Status.UNFINISHED, "in bash: ls")
    assert [call.since for call in read.in_flight] == ["2026-11-27T22:03:22Z"]


def test_a_pending_call_is_open_with_what_there_is_of_its_arguments(tmp_path: Path) -> None:
    read = session(tmp_path, *killed(tool(202, "pending", input={}, raw='{"comm')))
    assert [call.arguments for call in read.open_calls] == ['{"comm']


def test_a_command_that_failed_has_failed_although_its_call_completed(tmp_path: Path) -> None:
    failed = tool(201, output="no such file\n", metadata={"exit": 2})
    silent = tool(202, output="", metadata={"exit": 1})
    fine = tool(203, metadata={"exit": 0})
    read = session(tmp_path, user(1, "Go"), answer(2, failed, silent, fine))
    halves = [step.message.activity for step in read.history if step.message.activity]
    assert [half.failure for half in halves if half.kind == "response"] == [
        "no such file\n", "exit code 1", None,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("state", "said", "shown"),
    [
        ({"metadata": {"output": "half"}}, "Aborted", 1),
        ({"metadata": {"output": "half", "interrupted": True}}, "half", 0),
        ({"metadata": {"interrupted": True}}, "Aborted", 0),
    ],
)
def test_the_text_of_a_failed_call_is_what_the_model_reads(
    tmp_path: Path, state: dict[str, Any], said: str, shown: int
) -> None:
    broken = tool(201, "error", output="Aborted", **state)
    read = session(tmp_path, user(1, "Go"), answer(2, broken))
    result = read.history[2].message
    assert result.text == said
    assert result.activity is not None
    assert result.activity.failure == "Aborted"
    assert len(events(read, "output so far")) == shown


def test_an_answer_that_failed_is_never_sent_again(tmp_path: Path) -> None:
    error = {"name": "APIError", "data": {"message": "overloaded"}}
    read = session(tmp_path, user(1, "Go"), answer(2, "Half", tool(201, "pending"), error=error))
    assert told(read) == ["Go"]
    assert read.open_calls == ()
    assert (read.status, read.ok, read.reason) == (Status.COMPLETE, False, "APIError")
    assert read.ending.text == "overloaded"


def test_an_answer_that_a_person_interrupted_stays_with_what_it_holds(tmp_path: Path) -> None:
    error = {"name": "MessageAbortedError", "data": {"message": "aborted"}}
    read = session(tmp_path, user(1, "Go"), answer(2, "Half", finish=None, error=error))
    assert told(read) == ["Go", "Half"]
    assert (read.status, read.ok, read.ending.text) == (Status.COMPLETE, False, "interrupted")
    thought = part("reasoning", 201, text="hm")
    read = session(tmp_path, user(1, "Go"), answer(2, thought, finish=None, error=error))
    assert told(read) == ["Go"]


@pytest.mark.parametrize(
    ("last", "status", "ok", "text"),
    [
        (answer(2, "x", finish="length"), "complete", False, "the answer was cut at its longest"),
        (answer(2, "x", finish="other"), "complete", None, "x"),
        (answer(2, tool(201), finish="tool-calls"), "unfinished", None, "while the model answered"),
        (answer(2, "", finish=None), "unfinished", None, "while the model answered"),
        (user(2, "And?"), "unfinished", None, "while the model answered"),
        (answer(2, "x", finish=None, time={"created": 1, "completed": 2}), "complete", None, "x"),
    ],
)
def test_the_last_message_decides_how_the_run_stands(
    tmp_path: Path, last: oc.Message, status: str, ok: bool | None, text: str
) -> None:
    read = session(tmp_path, user(1, "Go"), last)
    assert (read.status, read.ok, read.ending.text) == (status, ok, text)


def test_a_call_left_open_before_later_turns_is_not_in_flight(tmp_path: Path) -> None:
    read = session(tmp_path, *killed(), user(3, "Go on"), answer(4, "Done."))
    assert len(read.open_calls) == 1
    assert (read.status, read.in_flight) == (Status.COMPLETE, ())


def test_a_default_title_is_none_and_quotes_of_a_command_line_are_no_part_of_it(
    tmp_path: Path,
) -> None:
    untitled = "New session - 2026-11-27T22:00:00.000Z"
    read = session(tmp_path, user(1, '"Fix the greeting"'), title=untitled)
    assert (read.title, read.meta.task) == ("Fix the greeting", "Fix the greeting")
    assert session(tmp_path, user(1, "x"), title="New session - mine").title == "New session - mine"


def test_tokens_are_counted_once(tmp_path: Path) -> None:
    spent = {"input": 100, "output": 10, "reasoning": 0, "cache": {"read": 5, "write": 2}}
    step = part("step-finish", 209, reason="stop", tokens=spent, cost=0.5)
    steps = answer(2, "x", step, tokens=spent, cost=0.5)
    bare = answer(3, "y", tokens={**spent, "reasoning": 4, "total": 121}, cost=0.25)
    read = session(tmp_path, user(1, "Go"), steps, bare)
    meter = Meter()
    for record in read.records:
        if (usage := OpenCode().usage(record)) is not None:
            meter.take(usage)
    spent_all = meter.close()
    assert spent_all.tokens == Tokens(200, 24, 10, 4, reasoning=4)
    assert spent_all.cost == 0.75


def test_what_the_client_put_into_a_prompt_is_no_prompt(tmp_path: Path) -> None:
    synthetic, ignored = text("file", 101, synthetic=True), text("note", 102, ignored=True)
    picture = part("file", 103, mime="image/png", filename="a.png", url="data:image/png;base64,AA")
    read = session(tmp_path, user(1, "Go", synthetic, ignored, picture))
    assert kinds(read) == ["user", "system", "system", "attachment"]
    assert told(read) == ["Go", "file", "a.png"]
    assert [image.media_type for image in read.history[3].message.images] == ["image/png"]


def test_a_summary_takes_the_place_of_all_before_what_asked_for_it(tmp_path: Path) -> None:
    asks = user(4, part("compaction", 401, auto=True))
    summary = answer(5, "In short", summary=True, parentID=oc.ident("msg", 4))
    rest = [user(6, "Go on"), answer(7, "Sure.")]
    read = session(tmp_path, *healthy(), asks, summary, *rest)
    assert told(read) == ["In short", "Go on", "Sure."]
    assert kinds(read)[4] == "summary"
    keeps = user(4, part("compaction", 401, auto=True, tail_start_id=oc.ident("msg", 3)))
    read = session(tmp_path, *healthy(), keeps, summary, *rest)
    assert told(read) == ["In short", "Done.", "Go on", "Sure."]


def test_a_summary_that_was_not_finished_takes_nothing_away(tmp_path: Path) -> None:
    asks = user(4, part("compaction", 401, auto=True, tail_start_id=oc.ident("msg", 3)))
    summary = answer(5, "In sho", summary=True, parentID=oc.ident("msg", 4), finish=None)
    assert told(session(tmp_path, *healthy(), asks, summary))[0] == "Fix it"


def test_messages_that_were_taken_back_are_shown_and_not_in_context(tmp_path: Path) -> None:
    back = {"messageID": oc.ident("msg", 3)}
    read = session(tmp_path, *healthy(), user(4, "More"), revert=back)
    assert [step.in_context for step in read.history] == [True, True, True, False, False]
    assert (read.status, read.ending.text) == (Status.COMPLETE, "went back to an earlier place")
    partly = {"messageID": oc.ident("msg", 2), "partID": oc.ident("prt", 201)}
    read = session(tmp_path, user(1, "Go"), answer(2, "Stands.", tool(201)), revert=partly)
    assert [step.in_context for step in read.history] == [True, True, False, False]


def test_ids_that_repeat_do_not_make_answers_one(tmp_path: Path) -> None:
    messages = healthy()
    for message in messages:
        message["info"]["id"] = "REDACTED"
    assert session(tmp_path, *messages).assistants == 2


def test_what_is_not_known_is_kept(tmp_path: Path) -> None:
    read = session(tmp_path, user(1, "Go"), answer(2, part("hologram", 201, beam=1), "x"))
    (other,) = [r.payload for r in read.records if r.kind is Kind.OTHER]
    assert other.name == "hologram"
    assert other.data["beam"] == 1


def test_a_call_names_the_session_of_its_subagent(tmp_path: Path) -> None:
    child = "ses_dd60a8d30fffChildSession01"
    named = tool(201, name="task", metadata={"sessionId": child})
    printed = tool(202, name="task", output=f"task_id: {child}\n\nfine")
    read = session(tmp_path, user(1, "Go"), answer(2, named, printed))
    halves = [step.message.activity for step in read.history if step.message.activity]
    assert [h.extra.get("session") for h in halves if h.kind == "request"] == [child, child]


def test_values_of_other_types_break_nothing(tmp_path: Path) -> None:
    odd: list[Any] = [None, 3, "x", [], {"type": 7}, {"type": "tool", "state": 1}]
    odd += [{"type": kind, "text": 1, "files": {}, "error": [], "time": "now"} for kind in (
        "text", "reasoning", "file", "tool", "step-finish", "patch", "retry", "subtask", "agent",
    )]  # fmt: skip
    messages = [*healthy()]
    messages[1]["parts"] += odd
    messages.append({"info": {"role": 4, "time": [], "error": "x", "tokens": 2}, "parts": {}})
    read = session(tmp_path, *messages, time=7, model="m", metadata=[], revert="x")
    assert read.messages[0].text == "Fix it"
    assert not read.damages


def test_messages_of_version_2_read_alike() -> None:
    def decoded(type: str, **more: Any) -> list[Any]:
        body = {"id": "msg_1", "sessionID": "ses_1", "type": type, "time": {"created": oc.ms()}}
        found = OpenCode().decode({"info": {**body, **more}}, Span(1, 0, 10))
        return [record.payload for record in found]

    assert decoded("user", text="Go")[0].text == "Go"
    call = {"type": "tool", "id": "c", "name": "bash", "time": {"created": oc.ms(1)}}
    output = [{"type": "text", "text": "ok"}]
    done = {**call, "state": {"status": "completed", "input": {"a": 1}, "content": output}}
    runs = {**call, "state": {"status": "running", "input": {}, "content": output}}
    asked, result, _, event, last = decoded("assistant", content=[done, runs], finish="stop")
    assert (asked.activity.arguments, result.text) == ('{"a":1}', "ok")
    assert (event.kind, last.text) == ("output so far", "stop")
    assert decoded("compaction", summary="s", recent="r")[1].text == "s\n\nr"
    assert decoded("model-switched", model={"id": "m"})[0].kind == "model-switched"
    assert decoded("shell", command="ls", output="a\n")[0].text == "! ls\na"


def test_a_copy_of_ours_names_what_it_was_made_from(tmp_path: Path) -> None:
    forked = {"sessionlog": {"id": "ses_parent", "at": 3}}
    assert session(tmp_path, metadata=forked).meta.forked_from == Origin("ses_parent", 3)
    repaired = {"sessionlog": {"id": "ses_parent"}}
    assert session(tmp_path, metadata=repaired).meta.resumed_from == "ses_parent"


@pytest.mark.skipif(not CASES, reason="SESSIONLOG_CASES names no folder of sample logs")
@pytest.mark.parametrize(
    ("name", "users", "assistants", "calls", "open"),
    [
        ("made/opencode/1-normal/export.json", 1, 4, 3, 0),
        ("made/opencode/2-kill/export.json", 1, 2, 3, 1),
        ("made/opencode/3-int/export.json", 1, 2, 2, 1),
        ("made/opencode/4-resume-killed/export.json", 3, 6, 5, 1),
        ("made/opencode/8-own-fork/export.json", 2, 4, 3, 1),
        ("opencode/export-1.2.26.json", 2, 66, 78, 0),
        ("opencode/storage_v2/session/proj_test/ses_s_stage0_large.json", 2, 2, 1, 0),
        ("opencode/storage_v2/session/proj_test/ses_s_stage0_small.json", 1, 1, 1, 0),
    ],
)
def test_sample_logs_have_their_counts(
    name: str, users: int, assistants: int, calls: int, open: int
) -> None:
    read = load(os.path.join(CASES, name), strict=True)
    assert (read.users, read.assistants, read.calls, len(read.open_calls)) == (
        users, assistants, calls, open,
    )  # fmt: skip
    assert not read.damages
    assert not read.orphan_results
    assert not [record for record in read.records if record.kind is Kind.OTHER]
