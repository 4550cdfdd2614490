"""Two runs beside each other as lines of a pane. Pure.

What both share recedes; where they differ stands out. Of two alike rows only what is not the same
on both sides stands out.
"""

from __future__ import annotations

from typing import NamedTuple

from sessionlog.compare import Part, Side
from sessionlog.facing import shared
from sessionlog.records import Entry, Status
from sessionlog.text import clip, one_line, pad, took, visible, width
from tui.lines import Line, Piece, cut, fitted
from tui.row_lines import Clock, Columns, Look, lines_of
from tui.rows import Row
from tui.signs import COLOURS, SIGNS, state_of

MARKS = ("◂", "▸")
"""Left and right, where they stand under each other."""
_SEEN = 200
Rows = tuple[Row | None, Row | None]


class Cursor(NamedTuple):
    """Where the cursor is on a line."""

    side: int
    focused: bool


class Page(NamedTuple):
    """What the lines are drawn for."""

    wide: bool
    width: int
    digits: int
    """Columns of the numbers."""
    clocks: tuple[Clock, Clock]
    """Of the left and of the right: each may count from its own start."""

    @property
    def halves(self) -> tuple[int, int]:
        """Columns of the left and of the right side; one is between them."""
        left = (self.width - 1) // 2
        return left, self.width - left - 1


# -- the head ----------------------------------------------------------------------------------


def head(
    page: Page, entries: tuple[Entry, Entry], sides: tuple[Side, Side] | None, focused: bool
) -> list[Line]:
    """Who is compared, how each ended, and what is counted of each."""
    gutter: list[Piece] = [("▌", "accent") if focused else (" ", "")]
    counts = tuple(map(_counts, sides)) if sides is not None else ("", "")
    if not page.wide:
        name = [*gutter, ("Compare", "fg-1 bold" if focused else "fg-2")]
        made = [Line(name, [(f"{MARKS[0]} left  {MARKS[1]} right ", "fg-3")], "surface")]
        for mark, entry, count in zip(MARKS, entries, counts, strict=True):
            made.append(Line([(f" {mark} ", "fg-2"), *_titled(entry)], [(f" {count} ", "fg-3")]))
            made.append(Line([("   ", ""), _ended(entry)]))
        return made
    titles = (
        [*gutter, ("Compare  ", "fg-2"), *_titled(entries[0])],
        [*_air(), *_titled(entries[1])],
    )
    ended = [[*_air(), _ended(entry)] for entry in entries]
    told = [[(f" {count}", "fg-3")] for count in counts]
    return [
        _halved(page, titles[0], titles[1], "surface"),
        _halved(page, ended[0], ended[1]),
        _halved(page, told[0], told[1]),
    ]


def _air() -> list[Piece]:
    return [(" ", "")]


def _titled(entry: Entry) -> list[Piece]:
    title = one_line(entry.title[:_SEEN]) or visible(entry.id[:_SEEN])
    origin = entry.forked_from
    at = f"@{origin.at}" if origin is not None and origin.at is not None else "@end"
    born: list[Piece] = [(f"{at} ", "accent")] if origin or entry.resumed_from else []
    return [SIGNS[state_of(entry)], (" ", ""), *born, (title, "fg-1 bold")]


def _ended(entry: Entry) -> Piece:
    """How it stands, in the colour of that."""
    state = state_of(entry)
    stop = entry.failure or entry.stop
    said = one_line((stop if entry.status else entry.reason or "")[:_SEEN])
    lead = {
        "fail": "Failed", "open": "Unfinished", "torn": "Last line torn", "run": "Running",
        "ok": "Done", "amiss": "Done", "ended": "Ended", "nolog": "No log",
    }[state]  # fmt: skip
    if entry.status is Status.COMPLETE and said.lower() in ("done", lead.lower()):
        said = ""
    return (f"{lead}: {said}" if said else lead), COLOURS.get(state, "fg-2")


def _counts(side: Side) -> str:
    said = [f"{len(side):,} messages", f"{side.calls:,} calls"]
    said += [f"{side.errors:,} error{'s' * (side.errors != 1)}"] if side.errors else []
    if side.seconds is not None:
        said.append(took(max(side.seconds, 0)))
    return " · ".join(said)


def _halved(page: Page, left: list[Piece], right: list[Piece], tint: str = "") -> Line:
    """Both sides on one line."""
    first = fitted(Line(left), page.halves[0])
    return Line([*first, ("│", "line"), *cut(right, page.halves[1])], tint=tint)


def summary(said: str, columns: int) -> list[Line]:
    """What they share and where they part, between the head and the rows."""
    return [
        Line([(f" {clip(said, max(columns - 2, 1))}", "fg")]),
        Line([("─" * columns, "line")]),
    ]


# -- the rows ----------------------------------------------------------------------------------


def fold(part: Part, page: Page, cursor: Cursor | None) -> Line:
    """`+ 61 messages in common · 1 to 61`"""
    lead = pad("", Columns(page.width, page.digits).sign - 1)
    pieces = [*_gutter(cursor), (lead, ""), SIGNS["fold"], (f" {shared(part)}", "fg-2")]
    return Line(pieces, [("space", "fg-2"), (" opens ", "fg-3")] if cursor else [], _tint(cursor))


def row(kind: str, rows: Rows, numbers: tuple[int, int], page: Page, cursor: Cursor | None) -> Line:
    """One line: both sides, or the one that has it."""
    if page.wide:
        drawn = [
            _drawn(r, n, i, page, page.halves[i], cursor if cursor and cursor.side == i else None)
            for i, (r, n) in enumerate(zip(rows, numbers, strict=True))
        ]
        if kind == "common":
            drawn = [_receding(line) for line in drawn]
        elif kind == "changed":
            drawn = list(_contrasted(drawn[0], drawn[1]))
        first, second = (fitted(line, page.halves[i]) for i, line in enumerate(drawn))
        return Line([*first, ("│", "line"), *second], tint=_tint(cursor))
    side = 0 if numbers[0] else 1
    mark: Piece = (" ", "") if kind == "common" else (MARKS[side], "accent")
    line = _drawn(rows[side], numbers[side], side, page, page.width - 1, cursor)
    if kind == "common":
        line = _receding(line)
    return Line([line.left[0], mark, *line.left[1:]], line.right, _tint(cursor))


def _drawn(
    row: Row | None, n: int, side: int, page: Page, columns: int, cursor: Cursor | None
) -> Line:
    if not n:
        return Line([*_gutter(cursor)])
    if row is None:
        said = f"{n:>{page.digits}}  the log is another one by now"
        return Line([*_gutter(cursor), (said, "open")])
    focused = cursor is not None and cursor.focused
    look = Look(Columns(columns, page.digits), page.clocks[side], "", cursor is not None, focused)
    return lines_of(row._replace(n=n, in_context=True), look)[0]


def _gutter(cursor: Cursor | None) -> list[Piece]:
    if cursor is None:
        return [(" ", "")]
    return [("▌", "accent" if cursor.focused else "fg-3")]


def _tint(cursor: Cursor | None) -> str:
    return "" if cursor is None else "sel" if cursor.focused else "sel-off"


def _receding(line: Line) -> Line:
    """All of it dim but the cursor."""
    left = [line.left[0], *((text, "fg-3") for text, _ in line.left[1:])]
    return Line(left, [(text, "fg-3") for text, _ in line.right])


def _contrasted(left: Line, right: Line) -> tuple[Line, Line]:
    """What both say the same recedes."""
    shared = {text for text, _ in left.left[1:]} & {text for text, _ in right.left[1:]}
    ends = {text for text, _ in left.right} & {text for text, _ in right.right}

    def faint(pieces: list[Piece], same: set[str]) -> list[Piece]:
        return [(text, "fg-3" if text in same else style) for text, style in pieces]

    first, second = (
        Line([line.left[0], *faint(line.left[1:], shared)], faint(line.right, ends))
        for line in (left, right)
    )
    return first, second


def reading(done: int, whole: int, columns: int) -> list[Line]:
    """While the logs are read."""
    share = f"{done * 100 // whole}%" if whole else ""
    said = [("  reading both logs ", "fg-2"), (share, "fg-1 bold"), ("   esc leaves", "fg-3")]
    return [Line([]), Line(said)] if width(said[0][0]) < columns else [Line([])]
