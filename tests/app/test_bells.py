"""A run that is watched rings when it fails, ends or falls silent."""

from __future__ import annotations

from pathlib import Path

import build
import pytest
from screens import night, opened, until

from sessionlog.listing import glance
from sessionlog.records import Entry, Status
from tui.bells import SILENT, Bells

pytestmark = pytest.mark.anyio


@pytest.fixture
def running(tmp_path: Path) -> Entry:
    path = night(tmp_path) / "20261127-223000.jsonl"
    return glance(str(path))._replace(status=Status.RUNNING)


def test_nothing_rings_unless_it_was_asked_for(running: Entry) -> None:
    assert Bells().see([running._replace(status=Status.UNFINISHED)], 0) == []


def test_a_key_turns_it_on_up_and_off_again(running: Entry) -> None:
    bells = Bells()
    modes = [bells.turn(running, 0) for _ in range(3)]
    assert modes == ["bell", "bell and desktop notice", "off"]


@pytest.mark.parametrize(
    ("status", "ok", "words"),
    [
        (Status.COMPLETE, False, "failed"),
        (Status.COMPLETE, True, "ended"),
        (Status.UNFINISHED, None, "stopped: writer gone"),
    ],
)
def test_it_rings_once_when_the_run_stops(
    running: Entry, status: Status, ok: bool | None, words: str
) -> None:
    bells = Bells()
    bells.turn(running, 0)
    assert bells.see([running], 1) == []
    over = running._replace(status=status, ok=ok)
    assert [ring.words for ring in bells.see([over], 2)] == [f"Migrate billing to pgx v5: {words}"]
    assert bells.see([over], 3) == []


def test_it_rings_when_nothing_is_written_for_minutes(running: Entry) -> None:
    bells = Bells()
    bells.turn(running, 0)
    grown = running._replace(bytes=running.bytes + 1)
    assert bells.see([grown], 60) == []
    assert bells.see([grown], SILENT + 59) == []
    assert "silent for 5m" in bells.see([grown], SILENT + 61)[0].words


async def test_the_screen_rings_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = night(tmp_path) / "20261127-223000.jsonl"
    async with opened(tmp_path) as (pilot, browser):
        rung: list[str] = []
        monkeypatch.setattr(pilot.app, "bell", lambda: rung.append("bell"))
        monkeypatch.setattr(pilot.app._driver, "write", rung.append)
        with path.open("ab") as file:
            file.write(build.message("bot", "more", 1820))
        await until(pilot, lambda: browser.sessions.entries[1].status is Status.RUNNING)
        await pilot.press("j", "B", "B")
        assert "desktop notice" in browser.status._answer
        with path.open("ab") as file:
            file.write(build.result("error", 1, 1900, error="no space"))
        await until(pilot, lambda: rung, "the bell")
        assert any("failed" in warning for warning in browser.status.warnings)
        await until(pilot, lambda: any("\x1b]9;" in written for written in rung), "the notice")
        assert not pilot.app._exception
