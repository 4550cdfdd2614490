"""A page of numbers as Lines: what `stats_page` says, with a cursor over the tools. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from sessionlog import stats_page
from sessionlog.figures import Stats
from sessionlog.stats_page import Said
from tui.lines import Line


def page(stats: Stats, columns: int) -> list[Said]:
    """The page of a pane of so many columns: one is the gutter, one is air."""
    return stats_page.page(stats, columns - 1)


def titled(title: str, about: str) -> Line:
    """The first line of the pane. Visible text."""
    return Line([("▌", "accent"), (title, "fg-1 bold")], [(f"{about} ", "fg-2")], "surface")


def lines_of(said: Sequence[Said], cursor: str | None) -> list[Line]:
    """The page as Lines; `cursor` is the tool that is selected."""
    return [_line(line, cursor) for line in said]


def _line(said: Said, cursor: str | None) -> Line:
    if said.tool is None or said.tool != cursor:
        return Line(said.pieces)
    (margin, style), *rest = said.pieces
    return Line([("▌", "accent"), (margin[1:], f"{style} bold"), *rest], [], "sel")


def tools_of(said: Sequence[Said]) -> list[tuple[int, str]]:
    """Where on the page each tool stands."""
    return [(at, line.tool) for at, line in enumerate(said) if line.tool is not None]


def counting(done: int, whole: int, columns: int) -> list[Line]:
    """What stands there while logs are counted: how far it is."""
    share = min(done / whole, 1.0) if whole else 1.0
    room = max(min(columns - 20, 40), 1)
    cells = round(share * room)
    bar = [("█" * cells, "accent"), ("─" * (room - cells), "line-2")]
    return [Line([]), Line([("  counting ", "fg-2"), *bar, (f" {int(share * 100):3}%", "fg")])]
