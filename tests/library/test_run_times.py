"""How long a run took goes by the times of its own records, and where there are none nothing is
said of time."""

from __future__ import annotations

import json
from pathlib import Path

import build
import pytest

from sessionlog.commands.stats import of_stats
from sessionlog.figures import Stats
from sessionlog.listing import glance
from sessionlog.measure import measure
from sessionlog.stats_page import page
from sessionlog.why.look import look
from sessionlog.why.said import summary

HOUR = 3600


def pi_fork(folder: Path) -> Path:
    """A copy of four hours' work, whose head was made after it."""
    head = json.loads(build.pi_head(parentSession="/old.jsonl"))
    head["timestamp"] = build.at(5 * HOUR)
    return build.log(folder / build.PI_FILE, [
        build.line(head),
        build.pi_entry("model_change", "a0", None, 0, provider="anthropic", modelId="opus"),
        build.pi_user("Fix it", "a1", "a0", 1),
        build.pi_said(build.pi_call("c1"), id="a2", parent="a1", stop="toolUse", seconds=HOUR),
        build.pi_result("c1", id="a3", parent="a2", seconds=HOUR + 10),
        build.pi_said("Done.", id="a4", parent="a3", seconds=4 * HOUR),
    ])  # fmt: skip


def claude_fork(folder: Path) -> Path:
    """Notes of the new session stand before what it took along."""
    return build.log(folder / build.CLAUDE_FILE, [
        build.claude_note("queue-operation", timestamp=build.at(5 * HOUR)),
        build.claude_user("Fix it", 1),
        build.claude_said("Done.", stop="end_turn", seconds=4 * HOUR),
    ])  # fmt: skip


def native_fork(folder: Path) -> Path:
    return build.log(folder / "20261128-030000.jsonl", [
        build.meta("20261128-030000", "Fix it", 5 * HOUR, resumedFrom="20261127-220000"),
        build.message("user", "Fix it", 1),
        build.message("bot", "Half of it.", 4 * HOUR),
    ])  # fmt: skip


def counted(path: Path) -> Stats:
    stats = measure(glance(str(path)))
    assert stats is not None
    return stats


@pytest.mark.parametrize("made", [pi_fork, claude_fork, native_fork])
def test_a_copy_is_as_long_as_the_run_that_it_holds(tmp_path: Path, made) -> None:  # type: ignore[no-untyped-def]
    path = made(tmp_path)
    seconds = look(str(path)).why.progress.seconds
    assert seconds is not None
    assert 4 * HOUR - 2 < seconds <= 4 * HOUR
    assert counted(path).duration == seconds


def test_the_silences_of_a_copy_are_those_between_its_records(tmp_path: Path) -> None:
    path = pi_fork(tmp_path)
    told = [round(gap.seconds) for gap in look(str(path)).why.longest_gaps]
    assert told[:2] == [3 * HOUR - 10, HOUR - 1]
    assert [round(gap.seconds) for gap in counted(path).gaps] == [3 * HOUR - 10, HOUR - 1]


def test_a_head_that_is_younger_is_no_silence_and_no_work(tmp_path: Path) -> None:
    stats = counted(native_fork(tmp_path))
    assert stats.start == counted(pi_fork(tmp_path)).start + 1  # type: ignore[operator]
    assert [round(gap.seconds) for gap in stats.gaps] == [4 * HOUR - 1]


@pytest.mark.parametrize("times", [0, 1])
def test_a_log_without_times_says_nothing_of_time(tmp_path: Path, times: int) -> None:
    lines = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]
    if times:
        lines[0]["timestamp"] = build.at(1)
    path = build.log(tmp_path / "talk.jsonl", map(build.line, lines))
    why = look(str(path)).why
    assert why.progress.seconds is None
    assert "After" not in summary(why)
    stats = counted(path)
    assert of_stats(stats)["duration"] is None
    assert not any("time" in text for said in page(stats, 80) for text, _ in said.pieces)
