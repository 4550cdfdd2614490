"""The answer: what was in flight, repeated, silent, changed; from a session, a window, a file."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import build
import pytest
from stories import AGENTS, Claude, Codex, Native, Story

from sessionlog.errors import NotALog
from sessionlog.formats.table import named
from sessionlog.reader import load
from sessionlog.records import Status
from sessionlog.why.answer import Reading, Why, why
from sessionlog.why.look import look
from sessionlog.why.said import clock_of, headline, level_of, statements, summary
from sessionlog.window import Log

EVIL = "\x1b]0;owned\x07 \x9b1m \u202e\ud83d"


def words_of(found: Why) -> str:
    page = [statement.words for statement in statements(found)]
    return "\n".join([*headline(found), summary(found), *page])


# -- what a person asks next -----------------------------------------------------------------------


@pytest.mark.parametrize("agent", AGENTS)
def test_it_says_what_the_run_set_out_to_do_and_how_far_it_got(agent: type[Story]) -> None:
    found = agent("Port every page.").work(4).call("make", "no rule", True).work(1).why()
    assert found.set_out is not None
    assert found.set_out.says == "Port every page."
    assert found.progress.calls == 6
    assert found.progress.errors == 1
    assert found.progress.seconds > 40


def test_edited_files_are_counted_once_and_only_where_the_whole_log_was_read() -> None:
    story = Native()
    for path in ("a.go", "b.go", "a.go"):
        edit = json.dumps({"path": path, "old_string": "x", "new_string": "y"})
        story.lines += [build.request("e", "edit", edit), build.response("e", "edit", edit, "ok")]
    assert story.why().progress.files == 2
    reading = Reading(before=None)
    for record in story.session().records[3:]:
        reading.take(record)
    session = story.session()
    assert reading.answer(session.ending, session.status).progress.files is None


@pytest.mark.parametrize("agent", AGENTS)
def test_each_statement_names_the_row_that_says_it(agent: type[Story]) -> None:
    story = agent().work(2).call("make", "make: *** no rule", True).say("Hm.").open("make fuzz")
    session = story.session()
    found = why(session)
    rows = {record.span.offset: record for record in session.records}
    call = found.in_flight[0]
    assert call.n is not None
    assert session.history[call.n - 1].record.span.offset == call.offset
    assert found.last_error is not None
    assert found.last_error.n is not None
    assert session.history[found.last_error.n - 1].message.activity is not None
    for said in (*found.evidence, *found.last):
        assert said.offset in rows
        assert rows[said.offset].span.line == said.line


def test_silences_are_told_longest_first_with_the_message_before_them() -> None:
    story = Native().work(1)
    for seconds in (3600, 30, 7200, 60):
        story.later(seconds)
        story.say("Back.")
    gaps = story.why().longest_gaps
    assert [round(gap.seconds) for gap in gaps] == [7205, 3605, 65]
    assert [gap.after for gap in gaps] == [5, 3, 6]


def test_clocks_that_run_backwards_are_no_silence() -> None:
    lines = [build.message("bot", "a", 500), build.message("bot", "b", 100),
             build.message("bot", "c", 501)]  # fmt: skip
    story = Native()
    story.lines = [build.meta(), *lines]
    assert [round(gap.seconds) for gap in story.why().longest_gaps] == [500, 1]


def test_a_failure_is_overcome_once_its_tool_works_again() -> None:
    story = Native().call("make", "boom: error", True)
    error = story.why().last_error
    assert error is not None
    assert not error.overcome
    error = story.work(1).why().last_error
    assert error is not None
    assert error.overcome


def test_the_same_failing_call_before_is_counted_for_the_one_in_flight() -> None:
    story = Native()
    for _ in range(3):
        story.call("go test", "--- FAIL: TestX", True)
    call = story.open("go test").why().in_flight[0]
    assert call.before == 3


def test_numbers_and_times_do_not_make_failures_differ_but_words_do() -> None:
    story = Native()
    for i in range(4):
        story.call("go test", f"--- FAIL: TestX (0.4{i}s)", True)
    assert story.why().repeated[0].times == 4
    story.call("go test", "--- FAIL: TestY (0.40s)", True)
    assert not story.why().repeated


def test_a_conversation_that_is_written_again_after_a_reset_repeats_nothing() -> None:
    story = Native()
    calls = [
        line
        for i in range(4)
        for line in (build.request(f"c{i}", seconds=i), build.response(f"c{i}", seconds=i))
    ]
    story.lines += [*calls, build.event("iteration", 9, iteration=3), build.reset(9), *calls]
    assert story.why().repeated[0].times == 4
    assert story.why().progress.calls == 4


def test_a_call_that_failed_only_in_events_is_known() -> None:
    story = Native().work(1)
    story.lines += [
        build.event("toolCallStart", tool="shell", text='{"command":"make import"}'),
        build.event("toolCallError", tool="shell", text="No space left on device"),
    ]
    found = story.why()
    assert found.cause == "disk_full"
    assert not found.in_flight
    story.open("make import").answer("No space left on device", True)
    assert story.why().progress.errors == found.progress.errors == 1


def test_subagents_inside_the_log_are_another_run() -> None:
    story = Claude().work(1).open("port it", "Task")
    story.lines.append(build.claude_said("I give up.", id="s", stop="end_turn", seconds=90,
                                         isSidechain=True, agentId="a1"))  # fmt: skip
    found = story.why()
    assert found.cause == "killed_in_tool"
    assert [call.tool for call in found.in_flight] == ["Task"]


@pytest.mark.parametrize("agent", AGENTS)
def test_what_a_log_says_reaches_nobody_bare(agent: type[Story]) -> None:
    story = agent(EVIL).call(EVIL, f"Error: {EVIL}", True, tool=f"t{EVIL}").say(EVIL)
    for told in (story.refused(EVIL), agent(EVIL).open(EVIL, f"t{EVIL}"), agent().done(EVIL)):
        found = told.why()
        shown = [words_of(found), *(said.says for said in (*found.evidence, *found.last))]
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\ud83d]", "".join(shown))


def test_every_cause_has_a_headline_a_level_and_a_summary() -> None:
    story = Native().work(1)
    base = story.open("make").why()
    for cause in (
        "finished", "running", "never_started", "provider_overloaded", "rate_limit", "auth",
        "context_full", "dangling_call", "network", "killed_in_tool", "killed_answering",
        "torn_write", "interrupted", "permission", "budget", "declared_failed", "loop", "gave_up",
        "tool_timeout", "disk_full", "missing_program", "compaction", "subagent_failed",
        "not_known", "empty",
    ):  # fmt: skip
        found = base._replace(cause=cause)
        assert headline(found)[0]
        assert level_of(found) in ("ok", "run", "torn", "open", "fail")
        assert summary(found).endswith(".")
        assert any(s.label == "cause" for s in statements(found))


# -- from a file -----------------------------------------------------------------------------------


def written(path: Path, story: Story) -> Path:
    name = {"claude": build.CLAUDE_FILE, "codex": build.CODEX_FILE}.get(story.form, "a.jsonl")
    return build.log(path / name, story.lines)


@pytest.mark.parametrize("agent", AGENTS)
def test_a_log_on_disk_gives_the_answer_of_its_session(tmp_path: Path, agent: type[Story]) -> None:
    story = agent().work(3).retry("Overloaded (529)").work(2).say("Now the long one.").open("make")
    path = written(tmp_path, story)
    assert look(str(path)).why == why(load(path))


def test_the_end_of_a_long_log_gives_the_same_cause_numbers_and_lines(tmp_path: Path) -> None:
    story = Native("Port every page.")
    for i in range(400):
        story.say("word " * 800).call(f"cat {i}", "text " * 4000)
        if i == 100:
            story.later(40_000)
    story.call("make", "boom: error", True).open("make fuzz")
    path = written(tmp_path, story)
    all_of_it, end = look(str(path)), look(str(path), whole=1 << 16)
    assert all_of_it.read_from == 0
    assert end.read_from > 0
    a, b = all_of_it.why, end.why
    assert (b.cause, b.in_flight, b.evidence, b.last_error) == (
        a.cause, a.in_flight, a.evidence, a.last_error)  # fmt: skip
    assert b.longest_gaps[0] == a.longest_gaps[0]
    assert b.progress.messages == a.progress.messages
    assert b.progress.seconds == a.progress.seconds
    assert b.set_out is not None
    assert b.set_out.says == "Port every page."
    assert b.progress.files is None


def test_reading_a_long_log_tells_how_far_it_is_and_can_be_ended(tmp_path: Path) -> None:
    story = Native()
    for i in range(40):
        story.call(f"cat {i}", "text " * 4000)
    path = str(written(tmp_path, story))
    told: list[tuple[int, int]] = []
    look(path, progress=lambda done, total: told.append((done, total)))
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert {total for _, total in told} == {Path(path).stat().st_size}

    def end(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        look(path, progress=end)


def test_a_subagents_own_log_is_a_run_like_any_other(tmp_path: Path) -> None:
    lines = [
        build.claude_user("Port it.", 1, isSidechain=True, agentId="a1"),
        build.claude_call("c1", "make", seconds=2, isSidechain=True, agentId="a1"),
    ]
    path = build.log(tmp_path / "agent-a1.jsonl", lines)
    found = look(str(path)).why
    assert [call.says for call in found.in_flight] == ["make"]
    assert found == why(load(path))


def test_an_error_that_ended_a_subagents_own_log_ended_its_run(tmp_path: Path) -> None:
    side: dict[str, Any] = {"isSidechain": True, "agentId": "a1"}
    says = "API Error: Connection closed mid-response."
    refused = build.claude_said(says, id="e", model="<synthetic>", seconds=4, error="server_error",
                                isApiErrorMessage=True, **side)  # fmt: skip
    lines = [build.claude_user("Port it.", 1, **side), build.claude_call("c1", seconds=2, **side),
             build.claude_result("c1", seconds=3, **side), refused]  # fmt: skip
    path = build.log(tmp_path / "agent-a1.jsonl", lines)
    found = look(str(path)).why
    assert (found.cause, found.status, found.ok) == ("network", Status.COMPLETE, False)
    assert found.last_error
    assert found.last_error.text == says
    assert found == why(load(path))
    reading = Reading()
    form = named("claude")
    assert form
    log = Log(str(path), form)
    assert form.ending(log.newest_first()).text == says
    for record in (r for n in range(log.chunks) for r in log._as_it_stands(n)[0].records):
        reading.take(record)
    log.close()
    again = reading.answer(found.ending, found.status)
    assert again.cause == found.cause
    assert again.last_error
    assert again.last_error.text == says


def test_an_error_of_a_subagent_beside_a_run_is_none_of_the_run(tmp_path: Path) -> None:
    refused = build.claude_said("API Error: 529", id="e", model="<synthetic>", seconds=4,
                                error="server_error", isApiErrorMessage=True, isSidechain=True,
                                agentId="a1")  # fmt: skip
    path = build.log(tmp_path / build.CLAUDE_FILE, [*build.claude_healthy(), refused])
    assert look(str(path)).why.cause == "finished"


def test_an_error_of_the_run_is_its_own_where_only_errors_were_told(tmp_path: Path) -> None:
    beside = build.claude_said("API Error: 529", id="s", model="<synthetic>", seconds=4,
                               error="server_error", isApiErrorMessage=True, isSidechain=True,
                               agentId="a1")  # fmt: skip
    path = build.log(
        tmp_path / build.CLAUDE_FILE, [beside, build.claude_error("Rate limited", seconds=5)]
    )
    found = look(str(path)).why.last_error
    assert found
    assert (found.text, found.line) == ("Rate limited", 2)


def test_what_is_no_log_is_refused(tmp_path: Path) -> None:
    empty = build.log(tmp_path / "a.jsonl", [])
    with pytest.raises(NotALog):
        look(str(empty))


def test_a_live_run_tells_for_how_long_its_call_runs(tmp_path: Path) -> None:
    story = Codex().work(1).open("cargo build")
    with written(tmp_path, story).open("ab") as _writer:
        now = build.START + timedelta(seconds=story.clock + 65)
        found = look(_writer.name, now).why
    assert found.status is Status.RUNNING
    assert found.in_flight[0].seconds == 65
    assert "1m05s ago" in summary(found)
    assert clock_of(found.in_flight[0].since) in summary(found)
