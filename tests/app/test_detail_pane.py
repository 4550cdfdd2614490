"""The pane lays out what it shows, keeps its place, and draws only whole lines."""

from __future__ import annotations

from typing import Any

import build
import pytest
from textual.app import App, ComposeResult

from sessionlog.codec import parse
from sessionlog.formats.native import Native
from sessionlog.framing import split
from sessionlog.needle import Needle
from sessionlog.records import Entry, Span, Status
from tui.rows import Row
from tui.widgets.detail_pane import DetailPane
from tui.widgets.stop_header import StopHeader

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Memory:
    """A log in memory that counts how often it is read."""

    def __init__(self, *lines: bytes) -> None:
        self.data = b"".join(lines)
        self.reads = 0

    def raw(self, span: Span) -> bytes:
        self.reads += 1
        return self.data[span.offset : span.end]

    def row(self, sort: str = "agent", **more: Any) -> Row:
        parsed = [parse(line) for line in split(self.data)]
        records = [r for p in parsed for v, span in p.objects for r in Native().decode(v, span)]
        return Row((0, 0), sort, label=sort, records=tuple(records), **more)


class Panes(App[None]):
    CSS = "StopHeader { height: 3; } DetailPane { height: 1fr; }"

    def compose(self) -> ComposeResult:
        yield StopHeader(now=lambda: build.START)
        yield DetailPane()

    @property
    def pane(self) -> DetailPane:
        return self.query_one(DetailPane)

    def text(self, widget: Any) -> list[str]:
        """What the widget draws, line by line, each exactly as wide as it is."""
        strips = [widget.render_line(y) for y in range(widget.size.height)]
        assert all(strip.cell_length == widget.size.width for strip in strips)
        return ["".join(segment.text for segment in strip).rstrip() for strip in strips]


SIZES = [(80, 24), (120, 36), (200, 50), (60, 15), (30, 8)]


@pytest.mark.parametrize("size", SIZES)
async def test_head_and_last_line_stand_while_the_body_scrolls(size: tuple[int, int]) -> None:
    log = Memory(build.message("bot", "\n".join(f"line {i}" for i in range(300))))
    app = Panes()
    async with app.run_test(size=size) as pilot:
        pane = app.pane
        pane.show(log.row(), log)
        await pilot.pause()
        before = app.text(pane)
        pane.scroll_lines(3)
        after = app.text(pane)
        assert after[-1] == before[-1]
        assert "bytes" in after[-1] or size[0] < 40
        body = [text for text in after if text.startswith(" line ") and "byte" not in text]
        assert body[0] == " line 3"
        pane.scroll_to_end()
        assert any(text == " line 299" for text in app.text(pane))
        pane.scroll_lines(10)
        assert any(text == " line 299" for text in app.text(pane))
        pane.scroll_to_start()
        assert app.text(pane) == before


async def test_a_long_body_is_laid_out_only_as_far_as_it_is_shown() -> None:
    log = Memory(build.message("bot", "word " * 400_000))
    app = Panes()
    async with app.run_test(size=(80, 24)) as pilot:
        app.pane.show(log.row(), log)
        await pilot.pause()
        app.text(app.pane)
        _, laid, is_all = app.pane.position
        assert laid < 50
        assert not is_all


async def test_drawing_again_lays_out_nothing_again() -> None:
    arguments = '{"path":"a","old_string":"x","new_string":"y"}'
    log = Memory(build.request("c", "edit", arguments), build.response("c", "edit", arguments))
    app = Panes()
    async with app.run_test(size=(80, 24)) as pilot:
        app.pane.show(log.row("call"), log)
        await pilot.pause()
        app.text(app.pane)
        reads = log.reads
        app.pane.scroll_lines(1)
        app.text(app.pane)
        assert log.reads == reads


async def test_raw_and_folds_change_what_is_shown_and_a_new_row_starts_afresh() -> None:
    text = "\n".join(f"step {i}" for i in range(100))
    log = Memory(build.request("c"), build.response("c", result=text))
    app = Panes()
    async with app.run_test(size=(80, 40)) as pilot:
        pane = app.pane
        pane.show(log.row("call"), log)
        await pilot.pause()
        assert any("+ 88 lines space" in line for line in app.text(pane))
        pane.toggle_fold()
        assert any(line.strip() == "step 20" for line in app.text(pane))
        pane.toggle_raw()
        assert any('"kind": "message"' in line for line in app.text(pane))
        pane.toggle_fold()
        assert any('{"kind":"message"' in line for line in app.text(pane))
        other = Memory(build.message("user", "Hello."))
        pane.show(other.row("user"), other)
        assert any(line == " Hello." for line in app.text(pane))


async def test_a_live_call_that_gets_its_result_keeps_the_place() -> None:
    log = Memory(build.request("c"), build.response("c", result="\n".join(map(str, range(90)))))
    row = log.row("call")
    app = Panes()
    async with app.run_test(size=(80, 24)) as pilot:
        pane = app.pane
        pane.show(row, log)
        pane.toggle_fold()
        await pilot.pause()
        pane.scroll_lines(5)
        pane.show(log.row("call", outcome="90 lines"), log)
        assert pane.position[0] == 5
        assert pane.is_expanded


def marked(pane: DetailPane) -> list[str]:
    """What is marked in the pane, line by line."""
    found = []
    for line in pane.lines(*pane.size):
        texts = [text for text, style in line.left if "bold underline" in style]
        found += ["".join(texts)] if texts else []
    return found


async def test_hits_are_marked_and_the_first_one_is_shown() -> None:
    text = "\n".join(f"line {i}" for i in range(300))
    log = Memory(build.message("bot", text))
    app = Panes()
    async with app.run_test(size=(80, 24)) as pilot:
        pane = app.pane
        pane.mark(Needle("line 177"))
        pane.show(log.row(), log)
        await pilot.pause()
        assert " line 177" in app.text(pane)
        assert marked(pane) == ["line 177"]
        pane.mark(None)
        assert marked(pane) == []


async def test_the_next_hit_is_gone_to_until_the_row_has_no_more() -> None:
    text = "\n".join(f"line {i}" + " here" * (i in (5, 6, 280, 299)) for i in range(300))
    log = Memory(build.message("bot", text))
    app = Panes()
    async with app.run_test(size=(80, 24)) as pilot:
        pane = app.pane
        pane.mark(Needle("HERE", ignore_case=True))
        pane.show(log.row(), log)
        await pilot.pause()
        assert pane.position[0] == 0  # two of them are seen without a move
        assert marked(pane) == ["here", "here"]
        assert [pane.find_next() for _ in range(4)] == [True, True, True, False]
        assert " line 299 here" in app.text(pane)
        assert [pane.find_prev() for _ in range(4)] == [True, True, True, False]
        assert " line 5 here" in app.text(pane)


async def test_a_hit_that_is_folded_away_unfolds_its_row() -> None:
    text = "\n".join(f"line {i}" for i in range(300))
    log = Memory(build.request("c"), build.response("c", result=text))
    app = Panes()
    async with app.run_test(size=(80, 24)) as pilot:
        pane = app.pane
        pane.mark(Needle("line 150"))
        pane.show(log.row("call"), log)
        await pilot.pause()
        assert marked(pane) == ["line 150"]
        assert pane.is_expanded
        other = Memory(build.message("bot", text))
        pane.show(other.row(), other)
        assert not pane.is_expanded


async def test_a_row_without_the_text_stays_folded_and_at_its_start() -> None:
    log = Memory(build.request("c"), build.response("c", result="\n".join(map(str, range(900)))))
    app = Panes()
    async with app.run_test(size=(80, 24)) as pilot:
        pane = app.pane
        pane.mark(Needle("nowhere"))
        pane.show(log.row("call"), log)
        await pilot.pause()
        app.text(pane)
        assert not pane.is_expanded
        assert pane.position[0] == 0
        assert not pane.find_next()


@pytest.mark.parametrize("sort", ["agent", "user"])
async def test_a_hit_over_the_end_of_a_wrapped_line_is_marked_on_both(sort: str) -> None:
    words = "word " * 9
    log = Memory(
        build.message("bot" if sort == "agent" else "user", f"{words}advisory lock {words}")
    )
    app = Panes()
    async with app.run_test(size=(56, 24)) as pilot:
        pane = app.pane
        pane.mark(Needle("advisory lock"))
        pane.show(log.row(sort), log)
        await pilot.pause()
        assert marked(pane) == ["advisory", "lock"]


async def test_words_of_two_lines_are_no_hit() -> None:
    log = Memory(build.message("user", "the advisory\nlock is one line below"))
    app = Panes()
    async with app.run_test(size=(80, 24)) as pilot:
        pane = app.pane
        pane.mark(Needle("advisory lock"))
        pane.show(log.row("user"), log)
        await pilot.pause()
        assert marked(pane) == []


async def test_a_hit_in_code_of_several_colours_is_marked_whole() -> None:
    arguments = '{"deep":{"path":"a","mode":[1,2]}}'
    log = Memory(build.request("c", "x", arguments), build.response("c", "x", arguments))
    app = Panes()
    async with app.run_test(size=(80, 40)) as pilot:
        pane = app.pane
        pane.mark(Needle('"path": "a"'))
        pane.show(log.row("call"), log)
        await pilot.pause()
        assert marked(pane) == ['"path": "a"']


async def test_an_empty_pane_and_a_pane_without_room_draw_nothing_wrong() -> None:
    app = Panes()
    async with app.run_test(size=(40, 5)) as pilot:
        await pilot.pause()
        assert app.text(app.pane) == ["", ""]
        app.pane.scroll_lines(1)
        app.pane.scroll_to_end()
        assert not app.pane.find_next()


async def test_the_header_shows_title_stop_and_facts_in_the_tint_of_the_status() -> None:
    entry = Entry(id="a", path="a", format="native", title="Fix it", status=Status.COMPLETE,
                  ok=False, stop="Overloaded (529)", started=build.at(0),
                  updated=build.at(60))  # fmt: skip
    app = Panes()
    async with app.run_test(size=(80, 24)) as pilot:
        header = app.query_one(StopHeader)
        await pilot.pause()
        assert app.text(header) == ["", "", ""]
        header.show(entry, ())
        title, first, _ = app.text(header)
        assert title.startswith(" ✗ Fix it")
        assert first.startswith(" Provider overloaded  Overloaded (529)")
        assert [line.tint for line in header.lines(80, 3)][1:] == ["tint-fail", "tint-fail"]
        header.set_active(True)
        assert app.text(header)[0].startswith("▌✗ Fix it")
