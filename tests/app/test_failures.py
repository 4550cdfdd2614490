"""Sessions that ended by themselves, though their work is not done: the list says so."""

from __future__ import annotations

from pathlib import Path

import build
import pytest
from screens import night, opened, shown, until
from stories import Claude

from sessionlog.listing import glance
from sessionlog.records import Entry
from tui.failures import MOST, Failures, failure
from tui.screens.browser import Browser
from tui.signs import state_of

pytestmark = pytest.mark.anyio

TOLD = "protoc is missing"


def lacking(path: Path, long: int = 0) -> Path:
    """A run that ended by itself, without the program that it needed."""
    story = Claude("Regenerate the stubs")
    for _ in range(long):
        story.call("cat notes.txt", "x" * 1000)
    story.call("protoc -I . a.proto", "sh: 1: protoc: not found", bad=True)
    return build.log(path, story.done("protoc is not here, so I could not go on.").lines)


def found(browser: Browser) -> list[str]:
    return [entry.failure for entry in browser.sessions.entries if entry.failure]


async def test_a_run_that_ended_by_itself_without_its_work_done_is_told_of_in_the_list(
    tmp_path: Path,
) -> None:
    lacking(night(tmp_path) / build.CLAUDE_FILE)
    async with opened(tmp_path) as (pilot, browser):
        await until(pilot, lambda: found(browser))
        assert "! Regenerate the stubs" in shown(pilot)
        assert TOLD in shown(pilot)
        assert "✓ Fix it" in shown(pilot)
        assert "! 1" in shown(pilot).splitlines()[0]
        await pilot.press("e", "e", "e")
        assert browser.sessions.selected
        assert browser.sessions.selected.failure.startswith(TOLD)
        await pilot.press("o", "f")
        assert [e.title for e in browser.sessions._rows.entries] == [
            "Bisect the slow start", "Regenerate the stubs"]  # fmt: skip
        await until(pilot, lambda: browser.entry and browser.entry.failure, "its head has it too")


async def test_a_run_that_was_cut_off_says_why_where_its_ending_does_not(tmp_path: Path) -> None:
    story = Claude("Copy it").call("cp a b", "cp: error: No space left on device", bad=True)
    build.log(tmp_path / build.CLAUDE_FILE, story.lines)
    async with opened(tmp_path) as (pilot, browser):
        await until(pilot, lambda: found(browser))
        assert "Disk full" in shown(pilot)
        assert state_of(browser.sessions.entries[0]) == "open"


async def test_the_page_why_shows_the_sign_of_the_row(tmp_path: Path) -> None:
    lacking(tmp_path / build.CLAUDE_FILE)
    async with opened(tmp_path) as (pilot, _):
        await pilot.press("w")
        await until(pilot, lambda: "! cause" in shown(pilot))
        assert "○ cause" not in shown(pilot)


async def test_a_log_is_asked_again_when_it_changed(tmp_path: Path) -> None:
    path = lacking(tmp_path / build.CLAUDE_FILE)
    async with opened(tmp_path) as (pilot, browser):
        await until(pilot, lambda: found(browser))
        build.log(path, Claude("Another").work().done("All done.").lines)
        await until(pilot, lambda: not found(browser))
        lacking(path)
        await until(pilot, lambda: found(browser))


async def test_nothing_is_asked_while_keys_are_pressed(tmp_path: Path) -> None:
    lacking(tmp_path / build.CLAUDE_FILE)
    async with opened(tmp_path) as (_, browser):
        failures = Failures(browser)
        failures._pressed = 0
        assert failures._quiet()
        failures.wait()
        assert not failures._quiet()


def test_the_end_of_a_long_log_is_enough(tmp_path: Path) -> None:
    path = lacking(tmp_path / build.CLAUDE_FILE, long=2 * MOST // 1000)
    rests: list[int] = []
    assert failure(glance(str(path)), lambda: rests.append(1)).startswith(TOLD)
    assert 2 < len(rests) < 30


def test_what_is_no_log_any_more_has_no_failure(tmp_path: Path) -> None:
    path = lacking(tmp_path / build.CLAUDE_FILE)
    entry: Entry = glance(str(path))
    path.unlink()
    assert failure(entry) == ""
    assert state_of(entry) == "ok"
