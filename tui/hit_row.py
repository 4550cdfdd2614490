"""The row of a search's hit, as the timeline of its log would show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessionlog.records import Entry
from tui.log_row import LogRow
from tui.rows import Row

if TYPE_CHECKING:
    from sessionlog.hit import Hit


class HitRow(LogRow):
    """A row by its hit."""

    def of(self, entry: Entry, hit: Hit) -> Row | None:
        """The row; None when the log cannot be read any more, or is not the same."""
        return self.at(entry, (hit.offset, hit.part), hit.n, hit.line)
