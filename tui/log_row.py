"""One row of a log that need not be the open one, as its timeline would show it.

One log is open at a time, from the first row that is asked for to the first of another log.
"""

from __future__ import annotations

from sessionlog.errors import SessionLogError
from sessionlog.records import Entry
from sessionlog.window import Log
from tui.landing import holds, landed
from tui.opening import is_alive, open_log
from tui.rows import Row
from tui.timeline import Place, Timeline


class LogRow:
    """Opens logs lazily; `close` ends it."""

    def __init__(self) -> None:
        self.log: Log | None = None
        """The log of the row that was given last."""
        self._timeline: Timeline | None = None

    def at(self, entry: Entry, place: Place, n: int | None = None, line: int = 0) -> Row | None:
        """The row of the record at an offset and part, with a number and a line that are known
        already; None when the log cannot be read any more, or is not the same."""
        if self.log is None or self.log.path != entry.path:
            self._open(entry)
        if self._timeline is None:
            return None
        pos = landed(self._timeline, place)
        row = self._timeline.row(pos) if pos is not None else None
        if row is None or not holds(row, place):
            return None
        if row.place == place:
            return row._replace(n=n or row.n, line=line or row.line)
        return row._replace(answer=n) if row.sort == "call" else row

    def close(self) -> None:
        """Let go of the log."""
        if self.log is not None:
            self.log.close()
        self.log = self._timeline = None

    def _open(self, entry: Entry) -> None:
        self.close()
        try:
            self.log = open_log(entry)
        except SessionLogError:
            return
        self._timeline = Timeline(self.log)
        self._timeline.judge(is_alive(entry))
        self._timeline.level = "all"
