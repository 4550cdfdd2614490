"""The search screen, driven through the real app."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import build
import pytest
from screens import SIZES, opened, shown, until
from textual.pilot import Pilot

from sessionlog.hit import Hit, Progress
from sessionlog.query import Query
from sessionlog.records import Entry
from sessionlog.search import search_logs
from tui import commands
from tui.hit_lines import Standing
from tui.screens.browser import Browser
from tui.screens.search import Search, SearchSheet
from tui.searching import Batch, Place, SearchState
from tui.widgets.top_bar import TopBar

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def logs(folder: Path) -> Path:
    """Three logs: the newest with one hit, one with nine, one with ten of the same line."""
    build.log(folder / "20261127-230000.jsonl", [
        build.meta("20261127-230000", "Add retry budget", 3600),
        build.message("user", "Begin.", 3601),
        build.request("c1", arguments='{"command":"cat README"}', seconds=3602),
        build.response("c1", arguments='{"command":"cat README"}',
                       result="head\nno advisory lock needed here\ntail", seconds=3603),
        build.result(seconds=3700),
    ])  # fmt: skip
    build.log(folder / "20261127-223000.jsonl", [
        build.meta("20261127-223000", "Migrate billing", 1800),
        *(build.message("bot", f"step {i}: the Advisory Lock of row {i}", 1800 + i)
          for i in range(9)),
        build.request("c1", "edit", '{"path":"a.go"}', seconds=1900),
        build.response("c1", "edit", '{"path":"a.go"}', failure="advisory lock held",
                       seconds=1901),
        build.result("error", 1, 2000, error="gave up"),
    ])  # fmt: skip
    waits = (build.message("bot", "waiting for advisory lock", 600 + i) for i in range(10))
    build.log(folder / "20261127-221000.jsonl", [
        build.meta("20261127-221000", "Port CI", 600), *waits,
    ])  # fmt: skip
    return folder


class Opened:
    """A search sheet in front of the browser, and what it answered."""

    def __init__(self, pilot: Pilot[None], browser: Browser, state: SearchState) -> None:
        self.pilot, self.browser, self.state = pilot, browser, state
        self.answers: list[Place | None] = []

    async def push(self, word: str = "", search: Search = search_logs) -> SearchSheet:
        browser = self.browser
        bar = TopBar([], id="bar")
        self.sheet = SearchSheet(
            bar, browser.sessions.entries, self.state, clock=lambda: browser.now.timestamp(),
            word=word, search=search,
        )  # fmt: skip
        self.pilot.app.push_screen(self.sheet, self.answers.append)
        await self.pilot.pause()
        return self.sheet

    async def type(self, text: str) -> None:
        await self.pilot.press(*("space" if char == " " else char for char in text))

    async def find(self, text: str, hits: int) -> None:
        """Type a query and wait until its search is over."""
        await self.type(text)
        await self.done(hits)

    async def done(self, hits: int) -> None:
        state = self.state
        await until(
            self.pilot,
            lambda: state.standing.state == "done" and state.view.hits.count == hits,
            f"{hits} hits; {state.view.hits.count} and {state.standing}",
        )
        await self.pilot.pause(0.1)

    @property
    def text(self) -> str:
        return shown(self.pilot)

    @property
    def focus(self) -> str:
        return (self.sheet.focused.id or "") if self.sheet.focused else ""


@asynccontextmanager
async def searching(
    folder: Path, size: tuple[int, int] = (120, 36), state: SearchState | None = None
) -> AsyncIterator[Opened]:
    async with opened(logs(folder), size=size) as (pilot, browser):
        at = Opened(pilot, browser, state or SearchState())
        await at.push()
        yield at


@pytest.mark.parametrize("size", SIZES)
async def test_hits_stand_by_log_newest_first(tmp_path: Path, size: tuple[int, int]) -> None:
    async with searching(tmp_path, size) as at:
        await at.find("advisory lock", 21)
        lines = at.text.splitlines()
        heads = [next(i for i, line in enumerate(lines) if title in line)
                 for title in ("Add retry budget", "Migrate billing", "Port CI")]  # fmt: skip
        assert heads == sorted(heads)
        assert "no advisory lock needed here" in at.text
        assert "+ 5 more in this log space" in at.text
        assert "+ 8 more, the same line space" in at.text
        counts = "21 hits in 3 of 3 logs · all read" if size[0] >= 100 else "21 3/3"
        assert counts in lines[1]
        assert ("head" in at.text) == (size[0] >= 100)  # the row of the first hit, beside it


async def test_the_hit_is_marked_in_the_list_and_in_the_detail(tmp_path: Path) -> None:
    async with searching(tmp_path) as at:
        await at.find("advisory lock", 21)
        for pane in (at.sheet.hits, at.sheet.detail):
            pieces = [p for line in pane.lines(*pane.size) for p in line.left]
            marked = [text for text, style in pieces if "bold underline" in style]
            assert marked
            assert all(text.lower() == "advisory lock" for text in marked)


async def test_enter_answers_where_the_hit_stands(tmp_path: Path) -> None:
    async with searching(tmp_path) as at:
        await at.find("advisory lock", 21)
        hit = at.state.view.hit
        assert hit is not None
        await at.pilot.press("enter", "enter")
        await until(at.pilot, lambda: at.answers, "an answer")
        place = at.answers[0]
        assert place is not None
        assert (place.entry.path, place.offset, place.part) == (hit.path, hit.offset, hit.part)
        assert (place.text, place.ignore_case) == ("advisory lock", True)
        log = Path(place.entry.path).read_bytes()
        assert b"no advisory lock" in log[place.offset :].split(b"\n")[0]


async def test_enter_right_behind_the_last_letter_goes_to_the_hits_that_come(
    tmp_path: Path,
) -> None:
    async with searching(tmp_path) as at:
        await at.pilot.press(*"advisory", "enter")
        assert at.focus == "hits"
        await at.done(21)
        await at.pilot.press("j", "j")
        assert at.state.text == "advisory"
        assert at.state.view.y == 3


async def test_a_search_that_finds_nothing_gives_the_query_back(tmp_path: Path) -> None:
    async with searching(tmp_path) as at:
        await at.pilot.press(*"nowhere tool:bash".replace(" ", ""), "enter")
        await at.done(0)
        assert at.focus == "query"
        assert "0 hits in 3 logs, all read" in at.text


async def test_the_filters_that_were_on_are_named_where_nothing_is_found(tmp_path: Path) -> None:
    async with searching(tmp_path) as at:
        await at.find("advisory tool:grep", 0)
        assert "0 hits in 3 logs, all read" in at.text
        assert "tool:grep was on" in at.text


@pytest.mark.parametrize(("query", "count"), [
    ("advisory tool:edit", 1), ("advisory status:failed", 10), ("advisory kind:assistant", 19),
    ("advisory is:error", 1),
    ("advisory after:2026-11-27T22:20+00:00 before:2026-11-27T22:30:09+00:00", 9),
])  # fmt: skip
async def test_filters_narrow_the_hits(tmp_path: Path, query: str, count: int) -> None:
    async with searching(tmp_path) as at:
        await at.find(query, count)


async def test_a_bad_regex_says_so_and_the_hits_stay(tmp_path: Path) -> None:
    async with searching(tmp_path) as at:
        await at.find("lock", 21)
        await at.pilot.press("ctrl+r")
        await at.done(21)
        await at.type("(")
        await until(at.pilot, lambda: at.state.problem, "a problem")
        await at.pilot.pause()
        assert "no regex" in at.text.splitlines()[2]
        assert "no advisory lock needed here" in at.text
        await at.pilot.press("backspace")
        await until(at.pilot, lambda: not at.state.problem, "no problem any more")
        await at.done(21)
        assert "no regex" not in at.text


async def test_a_date_that_is_none_says_so(tmp_path: Path) -> None:
    async with searching(tmp_path) as at:
        await at.type("lock after:frx")
        await until(at.pilot, lambda: at.state.problem, "a problem")
        await at.pilot.pause()
        assert "frx" in at.text.splitlines()[2]


async def test_a_pattern_that_takes_forever_says_so_and_keys_go_on(tmp_path: Path) -> None:
    build.log(tmp_path / "20261127-234500.jsonl", [
        build.meta("20261127-234500", "Slow", 6300),
        *(build.message("bot", f"{i} " + "a" * 60 + "!", 6300 + i) for i in range(8)),
    ])  # fmt: skip
    async with searching(tmp_path) as at:
        await at.pilot.press("ctrl+r")
        await at.type("(a+)+$")
        await at.pilot.press("home", "end")
        await until(at.pilot, lambda: "took too long" in at.state.problem, "the limit")
        await at.pilot.pause(0.1)
        assert "took too long" in at.text


async def test_case_and_regex_are_words_in_the_line(tmp_path: Path) -> None:
    async with searching(tmp_path) as at:
        await at.find("advisory lock", 21)
        assert "any case" in at.text.splitlines()[1]
        await at.pilot.press("ctrl+t")
        await at.done(12)
        assert "any case" not in at.text.splitlines()[1]
        await at.pilot.press("ctrl+r")
        await at.done(12)
        assert "regex" in at.text.splitlines()[1]


async def test_escape_stops_the_search_and_the_next_one_leaves(tmp_path: Path) -> None:
    over = threading.Event()

    def slow(
        sessions: Iterable[Entry], query: Query, stopped: Callable[[], bool], *, most: int | None
    ) -> Iterator[Hit | Progress]:
        entry = next(iter(sessions))
        yield Hit(entry.path, 1, "user", "", None, "", 1, 0, 9, 0, "a word", ((2, 6),))
        while not stopped():
            yield Progress(entry.path, 212_000_000, 640_000_000, 0, 3)
            over.wait(0.01)
        over.set()
        yield Hit(entry.path, 2, "user", "", None, "", 1, 0, 9, 0, "late", ())

    async with opened(logs(tmp_path)) as (pilot, browser):
        at = Opened(pilot, browser, SearchState())
        await at.push(search=slow)
        await at.type("word")
        await until(pilot, lambda: "reading Add retry budget 212 of 640 MB" in at.text, "reading")
        assert "1 hit in 1 of 3 logs · 0 of 3 read" in at.text.splitlines()[1]
        await pilot.press("escape")
        await until(pilot, over.is_set, "the search ended")
        await pilot.pause()
        assert "1 hit in 1 of 3 logs · stopped at 0 of 3" in at.text.splitlines()[1]
        assert "a word" in at.text
        assert "late" not in at.text
        await pilot.press("escape")
        await until(pilot, lambda: at.answers == [None], "the sheet left")


async def test_space_shows_all_hits_of_a_log_and_folds_them_again(tmp_path: Path) -> None:
    async with searching(tmp_path) as at:
        await at.find("advisory", 21)
        await at.pilot.press("enter", "n", "space")
        assert "row 8" in at.text
        await at.pilot.press("space")
        assert "row 8" not in at.text
        await at.pilot.press("k", "space")
        assert "row 1" not in at.text
        assert "Port CI" in at.text


async def test_n_goes_from_log_to_log_and_says_where_they_end(tmp_path: Path) -> None:
    async with searching(tmp_path) as at:
        await at.find("advisory", 21)
        await at.pilot.press("enter", "n", "n")
        assert at.state.view.group is at.state.view.hits.groups[2]
        await at.pilot.press("n")
        assert "no log with hits below" in at.text
        await at.pilot.press("N")
        assert at.state.view.group is at.state.view.hits.groups[1]


async def test_y_copies_the_line_with_its_secrets_masked(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    build.log(tmp_path / "20261127-234500.jsonl", [
        build.meta("20261127-234500", "Keys", 6300),
        build.message("bot", f"export TOKEN={secret}", 6301),
    ])  # fmt: skip
    async with searching(tmp_path) as at:
        await at.find("export TOKEN", 1)
        await at.pilot.press("enter", "y")
        assert "export TOKEN" in at.pilot.app.clipboard
        assert secret not in at.pilot.app.clipboard
        assert "secrets masked" in at.text


async def test_a_new_query_ends_the_search_before(tmp_path: Path) -> None:
    async with searching(tmp_path) as at:
        await at.find("advisory", 21)
        await at.find(" lock held", 1)
        assert [group.entry.title for group in at.state.view.hits.groups] == ["Migrate billing"]


async def test_late_hits_of_a_query_before_are_not_shown(tmp_path: Path) -> None:
    async with searching(tmp_path) as at:
        await at.find("advisory", 21)
        old, entry = at.state.query, at.state.view.hits.entries[0]
        assert old is not None
        at.state.standing = Standing("running")
        at.state.query = old._replace(text="other")
        late = Hit(entry.path, 1, "user", "", None, "", 1, 0, 9, 0, "late", ())
        at.sheet.post_message(SearchSheet.Found(old, Batch((late,), None, {}, {})))
        at.sheet.post_message(SearchSheet.Ended(old))
        await at.pilot.pause()
        assert at.state.view.hits.count == 21
        assert at.state.standing.state == "running"


async def test_what_was_found_is_there_again_when_it_is_opened_again(tmp_path: Path) -> None:
    async with searching(tmp_path) as at:
        await at.find("advisory lock", 21)
        await at.pilot.press("enter", "n", "j", "escape")
        await until(at.pilot, lambda: at.answers == [None], "the sheet left")
        spot, query = at.state.view.spot, at.state.query
        await at.push(word="other")
        assert at.sheet.query_line.text == "advisory lock"
        assert "21 hits in 3 of 3 logs" in at.text
        assert (at.state.view.spot, at.state.query) == (spot, query)
        await at.pilot.press("x")  # all of the query is selected
        assert at.state.text == "x"


async def test_the_word_of_a_find_is_searched_at_once(tmp_path: Path) -> None:
    async with opened(logs(tmp_path)) as (pilot, browser):
        at = Opened(pilot, browser, SearchState())
        await at.push(word="needed")
        await at.done(1)
        assert at.sheet.query_line.text == "needed"


async def test_a_search_that_was_left_goes_on_when_it_is_opened_again(tmp_path: Path) -> None:
    async with searching(tmp_path) as at:
        await at.find("advisory", 21)
        first = at.state.view.hits.entries[0]
        await at.pilot.press("escape")
        await until(at.pilot, lambda: at.answers == [None], "the sheet left")
        # as if it had been left behind the first log
        at.state.standing = Standing("running", Progress(first.path, 0, first.bytes, 0, 3))
        await at.push()
        await at.done(21)


@pytest.mark.parametrize(("size", "begin"), [
    ((120, 36), []), ((80, 24), ["z"]), ((80, 24), ["a", "d", "v", "enter"]),
    ((200, 50), ["a", "d", "v"]), ((120, 36), ["a", "d", "v", "enter", "n"]),
])  # fmt: skip
async def test_every_key_in_every_state_leaves_the_screen_whole(
    tmp_path: Path, size: tuple[int, int], begin: list[str]
) -> None:
    keys = [key.split()[0] for command in commands.COMMANDS
            if commands.SEARCH in command.where for key in command.keys]  # fmt: skip
    names = {"/": "slash", "?": "question_mark"}
    async with searching(tmp_path, size) as at:
        await at.pilot.press(*begin)
        await at.pilot.pause(0.3)
        for key in keys:
            await at.pilot.press(names.get(key, key))
            if at.pilot.app.screen is not at.sheet and not at.answers:
                await at.pilot.press("escape")  # the help
            if at.answers:
                at.answers.clear()
                await at.push()
        lines = at.text.splitlines()
        assert len(lines) == size[1]
        assert not at.sheet.status.warnings


# -- from the browser and back ---------------------------------------------------------------


async def test_a_hit_opens_in_the_browser_and_n_goes_on_from_it(tmp_path: Path) -> None:
    async with opened(logs(tmp_path)) as (pilot, browser):
        await pilot.press("s", *"advisory", "enter")
        sheet = pilot.app.screen
        assert isinstance(sheet, SearchSheet)
        await until(pilot, lambda: "21 hits in 3 of 3 logs · all read" in shown(pilot), "hits")
        await pilot.press("n", "j", "j", "enter")
        await until(pilot, lambda: pilot.app.screen is browser, "the browser")
        assert browser.entry is not None
        assert browser.entry.title == "Migrate billing"
        row = browser.timeline.row
        assert row is not None
        assert row.body.startswith("step 2: the Advisory Lock")
        await until(pilot, lambda: browser.timeline.status.count("hit 3 of 10"), "which hit")
        await until(pilot, lambda: browser.detail.row == row, "the detail")
        pieces = [p for line in browser.detail.lines(*browser.detail.size) for p in line.left]
        assert "Advisory" in [text for text, style in pieces if "bold underline" in style]
        await pilot.press("n")
        await until(pilot, lambda: browser.timeline.status.count("hit 4 of 10"), "the next hit")
        await pilot.press("N", "N")
        await until(pilot, lambda: browser.timeline.status.count("hit 2 of 10"), "the hit before")
        await pilot.press("s")
        assert "21 hits in 3 of 3 logs" in shown(pilot)


async def test_n_in_the_detail_goes_through_its_hits_before_the_next_row(tmp_path: Path) -> None:
    text = "\n".join(f"line {i}" + " here" * (i % 40 == 0) for i in range(120))
    build.log(tmp_path / "20261127-220000.jsonl", [
        build.meta(), build.message("bot", text), build.message("bot", "and here"),
    ])  # fmt: skip
    async with opened(tmp_path) as (pilot, browser):
        await pilot.press("enter", "g", "g", "slash", *"here", "enter", "enter")
        pane = browser.detail
        await until(pilot, lambda: pane.row and pane.row.n == 1, "the row")
        seen = []
        for _ in range(3):
            seen.append(pane.position[0])
            await pilot.press("n")
        assert seen == sorted(set(seen))
        await until(pilot, lambda: pane.row and pane.row.n == 2, "the next row")
