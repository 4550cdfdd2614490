"""The session that is open in the browser: its log, its writer, and the panes that show it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.timer import Timer

from sessionlog.errors import SessionLogError
from sessionlog.records import Entry, Kind, Record, Status
from sessionlog.window import Log
from tui.opening import beside_of, is_alive, last_records, open_log, writer_of

if TYPE_CHECKING:
    from tui.knew import Knew, Knowledge
    from tui.rows import Row
    from tui.screens.browser import Browser

_SOON = 0.1
"""Seconds after growth until the head is made anew: the new rows come first, at once."""
_GROWING = 2.0
"""Seconds for which growth before our eyes says that the log has a writer, before the watch of
the folders has taken it in."""
_GONE = "the log is gone, what was read of it is shown"


class OpenSession:
    """One session at a time; only the browser's own thread uses it."""

    def __init__(self, browser: Browser) -> None:
        self._at = browser
        self.entry: Entry | None = None
        """None while none is open."""
        self.log: Log | None = None
        """None when the log cannot be read."""
        self._writer = ""
        """What is known of the log's writer."""
        self._is_gone = False
        self._grew = float("-inf")
        """When it grew, by a steady clock."""
        self._renewing: Timer | None = None
        self._knowledge: Knowledge | None = None

    def open(self, entry: Entry) -> None:
        """Show a session's log at its end; one that cannot be read says why."""
        at = self._at
        self.close()
        self.entry, at.timeline.none = entry, ""
        try:
            self.log = open_log(entry)
        except SessionLogError as error:
            if entry.status is not None:  # else the head of the session says why
                at.status.answer(str(error))
        else:
            at.timeline.open(self.log, is_alive(entry))
        at.map.open(at.timeline.timeline)
        self.renew(entry)

    def close(self) -> None:
        """Show none."""
        at = self._at
        at.timeline.none = "no session is open: the list has none to show"
        at.timeline.close()
        self._forget_known()
        if self.log is not None:
            self.log.close()
        self.entry = self.log = None
        self._writer, self._is_gone, self._grew = "", False, float("-inf")
        at.detail.show(None, None)
        at.detail.mark(None)
        at.map.open(None)
        at.header.show(None)

    def renew(self, entry: Entry) -> None:
        """It stands otherwise than before, or grew: judge the rows and make its head anew."""
        at, was = self._at, self.entry
        self.entry = entry
        if was is not None and was.path == entry.path and was.status is not entry.status:
            at.status.answer("")  # it may be about how it stood
        beside = beside_of(entry)
        was_alive = was is not None and was.status is Status.RUNNING
        if beside is not None or (was_alive and entry.status is not Status.RUNNING):
            self._writer = "gone"
        elif entry.status is Status.RUNNING and not (self._writer and self._writer != "gone"):
            self._writer = writer_of(entry)
        if self.log is not None:
            at.timeline.judge(self._alive)
        records = self.last_records()
        at.map.renew()
        before, timeline = self._before(records), at.timeline.timeline
        at.header.show(entry, records, before=before, writer=self._writer, beside=beside,
                       began=timeline.started() if timeline else "")  # fmt: skip
        at.header.set_crumb(at.sheets.subagents.crumb)

    @property
    def _alive(self) -> bool | None:
        """Does the writer live? None: nothing is known of it."""
        if self.entry is None or self.entry.status is Status.COMPLETE:
            return None
        if self.entry.status is Status.RUNNING or time.monotonic() - self._grew < _GROWING:
            return True
        return False if self._writer == "gone" else None

    def last_records(self) -> list[Record]:
        """The records that the head goes by, in the log's order."""
        return [] if self.log is None else last_records(self.log)

    def _before(self, records: Sequence[Record]) -> int | None:
        """Messages ahead of the records, where they are counted."""
        timeline = self._at.timeline.timeline
        if timeline is None or not timeline.marks.complete(timeline.log.size):
            return None
        return timeline.marks.messages - sum(record.kind is Kind.MESSAGE for record in records)

    def knew(self, row: Row) -> Knew | None:
        """What the agent knew at a row."""
        from tui.knew import Knowledge

        timeline = self._at.timeline.timeline
        if timeline is None:
            return None
        if self._knowledge is None:
            self._knowledge = Knowledge(timeline.log, timeline.marks)
        return self._knowledge.at(row)

    def _forget_known(self) -> None:
        if self._knowledge is not None:
            self._knowledge.close()
            self._knowledge = None

    def look(self) -> None:
        """See whether the log grew, was replaced, is gone or came back. Cheap when nothing did."""
        at = self._at
        if self.log is None or self.entry is None:
            return
        kind = at.timeline.grown().kind
        path = self.entry.path
        if kind == "gone":
            self._is_gone = True
            at.status.warn(f"{_GONE}: {path}")
            return
        if self._is_gone:
            self._is_gone = False
            at.status.unwarn(f"{_GONE}: {path}")
        if kind == "replaced":
            self._grew = float("-inf")
            at.status.warn(f"the log was replaced or cut, and is read anew: {path}")
        if kind != "none":
            self._forget_known()
        if kind == "grew":
            self._grew = time.monotonic()
            at.timeline.judge(self._alive)
        if kind != "none" and self._renewing is None:
            self._renewing = at.set_timer(_SOON, self._renew_soon)

    def _renew_soon(self) -> None:
        self._renewing = None
        if self.entry is not None:
            self._at.renewed(self.entry.path)
