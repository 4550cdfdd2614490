"""The outcome of the proof: acts down, clients across, as a Markdown table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

ACTS = {
    "killed": "killed in a tool",
    "two": "two open calls",
    "answering": "killed while answering",
    "later": "an open call, later turns",
    "torn": "torn tail, resumed twice",
    "garbage": "garbage line",
    "every": "cut at every message",
    "again": "forked and resumed, three times",
    "handed": "handed over by its command",
    "across": "handed over from another agent",
}
"""Rows of the matrix, and how they are called."""
_SIGNS = {"passed": "yes", "failed": "NO", "skipped": "–"}


class Cell(NamedTuple):
    """One act on one client's log."""

    act: str
    client: str
    outcome: str
    """ "passed", "failed" or "skipped"."""
    note: str = ""


def table(cells: Iterable[Cell], versions: Mapping[str, str]) -> list[str]:
    """The lines of the table. `versions` of the clients, in the order of the columns."""
    found = {(cell.act, cell.client): cell for cell in cells}
    heads = [f"{client} {version}" for client, version in versions.items()]
    rows = [
        [words, *(_sign(found.get((act, client))) for client in versions)]
        for act, words in ACTS.items()
    ]
    return [_row(["", *heads]), _row(["---"] * (len(heads) + 1)), *map(_row, rows)]


def _sign(cell: Cell | None) -> str:
    if cell is None:
        return ""
    sign = _SIGNS[cell.outcome]
    return f"{sign} ({cell.note})" if cell.note else sign


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
