"""A session of one agent is handed to another, on the screen."""

from __future__ import annotations

import re
from pathlib import Path

import build
import keys
import pytest
from screens import SIZES, opened, shown, until
from sheets import planned, programs, sheet

from sessionlog.reader import load
from tui.commands import HANDOVER
from tui.widgets.key_line import KeyLine

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("size", SIZES)
async def test_another_agents_session_goes_over_as_plain_messages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    programs(tmp_path, monkeypatch)("pi")
    path = build.log(tmp_path / "logs" / "talk.jsonl", [
        build.codex_meta(cwd=str(tmp_path)), build.codex_said("user", "Begin."),
        build.codex_said("developer", "Be brief."), build.codex_call("c1"),
    ])  # fmt: skip
    async with opened(path.parent, size=size) as (pilot, browser):
        await sheet(pilot)
        await pilot.press("a", "g")
        await until(pilot, lambda: re.search(r"▌✓ pi +as plain messages", shown(pilot)))
        assert re.search(r"✗ codex +its own log", shown(pilot))
        await pilot.press("enter")
        await planned(pilot)
        await until(pilot, lambda: "as plain messages" in shown(pilot))
        page = shown(pilot)
        assert "1 said, 1 call told in words" in page
        assert re.search(r"» user +Begin\.", page)
        assert re.search(r"agent +\[called exec_command: ", page)
        assert re.search(r"» user +\[result of exec_command\] Interrupted by the user\.", page)
        assert re.search(r"the system prompt not carried|not carried: the system prompt", page)
        await pilot.press("d")
        await until(pilot, lambda: "every line is new, in a pi log" in shown(pilot))
        await pilot.press("W")
        await until(pilot, lambda: pilot.app.screen is browser)
    [new] = (tmp_path / "home").rglob("*.jsonl")
    assert load(new).messages[-1].text == "[result of exec_command] Interrupted by the user."
    assert list(path.parent.iterdir()) == [path]


async def test_plain_messages_are_masked_until_they_are_asked_for_bare_and_scroll(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    programs(tmp_path, monkeypatch)("pi")
    head, rest = keys.KEYS[0]
    long = "\n".join(f"line {n}" for n in range(1, 41))
    path = build.log(tmp_path / "logs" / "talk.jsonl", [
        build.codex_meta(cwd=str(tmp_path)), build.codex_said("user", "Begin."),
        build.codex_said("assistant", f"With {head}{rest}\n{long}"),
    ])  # fmt: skip
    async with opened(path.parent, size=(200, 50)) as (pilot, _):
        await sheet(pilot)
        await pilot.press("a", "g", "enter")
        await until(pilot, lambda: "as plain messages" in shown(pilot))
        await planned(pilot)
        page = shown(pilot)
        assert "line 12 " in page
        assert "+ 22 lines" in page
        assert "line 35 " in page
        assert "line 13 " not in page
        assert rest[:20] not in page
        await pilot.press("b")
        await until(pilot, lambda: rest[:20] in shown(pilot))


@pytest.mark.parametrize("size", [(80, 24), (80, 16), (120, 36)])
async def test_what_runs_first_is_seen_before_enter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_STATE_HOME", "/s")
    programs(tmp_path, monkeypatch)("opencode")
    path = build.log(tmp_path / "logs" / "talk.jsonl", [
        build.codex_meta(cwd=str(tmp_path)), build.codex_said("user", "Begin."),
        build.codex_call("c1"),
    ])  # fmt: skip
    async with opened(path.parent, size=size) as (pilot, _):
        await sheet(pilot)
        await pilot.press("a", "g")
        await until(pilot, lambda: "▌✓ opencode" in shown(pilot))
        await pilot.press("enter")
        await until(pilot, lambda: "as plain messages" in shown(pilot))
        await planned(pilot)
        page = shown(pilot)
        assert re.search(r"first +opencode import", page)
        assert re.search(r"\w\.json", page.partition("first ")[2].partition("argv ")[0])
        assert re.search(r"argv +(0 )?opencode", page)
        assert re.search(r"cwd .*\S", page)
        assert re.search(r" log +\S", page)
        assert "W log only" in page


async def test_where_the_import_brought_nothing_that_is_said_and_no_row_is_made_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    programs(tmp_path, monkeypatch)("opencode")  # it does nothing, and ends well
    path = build.log(tmp_path / "logs" / "talk.jsonl", [
        build.codex_meta(cwd=str(tmp_path)), build.codex_said("user", "Begin."),
    ])  # fmt: skip
    async with opened(path.parent, size=(200, 50)) as (pilot, browser):
        await sheet(pilot)
        await pilot.press("a", "g", "enter")
        await until(pilot, lambda: "as plain messages" in shown(pilot))
        await planned(pilot)
        await pilot.press("o")
        await planned(pilot)
        await until(pilot, lambda: "headless" in shown(pilot))
        await pilot.press("enter")
        said = "opencode: ended well, but brought nothing, so opencode was not started"
        await until(pilot, lambda: said in shown(pilot))
        assert "holds no session" not in shown(pilot)
        assert {Path(entry.path).suffix for entry in browser.entries} == {".jsonl", ".json"}
        assert len(browser.entries) == 2


def test_the_keys_of_the_sheet_fit_a_narrow_terminal() -> None:
    keys_shown = KeyLine(lambda id: "", id="keys")
    keys_shown.tell(HANDOVER)
    for out, first in (("accept", "enter go"), ("go", "! accept damage")):
        keys_shown._out = frozenset({out})
        [line] = keys_shown.lines(80, 1)
        text = "".join(piece for piece, _ in line.left)
        assert text.startswith(f" {first}  ")
        assert "W log only  d diff" in text
