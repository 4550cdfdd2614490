"""A session of one agent is handed to another, on the screen."""

from __future__ import annotations

import re
from pathlib import Path

import build
import pytest
from screens import SIZES, opened, shown, until
from sheets import planned, programs, sheet

from sessionlog.reader import load

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
        assert re.search(r"the system prompt not carried|not carried: the system prompt", page)
        await pilot.press("d")
        await until(pilot, lambda: "every line is new, in a pi log" in shown(pilot))
        await pilot.press("W")
        await until(pilot, lambda: pilot.app.screen is browser)
    [new] = (tmp_path / "home").rglob("*.jsonl")
    assert load(new).messages[-1].text == "[result of exec_command] Interrupted by the user."
    assert list(path.parent.iterdir()) == [path]
