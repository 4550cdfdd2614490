"""The rows of two compared logs, made as they are shown: each as its own timeline would show it."""

from __future__ import annotations

from collections import OrderedDict

from sessionlog.contrast import contrast
from sessionlog.records import Entry, Message, shown_type
from sessionlog.sides import SideLog
from sessionlog.window import Log
from tui.beside import Spot
from tui.log_row import LogRow
from tui.rows import Row

_KEPT = 512


class BesideRows:
    """Reads what is shown and keeps what was shown last. `close` lets go of the logs."""

    def __init__(self, entries: tuple[Entry, Entry], logs: tuple[SideLog, SideLog]) -> None:
        self.logs = logs
        self._entries = entries
        self._opened = (LogRow(), LogRow())
        self._rows: OrderedDict[tuple[int, int], Row | None] = OrderedDict()

    def close(self) -> None:
        """Let go of the files."""
        for opened, log in zip(self._opened, self.logs, strict=True):
            opened.close()
            log.close()

    def log(self, side: int) -> Log | None:
        """The open log of a side whose row was shown."""
        return self._opened[side].log

    def of(self, spot: Spot) -> tuple[Row | None, Row | None]:
        """The rows of a line; None where a side has none, or its log is another one by now. Two
        alike rows that read the same show in what they differ."""
        changed = spot.part.kind == "changed"
        numbers = spot.facing if changed else spot.numbers
        left, right = (self.row(side, n) if n else None for side, n in enumerate(numbers))
        if changed and left and right and left.body == right.body:
            return self._contrasted((left, right), numbers)
        return left, right

    def row(self, side: int, n: int) -> Row | None:
        """The row of message n of a side."""
        key = (side, n)
        if key not in self._rows:
            place = self.logs[side].side.place(n)
            found = self._opened[side].at(self._entries[side], (place.offset, place.part), n)
            self._rows[key] = found._replace(n=n) if found is not None else None
            if len(self._rows) > _KEPT:
                self._rows.popitem(last=False)
        self._rows.move_to_end(key)
        return self._rows[key]

    def _contrasted(self, rows: tuple[Row, Row], numbers: tuple[int, int]) -> tuple[Row, Row]:
        left, right = (self._message(side, n) for side, n in enumerate(numbers))
        if left is None or right is None:
            return rows
        if shown_type(left) == "response" and rows[0].outcome != rows[1].outcome:
            return rows
        said = contrast(left, right)
        first, second = (
            row._replace(body=text or row.body) for row, text in zip(rows, said, strict=True)
        )
        return first, second

    def _message(self, side: int, n: int) -> Message | None:
        record = self.logs[side].record(n)
        return record.payload if record and isinstance(record.payload, Message) else None
