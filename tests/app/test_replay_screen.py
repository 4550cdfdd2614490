"""The replay screen, driven as a person would; its clock is moved by the tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import build
import pytest
from screens import NOW, opened, shown, until
from textual.pilot import Pilot

from sessionlog.listing import glance
from sessionlog.marks import Marks
from sessionlog.pace import Pace
from tui.opening import open_log
from tui.row_lines import Clock
from tui.screens.replay import PAST, Left, Replay
from tui.widgets.top_bar import TopBar

pytestmark = pytest.mark.anyio

RUN = [
    build.meta(task="Migrate billing"), build.message("user", "Begin.", 1),
    build.request("c1", arguments='{"command":"go test"}', seconds=2),
    build.response("c1", arguments='{"command":"go test"}', failure="exit status 1", seconds=10),
    build.message("bot", "Trying again.", 11), build.reset(700),
    build.message("user", "Now the rest.", 701),
    build.request("c2", arguments='{"command":"go vet"}', seconds=702),
]  # fmt: skip


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Steady:
    """Seconds that pass only when a test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Played:
    """A replay on the screen, and what it answered."""

    def __init__(self, pilot: Pilot[None], sheet: Replay, steady: Steady, path: Path) -> None:
        self.pilot, self.sheet, self.steady, self.path = pilot, sheet, steady, path
        self.answers: list[Left | None] = []

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def passes(self, seconds: float) -> None:
        """Time goes by, in frames."""
        while seconds > 1e-6:
            before = self.sheet._frame_at
            step = min(seconds, 0.2)
            self.steady.now += step
            seconds -= step
            if not self.sheet.transport.playing:
                break
            await until(self.pilot, lambda before=before: self.sheet._frame_at > before, "a frame")
        await self.pilot.pause()

    @property
    def nth(self) -> int:
        return self.sheet.transport.beat.nth

    @property
    def rows(self) -> str:
        """What stands below the title of the rows."""
        return shown(self.pilot).split("REPLAY", 1)[1]


@asynccontextmanager
async def played(
    folder: Path, lines: list[bytes], *, size: tuple[int, int] = (120, 36), nth: int = 0,
    alive: bool | None = None, plays: bool = False, idle: float | None = 2.0,
    is_counted: bool = True,
) -> AsyncIterator[Played]:  # fmt: skip
    path = build.log(folder / "20261127-220000.jsonl", lines)
    async with opened(folder, size=size) as (pilot, _):
        entry, steady = glance(str(path)), Steady()
        log = open_log(entry)
        marks = Marks(log.form) if is_counted else None
        if marks is not None:
            marks.scan(log.strip, rest=lambda: None)
        offset = sum(len(line) for line in lines[:nth])
        sheet = Replay(
            TopBar([], id="bar"), entry, log, marks, offset=offset, alive=alive, plays=plays,
            pace=Pace(1, idle), clock=Clock("utc"), now=lambda: NOW, steady=steady,
        )  # fmt: skip
        made = Played(pilot, sheet, steady, path)
        pilot.app.push_screen(sheet, made.answers.append)
        await pilot.pause()
        await until(pilot, lambda: sheet._resting is None, "at rest")
        yield made


async def test_it_begins_where_it_is_told_and_plays(tmp_path: Path) -> None:
    async with played(tmp_path, RUN, nth=1, plays=True) as on:
        assert "Begin." in on.rows
        assert "go test" not in on.rows
        await on.passes(1.2)
        assert "go test" in on.rows
        assert on.nth == 2


async def test_a_call_runs_until_its_result_comes(tmp_path: Path) -> None:
    async with played(tmp_path, RUN, nth=2, plays=True, idle=None) as on:
        await on.passes(5.2)
        assert "►" in on.rows
        assert " 5.0s" in on.rows
        assert "exit status 1" not in on.rows
        await until(on.pilot, lambda: "its result arrives at 22:00:10" in shown(on.pilot))
        await on.passes(3)
        assert on.nth == 3
        assert "exit 1" in on.rows
        await on.press(",")
        assert "exit 1" not in on.rows


async def test_the_bar_tells_clock_numbers_silence_and_what_is_to_come(tmp_path: Path) -> None:
    async with played(tmp_path, RUN, nth=2) as on:
        await until(on.pilot, lambda: on.sheet.reel.tempo is not None, "timed")
        await until(on.pilot, lambda: "✗ in" in shown(on.pilot), "the next error")
        bar = next(line for line in shown(on.pilot).splitlines() if "paused" in line)
        assert "22:00:02 of 22:11:42   2 of 6" in " ".join(bar.split(" ")).replace(
            "  2 of", "  2 of"
        )
        assert "gaps cut to 2s, 11m33s saved" in bar
        assert "✗ in 2.0s" in bar  # 8 seconds of silence count as 2
        assert "end in 7.0s" in bar
        assert PAST in shown(on.pilot)
        await on.press(">", ">")
        bar = next(line for line in shown(on.pilot).splitlines() if "paused" in line)
        assert "4x" in bar
        assert "✗ in 0.5s" in bar


async def test_space_plays_and_pauses_and_begins_again_at_the_end(tmp_path: Path) -> None:
    async with played(tmp_path, RUN, nth=len(RUN) - 1) as on:
        await on.press("space")
        assert (on.nth, on.sheet.transport.playing) == (0, True)
        await on.press("space")
        assert not on.sheet.transport.playing


async def test_playing_ends_at_the_end_and_no_timer_is_left(tmp_path: Path) -> None:
    async with played(tmp_path, RUN, nth=6, plays=True) as on:
        await on.passes(2)
        await until(on.pilot, lambda: not on.sheet.transport.playing, "the end")
        frames = on.sheet._frames
        assert frames is not None
        assert not frames._active.is_set()
        assert "end of log" in on.rows


@pytest.mark.parametrize(("keys", "nth"), [
    (["."], 2), ([",", ","], 0), (["j"], 2), (["j", "j"], 4), (["j", "j", "k"], 2), (["G"], 7),
    (["g", "g"], 0), (["home"], 0), (["e"], 3), (["e", "e"], 7), (["e", "e", "E"], 3), (["u"], 6),
    (["u", "U"], 1), (["]"], 5), (["]", "["], 5), (["right"], 7), (["right", "left"], 0),
    (["pagedown"], 7), (["pagedown", "pageup"], 1),
    ([":", "3", "enter"], 3), ([":", *"50%", "enter"], 3), ([":", *"+8s", "enter"], 2),
    ([":", *"22:00:10", "enter"], 3),
])  # fmt: skip
async def test_each_key_leads_to_its_moment(tmp_path: Path, keys: list[str], nth: int) -> None:
    async with played(tmp_path, RUN, nth=1) as on:
        for key in keys:
            await on.press("left_square_bracket" if key == "[" else
                           "right_square_bracket" if key == "]" else key)  # fmt: skip
            await until(on.pilot, lambda: not on.sheet._search.progress, "found")
        assert on.nth == nth


async def test_a_look_that_finds_nothing_says_so(tmp_path: Path) -> None:
    async with played(tmp_path, build.healthy()) as on:
        await on.press("e")
        await until(on.pilot, lambda: "no error below" in shown(on.pilot))


async def test_what_is_before_a_reset_goes_out_of_context_only_then(tmp_path: Path) -> None:
    async with played(tmp_path, RUN, nth=4) as on:
        assert "│" not in on.rows.splitlines()[1]
        await on.press(".")
        line = next(line for line in on.rows.splitlines() if "Begin." in line)
        assert line.startswith("│")
        await on.press("u")
        await until(on.pilot, lambda: "nothing yet" in shown(on.pilot), "what it knew")
        await on.press(".")
        await until(on.pilot, lambda: "1 message, 5 · before 5: out of context since 22:11"
                    in shown(on.pilot), "what it knew")  # fmt: skip


async def test_the_idle_cap_goes_around(tmp_path: Path) -> None:
    async with played(tmp_path, RUN) as on:
        for words in ("gaps cut to 10s", "gaps as they were", "gaps cut to 2s"):
            await on.press("i")
            assert words in shown(on.pilot)


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (120, 36), (200, 50)])
async def test_it_fits_every_size(tmp_path: Path, size: tuple[int, int]) -> None:
    async with played(tmp_path, RUN, nth=3, size=size) as on:
        lines = shown(on.pilot).splitlines()
        assert [len(line) for line in lines] == [size[0]] * size[1]
        assert "22:00:10" in shown(on.pilot)
        for key in ("z", "1", "2", "3", "x", "t", "enter"):
            await on.press(key)
        assert PAST.split(",")[0] in shown(on.pilot)


async def test_enter_shows_the_detail_where_there_is_no_room_for_it_by_itself(
    tmp_path: Path,
) -> None:
    async with played(tmp_path, RUN, nth=3, size=(80, 24)) as on:
        assert "what the agent knew" not in shown(on.pilot)
        await on.press("enter")
        await until(on.pilot, lambda: "what the agent knew" in shown(on.pilot))


async def test_the_cursor_goes_to_the_call_whose_result_came(tmp_path: Path) -> None:
    lines = [build.meta(), build.request("a", arguments="{}"), build.request("b", arguments="[]"),
             build.response("a", arguments="{}")]  # fmt: skip
    async with played(tmp_path, lines, nth=2) as on:
        numbers = []
        for key in (".", ","):
            assert on.sheet.rows.row is not None
            numbers.append(on.sheet.rows.row.n)
            await on.press(key)
        assert [*numbers, on.sheet.rows.row and on.sheet.rows.row.n] == [2, 1, 2]


async def test_beside_a_replay_what_was_known_stands_in_its_own_view_only(tmp_path: Path) -> None:
    path = build.log(tmp_path / "20261127-220000.jsonl", RUN)
    async with opened(path) as (pilot, _):
        await pilot.press("3")
        await until(pilot, lambda: "what the agent knew" in shown(pilot))
        await pilot.press("1", "k")
        await pilot.pause()
        assert "what the agent knew" not in shown(pilot)


async def test_leaving_tells_the_row(tmp_path: Path) -> None:
    async with played(tmp_path, RUN, nth=3) as on:
        call = sum(len(line) for line in RUN[:2])
        await on.press("escape")
        await until(on.pilot, lambda: on.answers, "left")
        assert on.answers == [Left(call)]


async def test_w_leaves_for_why(tmp_path: Path) -> None:
    async with played(tmp_path, RUN) as on:
        await on.press("w")
        await until(on.pilot, lambda: on.answers, "left")
        assert on.answers[0] is not None
        assert on.answers[0].asks == "why"


async def test_a_fork_at_a_running_call_ends_before_it(tmp_path: Path) -> None:
    async with played(tmp_path, RUN, nth=2) as on:
        await on.press("f")
        await until(on.pilot, lambda: "Fork at 1" in shown(on.pilot), "the dialog")
        await on.press("enter")
        await until(on.pilot, lambda: on.answers, "made")
        assert on.answers[0] is not None
        assert Path(on.answers[0].made).exists()


async def test_a_live_log_goes_on_where_it_ended(tmp_path: Path) -> None:
    async with played(tmp_path, RUN[:2], nth=1, alive=True, plays=True) as on:
        await on.passes(0.4)
        assert "waits for more" in shown(on.pilot)
        with on.path.open("ab") as file:
            file.write(build.message("bot", "Later it came.", 3))
        await until(on.pilot, lambda: on.sheet.transport.following is not None, "growth")
        await on.passes(2.2)
        assert "Later it came." in on.rows


async def test_messages_are_counted_where_nobody_else_does(tmp_path: Path) -> None:
    async with played(tmp_path, RUN, nth=2, alive=True, is_counted=False) as on:
        await until(on.pilot, lambda: "2 of 6" in shown(on.pilot), "numbers")
        with on.path.open("ab") as file:
            file.write(build.message("bot", "Later it came.", 800))
        await until(on.pilot, lambda: "2 of 7" in shown(on.pilot), "the new number")


async def test_a_hostile_log_stays_text(tmp_path: Path) -> None:
    nasty = "\x1b]0;x\x07[/b][@click=quit]\u202e\x9b31m"
    lines = [
        build.meta(task=nasty, workdir=nasty), build.message("user", nasty, 1),
        build.request("c", nasty, nasty, 2), build.response("c", nasty, nasty, nasty, seconds=3),
    ]  # fmt: skip
    async with played(tmp_path, lines, nth=3, size=(200, 50)) as on:
        assert not {"\x1b", "\x9b", "\x07", "\u202e"} & set(shown(on.pilot))
