"""Times since the start count from the start of the log that they are of, wherever they stand."""

from __future__ import annotations

from pathlib import Path

import build
import pytest
from screens import night, opened, shown, until
from textual.pilot import Pilot

from tui.screens.browser import Browser
from tui.screens.compare import CompareSheet
from tui.screens.replay import Replay
from tui.screens.why import WhySheet

pytestmark = pytest.mark.anyio


def told(browser: Browser) -> tuple[str, str]:
    """The clock of the row under the cursor, and the first one in the head of the detail."""
    row = browser.timeline.row
    assert row is not None
    head = browser.detail.lines(100, 30)[1]
    times = "".join(text for text, _ in head.right).split()
    return browser.timeline.clock.full(row.at), next(t for t in times if t.count(":") == 2)


async def test_row_and_detail_tell_one_time_in_every_session(tmp_path: Path) -> None:
    async with opened(night(tmp_path), size=(140, 40)) as (pilot, browser):
        await pilot.press("t")
        for index in range(4):
            await pilot.press("g", "g", *("j" for _ in range(index)))
            entry = browser.sessions.selected
            await until(pilot, lambda e=entry: browser.entry == e, "open")  # type: ignore[misc]
            await pilot.press("enter", "g", "g", "j")
            await pilot.pause()
            row, detail = told(browser)
            assert row == detail
            assert row.startswith("00:")
            await pilot.press("escape")


async def lead_to(pilot: Pilot[None], key: str, screen: type) -> None:
    await pilot.press(key)
    await until(pilot, lambda: isinstance(pilot.app.screen, screen), screen.__name__)


async def test_a_session_that_is_only_selected_counts_from_its_own_start(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, browser):
        await until(pilot, lambda: browser.entry)
        await pilot.press("t")
        for entry, seconds in zip(browser.entries, (3600, 1800, 600, 0), strict=True):
            clock = browser.clock_of(entry)
            assert (clock.mode, clock.started) == ("start", build.at(seconds))
        await pilot.press("j")  # selected, and not open yet
        await lead_to(pilot, "p", Replay)
        replay = pilot.app.screen
        assert isinstance(replay, Replay)
        await pilot.press("end")
        assert replay.detail.clock.full(build.at(1812)) == "00:00:12"
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is browser)
        await lead_to(pilot, "w", WhySheet)


async def test_runs_beside_each_other_count_each_from_its_own_start(tmp_path: Path) -> None:
    for name, began in (("20261127-220000", 0), ("20261127-230000", 3600)):
        build.log(tmp_path / f"{name}.jsonl", [
            build.meta(name, "The same", began),
            *(build.message("user", f"{name} {n}", began + n) for n in range(1, 5)),
        ])  # fmt: skip
    async with opened(tmp_path, size=(200, 50)) as (pilot, _):
        await pilot.press("t")
        await lead_to(pilot, "c", CompareSheet)
        sheet = pilot.app.screen
        assert isinstance(sheet, CompareSheet)
        await pilot.press("enter")
        await until(pilot, lambda: sheet.view.spot, "both are read")
        await until(pilot, lambda: all(pane.row for pane in sheet.details), "at length, too")
        assert shown(pilot).count(" 1 00:00:01 »") == 2
        for pane in sheet.details:
            assert pane.row is not None
            assert pane.clock.full(pane.row.at) == "00:00:01"
