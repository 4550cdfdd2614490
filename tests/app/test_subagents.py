"""From a call into the log of the subagent that it started, and back."""

from __future__ import annotations

from pathlib import Path

import build
import pytest
from screens import opened, shown, until

pytestmark = pytest.mark.anyio


def night(folder: Path) -> Path:
    """A session whose one call started a subagent, and the subagent's log."""
    log = build.log(folder / f"{build.CLAUDE_ID}.jsonl", [
        build.claude_user("Count the files."),
        build.claude_call("t1", name="Agent"),
        build.claude_result("t1", "two files", structured={"agentId": "a1", "status": "completed"}),
        build.claude_said("There are two.", seconds=9),
    ])  # fmt: skip
    inside = folder / build.CLAUDE_ID / "subagents"
    side = {"isSidechain": True, "agentId": "a1"}
    build.log(inside / "agent-a1.jsonl", [
        build.claude_user("Count them.", 3, **side),
        build.claude_said("I counted two.", seconds=4, **side),
    ])  # fmt: skip
    return log


async def test_a_call_leads_into_its_subagents_log_and_back(tmp_path: Path) -> None:
    night(tmp_path)
    async with opened(tmp_path) as (pilot, browser):
        await pilot.press("enter", "k")
        await pilot.press("right_parenthesis")
        await until(pilot, lambda: "I counted two." in shown(pilot))
        assert "· 2 messages" not in shown(pilot)  # no fold: seen by itself it is a run of its own
        assert browser.entry is not None
        assert browser.entry.path.endswith("agent-a1.jsonl")
        await pilot.press("left_parenthesis")
        await until(pilot, lambda: "There are two." in shown(pilot))
        assert browser.timeline.row is not None
        assert browser.timeline.row.sort == "call"


async def test_keys_that_lead_nowhere_say_so(tmp_path: Path) -> None:
    night(tmp_path)
    async with opened(tmp_path) as (pilot, _):
        await pilot.press("enter", "left_parenthesis")
        await until(pilot, lambda: "came from no other that is here" in shown(pilot))
        await pilot.press("right_parenthesis")
        await until(pilot, lambda: "the row is no call" in shown(pilot))
