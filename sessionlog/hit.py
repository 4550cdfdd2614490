"""What a search gives: hits and words of progress. Plain values."""

from __future__ import annotations

from typing import NamedTuple


class Hit(NamedTuple):
    """A line of text that holds what was looked for, and the record that says it."""

    path: str
    n: int | None
    """Message number; None where the record has none, or it is not counted (`resolve`)."""
    kind: str
    """Shown type: user, call, response, event, ...; damage."""
    tool: str
    ok: bool | None
    """How a call went, or whether an event tells of an error; None: no verdict."""
    at: str
    """RFC 3339 as in the log; "" when it has none."""
    line: int
    """From 1; 0 when it is not counted yet."""
    offset: int
    length: int
    part: int
    text: str
    """Visible, cut around the first place to 400 columns."""
    spans: tuple[tuple[int, int], ...]
    """(start, end) in `text` of each place that is seen there."""


class Progress(NamedTuple):
    """How far a search is; after the last log `logs_read` is `logs`."""

    path: str
    read: int
    """Bytes of this log."""
    of: int
    logs_read: int
    logs: int
    more: int = 0
    """Hits of this log that are counted but not given."""
    note: str = ""
    """What was left out and why: no session log, a pattern that takes too long."""
