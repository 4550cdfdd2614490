"""A run's numbers as a page that a person reads at a glance: facts, then bars. Pure.

The page is made of pieces of text with a style word each (fail, open, bytes, fg-1, ...), which the
screen paints in its theme and the command in red or not at all; without colour the signs tell the
same. What comes from a log has been made visible.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from sessionlog.density import Cell, Density
from sessionlog.figures import Counts, Stats, Tool
from sessionlog.records import InFlight
from sessionlog.text import clip, one_line, pad, took, width
from sessionlog.tools import label_of

Piece = tuple[str, str]
"""(text, style words)."""

LABEL = 11
"""Columns of what stands before the facts."""
_MARGIN = 2
_NAME, _CALLS, _FAILED, _TIME = 14, 7, 7, 7
"""Columns of a tool's name and of its three numbers."""
_FLYING = 4
"""Tools whose calls in flight are told one by one."""
_LEVELS = "▁▂▃▄▅▆▇█"
_PARTS = (
    ("cache_read", "cache read", "▂", "fg-3"), ("cache_write", "cache write", "▄", "fg-2"),
    ("input", "input", "▆", "fg"), ("output", "output", "█", "fg-1"),
)  # fmt: skip
_PLAIN = str.maketrans("█▇▆▅▄▃▂▁✗…", "@%#+=-:.x.")


class Said(NamedTuple):
    """One line of the page."""

    pieces: list[Piece]
    tool: str | None = None
    """The tool whose calls it counts; None for any other line."""


def page(stats: Stats, columns: int) -> list[Said]:
    """The whole page, for so many columns (from 60 on it fits)."""
    lines = [*_facts(stats, columns)]
    for block in (
        _tools(stats.counts, columns), _tokens(stats, columns),
        _when(stats.density, columns),
    ):  # fmt: skip
        said = list(block)
        if said:
            lines += [Said([]), *said]
    return lines


def title(stats: Stats) -> str:
    """What it is about, in one line."""
    if stats.sessions != 1:
        return f"{stats.sessions:,} sessions"
    return one_line(stats.title) or one_line(stats.id)


def text(lines: Iterable[Said], *, colour: bool = False, plain: bool = False) -> Iterator[str]:
    """The page as plain lines: `colour` for a terminal, `plain` where only ASCII can be written."""
    for line in lines:
        written = "".join(_painted(piece, style, colour) for piece, style in line.pieces).rstrip()
        if plain:
            written = written.translate(_PLAIN).encode("ascii", "replace").decode()
        yield written


def _painted(piece: str, style: str, colour: bool) -> str:
    return f"\x1b[31m{piece}\x1b[0m" if colour and "fail" in style.split() else piece


def amount(count: int) -> str:
    """A count in at most six columns: 9,999, 48.2k, 812k, 1.24M."""
    if count < 10_000:
        return f"{count:,}"
    value = float(count)
    for unit in "kMGT":
        value /= 1000
        if value < 999.5 or unit == "T":
            break
    places = 2 if unit != "k" and value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:.{places}f}{unit}"


def counted(count: int, noun: str) -> str:
    """`1 call`, `2 calls`"""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


# -- facts -----------------------------------------------------------------------------------------


def _facts(stats: Stats, columns: int) -> Iterator[Said]:
    counts = stats.counts
    yield from _labelled("time", _times(stats), columns)
    silences = [
        (took(gap.seconds) + (_after(gap.after) if stats.sessions == 1 else ""), "fg")
        for gap in stats.gaps
    ]
    yield from _labelled("silences", silences, columns)
    yield from _labelled("messages", _messages(counts), columns)
    yield from _labelled("calls", _calls(stats), columns)
    yield from _labelled("trouble", _trouble(counts), columns)
    if counts.files:
        edits = sum(counts.files.values())
        said = counted(len(counts.files), "file") + " changed"
        yield from _labelled("edits", [(said, "fg"), (f"in {counted(edits, 'call')}", "fg")],
                             columns)  # fmt: skip
    yield from _labelled("model", [(one_line(m), "fg") for m in stats.ranked_models[:6]], columns)
    yield from _labelled("subagents", _subagents(stats), columns)
    if stats.cost is not None:
        yield from _labelled("cost", [(f"${stats.cost:,.2f}", "fg"), ("by the log", "fg-2")],
                             columns)  # fmt: skip


def _times(stats: Stats) -> list[Piece]:
    if stats.start is None or not stats.duration:
        return []
    whole = " all together" if stats.sessions != 1 else ""
    said = [(f"{took(stats.duration)}{whole}", "fg-1")]
    if stats.active < stats.duration:
        said.append((f"{took(stats.active)} active", "fg"))
        said.append(("silences from 5 minutes up left out", "fg-2"))
    return said


def _after(n: int | None) -> str:
    return f" after {n:,}" if n else ""


def _messages(counts: Counts) -> list[Piece]:
    said = [(f"{counts.messages:,}", "fg-1")]
    for count, noun in (
        (counts.users, "prompt"), (counts.assistants, "answer"), (counts.reasoning, "thought"),
    ):  # fmt: skip
        if count:
            said.append((counted(count, noun), "fg"))
    if counts.taken_back:
        said.append((f"{counts.taken_back:,} taken back", "fg-2"))
    return said


def _calls(stats: Stats) -> list[Piece]:
    counts = stats.counts
    said = [(f"{counts.calls:,}", "fg-1")]
    if counts.failed:
        said.append((f"{counts.failed:,} failed", "fail"))
    if counts.interrupted:
        said.append((f"{counts.interrupted:,} interrupted", "fg"))
    if counts.open:
        said.append((f"{counts.open:,} without a result", "open"))
    said += _flying([call for call in stats.in_flight if call.n is not None], "")
    said += _flying([call for call in stats.in_flight if call.n is None], " beside the messages")
    if counts.orphans:
        said.append((f"{counted(counts.orphans, 'result')} without a call", "fg"))
    return said


def _flying(calls: Sequence[InFlight], where: str) -> Iterator[Piece]:
    """`7 exec in flight`, tool by tool. Those that have a message are without a result, too."""
    tools = Counter(label_of(call.tool) for call in calls).most_common()
    for tool, many in tools[:_FLYING]:
        yield f"{f'{many:,} ' if many > 1 else ''}{tool} in flight{where}", "open"
    if more := sum(many for _, many in tools[_FLYING:]):
        yield f"{more:,} more in flight{where}", "open"


def _trouble(counts: Counts) -> list[Piece]:
    table = (
        (counts.errors, counted(counts.errors, "error") + " of the run", "fail"),
        (counts.retries, "1 retry" if counts.retries == 1 else f"{counts.retries:,} retries",
         "fail"),
        (counts.resets, counted(counts.resets, "context reset"), "accent"),
        (counts.damages, counted(counts.damages, "damage"), "bytes"),
    )  # fmt: skip
    return [(words, style) for count, words, style in table if count]


def _subagents(stats: Stats) -> list[Piece]:
    side = stats.side
    if not (side.messages or stats.side_tokens):
        return []
    said = [(counted(side.messages, "message"), "fg"), (counted(side.calls, "call"), "fg")]
    if side.failed:
        said.append((f"{side.failed:,} failed", "fail"))
    if stats.side_tokens is not None:
        said.append((f"{amount(stats.side_tokens.total)} of the tokens", "fg"))
    return said


def _labelled(label: str, facts: Sequence[Piece], columns: int) -> Iterator[Said]:
    """Facts behind their label, wrapped between facts; nothing where there are none."""
    room = columns - _MARGIN - LABEL
    line: list[Piece] = [(" " * _MARGIN + pad(label, LABEL), "fg-2")]
    used = 0
    for fact, style in facts:
        fact = clip(fact, room)
        if used and used + 2 + width(fact) > room:
            yield Said(line)
            line, used = [(" " * (_MARGIN + LABEL), "")], 0
        if used:
            line.append((", ", "fg-2"))
            used += 2
        line.append((fact, style))
        used += width(fact)
    if used:
        yield Said(line)


# -- bars ------------------------------------------------------------------------------------------


def bar(value: float, most: float, columns: int) -> int:
    """How many of `columns` cells stand for a value; at least one for anything above nothing."""
    if value <= 0 or most <= 0 or columns < 1:
        return 0
    return max(1, min(round(value / most * columns), columns))


def shares(values: Sequence[float], columns: int) -> list[int]:
    """Cells of one bar for the parts of a whole: all of them are used, and what is there has at
    least one, as far as they go."""
    whole = sum(values)
    if whole <= 0 or columns < 1:
        return [0] * len(values)
    cells = [bar(value, whole, columns) for value in values]
    while (over := sum(cells) - columns) != 0:
        widest = max(range(len(cells)), key=lambda i: cells[i])
        cells[widest] -= 1 if over > 0 else -1
    return cells


class _Columns(NamedTuple):
    """Widths of a tool's line, and what its bars are measured by."""

    name: int
    calls: int
    open: int
    """What of the first bar's columns is kept for the words about open calls."""
    seconds: int
    most: int
    longest: float


def _tools(counts: Counts, columns: int) -> Iterator[Said]:
    """Two bars for each tool: its calls, the failed ones last, and the seconds they took."""
    tools = _by_label(counts)
    if not tools:
        return
    longest = max(width(tool.name) for tool in tools)
    name = min(max(longest + 1, _NAME), max(columns // 5, _NAME))
    room = columns - _MARGIN - name - _CALLS - _FAILED - _TIME - 4
    second = room * 2 // 5
    by = _Columns(name, room - second, max(len(_open(tool)) for tool in tools), second,
                  max(tool.calls for tool in tools),
                  max(tool.seconds for tool in tools))  # fmt: skip
    yield Said([
        (" " * _MARGIN + pad("tool", name) + pad("calls", _CALLS, ">"), "fg-2"),
        (" " * (2 + by.calls) + pad("failed", _FAILED, ">") + pad("time", _TIME, ">"), "fg-2"),
    ])  # fmt: skip
    for tool in tools:
        yield Said(_tool(tool, by), tool.name)


def _by_label(counts: Counts) -> list[Tool]:
    """The tools by the names that are shown: those of several agents may have one."""
    found = Counts()
    for tool in counts.tools.values():
        found.tool(label_of(tool.name)).add(tool)
    return found.ranked()


def _open(tool: Tool) -> str:
    return f" {tool.open:,} open" if tool.open else ""


def _tool(tool: Tool, by: _Columns) -> list[Piece]:
    most = max(by.calls - by.open, 1)
    cells = bar(tool.calls, by.most, most)
    bad = min(bar(tool.failed, by.most, most), cells)
    room = by.calls - cells
    open_calls = clip(_open(tool), room)
    name = clip(tool.name or "(no name)", by.name - 1)
    return [
        (" " * _MARGIN + pad(name, by.name), "fg-1"),
        (pad(f"{tool.calls:,}", _CALLS, ">") + " ", "fg"),
        ("▆" * (cells - bad), "fg-2"), ("✗" * bad, "fail"), (pad(open_calls, room), "open"),
        (" " + pad(f"{tool.failed:,}" if tool.failed else "", _FAILED, ">"), "fail"),
        (pad(took(tool.seconds) if tool.seconds else "", _TIME, ">") + " ", "fg"),
        ("▄" * bar(tool.seconds, by.longest, by.seconds), "fg-3"),
    ]  # fmt: skip


def _tokens(stats: Stats, columns: int) -> Iterator[Said]:
    """One bar of all tokens, and what its parts are."""
    tokens = stats.tokens
    if tokens is None:
        return
    values = [getattr(tokens, name) for name, *_ in _PARTS]
    label = " " * _MARGIN + pad("tokens", LABEL)
    cells = shares(values, columns - len(label) - _CALLS - 1)
    stack = [(sign * count, style) for (*_, sign, style), count in zip(_PARTS, cells, strict=True)]
    yield Said([(label, "fg-2"), (pad(amount(tokens.total), _CALLS), "fg-1"), *stack])
    facts = [
        (f"{sign} {words} {amount(value)}", style)
        for (_, words, sign, style), value in zip(_PARTS, values, strict=True)
        if value
    ]
    if tokens.reasoning:
        facts.append((f"{amount(tokens.reasoning)} of the output is reasoning", "fg-2"))
    if stats.telling < stats.sessions:
        facts.append((f"told by {stats.telling:,} of {stats.sessions:,} sessions", "fg-2"))
    yield from _labelled("", facts, columns)


def _when(density: Density, columns: int) -> Iterator[Said]:
    """Activity over time on one line, from the first clock to the last."""
    if density.start is None or density.end is None:
        return
    first, last = _clock(density.start), _clock(density.end)
    room = columns - _MARGIN - LABEL - len(first) - len(last) - 3
    cells = density.cells(room)
    most = max((cell.records for cell in cells), default=0)
    if not most:
        return
    yield Said([
        (" " * _MARGIN + pad("activity", LABEL), "fg-2"), (f"{first} ", "fg-2"),
        *_marks(cells, most), (f" {last}", "fg-2"),
    ])  # fmt: skip


def _marks(cells: list[Cell], most: int) -> Iterator[Piece]:
    for cell in cells:
        if cell.bad:
            yield "✗", "fail"
        elif cell.records:
            yield _LEVELS[max((cell.records * 8 - 1) // most, 0)], "fg-2"
        else:
            yield " ", ""


def _clock(seconds: float) -> str:
    """Local time of day; "" for a time that no clock has."""
    try:
        return time.strftime("%H:%M", time.localtime(seconds))
    except (OverflowError, ValueError, OSError):
        return ""
