"""The timeline pane: scrolling, following, looking for rows; driven as a person would."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC
from pathlib import Path

import build
import pytest
from screens import until
from textual import events
from textual.app import App, ComposeResult
from textual.message import Message
from textual.pilot import Pilot

from sessionlog.formats.native import Native
from sessionlog.window import Log
from tui.lines import fitted
from tui.timeline import Timeline
from tui.viewport import Viewport
from tui.widgets import timeline_told as told
from tui.widgets.timeline_view import TimelineView

pytestmark = pytest.mark.anyio
SIZE = (80, 24)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Pane(App[None]):
    """A timeline and nothing else; keeps what it says."""

    def __init__(self, path: Path, alive: bool | None = False) -> None:
        super().__init__()
        self.log_file = Log(str(path), Native())
        self.alive = alive
        self.heard: list[Message] = []
        self.view = TimelineView(now=lambda: build.START.timestamp() + 120, zone=UTC)

    def compose(self) -> ComposeResult:
        yield self.view

    def on_mount(self) -> None:
        self.view.open(self.log_file, self.alive)
        self.view.focus()

    def on_told(self, message: told.Told) -> None:
        self.heard.append(message)

    def on_row_moved(self, message: told.RowMoved) -> None:
        self.heard.append(message)

    def on_follow_changed(self, message: told.FollowChanged) -> None:
        self.heard.append(message)

    def on_found_count(self, message: told.FoundCount) -> None:
        self.heard.append(message)

    def said(self, kind: type) -> list[Message]:
        return [message for message in self.heard if isinstance(message, kind)]


def screen(view: TimelineView) -> list[str]:
    width, height = view.size
    return ["".join(t for t, _ in fitted(line, width)) for line in view.lines(width, height)]


def cursor_line(view: TimelineView) -> int:
    return next(i for i, text in enumerate(screen(view)) if text.startswith("▌"))


def body(view: TimelineView) -> str:
    assert view.row is not None
    return view.row.body


async def settled(pilot: Pilot[None], view: TimelineView) -> None:
    """Until nothing is being looked for."""
    await pilot.pause()
    await until(pilot, lambda: not view.progress, "found")


def numbered(count: int) -> list[bytes]:
    return [build.message("bot", f"line {i}", i) for i in range(1, count + 1)]


def append(path: Path, *lines: bytes) -> None:
    with path.open("ab") as file:
        file.write(b"".join(lines))


# -- scrolling ---------------------------------------------------------------------------------


async def test_a_log_opens_at_its_end_with_the_cursor_on_the_last_row(tmp_path: Path) -> None:
    app = Pane(build.log(tmp_path / "a.jsonl", numbered(500)))
    async with app.run_test(size=SIZE):
        shown = screen(app.view)
        assert "end of log" in shown[-1]
        assert "line 500" in shown[-2]
        assert shown[-2].startswith("▌")
        assert "line 478" in shown[0]
        assert app.view.following


async def test_a_short_log_begins_at_the_top(tmp_path: Path) -> None:
    app = Pane(build.log(tmp_path / "a.jsonl", numbered(3)))
    async with app.run_test(size=SIZE):
        assert ["line 1" in screen(app.view)[0], len(screen(app.view))] == [True, 4]


async def test_the_pane_scrolls_no_more_than_the_cursor_needs(tmp_path: Path) -> None:
    app = Pane(build.log(tmp_path / "a.jsonl", numbered(500)))
    async with app.run_test(size=SIZE):
        view = app.view
        for _ in range(22):
            view.cursor_up()
        before = screen(view)
        assert cursor_line(view) == 0
        view.cursor_up()
        assert cursor_line(view) == 0
        assert screen(view)[1][1:] == before[0][1:]
        view.cursor_down(3)
        assert cursor_line(view) == 3
        assert "line 477" in screen(view)[0]


async def test_page_keys_go_through_all_rows_and_back(tmp_path: Path) -> None:
    app = Pane(build.log(tmp_path / "a.jsonl", numbered(300)))
    async with app.run_test(size=SIZE):
        view = app.view
        view.home()
        seen = set(screen(view))
        for _ in range(40):
            view.page_down()
            assert len(screen(view)) == 24
            seen |= set(screen(view))
        assert {i for i in range(1, 301) if any(f" line {i} " in text for text in seen)} == set(
            range(1, 301)
        )
        assert view.following
        for _ in range(40):
            view.page_up()
        assert body(view) == "line 1"
        assert "line 1 " in screen(view)[0]


async def test_home_and_end_go_to_both_ends(tmp_path: Path) -> None:
    app = Pane(build.log(tmp_path / "a.jsonl", numbered(3000)))
    async with app.run_test(size=SIZE):
        app.view.home()
        assert body(app.view) == "line 1"
        assert not app.view.following
        app.view.end()
        assert body(app.view) == "line 3000"
        app.view.cursor_down()
        assert body(app.view) == "line 3000"
        assert "end of log" in screen(app.view)[-1]


async def test_the_cursor_row_keeps_its_place_when_the_size_changes(tmp_path: Path) -> None:
    app = Pane(build.log(tmp_path / "a.jsonl", numbered(500)))
    async with app.run_test(size=SIZE) as pilot:
        view = app.view
        view.cursor_up(100)
        view.cursor_down(10)
        where, what = cursor_line(view), body(view)
        await pilot.resize_terminal(120, 36)
        await pilot.pause()
        assert (cursor_line(view), body(view)) == (where, what)
        await pilot.resize_terminal(60, 8)
        await pilot.pause()
        assert body(view) == what
        assert cursor_line(view) < 8


async def test_the_end_stays_at_the_bottom_when_the_size_changes(tmp_path: Path) -> None:
    app = Pane(build.log(tmp_path / "a.jsonl", numbered(500)))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.resize_terminal(100, 40)
        await pilot.pause()
        assert "end of log" in screen(app.view)[-1]
        assert len(screen(app.view)) == 40


async def test_rows_of_several_lines_scroll_line_by_line_at_the_edge(tmp_path: Path) -> None:
    lines = [build.message("user", f"{i} " + "word " * 40) for i in range(40)]
    app = Pane(build.log(tmp_path / "a.jsonl", lines))
    async with app.run_test(size=SIZE):
        view = app.view
        assert len(screen(view)) == 24
        assert cursor_line(view) == 20
        for _ in range(60):
            view.cursor_up()
            assert len(screen(view)) == 24
        assert body(view).startswith("0 ")
        assert cursor_line(view) == 0


async def test_a_click_selects_and_the_wheel_scrolls(tmp_path: Path) -> None:
    app = Pane(build.log(tmp_path / "a.jsonl", numbered(500)))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.click(TimelineView, offset=(30, 4))
        assert body(app.view) == "line 482"
        assert cursor_line(app.view) == 4
        view = app.view
        view.post_message(events.MouseScrollUp(view, 1, 1, 0, -1, 0, False, False, False))
        await pilot.pause()
        assert "line 475" in screen(view)[0]


async def test_what_moves_the_cursor_says_so_once(tmp_path: Path) -> None:
    app = Pane(build.log(tmp_path / "a.jsonl", numbered(50)))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        app.heard.clear()
        app.view.cursor_up()
        app.view.cursor_down(0)
        app.view.cursor_down()
        app.view.cursor_down()
        await pilot.pause()
        moved = app.said(told.RowMoved)
        assert [message.row.body for message in moved] == ["line 49", "line 50"]  # type: ignore[attr-defined]
        assert [m.following for m in app.said(told.FollowChanged)] == [False, True]  # type: ignore[attr-defined]


# -- a log that grows --------------------------------------------------------------------------


async def test_at_the_end_the_cursor_follows(tmp_path: Path) -> None:
    path = build.log(tmp_path / "a.jsonl", numbered(100))
    app = Pane(path, alive=True)
    async with app.run_test(size=SIZE):
        append(path, build.message("bot", "fresh", 200))
        assert app.view.grown().kind == "grew"
        shown = screen(app.view)
        assert "fresh" in shown[-2]
        assert "still writing" in shown[-1]
        assert app.view.fresh == 0


async def test_scrolled_away_nothing_moves_and_what_is_new_is_counted(tmp_path: Path) -> None:
    path = build.log(tmp_path / "a.jsonl", numbered(100))
    app = Pane(path, alive=True)
    async with app.run_test(size=SIZE):
        view = app.view
        view.cursor_up(50)
        before = screen(view)
        append(path, build.message("bot", "fresh", 200), build.message("bot", "and more", 201))
        view.grown()
        after = screen(view)
        assert after[:-1] == before[:-1]
        assert "2 new below" in after[-1]
        view.end()
        assert view.fresh == 0
        assert "and more" in screen(view)[-2]


async def test_a_response_that_comes_later_completes_its_row(tmp_path: Path) -> None:
    path = build.log(tmp_path / "a.jsonl", [*numbered(5), build.request("c1", seconds=60)])
    app = Pane(path, alive=True)
    async with app.run_test(size=SIZE):
        running = next(text for text in screen(app.view) if "►" in text)
        assert "1m" in running
        append(path, build.response("c1", result="a\nb\nc", seconds=63))
        app.view.grown()
        assert not any("►" in text for text in screen(app.view))
        assert any("✓ shell" in text and "3 lines" in text for text in screen(app.view))


async def test_a_writer_that_dies_leaves_the_call_open(tmp_path: Path) -> None:
    app = Pane(build.log(tmp_path / "a.jsonl", [build.request("c1")], b'{"ki'), alive=True)
    async with app.run_test(size=SIZE):
        assert any("half a line so far" in text for text in screen(app.view))
        app.view.judge(False)
        shown = "\n".join(screen(app.view))
        assert "no result" in shown
        assert "torn last line" in shown
        assert "writer gone" in shown


async def test_a_log_that_was_replaced_is_shown_anew(tmp_path: Path) -> None:
    path = build.log(tmp_path / "a.jsonl", numbered(100))
    app = Pane(path)
    async with app.run_test(size=SIZE):
        build.log(tmp_path / "b.jsonl", [build.message("user", "another")]).replace(path)
        assert app.view.grown().kind == "replaced"
        assert "another" in screen(app.view)[0]


# -- looking for rows --------------------------------------------------------------------------


def troubled() -> list[bytes]:
    lines = numbered(400)
    lines[30:30] = [build.request("a"), build.response("a", failure="Error: first")]
    lines[200:200] = [build.message("user", "Really?"), build.reset()]
    lines[300:300] = [b"not json\n"]
    return lines


async def test_trouble_turns_and_resets_are_a_key_away(tmp_path: Path) -> None:
    app = Pane(build.log(tmp_path / "a.jsonl", troubled()))
    async with app.run_test(size=SIZE) as pilot:
        view = app.view
        met: list[str] = []
        looks: list[Callable[[], None]] = [
            lambda: view.next_trouble(False), lambda: view.next_trouble(False),
            view.next_user, lambda: view.next_reset(), lambda: view.next_trouble(),
        ]  # fmt: skip
        for look in looks:
            look()
            await settled(pilot, view)
            assert view.row is not None
            met.append(view.row.sort)
        assert met == ["damage", "call", "user", "reset", "damage"]


async def test_when_there_is_no_more_it_says_so_and_stays(tmp_path: Path) -> None:
    app = Pane(build.log(tmp_path / "a.jsonl", numbered(100)))
    async with app.run_test(size=SIZE) as pilot:
        app.view.next_trouble()
        await settled(pilot, app.view)
        assert [message.text for message in app.said(told.Told)] == ["no error below"]  # type: ignore[attr-defined]
        assert body(app.view) == "line 100"


async def test_text_is_found_counted_and_marked(tmp_path: Path) -> None:
    app = Pane(build.log(tmp_path / "a.jsonl", numbered(3000)))
    async with app.run_test(size=SIZE) as pilot:
        view = app.view
        view.home()
        view.find("line 29")
        await settled(pilot, view)
        assert body(view) == "line 29"
        view.find_next()
        await settled(pilot, view)
        assert body(view) == "line 290"
        view.find_next(False)
        await settled(pilot, view)
        assert body(view) == "line 29"
        counts = app.said(told.FoundCount)
        assert [(m.count, m.done) for m in counts][-1] == (111, True)  # type: ignore[attr-defined]
        marked = [t for line in view.lines(80, 24) for t, s in line.left if "underline" in s]
        assert marked == ["line 29"]


async def test_a_key_ends_a_long_look(tmp_path: Path) -> None:
    app = Pane(build.log(tmp_path / "a.jsonl", numbered(100)))
    async with app.run_test(size=SIZE) as pilot:
        view = app.view
        view._search.start((0.5 for _ in iter(int, 1)), "needle", True)
        assert view.progress == "looking 50%"
        view.cursor_up()
        assert view.progress == ""
        await pilot.pause()
        assert body(view) == "line 99"


@pytest.mark.parametrize(("to", "found"), [
    ("1", "line 1"), ("143", "line 143"), ("0%", "line 1"), ("100%", "line 500"),
    ("22:01", "line 60"), ("22:01:30", "line 90"), ("-1m", "line 240"), ("+99d", "line 500"),
    ("9999", "no message 9999"), ("garbage", "no place like garbage"),
])  # fmt: skip
async def test_a_place_is_gone_to(tmp_path: Path, to: str, found: str) -> None:
    app = Pane(build.log(tmp_path / "a.jsonl", numbered(500)))
    async with app.run_test(size=SIZE) as pilot:
        made = app.view.timeline
        assert made is not None
        await until(pilot, lambda: made.marks.complete(made.log.size), "counted")
        app.view.goto("300")
        app.view.goto(to)
        await pilot.pause()
        answers = app.said(told.Told)
        text = answers[-1].text if answers else body(app.view)  # type: ignore[attr-defined]
        assert text.startswith(found)


# -- filters, folds, clock ---------------------------------------------------------------------


async def test_a_filter_keeps_the_cursor_near_and_all_brings_it_back(tmp_path: Path) -> None:
    app = Pane(build.log(tmp_path / "a.jsonl", troubled()))
    async with app.run_test(size=SIZE):
        view = app.view
        view.goto("150")
        view.set_filter("errors")
        assert [text[15] for text in screen(view)] == ["✗", " ", "▒", " ", "─"]
        assert "only errors" in view.status
        view.set_filter("all")
        assert view.row is not None
        assert view.row.label == "shell"
        view.set_filter("tool", "nothing")
        assert len(screen(view)) == 1


async def test_folds_open_and_close(tmp_path: Path) -> None:
    app = Pane(build.log(tmp_path / "a.jsonl", troubled()))
    async with app.run_test(size=SIZE):
        view = app.view
        view.home()
        view.less()
        assert screen(view)[0][15] == "+"
        view.toggle_fold()
        assert "line 1" in screen(view)[1]
        view.cursor_down(4)
        view.toggle_fold()
        assert view.row is not None
        assert view.row.sort == "fold"
        view.more()
        assert body(view) == "line 1"


async def test_space_shows_the_whole_of_a_long_prompt(tmp_path: Path) -> None:
    lines = [build.message("user", "word " * 100), *numbered(5)]
    app = Pane(build.log(tmp_path / "a.jsonl", lines))
    async with app.run_test(size=SIZE):
        view = app.view
        view.home()
        assert sum("word" in text for text in screen(view)) == 3
        view.toggle_fold()
        assert sum("word" in text for text in screen(view)) > 6
        view.toggle_fold()
        assert sum("word" in text for text in screen(view)) == 3


async def test_the_clock_turns(tmp_path: Path) -> None:
    app = Pane(build.log(tmp_path / "a.jsonl", numbered(65)))
    async with app.run_test(size=SIZE):
        assert "22:01:05" in screen(app.view)[-2]
        app.view.toggle_clock()
        assert app.view.clock.name == "since start"
        assert "00:01:04" in screen(app.view)[-2]


async def test_a_log_that_had_nothing_yet_counts_from_its_first_record(tmp_path: Path) -> None:
    app = Pane(build.log(tmp_path / "a.jsonl", []))
    async with app.run_test(size=SIZE):
        app.view.toggle_clock()
        build.log(tmp_path / "a.jsonl", numbered(65))
        app.view.grown()
        assert "00:01:04" in screen(app.view)[-2]


async def test_an_empty_log_and_no_log_do_nothing(tmp_path: Path) -> None:
    app = Pane(build.log(tmp_path / "a.jsonl", []))
    async with app.run_test(size=SIZE):
        view = app.view
        for _ in range(2):
            for act in (
                view.cursor_down, view.cursor_up, view.page_down, view.page_up, view.home,
                view.end, view.next_trouble, view.next_user, view.next_reset, view.find_next,
                view.toggle_fold, view.more, view.less, view.toggle_clock, view.toggle_follow,
                view.half_page_up, view.half_page_down, view.grown,
            ):  # fmt: skip
                act()
            view.find("x")
            view.goto("7")
            view.set_filter("errors")
            view.judge(True)
            screen(view)
            view.close()


# -- the pure part -----------------------------------------------------------------------------


def test_any_walk_leaves_a_full_pane_with_the_cursor_in_it(tmp_path: Path) -> None:
    lines = [
        build.message("user" if i % 7 == 0 else "bot", f"{i} " + "word " * (i % 50), i * 100)
        for i in range(400)
    ]
    log = Log(str(build.log(tmp_path / "a.jsonl", lines)), Native())
    port = Viewport(Timeline(log), 70, 20)
    port.end()
    steps = [-1, 5, -40, 20, -19, 3, 300, -500, 1, 7, -2, 60]
    for i in range(400):
        step = steps[i * 7 % len(steps)]
        if i % 3:
            port.scroll(step)
        else:
            port.move(step)
        if i % 11 == 0:
            port.resize(60 + i % 70, 5 + i % 30)
        seen = port.seen
        assert seen[-1].y + seen[-1].height >= port.height
        assert seen[0].y <= 0
        cursor = next(s for s in seen if s.pos == port.cursor)
        assert cursor.y >= 0 or cursor.height > port.height
        assert cursor.y + cursor.height <= port.height or cursor.y == 0
