"""From a call to the log of the subagent that it started, and from a log to where it came from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessionlog.family import origin_of
from sessionlog.records import Activity, Entry, Message
from sessionlog.text import one_line
from tui.kinship import came_from
from tui.lines import Piece
from tui.way import Step

if TYPE_CHECKING:
    from tui.rows import Row
    from tui.screens.browser import Browser


class Subagents:
    """The ways between logs; only the browser's own thread uses it."""

    def __init__(self, browser: Browser) -> None:
        self._at = browser

    def refused(self, id: str) -> str:
        """Why a step cannot be taken; "" when it can."""
        row, entry = self._at.timeline.row, self._at.entry
        if id == "out_of_subagent":
            came = self._caller or self._parent is not None
            return "" if came else "this log came from no other that is here"
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
        self._lead(entry, row, path, caller=entry.title or entry.id)
        self._at.open(with_life([glance(path)])[0])

    def leave(self) -> None:
        """Back to the call; of a fork: to the message of its parent after which it was made."""
        at, parent = self._at, self._parent
        if self._caller:
            at.way.back()
        elif parent is not None and at.entry is not None and at.timeline.row is not None:
            origin = origin_of(at.entry)
            self._lead(at.entry, at.timeline.row, parent.path)
            at.sessions.select(parent.path)
            at.open(parent)
            if origin is not None and origin.at is not None:
                at.timeline.goto(str(origin.at))

    @property
    def crumb(self) -> list[Piece]:
        """What the open log is of another one, and the key that goes there; [] where it is none's
        part."""
        if self._caller:
            words, place = f"subagent of {one_line(self._caller)}", "its call"
        else:
            entry = self._at.entry
            if entry is None or origin_of(entry) is None:
                return []
            words = came_from(self._at.sessions.forest, entry)
            place = "its parent" if self._parent is not None else ""
        key: list[Piece] = [("  (", "fg-1 bold"), (f" {place}", "fg-2")] if place else []
        return [(words, "accent"), *key]

    def _lead(self, entry: Entry, row: Row, path: str, caller: str = "") -> None:
        self._at.way.came(Step(path, lambda: self._at.sheets.go_to(entry, row), caller))

    @property
    def _caller(self) -> str:
        last = self._at.way.last
        return last.caller if last is not None else ""

    @property
    def _parent(self) -> Entry | None:
        entry = self._at.entry
        return self._at.sessions.forest.parent(entry) if entry is not None else None


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
