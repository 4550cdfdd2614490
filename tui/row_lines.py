"""A row of the timeline as lines of a pane, by the pane's width. Pure.

The columns are those of the screens' design: gutter, number, clock, sign, label, body, and a right
block that is only as wide as what it holds.
"""

from __future__ import annotations

from datetime import UTC, timedelta, tzinfo
from functools import lru_cache
from typing import Literal, NamedTuple

from sessionlog.records import moment
from sessionlog.text import clip, pad, width, wrap
from tui.lines import Line, Piece
from tui.marking import Marker, marked
from tui.rows import Row

ClockMode = Literal["local", "start", "utc"]
CLOCKS: tuple[ClockMode, ...] = ("local", "start", "utc")

SIGNS = {
    "ok": ("✓", "ok"), "fail": ("✗", "fail bold"), "open": ("○", "open bold"),
    "run": ("►", "run bold"), "bytes": ("▒", "bytes bold"), "user": ("»", "accent bold"),
    "summary": ("║", "accent"), "fold": ("+", "fg-3"), "event": ("·", "fg-3"),
}  # fmt: skip
_TINTS = {"user": "surface", "damage": "tint-bytes", "writing": "tint-run"}
_COLOURS = {"fail": "fail", "open": "open", "run": "run", "bytes": "bytes", "ok": "fg-2"}
_USER_LINES = 3
_OPENED_LINES = 40


class Clock(NamedTuple):
    """How times are told: local, UTC, or since the log's start."""

    mode: ClockMode = "local"
    started: str = ""
    zone: tzinfo | None = None
    """The local zone; None: the machine's."""

    def tell(self, at: str, short: bool) -> str:
        """A time of day in 8 columns, or 5 when `short`; blank for a time that is none."""
        return _told(at, self.mode, self.started, self.zone)[: 5 if short else 8]

    @property
    def name(self) -> str:
        """For the status line."""
        return {"local": "local time", "start": "since start", "utc": "UTC"}[self.mode]

    def full(self, at: str) -> str:
        """The same for those that only know the time they ask for."""
        return self.tell(at, short=False)


@lru_cache(maxsize=4096)
def _told(at: str, mode: ClockMode, started: str, zone: tzinfo | None) -> str:
    time = moment(at)
    if time is None:
        return ""
    if mode == "start":
        start = moment(started)
        return _since(time - start) if start else ""
    try:
        shown = time.astimezone(UTC if mode == "utc" else zone)
    except (OverflowError, ValueError, OSError):
        return ""
    return f"{shown:%H:%M:%S}"


def _since(passed: timedelta) -> str:
    seconds = int(passed.total_seconds())
    if seconds < 0:
        return "-"
    hours, rest = divmod(seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    return f"{min(hours, 99):02}:{minutes:02}:{seconds:02}"


class Columns:
    """Where the columns of a timeline stand in a pane of some width."""

    __slots__ = ("body", "clock", "label", "n", "outcome", "sign", "took", "width")

    def __init__(self, width: int, n: int = 4) -> None:
        self.width = width
        self.n = n
        self.clock = 5 if width < 76 else 8
        self.label = 8 if width >= 100 else 7
        self.outcome = 9 if width < 76 else 12 if width < 100 else 14
        self.took = 7 if width >= 100 else 6
        self.sign = 1 + n + 1 + self.clock + 1
        """Column of the sign."""
        self.body = self.sign + 2 + self.label + 1
        """Column where the body begins."""


class Look(NamedTuple):
    """How one row is to be drawn, besides what it is."""

    columns: Columns
    clock: Clock
    above: str = ""
    """The clock of the row above: what repeats it is dimmer."""
    cursor: bool = False
    focused: bool = False
    opened: bool = False
    """All of a long text, not its first lines."""
    needle: Marker | None = None
    elapsed: str = ""
    """For a call that runs: how long it has by now."""


def lines_of(row: Row, look: Look) -> list[Line]:
    """The lines of a row: one to three, more only for a text that was opened."""
    if row.sort == "gap":
        made = [_gap(row, look)]
    elif row.sort in ("reset", "end"):
        made = [_rule(row, look)]
    else:
        made = _row(row, look)
    tint = _tint(row, look)
    return [Line(line.left, line.right, tint) for line in made]


def height_of(row: Row, columns: Columns, opened: bool = False) -> int:
    """How many lines `lines_of` gives for a row."""
    if row.sort in ("gap", "reset", "end"):
        return 1
    if row.sort == "user" or opened:
        look = Look(columns, Clock(), opened=opened)
        return len(_body_texts(row, look, _room(row, look))) + bool(row.second)
    return 2 if row.second else 1


def _room(row: Row, look: Look) -> int:
    """Columns for the body."""
    taken = sum(width(text) for text, _ in _right(row, look)) + (2 if row.side else 0)
    return look.columns.width - look.columns.body - taken


def _tint(row: Row, look: Look) -> str:
    if look.cursor:
        return "sel" if look.focused else "sel-off"
    if row.sign == "open" and row.trouble:
        return "tint-open"
    if row.sign == "run" and row.sort == "call":
        return "tint-run"
    return _TINTS.get(row.sort, "")


def _row(row: Row, look: Look) -> list[Line]:
    columns = look.columns
    head = [*_front(row, look), *_sign(row), *_label(row, columns)]
    right = _right(row, look)
    indent = "  " if row.side else ""
    texts = _body_texts(row, look, _room(row, look))
    style = _body_style(row)
    made = []
    for number, text in enumerate(texts):
        front = head if number == 0 else [*_gutter(row, look), _blank(columns.body - 1)]
        body = _marked(indent + text, style, look.needle)
        made.append(Line([*front, *body], right if number == 0 else []))
    if row.second:
        made.append(_second(row, look))
    return made


def _front(row: Row, look: Look) -> list[Piece]:
    """Gutter, number and clock."""
    columns = look.columns
    number = f"{row.n:>{columns.n}} " if row.n is not None else " " * (columns.n + 1)
    pieces = [*_gutter(row, look), (number, "fg-3")]
    told = look.clock.tell(row.at, columns.clock == 5)
    same = _repeated(told, look.above)
    if same:
        pieces.append((told[:same], "fg-3"))
    pieces.append((f"{told[same:]:<{columns.clock - same}} ", "fg-2"))
    return pieces


def _repeated(told: str, above: str) -> int:
    """How many characters of a clock repeat the one above, whole fields only."""
    same = 0
    for end in (3, 6, 8):
        if told[:end] != above[:end] or len(told) < end - 1:
            break
        same = min(end, len(told))
    return same


def _gutter(row: Row, look: Look) -> list[Piece]:
    if look.cursor:
        return [("▌", "accent" if look.focused else "fg-3")]
    history = not row.in_context and not row.side and row.sort not in ("reset", "end")
    return [("│", "line-2") if history else (" ", "")]


def _sign(row: Row) -> list[Piece]:
    sign, style = SIGNS.get(row.sign, (" ", ""))
    return [(sign + " ", style)]


def _label(row: Row, columns: Columns) -> list[Piece]:
    label = row.label
    if row.side and row.sort == "call":
        label = f" {label}"
    return [(pad(label, columns.label) + " ", _label_style(row))]


def _label_style(row: Row) -> str:
    if row.sign in ("open", "run", "bytes") or row.sort == "damage":
        return f"{_COLOURS.get(row.sign, 'fg')} bold"
    if row.sort == "user":
        return "accent bold"
    if row.sort == "summary":
        return "accent"
    if row.sort == "think":
        return "fg-3 italic"
    if row.sort in ("agent", "system"):
        return "fg-2"
    return "fg-3" if row.sort in ("event", "other", "fold") else _dimmed("fg", row)


def _body_style(row: Row) -> str:
    if row.sort == "user":
        return "fg-1 bold" if row.in_context else "fg bold"
    if row.sort == "think":
        return "fg-3 italic"
    if row.sort == "damage":
        return "bytes"
    if row.sort in ("event", "system", "other", "fold", "writing"):
        return "fg-3" if row.sign != "fail" else _dimmed("fg", row)
    if row.sort == "call":
        return _dimmed("fg" if row.sign in ("fail", "run", "open") else "fg-2", row)
    return _dimmed("fg", row)


def _dimmed(style: str, row: Row) -> str:
    """One step dimmer out of context."""
    return style if row.in_context else {"fg": "fg-2", "fg-2": "fg-3"}.get(style, style)


def _body_texts(row: Row, look: Look, room: int) -> list[str]:
    room = max(room, 4)
    if row.sort == "user" or look.opened:
        most = _OPENED_LINES if look.opened else _USER_LINES
        return wrap(row.body, room, most) or [""]
    return [clip(row.body, room)]


def _right(row: Row, look: Look) -> list[Piece]:
    """Outcome and time taken, with a column of air on both sides."""
    columns = look.columns
    pieces: list[Piece] = []
    outcome = look.elapsed if row.sign == "run" and look.elapsed else row.outcome
    if width(outcome) > columns.outcome:  # which call it was like goes first
        outcome = outcome.partition(" =")[0]
    if outcome:
        pieces.append((" " + clip(outcome, columns.outcome), _outcome_style(row)))
    if row.took:
        style = "fg-2" if "m" in row.took or "h" in row.took or "d" in row.took else "fg-3"
        pieces.append((pad(row.took, columns.took + 1, ">"), style))
    pieces.append((" ", ""))
    return pieces


def _outcome_style(row: Row) -> str:
    if row.outcome_bad:
        return "fail"
    colour = _COLOURS.get(row.sign, "fg-3")
    return f"{colour} bold" if colour in ("open", "run") else "fg-3" if colour == "fg-2" else colour


def _second(row: Row, look: Look) -> Line:
    columns = look.columns
    colour = _COLOURS.get(row.sign, "fg-2") if row.sort != "retries" else "fg-2"
    text = clip(row.second, max(columns.width - columns.body - 1, 4))
    front = [*_gutter(row, look), _blank(columns.body - 3), ("└ ", colour)]
    return Line([*front, *_marked(text, colour, look.needle)])


def _gap(row: Row, look: Look) -> Line:
    columns = look.columns
    front = [*_gutter(row, look), _blank(columns.sign - 1)]
    text = f"· · {row.body} "
    dots = max(columns.width - columns.sign - width(text) - 1, 0)
    return Line([*front, (text, "fg-3 italic"), ("· " * (dots // 2), "line-2")])


def _rule(row: Row, look: Look) -> Line:
    columns = look.columns
    sign, colour = ("═", "accent") if row.sort == "reset" else ("─", _end_colour(row))
    lead = sign * 3 if row.sort == "reset" else sign
    room = columns.width - columns.sign - 1
    text = clip(f"{lead} {row.body} ", room)
    rest = sign * max(room - width(text), 0)
    bold = f"{colour} bold" if row.sort == "reset" else colour
    return Line([*_front(row, look), *_marked(text, bold, look.needle), (rest, colour)])


def _end_colour(row: Row) -> str:
    return _COLOURS.get(row.sign, "fg-3")


def _marked(text: str, style: str, needle: Marker | None) -> list[Piece]:
    """The text as pieces, hits marked."""
    return [(text, style)] if needle is None else marked([(text, style)], needle.places(text))


def _blank(columns: int) -> Piece:
    return (" " * columns, "")
