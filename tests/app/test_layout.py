"""Where the panes are."""

from __future__ import annotations

from itertools import combinations, product

import pytest
from textual.geometry import Size

from tui.layout import NARROW, View, regions

SIZES = [
    Size(w, h) for w, h in product((60, 80, 99, 100, 120, 159, 160, 200, 300), (15, 24, 36, 50))
]
VIEWS = [
    View(focus, zoomed, has_list, has_log, live, asks)
    for focus, zoomed, has_list, has_log, live, asks in product(
        ("list", "timeline", "detail"), *[(False, True)] * 5
    )
    if has_list or focus != "list"
]


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_panes_are_inside_the_screen_and_never_on_each_other(size: Size) -> None:
    for view in VIEWS:
        found = regions(size, view)
        for region in found.values():
            assert region.width > 0
            assert region.height > 0
            assert region in size.region
        for one, other in combinations(found.values(), 2):
            assert not one.overlaps(other), (view, found)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_only_columns_between_panes_stay_uncovered(size: Size) -> None:
    for view in VIEWS:
        covered = sum(region.area for region in regions(size, view).values())
        uncovered = size.area - covered
        assert uncovered in (0, size.height - 3, 2 * (size.height - 3)), view


def test_the_focused_pane_is_seen() -> None:
    for size, view in product(SIZES, VIEWS):
        if view.has_log:
            assert view.focus in regions(size, view)


def test_a_narrow_screen_shows_one_pane() -> None:
    for focus in ("list", "timeline", "detail"):
        shown = set(regions(Size(NARROW - 1, 24), View(focus)))
        assert shown & {"list", "timeline", "detail"} == {focus}


def test_wide_screens_show_three_panes_side_by_side() -> None:
    shown = regions(Size(200, 50), View())
    assert shown["list"].width == 46
    assert shown["detail"].width == 66
    assert shown["timeline"].width == 86
    assert shown["detail"].y == shown["list"].y == 1


def test_a_middle_screen_has_the_detail_below_the_timeline() -> None:
    shown = regions(Size(120, 36), View())
    assert shown["list"].width == 40
    assert shown["timeline"].width == 79
    assert shown["detail"].height == 11
    assert regions(Size(120, 36), View(live=True))["detail"].height == 9


def test_one_log_alone_has_no_list() -> None:
    shown = regions(Size(120, 36), View("timeline", has_list=False))
    assert "list" not in shown
    assert shown["timeline"].width == 120


def test_too_small_a_screen_shows_one_line_that_asks_for_more() -> None:
    assert set(regions(Size(59, 24), View())) == {"bar"}
    assert set(regions(Size(80, 14), View())) == {"bar"}
