"""Subagents of Claude Code: side chains in the log, and logs of their own."""

from __future__ import annotations

from pathlib import Path

import build
import pytest
from build import claude_call as call
from build import claude_result as result
from build import claude_said as said
from build import claude_user as user
from claude_reads import FILE, FORMAT, GO, LOCAL, SAID, activity, message, session

from sessionlog.formats.claude_subagents import agent_log, subagents_of
from sessionlog.listing import glance
from sessionlog.reader import load


def test_side_chains_inside_the_log_are_not_the_main_run(tmp_path: Path) -> None:
    side = {"isSidechain": True}
    task = [user("Count", 4, **side), call("s1", id="s", seconds=5, **side)]
    read = session(tmp_path, user("Go"), call("c1", name="Task"), *task * 60)
    assert (read.title, read.users, read.ending.text) == ("Go", 1, "in task: ls")
    ended = session(tmp_path, *build.claude_healthy(), *task * 60)
    assert (ended.status, ended.title) == ("complete", "Fix it")
    assert {m.sidechain for m in (n.message for n in ended.history)} == {"", "sidechain"}


def test_a_side_chain_before_the_last_words_of_the_main_run_is_passed_over(tmp_path: Path) -> None:
    side = call("s1", id="s", seconds=9, isSidechain=True)
    assert session(tmp_path, *SAID, side, *LOCAL).ending.text == "Done."


def test_a_side_chain_is_named_after_its_agent() -> None:
    assert message(user("Go", isSidechain=True, agentId="a1")).sidechain == "a1"
    assert message(user("Go", isSidechain=True)).sidechain == "sidechain"
    assert message(user("Go", agentId="a1")).sidechain == ""


@pytest.mark.parametrize("length", [1, 80])
def test_a_subagents_own_log_is_a_run_like_any_other(tmp_path: Path, length: int) -> None:
    side = {"isSidechain": True, "agentId": "a1"}
    asked = [call(f"s{n}", id=f"m{n}", **side) for n in range(length)]
    answers = [result(f"s{n}", **side) for n in range(length)]
    lines = [user("Count the files", **side), *asked, *answers, said("Two.", id="x", **side)]
    path = build.log(tmp_path / "agent-a1.jsonl", lines)
    read, row = load(path), glance(str(path))
    assert (read.id, read.title, read.status) == ("agent-a1", "Count the files", "complete")
    assert (row.id, row.title, row.status) == (read.id, read.title, read.status)
    assert (row.ok, row.stop, read.users, read.calls) == (True, "Two.", 1, length)
    path = build.log(tmp_path / "agent-a2.jsonl", [lines[0], call("s0", "sleep 60", **side)])
    assert glance(str(path)).stop == load(path).ending.text == "in bash: sleep 60"


def test_an_error_that_ended_a_side_chain_did_not_end_the_main_run(tmp_path: Path) -> None:
    error = said("x", model="<synthetic>", isApiErrorMessage=True, isSidechain=True)
    assert session(tmp_path, *build.claude_healthy(), error).ok is True


def test_a_call_of_a_subagent_leads_to_its_log(tmp_path: Path) -> None:
    told = {"agentId": "a1", "status": "completed", "prompt": "x" * 999}
    assert activity(result("c1", structured=told)).extra["agent_id"] == "a1"
    main = build.log(tmp_path / FILE, build.claude_healthy())
    inside = build.log(tmp_path / build.CLAUDE_ID / "subagents" / "agent-a1.jsonl", GO)
    beside = build.log(tmp_path / "agent-b2.jsonl", GO)
    build.log(tmp_path / "agent-c3.jsonl", [user("Go", sessionId="another")])
    build.log(tmp_path / "agent-acompact-d4.jsonl", GO)
    assert subagents_of(str(main)) == [str(inside), str(beside)]
    assert agent_log(str(main), "a1") == str(inside)
    assert agent_log(str(main), "../a1") is None
    assert subagents_of(str(inside)) == []


def test_a_call_that_nothing_answered_leads_to_the_log_by_the_note_beside_it(
    tmp_path: Path,
) -> None:
    main = build.log(tmp_path / FILE, build.claude_healthy())
    folder = tmp_path / build.CLAUDE_ID / "subagents"
    inside = build.log(folder / "agent-a1.jsonl", GO)
    nested = build.log(folder / "agent-b2.jsonl", GO)
    (folder / "agent-a1.meta.json").write_text('{"toolUseId": "c1"}')
    (folder / "agent-b2.meta.json").write_text('{"toolUseId": "c2"}')
    (folder / "agent-c3.meta.json").write_text("{")
    asked = activity(call("c1", name="Task"))
    assert FORMAT.started(str(main), asked) == str(inside)
    assert FORMAT.started(str(inside), activity(call("c2", name="Task"))) == str(nested)
    assert FORMAT.started(str(main), activity(call("c4", name="Task"))) is None
    assert FORMAT.subagents(str(main)) == [str(inside), str(nested)]
    fork = build.log(
        tmp_path / "fork.jsonl", [user("Go", forkedFrom={"sessionId": build.CLAUDE_ID}), *GO]
    )
    assert FORMAT.started(str(fork), asked) == str(inside)
    around = build.log(tmp_path / FILE, [user("Go", forkedFrom={"sessionId": build.CLAUDE_ID})])
    assert FORMAT.started(str(around), activity(call("c4"))) is None
