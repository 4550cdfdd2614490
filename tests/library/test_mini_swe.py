"""mini-swe-agent's trajectories, of both versions: a document read as a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sessionlog.formats.mini_swe import MiniSwe
from sessionlog.listing import glance
from sessionlog.reader import load
from sessionlog.records import shown_type
from sessionlog.session import Session
from sessionlog.usage import Meter
from sessionlog.why.answer import why

TASK = "<pr_description>\nConsider the following PR description:\nRound up\n</pr_description>\nGo."
TOLD = [{"role": "system", "content": "You are helpful."}, {"role": "user", "content": TASK}]
CONFIG = {"model": {"model_name": "deepseek/chat"}, "agent": {"cost_limit": 3.0}}


def asks(command: str, **more: Any) -> dict[str, Any]:
    """An answer of version 1."""
    text = f"THOUGHT: I look.\n\n```bash\n{command}\n```"
    return {"role": "assistant", "content": text, **more}


def shows(text: str, code: int = 0) -> dict[str, Any]:
    said = f"<returncode>{code}</returncode>\n<output>\n{text}</output>"
    return {"role": "user", "content": said}


def calls(*ids: str, **more: Any) -> dict[str, Any]:
    """An answer of version 2."""
    made = [
        {"id": id, "type": "function",
         "function": {"name": "bash", "arguments": json.dumps({"command": f"run {id}"})}}
        for id in ids
    ]  # fmt: skip
    actions = [{"command": f"run {id}", "tool_call_id": id} for id in ids]
    usage = {"prompt_tokens": 30, "completion_tokens": 4}
    extra = {"actions": actions, "timestamp": 1780000000.5, "cost": 0.1,
             "response": {"id": f"r-{ids}", "model": "deepseek-chat", "usage": usage}}  # fmt: skip
    return {"role": "assistant", "content": "I look.", "tool_calls": made, "extra": extra, **more}


def gives(id: str, text: str = "ok", code: int = 0) -> dict[str, Any]:
    extra = {"raw_output": text, "returncode": code, "timestamp": 1780000001}
    return {"role": "tool", "tool_call_id": id, "content": text, "extra": extra}


def run(*messages: dict[str, Any], status: Any = "Submitted", **more: Any) -> dict[str, Any]:
    info = {"exit_status": status, "submission": "diff", "config": CONFIG, "mini_version": "2.3.0",
            "model_stats": {"instance_cost": 0.2, "api_calls": 2}}  # fmt: skip
    return {"info": info, "messages": [*TOLD, *messages],
            "trajectory_format": "mini-swe-agent-1.1", **more}  # fmt: skip


def written(folder: Path, document: Any, name: str = "a__b-1.traj.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(document, indent=2))
    return path


def read(folder: Path, document: Any) -> Session:
    return load(written(folder, document))


def kinds(session: Session) -> list[str]:
    return [shown_type(step.message) for step in session.history]


def test_version_1_answers_a_command_with_the_message_behind_it(tmp_path: Path) -> None:
    session = read(tmp_path, run(asks("ls"), shows("a.py"), asks("cat x", timestamp=1780000000),
                                 shows("no such file", 1)))  # fmt: skip
    assert kinds(session) == ["system", "user", *["assistant", "call", "response"] * 2]
    assert (session.users, session.assistants, session.calls) == (1, 2, 2)
    assert session.open_calls == session.orphan_results == ()
    assert session.history[2].message.text == "THOUGHT: I look."
    call, failed = (session.history[n].message.activity for n in (3, 7))
    assert call is not None
    assert json.loads(call.arguments) == {"command": "ls"}
    assert failed is not None
    assert failed.failure is not None
    assert session.records[-4].at.startswith("2026-")


def test_version_2_answers_its_tool_calls_by_their_ids(tmp_path: Path) -> None:
    session = read(tmp_path, run(calls("c1", "c2"), gives("c2"), gives("c1", "no", 1)))
    assert kinds(session)[2:] == ["assistant", "call", "call", "response", "response"]
    assert session.open_calls == session.orphan_results == ()
    assert [step.pair for step in session.history[3:]] == [7, 6, 5, 4]
    last = session.history[-1].message.activity
    assert last is not None
    assert last.failure == "no"


def test_the_other_interface_of_the_service_reads_the_same(tmp_path: Path) -> None:
    answer = {
        "object": "response", "id": "r1", "model": "gpt",
        "output": [
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
            {"type": "message", "content": [{"type": "output_text", "text": "I look."}]},
            {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": "{}"},
        ],
        "usage": {"input_tokens": 9, "output_tokens": 2},
        "extra": {"actions": [{"command": "ls", "tool_call_id": "c1"}]},
    }  # fmt: skip
    back = {"type": "function_call_output", "call_id": "c1", "output": "ok"}
    session = read(tmp_path, run(answer, back))
    assert kinds(session)[2:] == ["reasoning", "assistant", "call", "response"]
    assert (session.assistants, session.open_calls) == (1, ())


def test_the_name_of_the_exception_that_ended_a_run_tells_the_cause(tmp_path: Path) -> None:
    for status, cause in (
        ("LimitsExceeded", "budget"), ("TimeExceeded", "budget"),
        ("RateLimitError", "rate_limit"), ("AuthenticationError", "auth"),
        ("ContextWindowExceededError", "context_full"), ("KeyboardInterrupt", "interrupted"),
    ):  # fmt: skip
        assert why(read(tmp_path, run(asks("ls"), status=status))).cause == cause


@pytest.mark.parametrize(
    ("status", "stands", "ok"),
    [("Submitted", "complete", True), ("LimitsExceeded", "complete", False),
     ("RuntimeError", "complete", False), (None, "unfinished", None), ("", "unfinished", None)],
)  # fmt: skip
def test_the_exit_status_says_how_it_ended(
    tmp_path: Path, status: Any, stands: str, ok: bool | None
) -> None:
    session = read(tmp_path, run(calls("c1"), gives("c1"), status=status))
    assert (session.status, session.ok) == (stands, ok)


def test_the_row_has_the_task_the_model_and_the_instance(tmp_path: Path) -> None:
    row = glance(str(written(tmp_path, run(calls("c1"), gives("c1")))))
    assert (row.id, row.title, row.model) == ("a__b-1", "Round up", "deepseek/chat")
    assert (row.format, row.status) == ("mini-swe-agent", "complete")


def test_tokens_are_the_answers_and_the_cost_is_the_runs(tmp_path: Path) -> None:
    session = read(tmp_path, run(calls("c1"), gives("c1"), calls("c2"), gives("c2")))
    meter = Meter()
    for record in session.records:
        if (usage := MiniSwe().usage(record)) is not None:
            meter.take(usage)
    spent = meter.close()
    assert spent.tokens is not None
    assert (spent.tokens.input, spent.tokens.output, spent.cost) == (60, 8, 0.2)


def test_an_answer_without_one_command_is_sent_back_by_the_agent(tmp_path: Path) -> None:
    lost = {"role": "assistant", "content": "I am done."}
    back = {"role": "user", "content": "Please give EXACTLY ONE action."}
    told = {"role": "user", "content": "No.", "extra": {"interrupt_type": "UserInterruption"}}
    session = read(tmp_path, run(asks("ls"), shows("x"), lost, back, asks("ls"), told))
    assert kinds(session)[5:7] == ["assistant", "system"]
    assert session.users == 2  # the task, and what the person said
    assert len(session.open_calls) == 1


def test_a_command_that_was_never_answered_is_open(tmp_path: Path) -> None:
    session = read(tmp_path, run(asks("ls"), shows("x"), asks("sleep 60"), status=None))
    assert session.ending.text == "in bash: sleep 60"
    assert len(session.open_calls) == 1


def test_version_1_began_with_a_bare_list(tmp_path: Path) -> None:
    document = [*TOLD, asks("ls"), shows("x")]
    for name in ("a.traj.json", "renamed.json"):
        session = load(written(tmp_path, document, name))
        assert (session.format, session.calls, session.open_calls) == ("mini-swe-agent", 1, ())


def test_a_bare_list_of_another_program_is_a_chat(tmp_path: Path) -> None:
    talk = [*TOLD, {"role": "assistant", "content": "Try:\n```bash\nls\n```\nor ask."}]
    session = load(written(tmp_path, talk, "talk.json"))
    assert (session.format, session.calls, session.id) == ("chat", 0, "talk")
    assert kinds(session) == ["system", "user", "assistant"]


def test_the_last_message_of_version_2_is_its_exit(tmp_path: Path) -> None:
    end = {"role": "exit", "content": "diff", "extra": {"exit_status": "Submitted"}}
    session = read(tmp_path, run(calls("c1"), gives("c1"), end))
    assert [e.text for e in session.events] == ["Submitted"]
    assert session.assistants == 1
