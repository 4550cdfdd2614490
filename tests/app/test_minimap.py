"""The map of a run: density over time, the worst of each stretch, and where a click leads."""

from __future__ import annotations

import random
from pathlib import Path

import build
import pytest
from screens import night, opened, shown, until

from sessionlog.formats.native import Native
from sessionlog.marks import Marks
from sessionlog.window import Log
from tui.map_spots import MOST, spots_of
from tui.minimap import Minimap, Spot, axis, pieces
from tui.timeline import Timeline


def evenly(count: int, **more: object) -> list[Spot]:
    return [Spot(i * 100, float(i * 10), **more) for i in range(count)]  # type: ignore[arg-type]


def text(map: Minimap, width: int) -> str:
    return "".join(text for text, _ in pieces(map, width, None))


def test_a_busy_stretch_stands_higher_than_a_quiet_one() -> None:
    spots = [*evenly(10), *(Spot(1000 + i, 99.0 + i / 100) for i in range(40))]
    cells = Minimap(sorted(spots)).cells(10)
    assert cells[9].height == 8
    assert all(0 < cell.height < 8 for cell in cells[:9])


def test_a_long_silence_is_squeezed_and_left_blank() -> None:
    spots = [*evenly(30), *(Spot(5000 + i, 300.0 + 8 * 3600 + i * 10) for i in range(30))]
    places = axis(spots)
    gap, whole = places[30] - places[29], places[-1]
    assert gap < whole / 15
    assert text(Minimap(spots), 60).count(" ") >= 2


def test_one_error_is_seen_whatever_stands_beside_it() -> None:
    spots = evenly(1000)
    spots[500] = spots[500]._replace(sign="fail", troubles=1)
    assert text(Minimap(spots), 40).count("✗") == 1


def test_the_worst_of_a_cell_is_shown() -> None:
    signs = ["", "summary", "fail", "open", "bytes"]
    spots = [Spot(i, float(i), sign=sign) for i, sign in enumerate(signs)] + [Spot(99, 30.0)]
    assert Minimap(spots).cells(3)[0].sign == "bytes"


def test_a_run_with_errors_everywhere_shows_where_there_are_more() -> None:
    spots = evenly(100, weight=10, sign="fail", troubles=1)
    spots[50] = spots[50]._replace(troubles=9)
    shown = text(Minimap(spots), 100)
    assert 0 < shown.count("✗") <= 34
    assert shown[50] == "✗"


@pytest.mark.parametrize("time", [None, 5.0])
def test_without_times_that_differ_the_place_in_the_file_stands_for_them(
    time: float | None,
) -> None:
    spots = [Spot(i * 10, time) for i in range(10)]
    assert [cell.height > 0 for cell in Minimap(spots).cells(10)] == [True] * 10


def test_times_that_go_back_or_are_missing_keep_the_order() -> None:
    rng = random.Random(3)
    for _ in range(200):
        spots = [Spot(i, rng.choice([None, rng.random() * 100, float("1e9")])) for i in range(20)]
        places = axis(spots)
        assert places == sorted(places)
        assert places[0] == 0
        assert sum(cell.height > 0 for cell in Minimap(spots).cells(7)) > 0


def test_a_first_line_that_is_younger_than_the_rest_does_not_flatten_the_map() -> None:
    spots = [Spot(0, 5000.0), *(Spot(i * 9, float(i)) for i in range(1, 50))]
    assert [cell.height > 0 for cell in Minimap(spots).cells(10)] == [True] * 10


def test_a_clock_that_was_set_back_at_the_end_does_not_either() -> None:
    spots = [*(Spot(i * 9, float(i)) for i in range(50)), Spot(999, 0.0)]
    assert [cell.height > 0 for cell in Minimap(spots).cells(10)] == [True] * 10


def test_a_click_on_a_record_leads_to_it() -> None:
    rng = random.Random(4)
    spots = sorted(Spot(i * 7, rng.random() * 1000) for i in range(50))
    map = Minimap([spot._replace(time=float(i)) for i, spot in enumerate(spots)])
    for width in (1, 3, 40, 200):
        for column, cell in enumerate(map.cells(width)):
            if cell.height:
                assert map.column(map.offset_at(column, width), width) == column


def test_no_spot_is_no_map() -> None:
    assert not Minimap([])
    assert not Minimap([Spot(0, 1.0)])


def test_a_big_log_is_mapped_by_its_counted_chunks(tmp_path: Path) -> None:
    lines = [build.meta("big", "Big")]
    lines += [build.message("bot", "x" * 3000, seconds=i) for i in range(600)]
    lines.insert(300, build.message("bot", "worse", 300) + b"{torn\n")
    log = Log(str(build.log(tmp_path / "big.jsonl", lines)), Native())
    timeline = Timeline(log, Marks(Native()))
    assert spots_of(timeline) == []
    timeline.marks.scan(log.strip, rest=lambda: None)
    spots = spots_of(timeline)
    assert 20 < len(spots) <= MOST
    assert [spot.offset for spot in spots] == sorted(spot.offset for spot in spots)
    assert sum(spot.troubles for spot in spots) >= 1
    assert [spot.sign for spot in spots].count("fail") == 1


@pytest.mark.anyio
async def test_the_map_shows_the_error_and_a_click_goes_there(tmp_path: Path) -> None:
    lines = [build.meta("m", "Map")]
    lines += [build.message("bot", f"line {i}", seconds=i) for i in range(1, 200)]
    lines[100] = build.request("c", seconds=100) + build.response("c", failure="no", seconds=100)
    build.log(tmp_path / "m.jsonl", lines)
    async with opened(tmp_path / "m.jsonl") as (pilot, browser):
        await until(pilot, lambda: "22:00 " in shown(pilot), "the map")
        row = next(i for i, line in enumerate(shown(pilot).splitlines()) if "22:00" in line[:8])
        column = shown(pilot).splitlines()[row].index("✗")
        await pilot.click(browser.map, offset=(column, 0))
        await until(pilot, lambda: browser.timeline.row and "✗" in shown(pilot))
        assert browser.timeline.row
        assert abs((browser.timeline.row.n or 0) - 100) < 5


@pytest.mark.anyio
async def test_the_map_leaves_where_there_is_no_room(tmp_path: Path) -> None:
    async with opened(night(tmp_path), size=(80, 19)) as (pilot, browser):
        await pilot.pause()
        assert browser.map.size.height == 0
