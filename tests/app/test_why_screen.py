"""The why key: the library's answer on a page, each statement a way to its row."""

from __future__ import annotations

import fcntl
from pathlib import Path

import build
import pytest
from screens import SIZES, night, opened, shown, until
from textual.pilot import Pilot

from tui.commands import COMMANDS, WHY
from tui.screens.why import WhySheet

pytestmark = pytest.mark.anyio


async def asked(pilot: Pilot[None]) -> WhySheet:
    """Press w and wait for the answer."""
    await pilot.press("w")
    await until(pilot, lambda: isinstance(pilot.app.screen, WhySheet), "the page")
    sheet = pilot.app.screen
    assert isinstance(sheet, WhySheet)
    await until(pilot, lambda: sheet.view.statement is not None, "the answer")
    return sheet


@pytest.mark.parametrize("size", SIZES)
async def test_it_says_what_the_command_says(tmp_path: Path, size: tuple[int, int]) -> None:
    async with opened(night(tmp_path), size=size) as (pilot, _):
        await pilot.press("j")
        await asked(pilot)
        assert "Stopped inside shell" in shown(pilot)
        assert "go test -race" in shown(pilot)
        assert "killed in tool" in shown(pilot)


async def test_a_failure_is_told_in_its_own_words(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, _):
        await asked(pilot)
        assert "context window exceeded" in shown(pilot)


async def test_enter_lands_on_the_row_of_the_statement(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, browser):
        await pilot.press("j")
        sheet = await asked(pilot)
        statement = sheet.view.statement
        assert statement
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app.screen is browser)
        assert browser.view.focus == "timeline"
        assert browser.timeline.row
        assert browser.timeline.row.place[0] == statement.offset


async def test_a_fork_begins_before_the_call_that_was_running(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, _):
        await pilot.press("j")
        await asked(pilot)
        assert "fork at 4, before shell" in shown(pilot)
        await pilot.press("f")
        await until(pilot, lambda: "Fork at 4" in shown(pilot), "the dialog")


async def test_what_cannot_be_done_says_why(tmp_path: Path) -> None:
    done = build.line({"type": "turn.completed", "usage": {}})
    build.log(tmp_path / "run.jsonl", [build.line({"type": "turn.started"}), done])
    async with opened(tmp_path) as (pilot, _):
        sheet = await asked(pilot)
        await pilot.press("f")
        assert "cannot be forked" in shown(pilot)
        assert pilot.app.screen is sheet


async def test_the_last_minutes_are_replayed(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, _):
        await asked(pilot)
        await pilot.press("p")
        await until(pilot, lambda: "REPLAY" in shown(pilot), "the replay")


async def test_leaving_while_it_reads_is_no_error(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, browser):
        await pilot.press("w", "escape")
        await until(pilot, lambda: pilot.app.screen is browser)
        assert browser.status.warnings == ()


async def test_every_key_can_be_pressed(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, browser):
        for command in COMMANDS:
            if WHY not in command.where or command.id in ("quit",):
                continue
            for key in command.keys:
                await asked(pilot)
                await pilot.press(*key.split())
                await pilot.pause()
                for _ in range(4):
                    if pilot.app.screen is not browser:
                        await pilot.press("escape")
                        await pilot.pause()
                assert pilot.app.screen is browser, key
                browser.focus_pane("list")


async def test_a_run_that_goes_on_is_looked_at_again(tmp_path: Path) -> None:
    path = night(tmp_path) / "20261127-223000.jsonl"
    with path.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        async with opened(path) as (pilot, _):
            await asked(pilot)
            assert "Running shell" in shown(pilot)
            file.write(
                build.response("c2") + build.result(message="the race is gone", seconds=1900)
            )
            file.flush()
            await until(pilot, lambda: "the race is gone" in shown(pilot), "the ending")
            assert "Done" in shown(pilot)
