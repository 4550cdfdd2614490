"""What was taken back, left behind or written twice counts for nothing: not for the cause, not
for what waits, not as a message of its own."""

from __future__ import annotations

from pathlib import Path

import build
import pytest
from build import codex_event, codex_meta
from claude_logs import Chat, wandering

from sessionlog.follower import Follower
from sessionlog.formats.table import named
from sessionlog.listing import glance
from sessionlog.measure import measure
from sessionlog.numbering import Numbering
from sessionlog.reader import load
from sessionlog.repeats import units
from sessionlog.shown import of_check
from sessionlog.source import decode, lines_of
from sessionlog.why.answer import Why, why
from sessionlog.why.look import look
from sessionlog.why.said import summary


def went_back() -> Chat:
    """A question with a failed call and an open one, taken back and asked anew."""
    chat = Chat()
    chat.user("one")
    first = chat.said("first")
    chat.user("two")
    chat.call("c1")
    chat.add(build.claude_result("c1", "no such file", True, seconds=5))
    chat.call("c2")
    chat.user("three", first)
    chat.said("third")
    return chat


def answers(path: Path) -> list[Why]:
    """The cause as a session at hand tells it, and as the file does, read whole and from its
    end."""
    return [why(load(path)), look(str(path)).why, look(str(path), whole=0).why]


# -- why -------------------------------------------------------------------------------------------


def test_a_failure_that_was_taken_back_is_no_last_error(tmp_path: Path) -> None:
    for found in answers(went_back().log(tmp_path)):
        assert (found.cause, found.last_error, found.in_flight) == ("finished", None, ())
        assert (found.progress.messages, found.progress.calls) == (8, 2)


def test_a_prompt_that_was_asked_anew_is_what_a_run_set_out_for(tmp_path: Path) -> None:
    chat = Chat()
    chat.user("wrong words")
    chat.said("hm")
    chat.user("right words", None)
    said = why(load(chat.log(tmp_path))).set_out
    assert said is not None
    assert said.says == "right words"


def test_a_failure_on_a_branch_that_was_left_is_no_last_error(tmp_path: Path) -> None:
    lines = [
        build.pi_head(), build.pi_user("one", "a1"),
        build.pi_said("first", id="a2", parent="a1"),
        build.pi_user("two", "a3", "a2"),
        build.pi_said(build.pi_call("c1"), id="a4", parent="a3", stop="toolUse"),
        build.pi_result("c1", "no such file", id="a5", parent="a4", failed=True),
        build.pi_user("three", "a6", "a2"), build.pi_said("third", id="a7", parent="a6"),
    ]  # fmt: skip
    for found in answers(build.log(tmp_path / build.PI_FILE, lines)):
        assert (found.cause, found.last_error) == ("finished", None)
        assert (found.progress.messages, found.progress.calls) == (7, 1)


def test_a_turn_that_was_rolled_back_last_is_not_what_the_run_ended_with(tmp_path: Path) -> None:
    lines = [
        codex_meta(), codex_event("task_started", turn_id="t"), build.codex_said("user", "Go"),
        build.codex_said("assistant", "wrong"), codex_event("task_complete", turn_id="t"),
        codex_event("thread_rolled_back", num_turns=1),
    ]  # fmt: skip
    path = build.log(tmp_path / build.CODEX_FILE, lines)
    assert glance(str(path)).stop == "went back to an earlier place"
    found = look(str(path)).why
    assert summary(found).startswith("Went back to an earlier place")
    assert (found.status, found.ok) == ("complete", None)


# -- counts ----------------------------------------------------------------------------------------


def test_stats_tell_what_was_taken_back_and_nobody_waits_for_it(tmp_path: Path) -> None:
    path = went_back().log(tmp_path)
    stats = measure(glance(str(path)))
    assert stats is not None
    assert (stats.counts.messages, stats.counts.taken_back, stats.counts.open) == (8, 4, 0)
    assert of_check(load(path))["open_calls"] == []


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_a_line_that_stands_there_twice_counts_once(tmp_path: Path, agent: str) -> None:
    claude = agent == "claude"
    once = build.claude_healthy() if claude else build.codex_healthy()
    twice = [*once, *[line for line in once if b'"tool_use"' in line or b'function_call"' in line]]
    name = build.CLAUDE_FILE if claude else build.CODEX_FILE
    first = build.log(tmp_path / "a" / name, once)
    path = build.log(tmp_path / "b" / name, twice)
    assert len(twice) > len(once)
    told, checked = measure(glance(str(path))), of_check(load(path))
    plain, before = measure(glance(str(first))), of_check(load(first))
    assert told is not None
    assert plain is not None
    for key in ("users", "assistants", "calls", "open_calls"):
        assert checked[key] == before[key]
    for key in ("users", "assistants", "calls", "open", "orphans"):
        assert getattr(told.counts, key) == getattr(plain.counts, key)
    assert told.counts.messages == checked["messages"] > before["messages"]
    assert look(str(path)).why.progress.calls == before["calls"]


# -- as records come -------------------------------------------------------------------------------


def test_rows_that_come_are_told_that_they_were_taken_back_or_came_before(tmp_path: Path) -> None:
    chat = went_back()
    chat.lines.append(chat.lines[-1])
    path = chat.log(tmp_path)
    steps = [step for step in Follower(str(path)).look().steps if step]
    assert [s.n for s in steps] == [*range(1, 10)]
    assert [s.n for s in steps if s.taken_back] == [3, 4, 5, 6]
    assert [s.n for s in steps if s.again] == [9]
    assert [s.n for s in steps if s.in_context] == [1, 2, 7, 8]
    assert not any(s.open for s in steps)


def test_a_prompt_takes_back_what_came_with_it_though_it_goes_on_from_what_came_before(
    tmp_path: Path,
) -> None:
    form = named("claude")
    assert form is not None
    path = went_back().log(tmp_path)
    with path.open("rb") as file:
        found = [decode(form, line)[0] for line in lines_of(file.fileno())]
    numbering = Numbering()
    for records in found[:4]:
        numbering.take(records)
    steps = [s for s in numbering.take(r for records in found[4:] for r in records) if s]
    assert [(s.n, s.taken_back) for s in steps] == [(5, True), (6, True), (7, False), (8, False)]


@pytest.mark.parametrize("seed", range(40))
def test_what_comes_at_once_is_told_as_a_session_at_hand_tells_it(
    tmp_path: Path, seed: int
) -> None:
    path = build.log(tmp_path / build.CLAUDE_FILE, wandering(seed))
    read = load(path)
    batch = Follower(str(path)).look()
    steps = [s for s in batch.steps if s]
    assert [s.n for s in steps if s.again] == [s.n for s in read.history if s.again]
    if not read.damages:
        assert [s.n for s in steps if s.taken_back] == [s.n for s in read.history if s.taken_back]
    assert len(list(units(batch.records))) <= len(batch.records)
