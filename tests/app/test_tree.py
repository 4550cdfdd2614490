"""The list by family: forks and resumed logs below their parents, and the walk through them."""

from __future__ import annotations

from pathlib import Path

import build
import pytest
from screens import opened, shown

from sessionlog.forks import fork
from tui.screens.browser import Browser

pytestmark = pytest.mark.anyio


def family(folder: Path) -> Path:
    """The oldest with two forks, one of them resumed; one in between; one of a parent elsewhere."""
    root = build.log(folder / "20261127-210000.jsonl", build.healthy("20261127-210000"))
    build.log(folder / "20261127-220000.jsonl", [
        build.meta("20261127-220000", "Between", 0), build.message("user", "Hi."),
        build.request("c1"),
    ])  # fmt: skip
    fork(root, 2, folder / "20261127-230000.jsonl")
    fork(root, 3, folder / "20261127-233000.jsonl")
    build.log(folder / "20261127-234000.jsonl", [
        build.meta("20261127-234000", "Went on", 6000, resumedFrom="20261127-230000"),
        build.message("user", "On.", 6001), build.result(seconds=6002),
    ])  # fmt: skip
    build.log(folder / "20261127-235000.jsonl", [
        build.meta("20261127-235000", "Orphan", 6600,
                   forkedFrom={"id": "20261101-000000", "at": 61}),
        build.message("user", "On.", 6601), build.result(seconds=6602),
    ])  # fmt: skip
    return folder


def order(browser: Browser) -> list[str]:
    """The sessions as they stand in the list, by the hour and minute of their names."""
    return [Path(e.path).stem[9:13] for e in browser.sessions._rows.entries]


def at(browser: Browser) -> str:
    entry = browser.sessions.selected
    assert entry is not None
    return Path(entry.path).stem[9:13]


async def test_v_puts_children_below_their_parents_and_back(tmp_path: Path) -> None:
    async with opened(family(tmp_path)) as (pilot, browser):
        newest_first = order(browser)
        cursor = at(browser)
        await pilot.press("v")
        await pilot.pause()
        assert at(browser) == cursor
        found = order(browser)
        assert sorted(found) == sorted(newest_first)
        start = found.index("2100")
        assert found[start : start + 4] == ["2100", "2300", "2340", "2330"]
        text = shown(pilot)
        assert "by family" in text
        assert "├ " in text
        assert "└ " in text
        await pilot.press("v", "v")
        await pilot.pause()
        assert order(browser) == newest_first


@pytest.mark.parametrize("tree", [False, True])
async def test_the_family_is_walked_in_either_order(tmp_path: Path, tree: bool) -> None:
    async with opened(family(tmp_path)) as (pilot, browser):
        if tree:
            await pilot.press("v")
        browser.sessions.select(str(tmp_path / "20261127-210000.jsonl"))
        walked = []
        for _ in range(3):
            await pilot.press(")")
            walked.append(at(browser))
        assert walked == ["2300", "2340", "2330"]
        await pilot.press("(")
        assert at(browser) == "2100"


async def test_a_session_without_kin_says_so(tmp_path: Path) -> None:
    async with opened(family(tmp_path)) as (pilot, browser):
        browser.sessions.select(str(tmp_path / "20261127-235000.jsonl"))
        await pilot.press("(")
        await pilot.pause()
        assert "fork of 20261101-000000 at 61, not here" in shown(pilot)
        browser.sessions.select(str(tmp_path / "20261127-220000.jsonl"))
        await pilot.press("(")
        await pilot.pause()
        assert "it was not made from another session" in shown(pilot)
        await pilot.press(")")
        await pilot.pause()
        assert "nothing more was made from it" in shown(pilot)


async def test_the_status_line_names_the_family(tmp_path: Path) -> None:
    async with opened(family(tmp_path)) as (pilot, browser):
        browser.sessions.select(str(tmp_path / "20261127-210000.jsonl"))
        await pilot.pause()
        browser.tell()
        assert "2 forks" in browser.sessions.place
        browser.sessions.select(str(tmp_path / "20261127-230000.jsonl"))
        assert "fork of Fix it at 2 · 1 resumed" in browser.sessions.place


async def test_a_parent_behind_the_filter_is_not_gone_to(tmp_path: Path) -> None:
    async with opened(family(tmp_path)) as (pilot, browser):
        browser.sessions.select(str(tmp_path / "20261127-234000.jsonl"))
        browser.sessions.set_filter(text="went")
        await pilot.pause()
        await pilot.press("(")
        await pilot.pause()
        assert "the filter hides that session" in shown(pilot)
        assert at(browser) == "2340"


async def test_a_filtered_tree_shows_what_is_left(tmp_path: Path) -> None:
    async with opened(family(tmp_path)) as (pilot, browser):
        await pilot.press("v")
        browser.sessions.set_filter(text="went")
        await pilot.pause()
        assert order(browser) == ["2340"]
