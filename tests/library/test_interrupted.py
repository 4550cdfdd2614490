"""A call that was cut short and closed later is no failure: not of the tool, not of the run."""

from __future__ import annotations

from pathlib import Path

import build
import pytest
import qwen_logs
from stories import AGENTS, Claude, Codex, Native, Pi, Story

from sessionlog.formats.base import response
from sessionlog.halves import went_well
from sessionlog.listing import glance
from sessionlog.measure import measure
from sessionlog.outcome import outcome_of
from sessionlog.query import Query
from sessionlog.records import Activity, Message
from sessionlog.repairs import repair
from sessionlog.search import Hit, search_log
from sessionlog.why.look import look
from sessionlog.why.said import statements

OURS = "Interrupted by the user."
CLIENTS = {
    "Codex": "aborted",
    "Codex, by a person": "Wall time: 3.0 seconds\naborted by user",
    "Claude Code": "[Request interrupted by user for tool use]",
    "Claude Code, refused": "The user doesn't want to proceed with this tool use. The tool use was "
    "rejected. STOP what you are doing and wait for the user to tell you how to proceed.",
    "Claude Code, resumed": "[Tool call interrupted: the session ended before this call's result "
    "was recorded, so its outcome is unknown. Check whether it took effect.]",
    "OpenCode": "Tool execution aborted",
    "OpenCode, resumed": "[Tool execution was interrupted]",
    "Gemini, Qwen": "[Operation Cancelled] Reason: User cancelled the operation.",
    "Qwen, resumed": "Tool execution result was not recorded — the session ended before it.",
    "pi": "started\n\n\nCommand aborted",
    "pi, resumed": "No result provided",
}


def answered(text: str, failed: bool) -> Message:
    return Message("activity", text, response("bash", "c1", text, text if failed else None))


def killed(agent: str) -> tuple[str, list[bytes]]:
    """(name, lines) of a run that was killed in a call."""
    stories: dict[str, type[Story]] = {"claude": Claude, "codex": Codex, "native": Native, "pi": Pi}
    names = {"claude": build.CLAUDE_FILE, "codex": build.CODEX_FILE, "pi": build.PI_FILE,
             "native": "20261127-220000.jsonl"}  # fmt: skip
    if agent == "qwen":
        return qwen_logs.FILE, [
            qwen_logs.user("Go", "u1"),
            qwen_logs.said(qwen_logs.call("c1"), id="a1", parent="u1"),
        ]
    return names[agent], stories[agent]().work(2).open("sleep 60").lines


@pytest.mark.parametrize("words", CLIENTS.values(), ids=CLIENTS)
def test_the_words_of_each_client_for_a_call_cut_short_are_no_failure(words: str) -> None:
    message = answered(words, failed=True)
    outcome = outcome_of(Activity("request", "c1", "bash"), message)
    assert (outcome.failed, outcome.interrupted) == (False, True)
    assert outcome.words in ("interrupted", "refused")
    assert went_well(message) is None


def test_the_words_of_a_repair_count_even_where_the_format_marks_no_failure() -> None:
    assert went_well(answered(OURS, failed=False)) is None
    assert went_well(answered(OURS, failed=True)) is None


@pytest.mark.parametrize("words", ["aborted", "Command aborted"])
def test_a_tool_may_print_the_words_of_a_client(words: str) -> None:
    assert went_well(answered(words, failed=False)) is True


def test_what_says_more_than_that_it_was_cut_short_is_a_failure() -> None:
    assert went_well(answered(f"{OURS} Then the disk was full.", failed=True)) is False


@pytest.mark.parametrize("agent", ["claude", "codex", "native", "pi", "qwen"])
def test_what_a_repair_closes_is_no_error_of_the_run(tmp_path: Path, agent: str) -> None:
    name, lines = killed(agent)
    made = repair(build.log(tmp_path / name, lines))
    found = look(str(made)).why
    assert found.last_error is None
    assert found.failed is None
    assert (found.facts.errors, found.facts.interrupted) == (0, 1)
    got = next(s.words for s in statements(found) if s.label == "got")
    assert got.endswith(", 1 interrupted")
    assert "failed" not in got
    stats = measure(glance(str(made)))
    assert stats is not None
    assert (stats.counts.failed, stats.counts.interrupted, stats.counts.open) == (0, 1, 0)
    assert not [h for h in search_log(str(made), Query(errors=True)) if isinstance(h, Hit)]


@pytest.mark.parametrize("agent", AGENTS)
def test_what_a_person_stopped_is_named_and_is_no_error(agent: type[Story]) -> None:
    found = agent().work(2).open("sleep 60").interrupted().why()
    assert found.cause == "interrupted"
    assert found.last_error is None
    assert found.progress.errors == 0
