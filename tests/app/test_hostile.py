"""Log text is hostile: whatever it holds, the screen shows marks and nothing obeys it."""

from __future__ import annotations

import re
import time
import unicodedata
from pathlib import Path

import build
import pytest
from screens import SIZES, opened, shown, until

from tui.commands import COMMANDS

pytestmark = pytest.mark.anyio

EVIL = (
    "\x1b]0;owned\x07 \x1b[6n \x9b31m \x7f \x00 \u202egnp.exe \u200b [/oops] [@click=app.quit]x[/] "
    "[red]r[/red] \\[b] \ud800 e\u0301" + "\u0301" * 50 + " \U000e0041 \r over"
)


def evil_log(path: Path) -> Path:
    return build.log(path, [
        build.meta("20261127-230000", EVIL, workdir=EVIL, model=EVIL),
        build.message("user", EVIL + "\n" + EVIL), build.message("reasoning", EVIL),
        build.message("bot", f"# {EVIL}\n```\n{EVIL}\n```\n| {EVIL} |"),
        build.request("c1", EVIL, '{"command":"' + "\\u001b[31m" * 20 + '"}'),
        build.response("c1", EVIL, "{}", EVIL), build.event(EVIL, text=EVIL, tool=EVIL),
        build.message(EVIL, EVIL), build.request("c2", EVIL, EVIL),
        build.response("c2", EVIL, EVIL, failure=EVIL), b'{"kind":"\x1b[31m\n',
        build.request("c3", EVIL, EVIL),
    ])  # fmt: skip


def assert_clean(text: str) -> None:
    for char in text.replace("\n", ""):
        assert unicodedata.category(char) not in ("Cc", "Cs", "Zl", "Zp"), repr(char)
        assert char not in "\u202e\u200b\U000e0041"


@pytest.mark.parametrize("size", SIZES)
async def test_nothing_a_log_says_reaches_the_terminal_as_it_is(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    evil_log(tmp_path / "20261127-230000.jsonl")
    (tmp_path / "a\x1b[31m.jsonl").write_text("not a log \x1b[31m")
    async with opened(tmp_path, size=size) as (pilot, browser):
        browser.status.warn(EVIL)
        browser.status.answer(EVIL)
        for keys in (
            "", "enter", "home", "j", "enter", "x", "x", "escape", *"jjjjjjjj", "o q", "k", "enter",
            "x", "escape", "escape", "f", "escape", "r", "escape", "j", "question_mark", "escape",
            "y i", "y p", "slash", "ctrl+p", "escape",
        ):  # fmt: skip
            await pilot.press(*keys.split())
            await pilot.pause()
            assert_clean(shown(pilot))
            assert_clean(pilot.app.clipboard)
        assert pilot.app.is_running
        assert pilot.app.title == "sessionlog"


async def test_typed_text_is_shown_as_text(tmp_path: Path) -> None:
    evil_log(tmp_path / "a.jsonl")
    async with opened(tmp_path) as (pilot, browser):
        browser.ask("filter", "filter", EVIL)
        await pilot.pause()
        assert_clean(shown(pilot))
        await pilot.press("enter")
        await pilot.pause()
        assert_clean(shown(pilot))


async def test_a_dialog_on_a_hostile_log_shows_marks(tmp_path: Path) -> None:
    path = evil_log(tmp_path / "20261127-230000.jsonl")
    async with opened(path) as (pilot, _):
        await pilot.press("f")
        await until(pilot, lambda: "untouched" in shown(pilot))
        assert_clean(shown(pilot))
        await pilot.press("k", "k", "escape")
        await pilot.pause()


@pytest.mark.parametrize("size", SIZES)
async def test_handing_over_a_hostile_log_shows_marks(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    path = evil_log(tmp_path / "20261127-230000.jsonl")
    async with opened(path, size=size) as (pilot, _):
        await pilot.press("r")
        await until(pilot, lambda: "enter waits: damage" in shown(pilot))
        for keys in ("home", "end", "exclamation_mark", "b", "y", "m", "escape", "a", "escape", "d",
                     "G", "escape", "c", "x", "enter"):  # fmt: skip
            await pilot.press(keys)
            await pilot.pause()
            assert_clean(shown(pilot))
            assert_clean(pilot.app.clipboard)
        assert pilot.app._exception is None


async def test_every_command_says_clean_words(tmp_path: Path) -> None:
    assert all(command.help.isprintable() for command in COMMANDS)


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York", "UTC"])
@pytest.mark.parametrize("year", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"])
async def test_times_at_the_ends_of_the_calendar_show_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, zone: str, year: str
) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        lines = [build.meta("far", "Far away", 0), build.message("bot", "hello", 5)]
        far = [re.sub(rb'"at": ?"[^"]*"', b'"at":"' + year.encode() + b'"', x) for x in lines]
        build.log(tmp_path / "all.jsonl", far)
        build.log(tmp_path / "last.jsonl", [*lines, far[1]])
        async with opened(tmp_path) as (pilot, browser):
            for _ in range(2):
                for keys in (("enter", "t", "t", "t", "escape"), ("w", "escape"), ("p", "G"),
                             ("escape",), ("number_sign", "escape"), ("f", "escape")):  # fmt: skip
                    await pilot.press(*keys)
                    await pilot.pause()
                browser.focus_pane("list")
                await pilot.press("j")
            assert pilot.app.is_running
            assert pilot.app._exception is None
    finally:
        monkeypatch.undo()
        time.tzset()
