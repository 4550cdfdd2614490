"""A key that can do nothing says so, and what is said lasts as long as it is true."""

from __future__ import annotations

from pathlib import Path

import build
import pytest
from screens import night, opened, shown, until

from tui.screens.replay import Replay
from tui.screens.search import SearchSheet

pytestmark = pytest.mark.anyio


async def test_a_filter_that_hides_every_session_leaves_none_open(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, browser):
        await pilot.press("j")
        was = browser.sessions.selected
        await pilot.press("slash", *"nowhere")
        await until(pilot, lambda: browser.entry is None, "none is open")
        assert "no session is open" in shown(pilot)
        assert "Migrate" not in shown(pilot)
        await pilot.press("escape")  # nothing was asked for after all
        await until(pilot, lambda: browser.entry is not None, "open again")
        assert browser.sessions.selected == was
        await pilot.press("slash", *"nowhere", "enter", "enter")
        assert "no session is selected" in shown(pilot)
        await pilot.press("tab")
        assert browser.view.focus == "list"


@pytest.mark.parametrize(
    ("words", "title"),
    [("failed", "Bisect"), ("killed race", "Migrate"), ("truncated", "Backfill"),
     ("context window", "Bisect"), ("unfinished", "Migrate")],
)  # fmt: skip
async def test_the_filter_knows_how_a_session_stands(
    tmp_path: Path, words: str, title: str
) -> None:
    async with opened(night(tmp_path)) as (_, browser):
        browser.sessions.set_filter(text=words)
        assert browser.sessions.selected is not None
        assert browser.sessions.selected.title.startswith(title)
        assert browser.sessions.place.startswith("1 of 1")


async def test_the_keys_of_the_list_say_why_they_do_nothing(tmp_path: Path) -> None:
    async with opened(night(tmp_path), size=(80, 24)) as (pilot, _):
        await pilot.press("G", "e")
        await pilot.pause()
        assert "no trouble below" in shown(pilot)
        await pilot.press("z")
        assert "zoom: one pane at a time" in shown(pilot)
        await pilot.press("T")
        await pilot.pause()
        assert "theme: " in shown(pilot)


async def test_a_replay_tells_its_longest_silence(tmp_path: Path) -> None:
    async with opened(night(tmp_path), size=(80, 24)) as (pilot, _):
        await pilot.press("p")
        await until(pilot, lambda: isinstance(pilot.app.screen, Replay), "the replay")
        await pilot.press("i")
        assert "silences: 10 s at most" in shown(pilot)
        await pilot.press("i")
        assert "silences: all of them" in shown(pilot)


async def test_the_guess_of_a_prompt_is_replaced_by_what_is_typed(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, browser):
        await pilot.press("enter", "1", "o", "t")
        assert browser.prompt is not None
        browser.ask("tool", "only the tool", "bash")
        await pilot.press(*"ls", "left", "x", "enter")
        assert browser.timeline.timeline is not None
        assert browser.timeline.timeline.filter.tool == "lxs"


async def test_the_row_of_a_hit_in_a_result_names_the_hits_number(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, _):
        await pilot.press("s", *"exit status 1", "enter")
        sheet = pilot.app.screen
        assert isinstance(sheet, SearchSheet)
        await until(pilot, lambda: "answered by 3" in shown(pilot), "the row")
        assert "Message 2, answered by 3" in shown(pilot)


async def test_a_subagents_log_says_what_it_is_until_one_goes_back(tmp_path: Path) -> None:
    build.log(tmp_path / build.CLAUDE_FILE, [
        build.claude_user("Count the files."),
        build.claude_call("t1", name="Agent"),
        build.claude_result("t1", "two", structured={"agentId": "a1", "status": "completed"}),
    ])  # fmt: skip
    side = {"isSidechain": True, "agentId": "a1"}
    folder = tmp_path / build.CLAUDE_FILE.removesuffix(".jsonl") / "subagents"
    build.log(folder / "agent-a1.jsonl", [build.claude_user("Count them.", 3, **side)])
    async with opened(tmp_path, size=(80, 24)) as (pilot, browser):
        await pilot.press("enter", "home", "j", ")")
        await until(pilot, lambda: "Count them." in shown(pilot), "its log")
        await pilot.press("t", "t")
        assert "subagent of Count the files.  ( its call" in shown(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: "subagent of" not in shown(pilot), "the call")
        assert browser.timeline.row is not None
        assert browser.timeline.row.label == "task"
