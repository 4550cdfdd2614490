"""Helpers to drive the app: logs on disk, an app over them, what stands on the screen."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import build
from textual.pilot import Pilot

from tui.app import InspectorApp
from tui.screens.browser import Browser
from tui.workers import Catalogue

NOW = build.START.timestamp() + 9 * 3600
SIZES = [(80, 24), (120, 36), (200, 50)]


def night(folder: Path) -> Path:
    """Four sessions, the newest first: failed, open call, torn, well."""
    build.log(folder / "20261127-230000.jsonl", [
        build.meta("20261127-230000", "Bisect the slow start", 3600),
        build.message("user", "Begin.", 3601), build.request("c1", seconds=3602),
        build.response("c1", failure="exit status 1", seconds=3700),
        build.result("error", 1, 3800, error="context window exceeded"),
    ])  # fmt: skip
    build.log(folder / "20261127-223000.jsonl", [
        build.meta("20261127-223000", "Migrate billing to pgx v5", 1800),
        build.message("user", "Begin.", 1801),
        build.request("c1", arguments='{"command":"go vet"}', seconds=1802),
        build.response("c1", arguments='{"command":"go vet"}', seconds=1810),
        build.message("bot", "Now the race test.", 1811),
        build.request("c2", arguments='{"command":"go test -race"}', seconds=1812),
    ])  # fmt: skip
    build.log(folder / "20261127-221000.jsonl", [
        build.meta("20261127-221000", "Backfill invoices", 600),
        build.message("user", "Begin.", 601),
    ], tail=b'{"kind":"message","at":"2026-')  # fmt: skip
    build.log(folder / "20261127-220000.jsonl", build.healthy())
    return folder


@asynccontextmanager
async def opened(
    *paths: Path, size: tuple[int, int] = (120, 36), clock: Callable[[], float] = lambda: NOW
) -> AsyncIterator[tuple[Pilot[None], Browser]]:
    """The app on these paths, everything read."""
    catalogue = Catalogue(tuple(map(str, paths)))
    catalogue.begin(10)
    app = InspectorApp(catalogue, clock=clock)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        browser = app.screen
        assert isinstance(browser, Browser)
        yield pilot, browser


async def until(pilot: Pilot[None], true: Callable[[], object], what: str = "") -> None:
    """Wait for something that a worker brings; AssertionError when it does not come."""
    for _ in range(500):
        if true():
            return
        await pilot.pause(0.02)
    raise AssertionError(f"did not happen: {what}\n{shown(pilot)}")


def shown(pilot: Pilot[None]) -> str:
    """The screen as text."""
    app = pilot.app
    strips = app.screen._compositor.render_strips()
    return "\n".join(strip.text for strip in strips)
