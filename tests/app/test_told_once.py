"""One error is one row, one hit and one count; a row of the list and its panel say the same."""

from __future__ import annotations

from pathlib import Path

import build
import gemini_logs
import pytest
from screens import NOW, opened, shown, until
from stories import Claude, Codex, Native, Story

from sessionlog.formats.base import response
from sessionlog.formats.table import named
from sessionlog.listing import glance
from sessionlog.measure import measure
from sessionlog.outcome import outcome_of
from sessionlog.query import Query
from sessionlog.records import Activity, Message, Status
from sessionlog.search import Hit, search_log
from sessionlog.stats_page import page, text
from sessionlog.why.look import look
from sessionlog.why.said import headline
from sessionlog.window import Log
from tui import entries
from tui.opening import open_log
from tui.stop import gather, why_of
from tui.timeline import Timeline
from tui.why_lines import fork_point, next_steps

COMPACT = "Error running remote compact task: stream disconnected"


def written(folder: Path, story: Story) -> Path:
    names = {"codex": build.CODEX_FILE, "claude": build.CLAUDE_FILE}
    return build.log(folder / names.get(story.form, "20261127-220000.jsonl"), story.lines)


def loud(path: Path) -> Timeline:
    form = named(glance(str(path)).format)
    assert form is not None
    return Timeline(Log(str(path), form))


# -- one error ---------------------------------------------------------------------------------


def test_an_error_that_the_client_tells_twice_is_one_row_one_hit_and_one_count(
    tmp_path: Path,
) -> None:
    path = written(tmp_path, Codex().work(1).refused(COMPACT))
    rows = [row for row in loud(path).shown(0) if COMPACT in row.body or row.trouble]
    assert [(row.sort, row.body) for row in rows] == [("event", COMPACT)]
    hits = [hit for hit in search_log(str(path), Query("remote compact")) if isinstance(hit, Hit)]
    assert len(hits) == 1
    stats = measure(glance(str(path)))
    assert stats is not None
    assert stats.counts.errors == 1


def test_the_end_of_a_log_still_says_that_it_failed(tmp_path: Path) -> None:
    path = written(tmp_path, Codex().work(1).refused(COMPACT))
    assert loud(path).shown(0)[-1].body == "end of log · failed"


def test_the_same_error_in_a_later_turn_is_another(tmp_path: Path) -> None:
    story = Codex().work(1).refused(COMPACT).user("Again.").refused(COMPACT)
    path = written(tmp_path, story)
    assert sum(row.trouble for row in loud(path).shown(0)) == 2
    hits = [hit for hit in search_log(str(path), Query("remote compact")) if isinstance(hit, Hit)]
    assert len(hits) == 2


def test_a_failure_without_output_is_not_told_by_its_wrapping() -> None:
    said = "Chunk ID: 19d7e2\nWall time: 0.4 seconds\nProcess exited with code 1\nOutput:\n"
    message = Message("activity", said, response("exec_command", "c1", said, said))
    outcome = outcome_of(Activity("request", "c1", "exec_command"), message)
    assert (outcome.words, outcome.second) == ("exit 1", "")


# -- row and panel -----------------------------------------------------------------------------


def both(path: Path, status: Status | None = None) -> tuple[str, str]:
    """(what the list says of a log, what the panel says of it)."""
    entry = glance(str(path))
    entry = entry._replace(status=status or entry.status)
    log = open_log(entry)
    why = why_of(entry, gather(list(log.newest_first())[::-1]))
    row = "".join(
        t for line in entries.lines_of(entry, 160, NOW, False, False) for t, _ in line.left
    )
    return row, " ".join(headline(why))


def test_a_turn_that_was_only_begun_waits_for_the_model_in_both(tmp_path: Path) -> None:
    story = Codex().work(1).done("Done.")
    story.lines.append(build.codex_event("task_started", story.later(), turn_id="t2"))
    row, panel = both(written(tmp_path, story))
    assert "while the model answered" in row
    assert "while the model answered" in panel
    row, panel = both(written(tmp_path, story), Status.RUNNING)
    assert "the model answers" in row
    assert panel.strip() == "Running: the model answers"


def test_an_end_in_no_call_is_not_said_to_be_after_one_that_was_answered(tmp_path: Path) -> None:
    story = Codex().work(1).say("Half of it is done.")
    story.lines.append(build.codex_event("token_count", story.later(), turn_id="t1"))
    row, panel = both(written(tmp_path, story))
    assert "no ending recorded" in row
    assert panel == "No ending recorded Half of it is done."
    row, panel = both(written(tmp_path, story), Status.RUNNING)
    assert "between two steps" in row
    assert panel.strip() == "Running: between two steps"


def test_a_subagents_own_log_is_told_by_its_own_calls(tmp_path: Path) -> None:
    path = build.log(tmp_path / "agent-a1.jsonl", [
        build.claude_user("Look for it.", 1, isSidechain=True, agentId="a1"),
        build.claude_call("c1", "ls | wc -l", isSidechain=True, agentId="a1"),
    ])  # fmt: skip
    row, panel = both(path)
    assert "in bash: ls | wc -l" in row
    assert panel == "Stopped inside bash ls | wc -l"
    found = look(str(path)).why
    assert (found.cause, found.progress.messages) == ("killed_in_tool", 2)


def test_what_a_log_cannot_tell_is_one_story(tmp_path: Path) -> None:
    """Gemini CLI writes a call down when it has ended: killed in one, its log looks done."""
    path = tmp_path / "session-2026-11-27T22-00-0a1b2c3d.jsonl"
    build.log(path, [
        *gemini_logs.start(), build.line(gemini_logs.user("u1", "Run it")),
        build.line(gemini_logs.model("m1", "Now the slow test run.")),
    ])  # fmt: skip
    row, panel = both(path)
    assert "■" in row
    assert panel == "Ended, no verdict in the log Now the slow test run."
    found = look(str(path))
    assert (found.why.cause, found.why.ok) == ("not_known", None)
    assert fork_point(found) == 0


def test_a_log_of_plain_messages_has_no_verdict_either(tmp_path: Path) -> None:
    lines = [build.chat("user", "hi"), build.chat("assistant", "ho")]
    path = build.log(tmp_path / "talk.jsonl", lines)
    assert both(path)[1] == "Ended, no verdict in the log ho"


# -- the way on --------------------------------------------------------------------------------


@pytest.mark.parametrize("agent", [Native, Claude, Codex])
def test_out_of_a_loop_the_way_on_is_before_its_first_call(
    tmp_path: Path, agent: type[Story]
) -> None:
    story = agent().work(2)
    for _ in range(7):
        story.call("npm run lint", "Error: no such plugin", True)
    found = look(str(written(tmp_path, story.open("npm run lint"))))
    assert found.why.cause == "loop"
    assert fork_point(found) == 5
    assert next_steps(found, {})[0].words.startswith("fork at 5, before ")
    assert "failed 7 times" in next_steps(found, {})[0].words


def test_out_of_attempts_the_way_on_is_before_the_first_that_failed(tmp_path: Path) -> None:
    story = Native().work(1).call("go test -run Restart", "ok")
    for n in range(5):
        story.call(f"edit {n}", "ok", tool="edit")
        story.call(f"go test -run Restart -count={n}", "--- FAIL: Restart", True)
    story.done("Restart still fails. I tried five changes and none holds, so I give up.")
    found = look(str(written(tmp_path, story)))
    assert found.why.cause == "gave_up"
    assert fork_point(found) == 7
    assert "failed 5 times" in next_steps(found, {})[0].words


# -- how long ----------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_panel_and_map_go_by_the_same_beginning(tmp_path: Path) -> None:
    build.log(tmp_path / "20261128-030000.jsonl", [
        build.meta("20261128-030000", "Fix it", 18000, resumedFrom="20261127-220000"),
        build.message("user", "Fix it", 0), build.message("bot", "Half of it.", 3600),
        build.request("c1", seconds=7200),
    ])  # fmt: skip
    async with opened(tmp_path) as (pilot, browser):
        await until(pilot, lambda: "log ends after 2h" in shown(pilot), "the panel")
        timeline = browser.timeline.timeline
        assert timeline is not None
        assert timeline.started() == build.at(0)


# -- the numbers -------------------------------------------------------------------------------


def test_calls_in_flight_are_counted_by_tool(tmp_path: Path) -> None:
    path = build.log(tmp_path / "20261127-220000.jsonl", [
        build.meta(), build.message("user", "Go"),
        *(build.request(f"c{n}", "shell", seconds=2) for n in range(3)),
        build.request("c9", "read", seconds=2),
    ])  # fmt: skip
    stats = measure(glance(str(path)))
    assert stats is not None
    said = "\n".join(text(page(stats, 100)))
    assert "4 without a result, 3 shell in flight, read in flight" in said
