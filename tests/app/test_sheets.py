"""What the browser does with the answers of the full screens."""

from __future__ import annotations

from pathlib import Path

import pytest
from screens import night, opened, shown, until

from tui.screens.replay import Replay
from tui.screens.stats import StatsSheet

pytestmark = pytest.mark.anyio


async def test_a_tool_of_the_numbers_is_shown_alone_on_the_timeline(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, browser):
        await pilot.press("j", "number_sign")
        await until(pilot, lambda: isinstance(pilot.app.screen, StatsSheet))
        await until(pilot, lambda: "shell" in shown(pilot), "the numbers")
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app.screen is browser)
        assert browser.view.focus == "timeline"
        assert browser.timeline.timeline
        assert browser.timeline.timeline.filter.words == "only shell"


async def test_a_replay_that_is_left_leads_to_its_moment(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, browser):
        await pilot.press("j", "enter", "p")
        await until(pilot, lambda: isinstance(pilot.app.screen, Replay))
        await pilot.press("space", "g", "g", ".", ".")
        replay = pilot.app.screen
        assert isinstance(replay, Replay)
        row = replay.rows.row
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is browser)
        assert row
        assert browser.timeline.row
        assert browser.timeline.row.place == row.place


async def test_a_replay_that_is_left_does_not_play_on(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, browser):
        await pilot.press("j", "enter", "p")
        await until(pilot, lambda: isinstance(pilot.app.screen, Replay))
        replay = pilot.app.screen
        assert isinstance(replay, Replay)
        await pilot.press("g", "g", "space", "escape")
        await until(pilot, lambda: pilot.app.screen is browser)
        await until(pilot, lambda: not replay.is_running)
        assert not replay.transport.playing


async def test_a_replay_of_an_empty_log_says_so(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_bytes(b"")
    async with opened(tmp_path) as (pilot, browser):
        await pilot.press("p")
        assert "replay:" in shown(pilot)
        assert pilot.app.screen is browser


async def test_the_third_view_says_what_the_agent_knew(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, _):
        await pilot.press("j", "enter", "3")
        await until(pilot, lambda: "what the agent knew here" in shown(pilot))
        assert "4 messages, 1 to 4" in shown(pilot)
        await pilot.press("1")
        await until(pilot, lambda: "what the agent knew here" not in shown(pilot))


async def test_why_can_be_asked_from_a_replay(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, _):
        await pilot.press("enter", "p")
        await until(pilot, lambda: "REPLAY" in shown(pilot))
        await pilot.press("w")
        await until(pilot, lambda: "Why did it stop" in shown(pilot))


async def test_sheets_bear_a_change_of_size(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, browser):
        for key, words in (("w", "Why did it stop"), ("number_sign", "Numbers"), ("s", "Search")):
            await pilot.press(key)
            await until(pilot, lambda words=words: words in shown(pilot), words)  # type: ignore[misc]
            for size in ((80, 24), (59, 14), (200, 50), (60, 15), (120, 36)):
                await pilot.resize_terminal(*size)
                await pilot.pause()
            assert words in shown(pilot)
            for _ in range(3):
                if pilot.app.screen is not browser:
                    await pilot.press("escape")
                    await pilot.pause()


@pytest.mark.parametrize("key", ["question_mark", "f", "r", "ctrl+p"])
async def test_a_box_bears_that_the_terminal_grows_and_shrinks(tmp_path: Path, key: str) -> None:
    async with opened(night(tmp_path), size=(80, 24)) as (pilot, browser):
        await pilot.press("j", key)
        await pilot.pause()
        for size in ((300, 80), (60, 15), (200, 50)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert shown(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is browser)
        assert pilot.app._exception is None


async def test_a_key_of_another_pane_says_whose_it_is(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, _):
        await pilot.press("u")
        assert "u is a key of the timeline and the detail" in shown(pilot)
        await pilot.press("j")
        assert "is a key of" not in shown(pilot)
