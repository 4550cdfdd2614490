"""The open log as it changes under our eyes: it grows, is replaced, goes and comes back."""

from __future__ import annotations

import os
import re
from pathlib import Path

import build
import pytest
from screens import opened, shown, until

from sessionlog.records import Status

pytestmark = pytest.mark.anyio


def run(path: Path, count: int = 3) -> Path:
    lines = [build.meta("run", "Watch me")]
    lines += [build.message("bot", f"line {i}", seconds=i) for i in range(1, count + 1)]
    return build.log(path, lines)


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


async def test_a_new_record_is_shown_by_itself(tmp_path: Path) -> None:
    path = run(tmp_path / "run.jsonl")
    async with opened(path) as (pilot, _):
        append(path, build.message("bot", "something new", seconds=9))
        await until(pilot, lambda: "something new" in shown(pilot), "the record")


async def test_half_a_line_is_being_written_and_then_a_record_once(tmp_path: Path) -> None:
    path = run(tmp_path / "run.jsonl")
    line = build.message("bot", "comes in two halves", seconds=9)
    async with opened(path) as (pilot, _):
        append(path, line[:40])
        await until(pilot, lambda: "writing" in shown(pilot), "writing")
        assert "▒" not in shown(pilot)
        append(path, line[40:])
        await until(pilot, lambda: "comes in two halves" in shown(pilot), "the record")
        rows = [line for line in shown(pilot).splitlines() if re.search("agent +comes in", line)]
        assert len(rows) == 1


async def test_scrolled_away_it_stays_and_says_how_much_is_new(tmp_path: Path) -> None:
    path = run(tmp_path / "run.jsonl", 200)
    async with opened(path) as (pilot, browser):
        await pilot.press("g", "g")
        row = browser.timeline.row
        append(path, b"".join(build.message("bot", f"new {i}", seconds=300) for i in range(12)))
        await until(pilot, lambda: "12 new" in shown(pilot), "the counter")
        assert browser.timeline.row
        assert row
        assert browser.timeline.row.place == row.place
        await pilot.press("G")
        await until(pilot, lambda: "new 11" in shown(pilot))
        assert "12 new" not in shown(pilot)


async def test_what_is_new_and_in_sight_is_not_counted(tmp_path: Path) -> None:
    path = run(tmp_path / "run.jsonl", 3)
    async with opened(path) as (pilot, _):
        await pilot.press("k")
        append(path, build.message("bot", "seen at once", seconds=9))
        await until(pilot, lambda: "seen at once" in shown(pilot))
        assert "1 new" not in shown(pilot)


@pytest.mark.parametrize("how", ["rename", "rewrite", "cut"])
async def test_another_log_under_its_name_is_read_anew(tmp_path: Path, how: str) -> None:
    path = run(tmp_path / "run.jsonl", 30)
    async with opened(path) as (pilot, browser):
        if how == "rename":
            run(tmp_path / "other", 2)
            os.replace(tmp_path / "other", path)
        elif how == "rewrite":
            run(path, 2)
        else:
            os.truncate(path, len(b"".join(path.read_bytes().splitlines(keepends=True)[:3])))
        await until(pilot, lambda: "line 30" not in shown(pilot), "the other log")
        assert "line 2" in shown(pilot)
        assert any("read anew" in warning for warning in browser.status.warnings)


async def test_a_log_that_went_and_came_back_goes_on(tmp_path: Path) -> None:
    path = run(tmp_path / "run.jsonl")
    async with opened(path) as (pilot, browser):
        os.rename(path, tmp_path / "away")
        await until(pilot, lambda: browser.status.warnings, "the warning")
        assert "line 3" in shown(pilot)
        os.rename(tmp_path / "away", path)
        append(path, build.message("bot", "back again", seconds=9))
        await until(pilot, lambda: "back again" in shown(pilot), "the log")
        await until(pilot, lambda: not any("gone" in w for w in browser.status.warnings))


async def test_the_end_of_a_run_is_seen_in_the_head(tmp_path: Path) -> None:
    path = run(tmp_path / "run.jsonl")
    async with opened(path) as (pilot, browser):
        append(path, build.result("error", 1, 10, error="no space left on device"))
        await until(pilot, lambda: browser.entry and browser.entry.status is Status.COMPLETE)
        await until(pilot, lambda: "no space left on device" in shown(pilot).splitlines()[2])


async def test_leaving_at_once_leaves_no_thread_behind(tmp_path: Path) -> None:
    path = run(tmp_path / "run.jsonl")
    for _ in range(5):
        async with opened(path) as (_, browser):
            browser._watch_log()
            browser.app.exit()
            browser._watch_log()
    # the test's loop does not end while a thread of its pool goes on
