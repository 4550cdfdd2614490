"""Gemini CLI's logs: each message once, in its place, at its last state."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import build
import pytest
from build import line
from gemini_logs import (
    CONTEXT,
    FILE,
    ID,
    answer,
    call,
    document,
    head,
    healthy,
    history,
    model,
    start,
    turn,
    update,
    user,
)  # fmt: skip

from sessionlog.follower import Follower
from sessionlog.formats.base import Nested
from sessionlog.formats.gemini import Gemini
from sessionlog.listing import glance
from sessionlog.reader import load
from sessionlog.records import Tokens, shown_type
from sessionlog.session import Session
from sessionlog.stores.gemini_fold import bare, fold, marked
from sessionlog.usage import Meter

CASES = os.environ.get("SESSIONLOG_CASES", "")
cases = pytest.mark.skipif(not CASES, reason="SESSIONLOG_CASES names no folder of sample logs")


def session(folder: Path, *lines: bytes, tail: bytes = b"", name: str = FILE) -> Session:
    return load(build.log(folder / name, lines, tail))


def said(read: Session) -> list[str]:
    """The context in a few words."""
    return [
        m.activity.id if m.activity and shown_type(m) == "call" else m.text
        for m in read.messages
        if not m.text.startswith("<session_context>") and not m.unsent
    ]


def test_each_text_call_and_result_counts_once(tmp_path: Path) -> None:
    read = session(tmp_path, *healthy())
    assert said(read) == ["Fix it", "I look.", "c1", "one", "c2", "c3", "two", "three", "Done."]
    assert (read.users, read.assistants, read.calls) == (1, 3, 3)
    assert (read.open_calls, read.orphan_results, read.damages) == ((), (), ())
    assert (read.id, read.title, read.meta.workdir) == (ID, "Fix it", "/srv/app")
    assert read.meta.model == "gemini-2.5-flash"


def test_lines_keep_their_numbers_and_all_but_a_mark_of_their_bytes(tmp_path: Path) -> None:
    lines = healthy()
    read = session(tmp_path, *lines)
    assert {record.span.line for record in read.records} == set(range(1, len(lines) + 1))


def test_the_last_answer_without_a_call_says_that_a_running_one_cannot_be_seen(
    tmp_path: Path,
) -> None:
    read = session(tmp_path, *start(), line(user("u1", "Go")), line(model("m1", "Two things.")))
    assert (read.status, read.ok, read.reason) == ("complete", None, None)
    assert "only when it has ended" in read.ending.evidence


@pytest.mark.parametrize("thoughts", [[], [{"subject": "Plan", "description": "look"}]])
def test_an_answer_without_a_word_was_cut_in_a_call(tmp_path: Path, thoughts: list[Any]) -> None:
    last = line(model("m1", "", thoughts=thoughts))
    read = session(tmp_path, *start(), line(user("u1", "Go")), last)
    assert (read.status, read.ending.text) == ("unfinished", "in a call that the log does not hold")


def test_a_result_or_a_prompt_at_the_end_is_while_the_model_answered(tmp_path: Path) -> None:
    asked = [*start(), line(user("u1", "Go"))]
    for lines in (asked, [*asked, *turn("m1", "Look.", call("c1"))]):
        read = session(tmp_path, *lines)
        assert (read.status, read.ending.text) == ("unfinished", "while the model answered")


@pytest.mark.parametrize(
    ("kind", "text", "reason"),
    [("info", "Request cancelled.", "cancelled"), ("error", "[API Error: 429]", "error")],
)
def test_a_note_of_the_client_ends_the_turn(
    tmp_path: Path, kind: str, text: str, reason: str
) -> None:
    note = line({"id": "n1", "timestamp": build.at(9), "type": kind, "content": text})
    read = session(tmp_path, *start(), line(user("u1", "Go")), line(model("m1", "So")), note)
    assert (read.status, read.ok, read.reason, read.ending.text) == (
        "complete",
        False,
        reason,
        text,
    )
    assert text not in said(read)


def test_a_session_in_which_nothing_was_asked_is_none_that_failed(tmp_path: Path) -> None:
    read = session(tmp_path, *start())
    assert (read.status, read.ok, read.ending.text) == ("unfinished", None, "nothing was asked")
    assert (read.users, read.assistants) == (0, 0)


def test_a_log_that_is_torn_before_its_first_message_is_no_whole_one(tmp_path: Path) -> None:
    torn = line(user("u1", "Fix it"))[:40]
    assert session(tmp_path, head(), tail=torn).status == "truncated"
    whole = document([user("u1", "Fix it")])
    for end in (whole.index(b"[") + 1, whole.index(b"[") + 30):
        read = session(tmp_path, whole[:end], name="a.json")
        assert (read.status, read.ending.text) == ("truncated", "nothing was asked")
        assert glance(str(tmp_path / "a.json")).status == "truncated"


def test_a_text_that_was_written_anew_stands_in_the_place_of_the_first(tmp_path: Path) -> None:
    lines = [
        *start(),
        line(user("u1", "Fi")),
        line(model("m1", "Yes.")),
        line(user("u1", "Fix it")),
    ]
    assert said(session(tmp_path, *lines)) == ["Fix it", "Yes."]
    grown = [line(model("m1", text)) for text in ("Y", "Yes", "Yes.")]
    assert said(session(tmp_path, *start(), *grown)) == ["Yes."]


def test_a_call_whose_result_comes_with_a_later_version_is_answered(tmp_path: Path) -> None:
    early = line(model("m1", "Look.", call("c1", None, status="executing"), call("c2", None)))
    later = line(model("m1", "Look.", call("c1"), call("c2", None)))
    read = session(tmp_path, *start(), early, later)
    assert [opened.call_id for opened in read.open_calls] == ["c2"]
    assert read.calls == 2


def test_what_the_client_takes_over_when_it_resumes_is_not_told_again(tmp_path: Path) -> None:
    """It writes its memory back as parts, with thoughts and calls among them, and each result as a
    message of its own."""
    before = healthy()
    parts = [{"text": "I look."}, {"functionCall": {"id": "c1", "name": "read_file", "args": {}}}]
    kept = [
        user("ctx", CONTEXT), user("u1", "Fix it"), model("m1", parts, call("c1", "one")),
        user("m1_response", [answer("c1", {"output": "one"})]),
        user("m1-results", [answer("c1", {"output": "one"})]),
        model("m2", "", call("c2", "two"), call("c3", "three")),
        model("m3", [{"text": "Done."}]),
    ]  # fmt: skip
    read = session(tmp_path, *before, update(messages=kept), line(user("u2", "Go on")))
    assert said(read) == [*said(session(tmp_path, *before)), "Go on"]
    assert (read.users, read.assistants, read.calls) == (2, 3, 3)


def test_a_list_that_leaves_the_conversation_out_starts_it_anew(tmp_path: Path) -> None:
    short = [user("s1", "<state_snapshot>so far</state_snapshot>"), model("m3", "Done.")]
    read = session(tmp_path, *healthy(), update(messages=short), line(user("u2", "Go on")))
    assert said(read) == ["<state_snapshot>so far</state_snapshot>", "Done.", "Go on"]
    assert read.history[1].message.text == "Fix it"
    assert not read.history[1].in_context


def test_a_new_head_in_the_same_file_takes_nothing_away_when_all_comes_back(
    tmp_path: Path,
) -> None:
    """Resumed in the minute in which it began, the client first starts a session in that file."""
    kept = [user("ctx", CONTEXT), user("u1", "Fix it"), model("m1", "Yes.")]
    lines = [*start(), line(kept[1]), line(kept[2])]
    again = [*lines, *start(), update(messages=kept), line(user("u2", "Go on"))]
    read = session(tmp_path, *again)
    assert said(read) == ["Fix it", "Yes.", "Go on"]
    assert (read.users, read.assistants) == (2, 1)


def test_a_rewind_takes_the_message_and_all_behind_it_out(tmp_path: Path) -> None:
    back = line({"$rewindTo": "m2"})
    read = session(tmp_path, *healthy(), back, line(user("u2", "Otherwise")))
    assert said(read) == ["Fix it", "I look.", "c1", "one", "Otherwise"]
    unknown = session(
        tmp_path, *healthy(), line({"$rewindTo": "nothing"}), line(user("u2", "Anew"))
    )
    assert said(unknown) == ["Anew"]


def test_what_a_later_list_leaves_out_is_out_wherever_it_stands(tmp_path: Path) -> None:
    one, two = user("u1", "one"), model("m1", "first")
    extra = [user("x1", "of the first list"), model("x2", "its answer")]
    last = user("y1", "of the second list")
    lines = [head(), line(one), line(two), update(messages=[one, *extra, two]),
             update(messages=[one, two, last]), line(model("m2", "Done."))]  # fmt: skip
    read = session(tmp_path, *lines)
    assert said(read) == ["one", "first", "of the second list", "Done."]
    assert [id for id, _, _ in history(tmp_path / FILE)] == ["u1", "m1", "y1", "m2"]


def test_a_rewind_takes_out_what_stands_before_a_later_line_of_what_stays(tmp_path: Path) -> None:
    lines = [head(), line(user("u1", "one")), line(model("m1", "first")), line(user("u2", "two")),
             line(model("m1", "first", call("c1"))), line({"$rewindTo": "u2"}),
             line(user("u3", "three"))]  # fmt: skip
    assert said(session(tmp_path, *lines)) == ["one", "first", "c1", "ok", "three"]


def test_what_the_client_stopped_itself_is_over(tmp_path: Path) -> None:
    for text, reason in (
        ("The session has reached the maximum number of turns: 10.", "max_turns"),
        ("A potential loop was detected. The request has been halted.", "loop_detected"),
    ):
        note = {"id": "i1", "timestamp": build.at(9), "type": "info", "content": text}
        read = session(tmp_path, *healthy(), line(note))
        assert (read.status, read.ok, read.reason) == ("complete", False, reason)
        assert glance(read.path).stop == text


def test_a_prompt_that_the_client_shows_otherwise_has_that_for_its_title(tmp_path: Path) -> None:
    shown = user("u1", "You are a long prompt", displayContent=[{"text": "/init"}])
    assert session(tmp_path, *start(), line(shown)).title == "/init"


def test_failed_calls_and_file_diffs_are_told(tmp_path: Path) -> None:
    failed = call("c1", None, status="error", result=[answer("c1", {"error": "no such file"})])
    diff = {"fileDiff": "--- a\n+++ a\n@@ -1 +1 @@\n-x\n+y\n", "fileName": "a"}
    read = session(tmp_path, *start(), *turn("m1", "", failed, call("c2", resultDisplay=diff)))
    bad, good = (m for m in read.messages if shown_type(m) == "response")
    assert bad.activity
    assert good.activity
    assert (bad.activity.failure, good.activity.failure) == ("no such file", None)
    assert good.extra["details"]["diff"] == diff["fileDiff"]


def test_a_result_that_holds_its_neighbours_gives_each_call_its_own(tmp_path: Path) -> None:
    both = [answer("c1", {"output": "one"}), answer("c2", {"output": "two"})]
    calls = (call("c1", None, result=both), call("c2", None, result=both))
    assert said(session(tmp_path, *start(), *turn("m1", "", *calls))) == ["c1", "c2", "one", "two"]


def test_tokens_count_once(tmp_path: Path) -> None:
    meter = Meter()
    for record in session(tmp_path, *healthy()).records:
        if (usage := Gemini().usage(record)) is not None:
            meter.take(usage)
    assert meter.close().tokens == Tokens(3 * 60, 3 * 15, 3 * 40, 0, 3 * 5)


def test_a_torn_tail_and_garbage_cost_no_neighbour(tmp_path: Path) -> None:
    lines = healthy()
    lines.insert(5, b'{"broken\n')
    read = session(tmp_path, *lines, tail=line(model("m4", "Lost"))[:60])
    assert said(read) == said(session(tmp_path, *healthy()))
    assert [(d.span.line, d.torn) for d in read.damages] == [(6, False), (len(lines) + 1, True)]


@pytest.mark.parametrize("indent", [None, 2])
def test_the_one_document_reads_as_its_messages(tmp_path: Path, indent: int | None) -> None:
    asked = user("u1", "Fix\nit", answer="1")
    messages = [asked, model("m1", "Look.", call("c1")), model("m2", "Done.", number=2**70)]
    data = document(messages, indent)
    read = session(tmp_path, data, name="session-2025-12-01T21-45-f00dfeed.json")
    assert said(read) == ["Fix\nit", "Look.", "c1", "ok", "Done."]
    assert (read.id, read.started, read.damages) == (ID, build.at(), ())


@pytest.mark.parametrize("indent", [None, 2])
def test_a_torn_document_gives_the_messages_before_the_tear(
    tmp_path: Path, indent: int | None
) -> None:
    data = document([user("u1", "Fix it"), model("m1", "Yes."), model("m2", "x" * 500)], indent)
    read = session(tmp_path, data[:-300], name="a.json")
    assert said(read) == ["Fix it", "Yes."]
    assert [d.torn for d in read.damages] == [True]


def test_a_broken_document_gives_whole_messages_behind_the_break_too(tmp_path: Path) -> None:
    data = document([user("u1", "Fix it"), model("m1", "Yes."), model("m2", "Done.")])
    start, end = data.index(b'"Yes."'), data.index(b'"Yes."') + 6
    read = session(tmp_path, data[:start] + b"\x00!" + data[end:], name="a.json")
    assert said(read) == ["Fix it", "Done."]
    assert len(read.damages) >= 1


def test_a_log_that_grows_is_read_on_and_never_anew(tmp_path: Path) -> None:
    lines = healthy()
    path = build.log(tmp_path / FILE, lines[:3])
    follower = Follower(str(path))
    got = list(follower.look().records)
    for data in lines[3:]:
        with path.open("ab") as file:
            file.write(data)
        while batch := follower.look():
            assert batch.event == ""
            got += batch.records
            if not batch.behind:
                break
    follower.close()
    assert got == list(load(path).records)


def test_a_long_log_is_listed_from_its_ends_as_it_reads(tmp_path: Path) -> None:
    middle = [part for n in range(1500) for part in turn(f"x{n}", "Again.", call(f"y{n}"))]
    path = build.log(tmp_path / FILE, [*healthy()[:-2], *middle, line(model("z", "All done."))])
    read, row = load(path), glance(str(path))
    assert path.stat().st_size > 1 << 20
    assert (row.id, row.title, row.model, row.workdir) == (
        ID,
        "Fix it",
        read.meta.model,
        "/srv/app",
    )
    assert (row.status, row.ok, row.stop, row.started) == (
        "complete",
        None,
        "All done.",
        build.at(),
    )


def test_a_subagents_log_is_found_from_the_call_and_never_outside(tmp_path: Path) -> None:
    path = build.log(tmp_path / FILE, healthy())
    own = build.log(tmp_path / ID / "agent-1.jsonl", [head("agent-1", kind="subagent")])
    form = Gemini()
    assert isinstance(form, Nested)
    assert form.subagents(str(path)) == [str(own)]
    for agent, found in (("agent-1", str(own)), ("../../x", None), ("", None)):
        lines = [*start(), *turn("m1", "", call("c1", name="delegate", agentId=agent))]
        asked = session(tmp_path / "other", *lines)
        half = next(m.activity for m in asked.messages if shown_type(m) == "call")
        assert half is not None
        assert form.started(str(path), half) == found


def test_what_a_log_says_of_its_own_marks_is_not_believed(tmp_path: Path) -> None:
    lie = {"$told": {"said": True, "calls": ["c1"]}}
    heard = line(model("m1", "Heard.", call("c1"), **lie))
    for spelled in (heard, heard.replace(b"$told", b"\\u0024told"), heard[:-1] * 2):
        read = session(tmp_path, *start(), spelled.rstrip(b"\n") + b"\n")
        assert said(read) == ["Heard.", "c1", "ok"]


def test_a_line_without_its_marks_is_what_the_client_wrote() -> None:
    data = b' { "id" : "m", "n":1.0 , "x":[ ] } '
    assert bare(marked(data, {"said": True})) == data
    assert bare(marked(b"{}", {})) == b"{}"
    assert bare(b'{"$told":1, "a":2 ,"$told":3}') == b'{ "a":2}'
    assert bare(b'{"$told":1 , "$told":3 }') == b"{ }"


def test_marks_of_many_names_on_one_line_are_taken_off_in_one_go() -> None:
    assert bare(b"{" + b'"$told":1,' * 100_000 + b'"id":"m"}') == b'{"id":"m"}'


def test_many_objects_on_one_line_are_marked_in_one_go() -> None:
    one = line(model("m1", "Heard."))[:-1]
    (told,) = fold([one * 3000 + b" " * 1_000_000])
    assert told.count(b'"$told":{"said":true}') == 2999
    assert len(told) == len(one) * 3000 + 1_000_000 + 2999 * len(b'"$told":{"said":true},')


def test_a_line_that_goes_back_does_not_grow_with_the_ids_that_it_names(tmp_path: Path) -> None:
    id = "k" * 100_000
    back = [line(user("u", "Otherwise")), line({"$rewindTo": "u"})] * 50
    told = fold([line(model(id, "Yes."))[:-1], *(data[:-1] for data in back)])
    assert sum(map(len, told)) < 150_000
    read = session(tmp_path, head(), line(model(id, "Yes.")), *back)
    assert said(read) == ["Yes."]


def test_many_lines_that_go_back_cost_no_more_than_what_they_take_out(tmp_path: Path) -> None:
    far = [line(model(f"m{n}", "x")) for n in range(4000)]
    back = [line(model("z", "y")), line({"$rewindTo": "z"})] * 4000
    read = session(tmp_path, head(), *far, *back)
    assert len(said(read)) == 4000


ODD: list[Any] = [
    {"id": "a", "type": "gemini", "timestamp": 7, "content": {"text": 5}, "toolCalls": "no"},
    {"id": "a", "type": "user", "content": [None, 3, {"functionResponse": 4}, {"inlineData": 1}]},
    {"id": "b", "type": "gemini", "content": [[]], "toolCalls": [0, {"result": 3}, {"name": []}]},
    {"id": "c", "type": "gemini", "thoughts": [1, {}], "content": [{"functionCall": 1}]},
    {"$set": {"messages": [1, {"id": 2}, {"id": "z"}], "lastUpdated": 1}},
    {"$set": []}, {"$rewindTo": 5}, {"id": "q", "type": "novel", "content": "?"}, {"id": "r"}, {},
    {"sessionId": "x", "projectHash": 1, "messages": [{"id": "m", "type": "user", "content": ""}]},
]  # fmt: skip


def test_no_odd_value_raises_and_every_line_is_accounted_for(tmp_path: Path) -> None:
    read = session(tmp_path, head(), *map(line, ODD), *map(line, ODD))
    lines = {record.span.line for record in read.records} | {d.span.line for d in read.damages}
    assert lines == set(range(1, 2 * len(ODD) + 2))


COUNTS = {  # users, assistants, calls, open, damages
    "1-normal/*": (1, 4, 3, 0, 0), "2-kill/*": (1, 2, 1, 0, 0), "3-int/*": (1, 2, 1, 0, 0),
    "4-resume-killed/after.jsonl": (2, 4, 2, 0, 0),
    "4-resume-killed/stub-left-by-resume.jsonl": (0, 0, 0, 0, 0),
    "7a-cut-last-line/after.jsonl": (2, 4, 2, 0, 1),
    "7a-cut-last-line/before.jsonl": (1, 2, 1, 0, 1),
}  # fmt: skip


@cases
@pytest.mark.parametrize("name", COUNTS)
def test_the_clients_own_logs_count_as_their_makers_say(name: str) -> None:
    (path,) = Path(CASES, "made", "gemini").glob(name)
    read = load(path)
    counts = (read.users, read.assistants, read.calls, len(read.open_calls), len(read.damages))
    assert counts == COUNTS[name]


@cases
def test_logs_from_the_wild_hold_each_message_of_the_client(tmp_path: Path) -> None:
    for path in Path(CASES, "gemini").iterdir():
        read = load(path)
        told = path.read_text()
        calls = set()
        values = (
            [json.loads(told)] if path.suffix == ".json" else map(json.loads, told.splitlines())
        )
        for value in values:
            for one in [value, *value.get("messages", ())]:
                calls |= {entry["id"] for entry in one.get("toolCalls", ())}
        assert (read.calls, read.open_calls, read.damages) == (len(calls), (), ())
