"""esc goes one step back, to what led to a log or a screen, which is as it was left."""

from __future__ import annotations

from pathlib import Path

import build
import pytest
from screens import night, opened, shown, until
from textual.pilot import Pilot
from textual.screen import Screen

from tui.screens.browser import Browser
from tui.screens.compare import CompareSheet
from tui.screens.fork import ForkDialog
from tui.screens.handover import HandoverSheet
from tui.screens.replay import Replay
from tui.screens.search import SearchSheet
from tui.screens.stats import StatsSheet
from tui.screens.why import WhySheet

pytestmark = pytest.mark.anyio


async def at(pilot: Pilot[None], screen: type[Screen[object]]) -> None:
    await until(pilot, lambda: isinstance(pilot.app.screen, screen), screen.__name__)
    await pilot.pause()


async def asked_why(pilot: Pilot[None]) -> WhySheet:
    await pilot.press("w")
    await at(pilot, WhySheet)
    sheet = pilot.app.screen
    assert isinstance(sheet, WhySheet)
    await until(pilot, lambda: not sheet.refused("open"), "the answer")
    return sheet


async def test_from_what_why_led_to_esc_goes_back_to_why(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, browser):
        await asked_why(pilot)
        for key, screen in (("f", ForkDialog), ("r", HandoverSheet), ("p", Replay)):
            await pilot.press(key)
            await at(pilot, screen)
            await pilot.press("escape")
            await at(pilot, WhySheet)
        await pilot.press("escape")
        await at(pilot, Browser)
        assert browser.view.focus == "list"


async def test_a_statement_whose_row_was_looked_at_is_still_under_the_cursor(
    tmp_path: Path,
) -> None:
    async with opened(night(tmp_path)) as (pilot, browser):
        sheet = await asked_why(pilot)
        await pilot.press("j", "enter")
        await at(pilot, Browser)
        assert browser.view.focus == "timeline"
        statement = sheet.view.statement
        await pilot.press("escape")
        await at(pilot, WhySheet)
        assert pilot.app.screen is sheet
        assert sheet.view.statement == statement
        await pilot.press("escape")
        await at(pilot, Browser)
        assert browser.view.focus == "list"


async def test_a_replay_goes_on_where_why_was_asked(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, browser):
        await pilot.press("enter", "p")
        await at(pilot, Replay)
        replay = pilot.app.screen
        assert isinstance(replay, Replay)
        await pilot.press("end")
        beat = replay.transport.beat
        await asked_why(pilot)
        await pilot.press("escape")
        await at(pilot, Replay)
        assert pilot.app.screen is replay
        assert replay.transport.beat == beat
        await pilot.press("escape")
        await at(pilot, Browser)
        assert browser.view.focus == "timeline"


async def test_a_replay_is_left_for_the_pane_that_asked_for_it(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, browser):
        await until(pilot, lambda: browser.timeline.row, "open")
        row = browser.timeline.row
        await pilot.press("p")
        await at(pilot, Replay)
        await pilot.press("home", ".", "escape")
        await at(pilot, Browser)
        assert browser.view.focus == "list"
        assert browser.timeline.row == row
        await pilot.press("enter", "p")
        await at(pilot, Replay)
        await pilot.press("home", ".", "escape")
        await at(pilot, Browser)
        assert browser.view.focus == "timeline"
        assert browser.timeline.row != row


async def test_a_hit_is_left_for_the_search_and_that_for_the_log_before(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, browser):
        was = browser.entry
        await pilot.press("s", *"race")
        await at(pilot, SearchSheet)
        await pilot.press("enter")
        sheet = pilot.app.screen
        assert isinstance(sheet, SearchSheet)
        await until(pilot, lambda: not sheet.refused("open"), "a hit")
        await pilot.press("enter")
        await at(pilot, Browser)
        assert browser.entry is not None
        assert browser.entry.title == "Migrate billing to pgx v5"
        await pilot.press("escape")
        await at(pilot, SearchSheet)
        assert sheet.focused is sheet.hits
        await pilot.press("escape")
        await at(pilot, Browser)
        assert browser.entry == was
        assert browser.view.focus == "list"


async def test_the_calls_of_a_tool_are_left_for_the_numbers(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, _):
        await pilot.press("number_sign")
        await at(pilot, StatsSheet)
        sheet = pilot.app.screen
        assert isinstance(sheet, StatsSheet)
        await until(pilot, lambda: sheet.view.tool, "counted")
        await pilot.press("enter")
        await at(pilot, Browser)
        assert "only shell" in shown(pilot)
        await pilot.press("escape")
        await at(pilot, StatsSheet)
        await pilot.press("escape")
        await at(pilot, Browser)
        await pilot.press("enter")
        assert "only shell" not in shown(pilot)


async def test_another_log_opened_by_hand_ends_the_way_back(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, browser):
        sheet = await asked_why(pilot)
        await pilot.press("enter")
        await at(pilot, Browser)
        await pilot.press("h", "j", "enter")
        await until(pilot, lambda: not sheet.is_running, "it has ended")
        await pilot.press("escape")
        await pilot.pause()
        assert pilot.app.screen is browser
        assert browser.view.focus == "list"


async def test_damage_that_was_looked_at_leads_back_to_what_was_chosen(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    build.log(tmp_path / "logs" / "20261127-223000.jsonl", [
        build.meta("20261127-223000", "Migrate billing", workdir=str(work)),
        build.message("user", "Begin."), b'{"kind":"mess\n', build.message("bot", "Done."),
    ])  # fmt: skip
    async with opened(tmp_path / "logs") as (pilot, browser):
        await pilot.press("r")
        await at(pilot, HandoverSheet)
        sheet = pilot.app.screen
        assert isinstance(sheet, HandoverSheet)
        await until(pilot, lambda: not sheet.refused("go"), "planned")
        (tmp_path / "chosen").mkdir()
        await pilot.press("c", *str(tmp_path / "chosen"), "enter")
        await until(pilot, lambda: not sheet.refused("go"), "planned anew")
        await pilot.press("enter")
        await at(pilot, Browser)
        assert browser.timeline.row is not None
        assert browser.timeline.row.damage is not None
        await pilot.press("escape")
        await at(pilot, HandoverSheet)
        assert pilot.app.screen is sheet
        assert "chosen" in "".join(shown(pilot).split())


async def test_a_fork_says_of_what_and_leads_to_its_parent_and_back(tmp_path: Path) -> None:
    night(tmp_path)
    path = tmp_path / "20261127-235900.jsonl"
    origin = {"id": "20261127-223000", "at": 4}
    build.log(path, [
        build.meta("20261127-235900", "Another way", 7140, forkedFrom=origin),
        build.message("user", "Begin.", 7141),
    ])  # fmt: skip
    async with opened(tmp_path, size=(80, 24)) as (pilot, browser):
        browser.sessions.select(str(path))
        await until(pilot, lambda: browser.entry and browser.entry.path == str(path), "open")
        await pilot.press("enter")
        await pilot.press("t")  # it lasts
        assert "fork of Migrate billing to" in shown(pilot)
        assert "( its parent" in shown(pilot)
        await pilot.press("(")
        await until(pilot, lambda: "( its parent" not in shown(pilot), "at the parent")
        assert browser.timeline.row is not None
        assert browser.timeline.row.n == 4
        await pilot.press("escape")
        await until(pilot, lambda: "( its parent" in shown(pilot), "at the fork")


async def test_from_the_choice_of_a_run_esc_goes_back_to_what_is_compared(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, _):
        await pilot.press("c")
        await at(pilot, CompareSheet)
        sheet = pilot.app.screen
        assert isinstance(sheet, CompareSheet)
        await pilot.press("enter")
        await until(pilot, lambda: sheet.view.spot, "both are read")
        await pilot.press("j")
        place = sheet.view.spot
        await pilot.press("c", "escape")
        await pilot.pause()
        assert sheet.view.spot == place
        assert sheet.focused is sheet.view
