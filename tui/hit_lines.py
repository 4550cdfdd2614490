"""The hits of a search as lines of a pane, and what the search says of itself. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from sessionlog.records import Entry, moment
from sessionlog.text import ago, clip, one_line, size, visible, width
from sessionlog.tools import label_of
from tui.hits import HEAD, Group, Hits, HitView, Spot
from tui.lines import Line, Piece
from tui.marking import HIT
from tui.row_lines import Clock, Columns
from tui.signs import SIGNS, state_of

if TYPE_CHECKING:
    from sessionlog.hit import Hit, Progress

_TITLE = 200
"""Characters of a title that are looked at."""
_LONG = 32 << 20
"""Bytes of a log that take long enough to say how far they are read."""
_CLOCKED = 76
"""Columns for which a line is laid out at least: its clock tells seconds."""
_LABELS = {"assistant": "agent", "reasoning": "think", "attachment": "file"}
_SIGNS = {"user": "user", "summary": "summary", "damage": "bytes", "event": "event"}
ROOMY = 100
"""Columns from which on counts are said in words."""


class Standing(NamedTuple):
    """How a search stands."""

    state: str = "idle"
    """idle (nothing is asked), running, stopped (by the person), done."""
    progress: Progress | None = None


def hit_at(view: HitView, y: int, columns: int, clock: Clock, now: float, focused: bool) -> Line:
    """The line `y` of the hits, 0 <= y < height, in a pane of so many columns."""
    group, spot = view.hits.at(y)
    selected = group is view.group and spot == view.spot
    tint = "" if not selected else "sel" if focused else "sel-off"
    gutter: Piece = ("▌", "accent" if focused else "fg-3") if selected else (" ", "")
    if spot == HEAD:
        return _head(group, gutter, tint or "surface", now, selected)
    if spot.kind == "hit":
        before = group.hits[spot.number - 1] if spot.number else None
        return _hit(group.hits[spot.number], before, columns, clock, gutter, tint)
    return _folded(group, spot, gutter, tint)


def _head(group: Group, gutter: Piece, tint: str, now: float, selected: bool) -> Line:
    """Sign and title; agent, number of hits, age."""
    entry = group.entry
    left = [gutter, SIGNS[state_of(entry)], (" ", ""), (titled(entry), "fg-1 bold")]
    agent = clip(visible(entry.agent or entry.format), 8)
    noun = "hit " if group.count == 1 else "hits"
    started = moment(entry.started or entry.updated)
    age = ago(now - started.timestamp()) if started else ""
    right: list[Piece] = [(f" {agent}", "fg-3")]
    right += [(f" {group.count:>4,}", "fg"), (f" {noun}", "fg-3"), (f" {age:>5} ", "fg-3")]
    if group.fold == "head":
        hint = [("space ", "fg-1 bold")] if selected else []
        right = [(" + ", "fg-3"), *hint, *right]
    return Line(left, right, tint)


def titled(entry: Entry) -> str:
    """What a log is called."""
    return one_line(entry.title[:_TITLE]) or visible(entry.id[:_TITLE])


def _hit(hit: Hit, before: Hit | None, width_: int, clock: Clock, gutter: Piece, tint: str) -> Line:
    """Number, clock, sign, label, and the line of text around its first hit."""
    columns = Columns(max(width_, _CLOCKED))
    same = before is not None and (before.offset, before.part) == (hit.offset, hit.part)
    number = "" if hit.n is None else f"{hit.n:,}" if hit.n < 1000 else str(hit.n)
    told = clock.tell(hit.at, columns.clock == 5)
    label = "" if same else clip(_label(hit), columns.label)
    left: list[Piece] = [
        gutter, (f"{number:>{columns.n}} {told:<{columns.clock}} ", "fg-3" if same else "fg-2"),
        _sign(hit), (" ", ""), (label + " " * (columns.label + 1 - width(label)), _style(hit)),
    ]  # fmt: skip
    room = width_ - columns.body - 1 - max(len(number) - columns.n, 0)
    return Line([*left, *marked(hit.text, hit.spans, room, "fg-2")], [(" ", "")], tint)


def _label(hit: Hit) -> str:
    if hit.tool and hit.kind in ("call", "response", "event"):
        return label_of(hit.tool)
    return visible(_LABELS.get(hit.kind, hit.kind))


def _sign(hit: Hit) -> Piece:
    if hit.kind in _SIGNS and hit.ok is None:
        return SIGNS[_SIGNS[hit.kind]]
    return SIGNS["" if hit.ok is None else "ok" if hit.ok else "fail"]


def _style(hit: Hit) -> str:
    return {"user": "accent bold", "damage": "bytes bold", "reasoning": "fg-3 italic"}.get(
        hit.kind, "fg" if hit.kind in ("call", "response") else "fg-2"
    )


def marked(text: str, spans: Sequence[tuple[int, int]], room: int, style: str) -> list[Piece]:
    """A visible line of text, its hits bold and underlined, from so near before the first one
    that it can be seen in `room` columns."""
    at = 0
    pieces: list[Piece] = []
    if spans and width(text[: spans[0][1]]) > room:
        at = max(spans[0][0] - max(room // 3, 1), 1)
        while at < spans[0][0] and not width(text[at]):
            at += 1  # a mark of the letter that is left out
        pieces.append(("…", "fg-3"))
    for start, end in spans:
        if start >= at + 4 * room or end <= at:
            continue  # nothing of it would be seen
        pieces += [(text[at:start], style), (text[start:end], HIT)]
        at = end
    pieces.append((text[at : at + 4 * room], style))
    return [piece for piece in pieces if piece[0]]


def _folded(group: Group, spot: Spot, gutter: Piece, tint: str) -> Line:
    front: list[Piece] = [gutter, (" " * 6, "")]
    count = group.told(spot)
    if group.fold == "all":
        return Line([*front, (f"+ {count:,} more are counted, not kept", "fg-3")], [], tint)
    what = "more, the same line" if spot.kind == "same" else "more in this log"
    return Line([*front, (f"+ {count:,} {what} ", "fg-2"), ("space", "fg-1 bold")], [], tint)


# -- what the search says of itself ------------------------------------------------------------


def counts(hits: Hits, standing: Standing, columns: int) -> list[Piece]:
    """`23 hits in 4 of 14 logs · 11 of 14 read`; where there is little room `23 11/14`."""
    state, progress = standing
    if state == "idle":
        return []
    total = len(hits.entries)
    read = total if state == "done" else progress.logs_read if progress else 0
    if columns < ROOMY:
        style = {"running": "run", "stopped": "open"}.get(state, "fg-3")
        return [(f"{hits.count:,} ", "fg"), (f"{read:,}/{total:,}", style)]
    logs = f"{len(hits.groups):,} of {total:,}" if hits.groups else f"{total:,}"
    said: list[Piece] = [(_counted(hits.count, "hit"), "fg"), (f" in {logs} logs · ", "fg-2")]
    if state == "done":
        return [*said, ("all read", "fg-2")]
    if state == "stopped":
        return [*said, (f"stopped at {read:,} of {total:,}", "open")]
    return [*said, (f"{read:,} of {total:,} read", "run")]


def reading(hits: Hits, standing: Standing) -> Line | None:
    """The log that is being read, and how far where it is long; None when none is."""
    progress = standing.progress
    if standing.state != "running" or progress is None or not progress.path:
        return None
    entry = hits.entry(progress.path)
    name = titled(entry) if entry else visible(progress.path.rpartition("/")[2])
    left = [(" ", ""), SIGNS["run"], (f" reading {clip(name, 60)} ", "fg-2")]
    if progress.of >= _LONG:
        left.append((f"{_of(progress.read, progress.of)}", "fg-3"))
    return Line(left)


def _of(read: int, of: int) -> str:
    """`212 of 640 MB`: the unit once where both have it."""
    first, last = size(read), size(of)
    unit = last.rpartition(" ")[2]
    return f"{first.removesuffix(' ' + unit)} of {last}"


def nothing(
    hits: Hits, standing: Standing, filters: Sequence[str], narrow: Sequence[tuple[str, str]]
) -> list[Line]:
    """What stands in the place of hits while there is none."""
    if standing.state == "idle":
        return [
            Line([]), Line([("  Looks for a text in every log of the list.", "fg")]), Line([]),
            Line([("  Several words are one text; narrow it with", "fg-2")]), Line([]),
            *(Line([("    ", ""), (f"{word:<20}", "fg"), (what, "fg-2")]) for word, what in narrow),
        ]  # fmt: skip
    total = len(hits.entries)
    if standing.state == "running":
        return []
    read = "all read" if standing.state == "done" else "stopped before all were read"
    said = f"  0 hits in {_counted(total, 'log')}, {read}"
    lines = [Line([]), Line([(said, "fg")])]
    if filters:
        were = "was" if len(filters) == 1 else "were"
        lines.append(Line([(f"  {' · '.join(filters)}", "accent"), (f" {were} on", "fg-2")]))
    return lines


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
