"""What of the rows is shown: filters, and runs of rows folded into one. Pure.

Works on the rows of one chunk, so the cost follows what is shown; a run that crosses the border
of a chunk is two folds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import groupby
from typing import Literal, NamedTuple

from sessionlog.formats.base import COUNT, LOUD, TROUBLE, USER
from sessionlog.records import Message, moment
from sessionlog.text import took
from tui.rows import Row

Level = Literal["less", "loud", "all"]
"""Prompts, troubles and marks, the rest folded; all but quiet rows; every row."""

LEVELS: tuple[Level, ...] = ("less", "loud", "all")
_ENDS = ("end", "writing")
_KEPT = ("user", "summary", "reset", "damage", "retries", *_ENDS)
_FEWEST = 3
"""Rows that are worth a fold."""
_NOUNS = (("call", "call"), ("agent", "text"), ("think", "thought"))


class Filter(NamedTuple):
    """Which rows are shown; the end of the log always is."""

    what: str = "all"
    """all, errors, user, calls, messages, quiet (everything) or tool."""
    tool: str = ""

    @property
    def bits(self) -> int:
        """The marks one of which a chunk needs to hold such rows."""
        return {"errors": TROUBLE, "user": USER, "messages": COUNT, "calls": COUNT,
                "tool": COUNT}.get(self.what, LOUD)  # fmt: skip

    def shows(self, row: Row) -> bool:
        """Is the row one of these?"""
        if row.sort in _ENDS:
            return True
        return _SHOWS[self.what](row) and (self.what != "tool" or self._is_of_tool(row))

    def _is_of_tool(self, row: Row) -> bool:
        """By the label that is shown, or the name that the log has."""
        names = [row.label]
        if row.records and isinstance(payload := row.records[0].payload, Message):
            names.append(payload.activity.name if payload.activity else "")
        return self.tool.lower() in map(str.lower, names)

    @property
    def words(self) -> str:
        """For the status line; "" when nothing is filtered."""
        words = {"all": "", "errors": "only errors", "user": "only user", "calls": "only calls",
                 "messages": "only messages", "quiet": "quiet rows too"}  # fmt: skip
        return words.get(self.what, f"only {self.tool}")


_SHOWS: dict[str, Callable[[Row], bool]] = {
    "all": lambda row: True,
    "quiet": lambda row: True,
    "errors": lambda row: row.trouble,
    "user": lambda row: row.sort == "user",
    "calls": lambda row: row.sort == "call",
    "messages": lambda row: row.n is not None or row.sort in ("user", "agent", "think", "summary"),
    "tool": lambda row: row.sort == "call",
}


def shown(
    rows: Iterable[Row], what: Filter, level: Level, expanded: Collection[tuple[int, int]]
) -> list[Row]:
    """The rows as they are shown; a fold whose place is in `expanded` is followed by its rows."""
    everything = level == "all" or what.what == "quiet"
    kept = [row for row in rows if (everything or not row.quiet) and what.shows(row)]
    if what.what not in ("all", "quiet"):
        return kept
    kept = _folded(kept, lambda row: bool(row.side), _subagent, expanded)
    if level == "less":
        kept = _folded(kept, _recedes, _summed, expanded, _FEWEST)
    return kept


def _folded(
    rows: Sequence[Row],
    folds: Callable[[Row], bool],
    made: Callable[[list[Row]], Row],
    expanded: Collection[tuple[int, int]],
    fewest: int = 1,
) -> list[Row]:
    kept: list[Row] = []
    for inside, group in groupby(rows, folds):
        run = list(group)
        if not inside or len(run) < fewest:
            kept += run
            continue
        fold = made(run)
        kept.append(fold)
        if fold.place in expanded:
            kept += run
    return kept


def _recedes(row: Row) -> bool:
    return row.sort not in _KEPT and not row.trouble and row.sign not in ("open", "run", "fold")


def _fold(run: list[Row], body: str, sort: str = "fold") -> Row:
    first, last = run[0], run[-1]
    failed = sum(row.trouble for row in run)
    return Row(
        (first.place[0], first.place[1] - 1), sort, "", body, "fold", at=first.at,
        outcome=f"{failed} failed" if failed else "", outcome_bad=bool(failed),
        trouble=bool(failed), took=_spent(first, last), in_context=first.in_context,
        records=tuple(record for row in run for record in row.records),
        side=first.side, line=first.line,
    )  # fmt: skip


def _subagent(run: list[Row]) -> Row:
    names = list(dict.fromkeys(row.side for row in run))
    count = sum(record.kind == "message" for row in run for record in row.records)
    who = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
    return _fold(run, f"subagent {who} · {count:,} message{'s' * (count != 1)}")


def _summed(run: list[Row]) -> Row:
    counted = Counter(row.sort for row in run)
    parts = [
        f"{counted[sort]:,} {noun}{'s' * (counted[sort] != 1)}"
        for sort, noun in _NOUNS
        if counted[sort]
    ]
    rest = len(run) - sum(counted[sort] for sort, _ in _NOUNS)
    if rest:
        parts.append(f"{rest:,} more" if parts else f"{rest:,} rows")
    numbers = [row.n for row in run if row.n is not None]
    span = f" · {numbers[0]:,}–{numbers[-1]:,}" if len(numbers) > 1 else ""
    return _fold(run, ", ".join(parts) + span)


def _spent(first: Row, last: Row) -> str:
    end = last.records[-1].at if last.records else last.at
    a, b = moment(first.at), moment(end)
    return took((b - a).total_seconds()) if a and b and b > a else ""
