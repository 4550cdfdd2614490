"""What `y` puts on the clipboard: visible text, secrets masked. Pure."""

from __future__ import annotations

from collections.abc import Callable

from sessionlog.records import Activity, Message, Span
from sessionlog.secrets import mask
from sessionlog.telling import telling
from sessionlog.text import visible
from tui.rows import Row


def of_row(row: Row) -> str:
    """The row as it reads on the screen."""
    parts = [str(row.n or ""), row.at, row.label, row.body, row.outcome, row.took]
    text = " ".join(part for part in parts if part)
    return _safe(f"{text}\n{row.second}" if row.second else text)


def of_command(row: Row) -> str:
    """The telling argument of the row's call; "" when the row is no call."""
    for activity in _activities(row):
        if activity.kind == "request":
            return _safe(telling(activity.arguments))
    return ""


def of_json(row: Row, raw: Callable[[Span], bytes]) -> str:
    """The row's records as they stand in the log, a line each."""
    spans = dict.fromkeys(record.span for record in row.records)
    if row.damage is not None:
        spans[row.damage.span] = None
    return _safe("\n".join(raw(span).decode("utf-8", "replace") for span in spans))


def of_text(text: str) -> str:
    """A text that is shown already."""
    return _safe(text)


def _activities(row: Row) -> list[Activity]:
    payloads = [record.payload for record in row.records]
    return [p.activity for p in payloads if isinstance(p, Message) and p.activity is not None]


def _safe(text: str) -> str:
    return visible(mask(text), newlines=True)
