"""Keys that come together: those behind the one that opens a prompt are the prompt's."""

from __future__ import annotations

from pathlib import Path

import pytest
from screens import night, opened, shown, until
from terminals import shown as at_terminal
from textual import events
from textual.pilot import Pilot

from tui.screens.compare import CompareSheet
from tui.screens.search import SearchSheet

pytestmark = pytest.mark.anyio

NAMES = {":": "colon", "/": "slash"}


def burst(pilot: Pilot[None], *typed: str | events.Event) -> None:
    """All of it at once, before anything is done about it."""
    for each in typed:
        event = each
        if isinstance(each, str):
            event = events.Key(NAMES.get(each, each), each if len(each) == 1 else None)
        assert isinstance(event, events.Event)
        pilot.app.post_message(event)


async def test_a_text_to_filter_by_may_come_with_its_key(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, browser):
        burst(pilot, *"/pgx", "enter")
        await until(pilot, lambda: browser.sessions.filter.text == "pgx")
        assert not browser.view.asks
        burst(pilot, "/", *"zz", "escape", *"/Back", "backspace", "enter", "enter")
        await until(pilot, lambda: browser.sessions.filter.text == "Bac")
        await until(pilot, lambda: not browser.view.asks)


async def test_what_comes_behind_enter_is_a_command_again(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, browser):
        await pilot.press("enter")
        await until(pilot, lambda: browser.view.focus == "timeline" and browser.timeline.row)
        burst(pilot, *":1", "enter", "j")
        await until(pilot, lambda: browser.timeline.row and browser.timeline.row.n == 2)
        assert browser.focused is browser.timeline


async def test_a_paste_behind_the_key_is_the_prompts(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, browser):
        await pilot.press("enter")
        await until(pilot, lambda: browser.view.focus == "timeline" and browser.timeline.row)
        burst(pilot, ":", events.Paste("1\nq"), "enter")
        await until(pilot, lambda: browser.timeline.row and browser.timeline.row.n == 1)


async def test_keys_are_the_prompts_wherever_the_focus_is(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, browser):
        await pilot.press("slash")
        await pilot.click("#timeline")
        await pilot.press(*"pgx", "enter")
        await until(pilot, lambda: browser.sessions.filter.text == "pgx")


async def test_a_query_may_come_with_the_key_that_opens_the_search(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, _):
        burst(pilot, *"sgo", events.Paste(" test"))
        await until(pilot, lambda: isinstance(pilot.app.screen, SearchSheet))
        await until(pilot, lambda: "1 hit" in shown(pilot))
        sheet = pilot.app.screen
        assert isinstance(sheet, SearchSheet)
        assert sheet.query_line.text == "go test"
        await pilot.press("enter")
        await until(pilot, lambda: sheet.focused is sheet.hits)
        burst(pilot, *"/vet")
        await until(pilot, lambda: sheet.query_line.text == "vet")


async def test_a_name_to_compare_with_may_come_with_its_key(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, _):
        await pilot.press("c")
        await until(pilot, lambda: isinstance(pilot.app.screen, CompareSheet))
        burst(pilot, *"/Backfill")
        await until(pilot, lambda: "Migrate billing" not in shown(pilot))
        assert "Backfill invoices" in shown(pilot)


def test_at_a_terminal_all_keys_in_one_write_arrive(tmp_path: Path) -> None:
    terminal = at_terminal(str(night(tmp_path)))
    try:
        terminal.send(b"/\x1b[200~Backfill\x1b[201~\r")
        terminal.wait(lambda: b"1 of 4" in terminal.output, "the list is filtered")
        terminal.send(b"q")
        assert terminal.ended() == 0
    finally:
        terminal.close()
