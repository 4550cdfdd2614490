"""SWE-agent's trajectories: a document read as a run, step by step, in all its shapes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sessionlog.errors import NotPossible
from sessionlog.forks import fork
from sessionlog.formats.swe_agent import SweAgent
from sessionlog.listing import glance, logs_in
from sessionlog.reader import load
from sessionlog.records import Event, Reset, shown_type
from sessionlog.repairs import repair
from sessionlog.resume import plan_resume
from sessionlog.session import Session
from sessionlog.usage import Meter

ISSUE = "We solve the following issue.\nISSUE:\nRound up, not down\n\nINSTRUCTIONS: go on"
TOLD = [
    {"message_type": "system_prompt", "role": "system", "content": "You are a programmer."},
    {"message_type": "demonstration", "role": "user", "content": "Here is how.", "is_demo": True},
    {"message_type": "observation", "role": "user", "content": ISSUE},
]
STATS = {"instance_cost": 0.5, "tokens_sent": 900, "tokens_received": 100, "api_calls": 2}


def step(action: str, seen: Any = "done", thought: str = "I look.", **more: Any) -> dict[str, Any]:
    said = f"{thought}\n```\n{action}\n```"
    return {"action": action, "observation": seen, "response": said, "thought": thought,
            "state": {"working_dir": "/testbed"}, "execution_time": 0.25, **more}  # fmt: skip


def answer(action: str, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "message_type": "action", "content": action, "action": action,
            **more}  # fmt: skip


def run(*steps: dict[str, Any], status: Any = "submitted", **more: Any) -> dict[str, Any]:
    history = [*TOLD, *(answer(s["action"]) for s in steps)]
    info = {"exit_status": status, "submission": "diff --git a b", "model_stats": STATS}
    return {"environment": "main", "trajectory": list(steps), "history": history, "info": info,
            **more}  # fmt: skip


def written(folder: Path, document: Any, name: str = "repo__issue-1.traj") -> Path:
    path = folder / name
    path.write_text(document if isinstance(document, str) else json.dumps(document, indent=1))
    return path


def read(folder: Path, document: Any) -> Session:
    return load(written(folder, document))


def kinds(session: Session) -> list[str]:
    return [shown_type(step.message) for step in session.history]


def test_a_step_is_a_thought_a_call_and_what_it_showed(tmp_path: Path) -> None:
    session = read(tmp_path, run(step("ls -F", "a.py"), step("submit", "diff --git a b")))
    assert kinds(session) == ["system", "system", "user", *["assistant", "call", "response"] * 2]
    assert (session.users, session.assistants, session.calls) == (1, 2, 2)
    assert session.open_calls == ()
    call = session.history[4].message.activity
    assert call is not None
    assert (call.name, json.loads(call.arguments)) == ("bash", {"command": "ls -F"})
    shown = session.history[5].message
    assert shown.text == "a.py"
    assert shown.activity is not None
    assert shown.activity.extra["execution_time"] == 0.25


def test_the_row_of_a_run_names_the_instance_the_issue_and_how_it_ended(tmp_path: Path) -> None:
    config = {"agent": {"model": {"name": "m-1"}}}
    path = written(tmp_path, run(step("submit"), replay_config=json.dumps(config)))
    row = glance(str(path))
    assert (row.id, row.format, row.model) == ("repo__issue-1", "swe-agent", "m-1")
    assert (row.title, row.status, row.reason) == ("Round up, not down", "complete", "submitted")
    assert row.ok is True
    assert list(logs_in([str(tmp_path)])) == [str(path)]


@pytest.mark.parametrize(
    ("status", "stands", "ok"),
    [
        ("submitted", "complete", True), ("submitted (exit_cost)", "complete", False),
        ("exit_cost", "complete", False), ("exit_context", "complete", False),
        ("exit_format", "complete", False), ("early_exit", "complete", False),
        (None, "unfinished", None), ("", "unfinished", None),
    ],
)  # fmt: skip
def test_the_exit_status_alone_says_how_it_ended(
    tmp_path: Path, status: Any, stands: str, ok: bool | None
) -> None:
    session = read(tmp_path, run(step("ls"), status=status))
    assert (session.status, session.ok) == (stands, ok)
    assert session.reason == (status or None)


def test_the_patch_and_what_it_cost_are_shown(tmp_path: Path) -> None:
    session = read(tmp_path, run(step("submit")))
    assert session.result is not None
    assert (session.result.message, session.result.calls) == ("diff --git a b", 2)
    meter = Meter()
    for record in session.records:
        if (usage := SweAgent().usage(record)) is not None:
            meter.take(usage)
    spent = meter.close()
    assert spent.tokens is not None
    assert (spent.tokens.input, spent.tokens.output, spent.cost) == (900, 100, 0.5)


def test_a_demonstration_is_told_but_is_no_prompt_and_no_call(tmp_path: Path) -> None:
    shown = {**answer("rm -rf /"), "is_demo": True, "agent": "primary"}
    document = run(step("ls"))
    document["history"].insert(2, shown)
    session = read(tmp_path, document)
    assert [s.message.extra.get("note") for s in session.history[:4]] == [
        None, "demonstration", "demonstration", None]  # fmt: skip
    assert (session.users, session.calls) == (1, 1)


def test_what_the_agent_does_when_it_gives_up_is_no_call(tmp_path: Path) -> None:
    session = read(tmp_path, run(step("ls"), step("exit_cost", "", "Out of money")))
    assert session.calls == 1
    assert [e.text for e in session.events if e.kind == "exit"] == ["exit_cost"]


def test_a_step_that_never_came_back_is_an_open_call(tmp_path: Path) -> None:
    last = step("sleep 60")
    del last["observation"]
    session = read(tmp_path, run(step("ls"), last, status=None))
    assert [call.tool for call in session.open_calls] == ["bash"]
    assert session.status == "unfinished"
    assert session.ending.text == "in bash: sleep 60"


def test_tool_calls_that_only_the_history_has_name_the_tool(tmp_path: Path) -> None:
    calls = [{"id": "c1", "function": {"name": "str_replace_editor", "arguments": '{"path":"/a"}'}}]
    document = run(step("str_replace_editor view /a"), step("ls"))
    document["history"] = [*TOLD, answer("str_replace_editor view /a", tool_calls=calls),
                           answer("ls")]  # fmt: skip
    session = read(tmp_path, document)
    asked = [s.message.activity for s in session.history if shown_type(s.message) == "call"]
    assert [(a.id, a.name) for a in asked if a] == [("c1", "str_replace_editor"), ("", "bash")]
    assert session.open_calls == session.orphan_results == ()


def test_attempts_follow_each_other_and_the_chosen_one_is_not_told_twice(tmp_path: Path) -> None:
    first, second = run(step("one"), status="exit_cost"), run(step("two"))
    info = {"exit_status": "submitted", "model_stats": {**STATS, "instance_cost": 1.5},
            "best_attempt_idx": 1, "rloop_model_stats": {"instance_cost": 0.25}}  # fmt: skip
    session = read(tmp_path, {"attempts": [first, second], **second, "info": info})
    asked = [s.message.activity for s in session.history if shown_type(s.message) == "call"]
    assert [json.loads(a.arguments)["command"] for a in asked if a] == ["one", "two"]
    assert sum(isinstance(r.payload, Reset) for r in session.records) == 1
    assert [m.text for m in session.messages][-1] == "done"
    assert len(session.messages) == 6  # the second attempt alone
    tried = [r.payload for r in session.records if isinstance(r.payload, Event)]
    assert [e.ok for e in tried if e.ok is not None] == [False, True]
    assert (session.status, session.ok) == ("complete", True)


def test_a_run_between_two_attempts_goes_on(tmp_path: Path) -> None:
    session = read(tmp_path, {"attempts": [run(step("one"), status="exit_cost")]})
    assert (session.status, session.calls) == ("unfinished", 1)


def test_thinking_and_content_in_parts_and_a_state_in_a_string(tmp_path: Path) -> None:
    parts = [{"type": "text", "text": "seen"}]
    thought = [{"type": "thinking", "thinking": "hm"}]
    old = step("ls", parts, thinking_blocks=thought, state='{"open_file": "n/a"}')
    session = read(tmp_path, run(old))
    assert kinds(session)[3:] == ["reasoning", "assistant", "call", "response"]
    assert session.history[-1].message.text == "seen"
    assert session.assistants == 1


def test_a_document_that_was_cut_gives_the_steps_before_the_cut(tmp_path: Path) -> None:
    whole = json.dumps(run(step("one"), step("two"), step("three")), indent=2)
    cut = whole.index('"three"')
    session = read(tmp_path, whole[:cut])
    assert session.calls == 2
    assert len(session.damages) == 1
    assert session.status == "truncated"


@pytest.mark.parametrize("order", [("info", "history", "trajectory"), ("history", "trajectory")])
def test_the_order_of_the_members_does_not_matter(tmp_path: Path, order: tuple[str, ...]) -> None:
    document = run(step("ls"))
    session = read(tmp_path, {key: document[key] for key in order})
    assert (session.format, session.calls, session.users) == ("swe-agent", 1, 1)


def test_one_line_and_another_name_are_known_too(tmp_path: Path) -> None:
    path = written(tmp_path, json.dumps(run(step("ls"))), "renamed.json")
    assert load(path).format == "swe-agent"


def test_it_is_never_written_and_acting_says_what_can_be_done(tmp_path: Path) -> None:
    path = written(tmp_path, run(step("ls")))
    before = path.read_bytes()
    for act in (lambda: fork(path, 4), lambda: repair(path), lambda: plan_resume(load(path))):
        with pytest.raises(NotPossible, match="--agent"):
            act()
    assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1
