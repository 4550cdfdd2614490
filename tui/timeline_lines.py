"""The timeline pane as lines, and what the status line says of it. Pure.

Drawing costs what is shown: the rows of the pane and nothing more.
"""

from __future__ import annotations

from sessionlog.needle import Needle
from sessionlog.text import took
from tui.lines import Line
from tui.row_lines import Clock, Look, lines_of
from tui.rows import Row
from tui.timeline import Timeline
from tui.viewport import Viewport
from tui.words import seconds_of


def pane_lines(
    view: Viewport, clock: Clock, *, focused: bool, needle: Needle | None, now: float
) -> list[Line]:
    """The lines of the pane, from the top; `now` (POSIX seconds) tells how long a call runs."""
    drawn: list[Line] = []
    above = ""
    columns, short = view.columns, view.columns.clock == 5
    for seen in view.seen:
        row = seen.row
        look = Look(
            columns, clock, above, seen.pos == view.cursor, focused,
            row.place in view.opened, needle, _elapsed(row, now),
        )  # fmt: skip
        made = lines_of(row, look)
        drawn += made[-seen.y :] if seen.y < 0 else made
        above = clock.tell(row.at, short) or above
    return drawn[: view.height] or _nothing(view.timeline)


def _elapsed(row: Row, now: float) -> str:
    if row.sign != "run" or row.sort != "call":
        return ""
    since = seconds_of(row.at)
    return took(max(now - since, 0)) if since is not None else ""


def _nothing(timeline: Timeline) -> list[Line]:
    words = timeline.filter.words
    if not words:
        return [Line([]), Line([("  nothing was written to this log", "fg-2")])]
    left = [(f"  no rows · {words} · ", "fg-2"), ("o a", "fg-1 bold"), (" shows all", "fg-2")]
    return [Line([]), Line(left)]


def news(fresh: int) -> Line:
    """What came below while the cursor was elsewhere."""
    left = [("▼ ", "run"), (f"{fresh:,} new", "run bold"), (" below", "fg-2")]
    return Line(left, [("G", "fg-1 bold"), (" back to the end ", "fg-2")], "tint-run")


def facts(timeline: Timeline, row: Row | None, progress: str = "") -> list[str]:
    """For the status line: place, context, what is folded, what is going on."""
    marks = timeline.marks
    counted = marks.complete(timeline.log.size)
    total = f"{marks.messages:,}" + ("" if counted else "+")
    found = [f"{row.n:,} of {total}" if row and row.n else f"{total} messages"]
    if not counted and timeline.chunks:
        found.append(f"counting {len(marks) / timeline.chunks:.0%}")
    found += [timeline.filter.words, progress]
    if timeline.contexts.horizon:
        found.append(f"{timeline.messages_in_context():,} still in context")
    if timeline.level == "loud" and timeline.filter.what == "all" and marks.quiet:
        found.append(f"{marks.quiet:,} quiet row{'s' if marks.quiet > 1 else ''} folded")
    return [fact for fact in found if fact]
