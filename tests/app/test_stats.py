"""The screen of a run's numbers, and that it tells of failures what the timeline tells."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import build
import pytest
from screens import NOW, SIZES, night, opened, shown, until
from textual.pilot import Pilot

from sessionlog.figures import Counts, Stats, Tool
from sessionlog.formats.table import named
from sessionlog.listing import glance, scan
from sessionlog.measure import measure
from sessionlog.records import Entry, InFlight, Message, Tokens
from sessionlog.stats_page import amount, bar, page, shares, text
from sessionlog.text import width
from sessionlog.window import Log
from tui.screens.stats import StatsSheet
from tui.timeline import Timeline
from tui.widgets.top_bar import TopBar

pytestmark = pytest.mark.anyio
CASES = os.environ.get("SESSIONLOG_CASES", "")
LOGS = sorted(Path(CASES).rglob("*.jsonl")) if CASES else []
HOSTILE = "\x1b]0;owned\x07 \x9b31m \u202e [/bold] [@click=app.quit]x[/]"


# -- failures --------------------------------------------------------------------------------------


def failed_rows(path: Path) -> int:
    """Calls with a cross on the timeline that stand among the messages of the main run."""
    form = named(glance(str(path)).format)
    assert form is not None
    log = Log(str(path), form)
    timeline = Timeline(log)
    rows = [row for number in range(log.chunks) for row in timeline.rows(number)]
    log.close()
    return sum(
        row.sort == "call" and row.sign == "fail" and not row.side
        and isinstance(row.records[0].payload, Message)
        for row in rows
    )  # fmt: skip


def failed(path: Path) -> int:
    stats = measure(glance(str(path)))
    assert stats is not None
    return stats.counts.failed


def test_failures_are_the_crosses_of_the_timeline(tmp_path: Path) -> None:
    native = build.log(tmp_path / "20261127-220000.jsonl", [
        build.meta(), build.request("c1"), build.response("c1", failure="no such tool"),
        build.request("c2"), build.response("c2", result="[exit: exit status 4]"),
        build.request("c3"), build.response("c3"), build.request("c4"),
    ])  # fmt: skip
    codex = build.log(tmp_path / build.CODEX_FILE, [
        build.codex_meta(), build.codex_said("user", "Fix it"),
        build.codex_call("c1"), build.codex_output("c1", code=0),
        build.codex_call("c2"), build.codex_output("c2", code=2),
    ])  # fmt: skip
    claude = build.log(tmp_path / build.CLAUDE_FILE, [
        build.claude_user("Fix it"), build.claude_call("c1"),
        build.claude_result("c1", failed=True),
    ])  # fmt: skip
    for path, count in ((native, 2), (codex, 1), (claude, 1)):
        assert failed(path) == failed_rows(path) == count


@pytest.mark.skipif(not CASES, reason="SESSIONLOG_CASES is not set")
def test_failures_of_sample_logs_are_the_crosses_of_their_timelines() -> None:
    for path in LOGS:
        if glance(str(path)).status is not None:
            assert failed(path) == failed_rows(path), path


# -- the page --------------------------------------------------------------------------------------


def numbers(names: Sequence[str] = ("bash", "read")) -> Stats:
    tools = {name: Tool(name, 10 - i, failed=3 * (i == 0), seconds=5.0 + i)
             for i, name in enumerate(names)}  # fmt: skip
    counts = Counts(messages=40, users=2, assistants=12, calls=19, retries=2, damages=1)
    counts.tools = tools
    stats = Stats("x", "/x", "A title", counts=counts, start=0.0, duration=7200, active=600,
                  tokens=Tokens(1200, 300, 50_000, 4_000, 100))  # fmt: skip
    for second in range(0, 7200, 60):
        stats.density.add(second)
    return stats


@pytest.mark.parametrize("columns", [60, 79, 119, 199])
def test_the_page_fits_and_holds_no_control_character(columns: int) -> None:
    stats = numbers([HOSTILE, "mcp__a_server__with_a_very_long_name_of_a_tool", ""])
    stats.models = {HOSTILE * 9: 1}
    for line in text(page(stats, columns)):
        assert width(line) <= columns, line
        assert line.isprintable()


def test_the_page_can_be_written_in_ascii_and_in_red() -> None:
    assert all(line.isascii() for line in text(page(numbers(["日本"]), 80), plain=True))
    assert any("\x1b[31m3 failed\x1b[0m" in line for line in text(page(numbers(), 80), colour=True))


@pytest.mark.parametrize("columns", [60, 79, 120])
def test_open_calls_stand_behind_the_longest_bar_too(columns: int) -> None:
    tools = {"exec": Tool("exec", calls=900, open=5), "read": Tool("read", calls=2, open=1)}
    seen = list(text(page(Stats(counts=Counts(calls=902, tools=tools)), columns)))
    assert any("exec" in line and "5 open" in line for line in seen)
    assert any("read" in line and "1 open" in line for line in seen)
    assert all(width(line) <= columns for line in seen)


def test_calls_in_flight_add_up_and_those_without_a_message_stand_apart() -> None:
    told = [InFlight(name, call_id=f"{name}{i}", n=i + 1) for name in "abcdef" for i in range(2)]
    stats = Stats(counts=Counts(calls=12, tools={"a": Tool("a", calls=12, open=12)}))
    stats.in_flight = [*told, InFlight("shell")]
    said = " ".join(" ".join(text(page(stats, 120))).split())
    assert "12 without a result, 2 a in flight" in said
    assert "4 more in flight" in said
    assert "shell in flight beside the messages" in said


def test_a_bar_shows_what_is_there_and_never_more() -> None:
    assert [bar(v, 100, 10) for v in (0, 0.1, 50, 100, 400)] == [0, 1, 5, 10, 10]
    assert shares([0, 1, 1000, 1], 10) == [0, 1, 8, 1]
    assert sum(shares([5, 3, 2, 7], 23)) == 23
    assert shares([0, 0], 5) == [0, 0]
    assert sum(shares([1, 1, 1, 1], 2)) == 2


def test_amounts_take_at_most_six_columns() -> None:
    counts = [0, 999, 9999, 10_000, 48_211, 99_950, 999_499, 999_500, 1_240_000, 99_949_999, 10**15]
    assert [amount(n) for n in counts] == [
        "0", "999", "9,999", "10.0k", "48.2k", "100k", "999k", "1.00M", "1.24M", "99.9M", "1000T",
    ]  # fmt: skip


# -- the screen ------------------------------------------------------------------------------------


@asynccontextmanager
async def sheet(
    folder: Path, entry: Entry | None, size: tuple[int, int] = (120, 36), count: int = 99
) -> AsyncIterator[tuple[Pilot[None], StatsSheet, list[object]]]:
    async with opened(folder, size=size) as (pilot, _):
        entries = scan([str(folder)])[:count]
        bar = TopBar([str(folder)], id="bar", clock=lambda: NOW)
        screen = StatsSheet(bar, entry, entries)
        answers: list[object] = []
        pilot.app.push_screen(screen, answers.append)
        await until(pilot, lambda: "messages" in shown(pilot), "numbers")
        yield pilot, screen, answers


def entry_of(folder: Path, id: str) -> Entry:
    return glance(str(folder / f"{id}.jsonl"))


@pytest.mark.parametrize("size", SIZES)
async def test_it_shows_one_session(tmp_path: Path, size: tuple[int, int]) -> None:
    entry = entry_of(night(tmp_path), "20261127-223000")
    async with sheet(tmp_path, entry, size) as (pilot, _, _):
        seen = shown(pilot)
        assert "Migrate billing to pgx v5" in seen
        assert "1 without a result" in seen
        assert "shell" in seen
        assert all(width(line) == size[0] for line in seen.split("\n"))


async def test_enter_answers_the_tool_under_the_cursor(tmp_path: Path) -> None:
    log = build.log(tmp_path / "20261127-220000.jsonl", [
        build.meta(), build.request("c1"), build.response("c1"), build.request("c2", "shell"),
        build.request("c3", "read"),
    ])  # fmt: skip
    async with sheet(tmp_path, glance(str(log))) as (pilot, _, answers):
        await pilot.press("j", "enter")
        await until(pilot, lambda: answers, "an answer")
    assert answers == [("tool", "read")]


async def test_escape_leaves(tmp_path: Path) -> None:
    entry = entry_of(night(tmp_path), "20261127-220000")
    async with sheet(tmp_path, entry) as (pilot, _, answers):
        await pilot.press("escape")
        await until(pilot, lambda: answers, "an answer")
    assert answers == [None]


async def test_a_sums_all_listed_sessions_and_shows_the_one_again(tmp_path: Path) -> None:
    entry = entry_of(night(tmp_path), "20261127-220000")
    async with sheet(tmp_path, entry) as (pilot, _, answers):
        await pilot.press("a")
        await until(pilot, lambda: "4 sessions" in shown(pilot) and "shell" in shown(pilot))
        await pilot.press("enter")
        await until(pilot, lambda: "no timeline" in shown(pilot), "why not")
        await pilot.press("a")
        await until(pilot, lambda: "Fix it" in shown(pilot))
        assert answers == []


async def test_one_session_has_no_sum(tmp_path: Path) -> None:
    log = build.log(tmp_path / "20261127-220000.jsonl", build.healthy())
    async with sheet(tmp_path, glance(str(log))) as (pilot, _, _):
        await pilot.press("a")
        await until(pilot, lambda: "there is one session" in shown(pilot), "why not")


async def test_copy_takes_the_page_as_text(tmp_path: Path) -> None:
    entry = entry_of(night(tmp_path), "20261127-230000")
    async with sheet(tmp_path, entry) as (pilot, _, _):
        await pilot.press("y")
        await until(pilot, lambda: "copied" in shown(pilot))
        assert pilot.app.clipboard.startswith("Bisect the slow start\n  time")
        assert "1 failed" in pilot.app.clipboard


async def test_a_log_that_is_gone_is_told(tmp_path: Path) -> None:
    entry = entry_of(night(tmp_path), "20261127-220000")
    async with opened(tmp_path) as (pilot, _):
        Path(entry.path).unlink()
        sheet = StatsSheet(TopBar([], id="bar", clock=lambda: NOW), entry)
        pilot.app.push_screen(sheet)
        warned = sheet.status
        await until(pilot, lambda: "no such file" in str(warned.warnings).lower(), "the warning")


async def test_a_page_longer_than_the_pane_scrolls_to_its_end(tmp_path: Path) -> None:
    calls = [build.request(f"c{i}", f"tool{i:02}") for i in range(30)]
    log = build.log(tmp_path / "20261127-220000.jsonl", [build.meta(), *calls])
    async with sheet(tmp_path, glance(str(log)), (80, 24)) as (pilot, _, _):
        assert "activity" not in shown(pilot)
        await pilot.press("G")
        await until(pilot, lambda: "activity" in shown(pilot), "the end")
        await pilot.press("g", "g")
        await until(pilot, lambda: "time  " in shown(pilot) and "tool00" in shown(pilot))


async def test_text_of_a_log_stays_text(tmp_path: Path) -> None:
    lines = [build.meta(task=HOSTILE, model=HOSTILE), build.request("c1", HOSTILE)]
    log = build.log(tmp_path / "20261127-220000.jsonl", lines)
    async with sheet(tmp_path, glance(str(log))) as (pilot, _, _):
        seen = shown(pilot)
        assert "[@click=app.quit]" in seen
        assert all(line.isprintable() for line in seen.split("\n"))


async def test_the_sum_over_a_part_says_so_until_all_is_counted(tmp_path: Path) -> None:
    async with sheet(night(tmp_path), None) as (pilot, screen, _):
        await until(pilot, lambda: "4 sessions" in shown(pilot), "all of them")
        part = measure(entry_of(tmp_path, "20261127-220000"))
        assert part is not None
        screen.post_message(StatsSheet.Counted(True, part, 3))
        await until(pilot, lambda: "1 of 4 sessions so far" in shown(pilot), "the part")
        assert screen.view.text.startswith("1 of 4 sessions so far\n")
        screen.post_message(StatsSheet.Counted(True, part, 0))
        await until(pilot, lambda: "so far" not in shown(pilot), "the whole")
