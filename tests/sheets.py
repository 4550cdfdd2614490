"""What tests of the hand-over sheet share: the programs that are there, and waiting for a plan."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from screens import shown, until
from textual.pilot import Pilot

from tui.screens.handover import HandoverSheet


def programs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Only the programs that a test makes are on PATH; nobody's own agents are known."""
    place = folder / "bin"
    place.mkdir()
    monkeypatch.setenv("PATH", str(place))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "config"))

    def make(name: str) -> None:
        (place / name).write_text("#!/bin/sh\n")
        (place / name).chmod(0o755)

    return make


async def sheet(pilot: Pilot[None]) -> HandoverSheet:
    """The screen with its first plan."""
    await pilot.press("r")
    await until(pilot, lambda: isinstance(pilot.app.screen, HandoverSheet))
    await until(pilot, lambda: "enter waits: " in shown(pilot) or "enter hands" in shown(pilot))
    found = pilot.app.screen
    assert isinstance(found, HandoverSheet)
    await planned(pilot)
    return found


async def planned(pilot: Pilot[None]) -> None:
    """Wait until it is thought through."""
    words = ("reading", "looking", "thinking")
    await until(pilot, lambda: not any(f"{word} " in shown(pilot) for word in words))
