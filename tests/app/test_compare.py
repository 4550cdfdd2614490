"""Two runs beside each other on the screen."""

from __future__ import annotations

from pathlib import Path

import build
import pytest
from screens import SIZES, opened, shown, until
from textual.pilot import Pilot

from sessionlog.compare import compare
from sessionlog.facing import facing
from sessionlog.forks import fork
from sessionlog.listing import glance
from sessionlog.sides import SideLog
from tui.beside import Beside
from tui.screens.browser import Browser
from tui.screens.compare import CompareSheet
from tui.widgets.choice_list import likeliest

pytestmark = pytest.mark.anyio
HOSTILE = "\x1b]0;owned\x07 \x9b31m \u202e [/bold] [@click=app.quit]x[/]"


def call(id: str, command: str, result: str = "ok", seconds: float = 2) -> list[bytes]:
    said = f'{{"command":"{command}"}}'
    return [build.request(id, arguments=said, seconds=seconds),
            build.response(id, arguments=said, result=result, seconds=seconds + 1)]  # fmt: skip


def family(folder: Path) -> Path:
    """A run, a fork of it at 6 that went another way, and another run."""
    start = [build.message("user", "Begin."), *call("c1", "ls"), build.message("bot", "Seen."),
             *call("c2", "go vet")]  # fmt: skip
    parent = build.log(folder / "20261127-220000.jsonl", [
        build.meta("20261127-220000", "Migrate billing"), *start,
        *call("c3", "go test", "[exit: exit status 1]"), build.message("bot", "It fails."),
    ])  # fmt: skip
    child = fork(parent, 6, folder / "20261127-230000.jsonl")
    with child.open("ab") as file:
        file.write(build.message("user", f"Other way. {HOSTILE}", 3600))
        file.writelines([*call("c9", "go test -race", seconds=3601), build.result()])
    build.log(folder / "20261127-210000.jsonl", [
        build.meta("20261127-210000", "Another", -3600), build.message("user", "Else.", -3599),
    ])  # fmt: skip
    return folder


def sheet(pilot: Pilot[None]) -> CompareSheet:
    found = pilot.app.screen
    assert isinstance(found, CompareSheet)
    return found


async def at_fork(pilot: Pilot[None], browser: Browser, folder: Path) -> CompareSheet:
    """The fork beside its parent, both read."""
    browser.sessions.select(str(folder / "20261127-230000.jsonl"))
    await pilot.pause()
    await pilot.press("c")
    await until(pilot, lambda: sheet(pilot).view.spot, "both logs are read")
    await pilot.pause()
    return sheet(pilot)


async def test_a_fork_opens_beside_its_parent_where_they_part(tmp_path: Path) -> None:
    family(tmp_path)
    async with opened(tmp_path) as (pilot, browser):
        page = await at_fork(pilot, browser, tmp_path)
        text = shown(pilot)
        assert "6 messages in common, 1 to 6; first difference at 7" in text
        assert "+ 6 messages in common · 1 to 6" in text
        rows = [line for line in text.splitlines() if ":" in line[:20] + line[60:80]]
        sides = [line.partition("│")[::2] for line in rows]
        assert any("Other way." in right and not left.strip(" ▌") for left, right in sides)
        assert any("exit 1" in left and "go test -race" in right for left, right in sides)
        assert page.view.spot is not None
        assert page.view.spot.numbers == (0, 7)
        assert "difference 1 of 1" in text


async def test_narrow_screens_have_one_column_with_marks(tmp_path: Path) -> None:
    family(tmp_path)
    async with opened(tmp_path, size=(80, 24)) as (pilot, browser):
        page = await at_fork(pilot, browser, tmp_path)
        lines = shown(pilot).splitlines()
        rows = [line[1:7] for line in lines if "go test" in line and ":" in line[:20]]
        assert [row.split() for row in rows] == [["◂", "7"], ["▸", "8"]]
        assert (page.view.number, page.view.shown_side) == (7, 1)
        await pilot.press("j", "tab")
        assert (page.view.number, page.view.shown_side) == (8, 1)
        await pilot.press("k", "k")
        assert (page.view.number, page.view.shown_side) == (7, 1)
        await pilot.resize_terminal(140, 40)
        await pilot.pause()
        assert (page.view.number, page.view.shown_side) == (7, 1)


@pytest.mark.parametrize("size", [*SIZES, (60, 15)])
async def test_hostile_text_stays_text(tmp_path: Path, size: tuple[int, int]) -> None:
    family(tmp_path)
    async with opened(tmp_path, size=size) as (pilot, browser):
        await at_fork(pilot, browser, tmp_path)
        text = shown(pilot)
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(text)
        assert all(len(strip.text) for strip in pilot.app.screen._compositor.render_strips())


async def test_enter_goes_to_the_row_in_its_log(tmp_path: Path) -> None:
    family(tmp_path)
    async with opened(tmp_path) as (pilot, browser):
        await at_fork(pilot, browser, tmp_path)
        await pilot.press("j", "tab", "enter")  # the call: 7 on the left, 8 on the right
        await until(pilot, lambda: pilot.app.screen is browser, "back in the browser")
        await until(pilot, lambda: browser.timeline.row and browser.timeline.row.n == 8, "row 8")
        assert browser.entry is not None
        assert browser.entry.path.endswith("20261127-230000.jsonl")
        assert browser.timeline.row is not None
        assert "go test -race" in browser.timeline.row.body


async def test_what_both_share_opens_and_folds(tmp_path: Path) -> None:
    family(tmp_path)
    async with opened(tmp_path) as (pilot, browser):
        page = await at_fork(pilot, browser, tmp_path)
        await pilot.press("g", "g", "space")
        await pilot.pause()
        row = next(line for line in shown(pilot).splitlines() if "go vet" in line)
        assert row.count("go vet") == 2
        await pilot.press("e")
        assert page.view.number == 7
        await pilot.press("g", "g", "space")
        await pilot.pause()
        assert "go vet" not in shown(pilot)


async def test_without_a_parent_one_chooses(tmp_path: Path) -> None:
    family(tmp_path)
    async with opened(tmp_path) as (pilot, browser):
        browser.sessions.select(str(tmp_path / "20261127-210000.jsonl"))
        await pilot.pause()
        await pilot.press("c")
        await pilot.pause()
        assert "Compare Another with" in shown(pilot)
        await pilot.press("slash", *"Migrate", "enter", "j", "enter")
        await until(pilot, lambda: sheet(pilot).view.spot, "both logs are read")
        assert "0 messages in common; first difference at 1" in shown(pilot)
        await pilot.press("c")
        await pilot.pause()
        assert "Compare Another with" in shown(pilot)
        await pilot.press("escape")  # back to what is compared, and out
        await pilot.pause()
        assert "0 messages in common; first difference at 1" in shown(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is browser, "left")


async def test_the_screen_can_be_left_while_logs_are_read(tmp_path: Path) -> None:
    family(tmp_path)
    texts = [build.message("bot", "x" * 2000, 5) for _ in range(20_000)]
    with (tmp_path / "20261127-230000.jsonl").open("ab") as file:
        file.writelines(texts)
    async with opened(tmp_path) as (pilot, browser):
        browser.sessions.select(str(tmp_path / "20261127-230000.jsonl"))
        await pilot.pause()
        await pilot.press("c", "escape")
        await until(pilot, lambda: pilot.app.screen is browser, "left")
        workers = pilot.app.workers
        await until(pilot, lambda: all(w.group != "work" for w in workers), "the reading ended")


async def test_a_log_that_is_gone_says_so(tmp_path: Path) -> None:
    family(tmp_path)
    async with opened(tmp_path) as (pilot, browser):
        browser.sessions.select(str(tmp_path / "20261127-230000.jsonl"))
        await pilot.pause()
        (tmp_path / "20261127-220000.jsonl").unlink()
        await pilot.press("c")
        await until(pilot, lambda: "220000.jsonl" in shown(pilot).splitlines()[-2], "a warning")


def test_the_likeliest_runs_come_first(tmp_path: Path) -> None:
    family(tmp_path)
    entries = [glance(str(path)) for path in sorted(tmp_path.glob("*.jsonl"))]
    other, parent, child = entries
    assert likeliest(parent, entries) == [child, other]


def test_every_line_is_found_again_by_its_numbers(tmp_path: Path) -> None:
    for seed in range(12):
        logs = []
        for name in "ab":
            path = build.log(tmp_path / f"{name}.jsonl", build.scrambled(seed + (name == "b") * 3))
            logs.append(SideLog(str(path)))
            logs[-1].read()
        left, right = (log.side for log in logs)
        for wide in (True, False):
            beside = Beside(list(facing(compare(left, right), left, right)), wide=wide)
            for y in range(beside.height):
                spot = beside.at(y)
                for numbers in ((spot.left, 0), (0, spot.right)):
                    if any(numbers):
                        assert beside.find(*numbers) == y
        for log in logs:
            log.close()


async def test_keys_that_can_do_nothing_say_so(tmp_path: Path) -> None:
    family(tmp_path)
    async with opened(tmp_path) as (pilot, browser):
        browser.sessions.select(str(tmp_path / "20261127-230000.jsonl"))
        await pilot.press("c")
        await until(pilot, lambda: sheet(pilot).view.spot, "both logs are read")
        for keys, words in (
            (("G", "e"), "no difference below"),
            (("space",), "no fold here"),
            (("tab",), "nothing on the right here"),
        ):
            await pilot.press(*keys)
            await pilot.pause()
            assert words in shown(pilot)
