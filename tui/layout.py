"""Where the panes are: a pure function of the size and of what has the focus.

Only the column between two panes stays uncovered; the screen draws a line there.
"""

from __future__ import annotations

from dataclasses import dataclass

from textual.geometry import NULL_OFFSET, NULL_SPACING, Region, Size
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.widget import Widget

SMALLEST = Size(60, 15)
NARROW, WIDE = 100, 160
"""Columns: below, one pane at a time; from there on, three side by side."""


@dataclass(frozen=True, slots=True)
class View:
    """What decides the layout beside the size."""

    focus: str = "list"
    zoomed: bool = False
    has_list: bool = True
    """False when the program was opened on one log."""
    has_log: bool = True
    """False while no session is open: the list takes the whole width."""
    live: bool = False
    asks: bool = False
    """The prompt stands in the status line's place."""


def regions(size: Size, view: View) -> dict[str, Region]:
    """Name of each visible part and where it is; what is not in it is not shown."""
    width, height = size
    if width < SMALLEST.width or height < SMALLEST.height:
        return {"bar": Region(0, 0, width, height)}
    shown = {
        "bar": Region(0, 0, width, 1),
        "prompt" if view.asks else "status": Region(0, height - 2, width, 1),
        "keys": Region(0, height - 1, width, 1),
    }
    body = Region(0, 1, width, height - 3)
    if not view.has_log:
        return shown | {"list": body}
    if view.zoomed or width < NARROW:
        return shown | _single(body, view)
    return shown | _side_by_side(body, view)


def _single(body: Region, view: View) -> dict[str, Region]:
    """One pane at a time."""
    if view.focus == "detail":
        return {"detail": body}
    if view.focus == "timeline":
        return _under_header(body)
    if view.zoomed and body.width >= NARROW:
        return {"list": body}
    pane, foot = body.split_horizontal(body.height - _head_lines(body))
    return {"list": pane, **_head(foot)}


def _head_lines(body: Region) -> int:
    """Lines of an open session's head: below twenty rows its map goes, then the facts."""
    return 4 if body.height > 16 else 3 if body.height > 13 else 2


def _head(area: Region) -> dict[str, Region]:
    """Title, stop, facts; the map."""
    if area.height < 4:
        return {"header": area}
    header, line = area.split_horizontal(3)
    return {"header": header, "map": line}


def _under_header(body: Region) -> dict[str, Region]:
    head, timeline = body.split_horizontal(_head_lines(body))
    return {**_head(head), "timeline": timeline}


def _side_by_side(body: Region, view: View) -> dict[str, Region]:
    parts: dict[str, Region] = {}
    wide = body.width >= WIDE
    if view.has_list:
        column = 46 if wide else 40
        parts["list"] = Region(0, body.y, column, body.height)
        body = Region(column + 1, body.y, body.width - column - 1, body.height)
    if wide:
        left, parts["detail"] = body.split_vertical(body.width - 66)
        return parts | _under_header(Region(left.x, left.y, left.width - 1, left.height))
    rows = min(9 if view.live else 11, body.height // 3)
    upper, parts["detail"] = body.split_horizontal(body.height - rows)
    return parts | _under_header(upper)


class PaneLayout(Layout):
    """Places the children of the browser by their ids."""

    name = "panes"

    def __init__(self, view: View) -> None:
        self.view = view

    def arrange(
        self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True
    ) -> ArrangeResult:
        """The placements of the children that `regions` shows."""
        shown = regions(size, self.view)
        return [
            WidgetPlacement(shown[child.id], NULL_OFFSET, NULL_SPACING, child)
            for child in children
            if child.id in shown
        ]
