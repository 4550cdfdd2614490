"""Qwen Code's logs: what was said, which branch counts, how the run stands."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

import build
import pytest
import qwen_logs as qwen
from decoding import Decoding

from sessionlog import codec
from sessionlog.formats.base import LOUD, TROUBLE, USER, decoded_bits
from sessionlog.formats.qwen import Qwen
from sessionlog.formats.table import recognise
from sessionlog.listing import glance
from sessionlog.reader import load
from sessionlog.records import (
    Activity,
    Event,
    Message,
    Origin,
    Other,
    Reset,
    shown_type,
)
from sessionlog.session import Session

CASES = os.environ.get("SESSIONLOG_CASES", "")
FORMAT = Qwen()
READ = Decoding(FORMAT)
decoded = READ.decoded
cases = pytest.mark.skipif(not CASES, reason="SESSIONLOG_CASES names no folder of sample logs")


def session(folder: Path, *lines: bytes, tail: bytes = b"") -> Session:
    return load(build.log(folder / qwen.FILE, lines, tail))


def messages(data: bytes) -> list[Message]:
    return [r.payload for r in decoded(data) if isinstance(r.payload, Message)]


def texts(read: Session) -> list[str]:
    return [m.text for m in read.messages]


def test_a_run_reads_as_its_conversation_and_its_ending(tmp_path: Path) -> None:
    read = session(tmp_path, *qwen.healthy())
    assert [shown_type(m) for m in read.messages] == ["user", "reasoning", "call", "response",
                                                      "assistant"]  # fmt: skip
    assert (read.format, read.status, read.ok) == ("qwen", "complete", True)
    assert (read.users, read.assistants, read.calls, read.open_calls) == (1, 2, 1, ())
    assert (read.id, read.title, read.meta.model) == (qwen.ID, "Fix it", "qwen3-coder")
    assert read.meta.workdir == "/srv/app"
    assert read.ending.evidence == "the last answer has no call"


def test_a_row_of_a_listing_tells_the_same_from_head_and_tail(tmp_path: Path) -> None:
    lines = qwen.healthy()
    middle = [qwen.user("x" * 9000, f"m{i}", f"m{i - 1}" if i else "r1") for i in range(9)]
    read = session(tmp_path, *lines[:-1], *middle, qwen.said("Done.", id="z", parent="m8"))
    row = glance(read.path)
    assert (row.format, row.agent, row.id, row.title) == ("qwen", "qwen", qwen.ID, "Fix it")
    assert (row.status, row.ok, row.model) == (read.status, read.ok, "qwen3-coder")
    assert row.stop == "Done."


def test_it_is_told_from_claude_code_even_when_it_begins_with_notes() -> None:
    head = qwen.system("session_source", "s", sourceType="cli") + qwen.system("x", "y", "s")
    for data in (head, b"".join(qwen.healthy()), qwen.healthy()[0][:200]):
        form = recognise(qwen.FILE, "/x/chats", data)
        assert form is not None
        assert form.name == "qwen"
    form = recognise("x.jsonl", "/x", b"".join(build.claude_healthy()))
    assert form is not None
    assert form.name == "claude"


def test_a_title_wins_over_the_prompt_and_the_last_one_over_the_first(tmp_path: Path) -> None:
    titles = [qwen.system("custom_title", f"t{n}", f"t{n - 1}" if n else "a2", customTitle=f"T{n}")
              for n in range(2)]  # fmt: skip
    assert session(tmp_path, *qwen.healthy(), *titles).title == "T1"


def test_a_fork_names_its_origin(tmp_path: Path) -> None:
    came = {"forkedFrom": {"sessionId": "old", "messageUuid": "u1"}}
    read = session(tmp_path, qwen.user("Fix it", "u1", **came))
    assert read.meta.forked_from == Origin("old")


# -- what was said -----------------------------------------------------------------------------


def test_what_was_typed_is_the_prompt_and_what_was_added_stands_behind_it() -> None:
    hook = "<qwen:user-prompt-submit-context>\nctx\n</qwen:user-prompt-submit-context>"
    parts = {"message": {"role": "user", "parts": [{"text": "go"}, {"text": hook}]}}
    plain = messages(qwen.record("user", "u", **parts))
    assert [(shown_type(m), m.text) for m in plain] == [("user", "go"), ("system", hook)]
    parts["message"]["parts"] = [{"text": "look at <file>"}, {"text": hook}]
    shown = messages(qwen.record("user", "u", **parts, systemPayload={"displayText": "@file"}))
    assert [m.text for m in shown] == ["@file", f"look at <file>\n\n{hook}"]


@pytest.mark.parametrize("subtype", ["notification", "cron", "goal_runtime"])
def test_what_the_client_says_as_a_user_is_no_persons_prompt(subtype: str) -> None:
    (note,) = messages(qwen.user("task is over", "u", subtype=subtype))
    assert (note.type, note.extra["note"], note.unsent) == ("system", subtype, False)


def test_a_prompt_in_mid_turn_is_one_and_what_was_spoken_is_never_sent() -> None:
    (typed,) = messages(qwen.user("wait", "u", subtype="mid_turn_user_message"))
    (spoken,) = messages(qwen.user("hello", "u", subtype="realtime_message"))
    assert (typed.type, typed.unsent, spoken.unsent) == ("user", False, True)


def test_several_calls_of_an_answer_and_their_results_pair(tmp_path: Path) -> None:
    read = session(
        tmp_path, qwen.user("go", "u"), qwen.said(qwen.call("a"), qwen.call("b"), id="x"),
        qwen.result("b", parts=[qwen.answer("b", "two"), qwen.answer("a", "one")], id="r"),
    )  # fmt: skip
    assert [s.pair for s in read.history] == [None, 5, 4, 3, 2]
    assert [s.message.text for s in read.history[3:]] == ["two", "one"]


def test_a_failed_call_tells_why_and_what_is_kept_beside_it() -> None:
    (message,) = messages(qwen.result("c", "no such file", id="r", status="error"))
    half = message.activity
    assert half is not None
    assert half.failure == "no such file"
    assert message.extra["toolCallResult"]["status"] == "error"


def test_a_picture_belongs_to_the_result_that_it_stands_behind() -> None:
    picture = {"inlineData": {"mimeType": "image/png", "data": "aGVsbG8="}}
    parts = [qwen.answer("c", "see"), picture, {"text": "a note"}]
    (message,) = messages(qwen.result("c", id="r", parts=parts))
    assert (message.text, message.images[0].media_type) == ("see\na note", "image/png")
    (shown,) = messages(qwen.record("user", "u", message={"role": "user", "parts": [picture]}))
    assert (shown.type, len(shown.images)) == ("user", 1)


@pytest.mark.parametrize(
    "parts",
    [None, [], "text", [None], [1], [{}], [{"functionCall": 1}], [{"functionResponse": None}],
     [{"functionResponse": {}}], [{"executableCode": {"code": "1"}}], [{"text": 5}]],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["user", "assistant", "tool_result", "system", "new"])
def test_parts_of_any_shape_give_a_record(kind: str, parts: Any) -> None:
    assert decoded(qwen.record(kind, "x", message={"role": "user", "parts": parts}))
    assert decoded(codec.dumps({"type": kind, "message": parts, "systemPayload": parts}))


# -- what is noted beside it -------------------------------------------------------------------


def test_a_compression_replaces_the_conversation(tmp_path: Path) -> None:
    history = [{"role": "user", "parts": [{"text": "S"}]},
               {"role": "model", "parts": [{"text": "Got it."}]}]  # fmt: skip
    squeezed = qwen.system("chat_compression", "z", "a2", compressedHistory=history,
                           info={"triggerReason": "manual"})  # fmt: skip
    read = session(tmp_path, *qwen.healthy(), squeezed, qwen.user("On", "u2", "z"))
    assert texts(read) == ["S", "Got it.", "On"]
    assert [r.payload.why for r in read.records if isinstance(r.payload, Reset)] == [
        "manual compaction"
    ]
    assert shown_type(read.messages[0]) == "summary"


def test_a_rewind_goes_on_from_an_older_record(tmp_path: Path) -> None:
    back = qwen.system("rewind", "w", "u1", truncatedCount=4)
    read = session(tmp_path, *qwen.healthy(), back, qwen.user("Other way", "u2", "w"))
    assert texts(read) == ["Fix it", "Other way"]
    (event,) = [e for e in read.events if e.kind == "rewind"]
    assert event.text == "went back, 4 messages left"


def test_records_of_artifacts_are_no_link_of_the_chain(tmp_path: Path) -> None:
    aside = qwen.system("session_artifact_event", "x", "u1")
    read = session(tmp_path, *qwen.healthy(), aside)
    assert len(read.messages) == 5
    assert FORMAT.link(aside.rstrip()) is None


def test_bookkeeping_is_quiet_and_what_is_not_known_is_shown() -> None:
    for line in (qwen.system("attribution_snapshot", "x"), qwen.telemetry("api_response", "x"),
                 qwen.telemetry("tool_call", "x"), qwen.system("custom_title", "x")):  # fmt: skip
        (record,) = decoded(line)
        assert record.quiet
        assert isinstance(record.payload, Event)
        assert FORMAT.classify(line.rstrip()) == decoded_bits(FORMAT, line) == 0
    (record,) = decoded(qwen.system("of_tomorrow", "x", news=1))
    assert isinstance(record.payload, Other)
    assert not record.quiet
    assert record.payload.data["systemPayload"] == {"news": 1}


def test_the_bits_of_a_line_are_those_of_its_records() -> None:
    failed = qwen.result("c1", "no", id="x", status="error")
    refused = qwen.telemetry("api_error", "x", error_message="400")
    for line in (*qwen.healthy(), failed, refused, b'{"a', qwen.system("slash_command", "x")):
        assert FORMAT.classify(line.rstrip()) == decoded_bits(FORMAT, line.rstrip())
    assert FORMAT.classify(qwen.user("x", "y").rstrip()) & USER
    assert FORMAT.classify(refused.rstrip()) == TROUBLE | LOUD


def test_links_read_from_raw_lines_are_those_of_the_records() -> None:
    spaced = b' {"parentUuid" : "p", "uuid":"x","sessionId":"s","type":"user"}'
    for line in (*qwen.healthy(), qwen.system("session_model", "m", "n"), spaced):
        record = decoded(line)[0]
        assert FORMAT.link(line.rstrip()) == (record.key, record.parent)
    assert FORMAT.link(b'{"uuid"') is None


# -- how it stands -----------------------------------------------------------------------------


def ended(folder: Path, *lines: bytes) -> tuple[str, str | None, bool | None]:
    read = session(folder, *lines)
    return str(read.status), read.reason, read.ok


def test_endings(tmp_path: Path) -> None:
    lines = qwen.healthy()
    error = qwen.telemetry("api_error", "e", "r1", error_message="401 no key")
    cancelled = qwen.result("c1", "[Operation Cancelled]", "r1", "t2", status="cancelled")
    assert ended(tmp_path, *lines[:4]) == ("unfinished", None, None)
    assert ended(tmp_path, *lines[:5]) == ("unfinished", None, None)
    assert ended(tmp_path, *lines[:1]) == ("unfinished", None, None)
    assert ended(tmp_path, *lines[:5], error) == ("complete", "error", False)
    assert ended(tmp_path, *lines[:5], error, *lines[5:]) == ("complete", None, True)
    assert ended(tmp_path, *lines[:4], cancelled) == ("complete", "interrupted", False)
    for state, verdict in (("completed", ("complete", "completed", True)),
                           ("cancelled", ("complete", "interrupted", False)),
                           ("error", ("complete", "error", False))):  # fmt: skip
        assert (
            ended(tmp_path, *lines, qwen.system("turn_result", "q", "a2", state=state)) == verdict
        )


def test_a_call_that_later_turns_follow_is_open_but_runs_no_more(tmp_path: Path) -> None:
    read = session(tmp_path, *qwen.healthy()[:4], qwen.user("Go on", "u2", "t2"),
                   qwen.said("Done.", id="a3", parent="u2"))  # fmt: skip
    assert [c.call_id for c in read.open_calls] == ["c1"]
    assert (read.status, read.in_flight) == ("complete", ())


def test_what_a_killed_run_was_in_the_middle_of_is_told(tmp_path: Path) -> None:
    read = session(tmp_path, *qwen.healthy()[:4])
    assert read.ending.text == "in shell: ls"
    assert [c.tool for c in read.in_flight] == ["run_shell_command"]


def test_tokens_are_counted_once_with_what_was_cached_apart(tmp_path: Path) -> None:
    read = session(tmp_path, *qwen.healthy())
    usage = [u for r in read.records if (u := FORMAT.usage(r))]
    assert len(usage) == 2
    tokens = usage[0].tokens
    assert tokens is not None
    assert (tokens.input, tokens.cache_read, tokens.output, tokens.reasoning) == (70, 30, 10, 4)


def test_a_subagents_own_log_is_a_run_like_any_other(tmp_path: Path) -> None:
    side = {"isSidechain": True, "agentId": "explore-1"}
    lines = [qwen.user("Look", "u", **side), qwen.said("Found.", id="a", parent="u", **side)]
    read = load(build.log(tmp_path / "agent-explore-1.jsonl", lines))
    assert (read.id, read.status, len(read.messages)) == ("agent-explore-1", "complete", 2)
    assert all(m.sidechain == "explore-1" for line in lines for m in messages(line))


def test_a_side_chain_at_the_end_of_a_log_says_nothing_of_how_its_run_stands(
    tmp_path: Path,
) -> None:
    side = {"isSidechain": True, "agentId": "look-1"}
    lines = [qwen.user("Go", "1"), qwen.said("Done.", id="2", parent="1"),
             qwen.user("Look", "3", "2", **side),
             qwen.said("Seen.", id="4", parent="3", **side)]  # fmt: skip
    path = build.log(tmp_path / qwen.FILE, lines)
    assert (load(path).ending.text, glance(str(path)).stop) == ("Done.", "Done.")


def test_calls_lead_to_the_logs_of_the_subagents_that_they_started(tmp_path: Path) -> None:
    side = {"isSidechain": True, "agentId": "look-1"}
    main = build.log(tmp_path / "chats" / qwen.FILE, qwen.healthy())
    came = {"sessionId": qwen.ID, "messageUuid": "u1"}
    copy = build.log(tmp_path / "chats" / f"{qwen.ID[:-1]}0.jsonl",
                     [qwen.user("Fix it", "u1", forkedFrom=came)])  # fmt: skip
    logs = []
    for name, up, call in (("look-1", None, "c1"), ("deep-2", "look-1", "c7")):
        logs.append(build.log(tmp_path / "subagents" / qwen.ID / f"agent-{name}.jsonl",
                              [qwen.user("Look", "u", **side)]))  # fmt: skip
        note = {"agentId": name, "parentAgentId": up, "toolUseId": call}
        logs[-1].with_suffix(".meta.json").write_bytes(codec.dumps(note))
    first, deep = map(str, logs)
    assert FORMAT.subagents(str(main)) == sorted([first, deep])
    assert FORMAT.subagents(first) == [deep]
    assert FORMAT.subagents(deep) == FORMAT.subagents(str(copy)) == []
    for asked, path in ((Activity("request", "c1"), main), (Activity("response", "c1"), copy)):
        assert FORMAT.started(str(path), asked) == first
    assert FORMAT.started(first, Activity("request", "c7")) == deep
    assert FORMAT.started(str(main), Activity("request", "")) is None
    logs[0].with_suffix(".meta.json").write_bytes(b"[")
    assert FORMAT.started(str(main), Activity("request", "c1")) is None


def test_a_living_client_is_known_by_the_file_that_it_keeps(tmp_path: Path) -> None:
    path = build.log(tmp_path / qwen.FILE, qwen.healthy()[:4])
    note = {"schema_version": 1, "pid": os.getpid(), "session_id": qwen.ID, "work_dir": "/",
            "hostname": socket.gethostname(), "started_at": 4e9}  # fmt: skip
    beside = path.with_suffix(".runtime.json")
    assert load(path).alive is None
    beside.write_bytes(codec.dumps(note))
    assert load(path).alive == f"qwen runs as pid {os.getpid()}"
    for wrong in ({"started_at": 1000}, {"pid": 1 << 30}, {"hostname": "other"}, {"pid": "1"},
                  {"session_id": "other"}):  # fmt: skip
        beside.write_bytes(codec.dumps(note | wrong))
        assert load(path).alive is None
    beside.write_bytes(b"{")
    assert load(path).alive is None


COUNTS = {
    "1-normal": (1, 4, 3, 0, 0), "2-kill": (1, 2, 3, 2, 0), "3-int": (1, 2, 2, 0, 0),
    "4-resume-killed": (2, 4, 4, 2, 0), "8-own-fork": (3, 6, 5, 2, 0),
    "7a-cut-last-line/before": (1, 1, 1, 0, 1), "7a-cut-last-line/after": (2, 3, 2, 0, 1),
}  # fmt: skip
"""Prompts, answers, calls, open calls, damages. A prompt that is glued to a torn line is one."""


@cases
@pytest.mark.parametrize("case", COUNTS)
def test_logs_of_the_real_client_read_right(case: str) -> None:
    folder = Path(CASES) / "made" / "qwen"
    (path,) = folder.glob(f"{case}.jsonl") if "/" in case else folder.glob(f"{case}/*.jsonl")
    read = load(path)
    found = (read.users, read.assistants, read.calls, len(read.open_calls), len(read.damages))
    assert (read.format, found) == ("qwen", COUNTS[case])
