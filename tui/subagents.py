"""From a call to the log of the subagent that it started, and back again, however deep."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sessionlog.records import Activity, Entry, Message

if TYPE_CHECKING:
    from tui.rows import Row
    from tui.screens.browser import Browser


class _Step(NamedTuple):
    """One step down."""

    caller: Entry
    offset: int
    """Where the call stands in its log."""
    part: int
    path: str
    """The subagent's log."""


class Subagents:
    """The way down from the session that was opened; only the browser's own thread uses it."""

    def __init__(self, browser: Browser) -> None:
        self._at = browser
        self._way: list[_Step] = []

    def refused(self, id: str) -> str:
        """Why a step cannot be taken; "" when it can."""
        if id == "out_of_subagent":
            return "" if self._last() else "this log was not opened from a call"
        row, entry = self._at.timeline.row, self._at.entry
        if row is None or entry is None:
            return "no row is selected"
        if not any(_half(record.payload) for record in row.records):
            return "no subagent: the row is no call"
        return "" if log_of(entry, row) else "this call started no subagent whose log is here"

    def enter(self) -> None:
        """Open the log of the subagent that the row's call started, at its end."""
        from sessionlog.listing import glance, with_life

        row, entry = self._at.timeline.row, self._at.entry
        path = log_of(entry, row) if row and entry else None
        if row is None or entry is None or path is None:
            return
        self._last()  # forgets a way that was left
        first = row.records[0]
        self._way.append(_Step(entry, first.span.offset, first.part, path))
        self._at.open(with_life([glance(path)])[0])
        self._at.status.answer("( goes back to the call")

    def leave(self) -> None:
        """Back to the call."""
        step = self._last()
        if step is not None:
            self._way.pop()
            self._at.open(step.caller)
            self._at.timeline.go(step.offset, step.part)

    def _last(self) -> _Step | None:
        """The step that led to the open log; others are forgotten."""
        entry = self._at.entry
        while self._way and (entry is None or self._way[-1].path != entry.path):
            self._way.pop()
        return self._way[-1] if self._way else None


def log_of(entry: Entry, row: Row) -> str | None:
    """The log of the subagent that a row's call started; None when it is not there."""
    from sessionlog.formats.base import Nested
    from sessionlog.formats.table import named

    form = named(entry.format)
    if not isinstance(form, Nested):
        return None
    halves = (_half(record.payload) for record in reversed(row.records))
    paths = (form.started(entry.path, half) for half in halves if half is not None)
    return next((path for path in paths if path), None)


def _half(payload: object) -> Activity | None:
    return payload.activity if isinstance(payload, Message) else None
