"""The top line: the program, where it looks, how many sessions stand how, and the clock."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime

from sessionlog.records import Entry, moment
from sessionlog.text import visible
from sessionlog.text import width as columns_of
from tui.layout import NARROW, SMALLEST, WIDE
from tui.lines import Line, Piece
from tui.signs import SIGNS, WORDS, state_of
from tui.widgets.line_widget import LineWidget


class TopBar(LineWidget):
    """Counts are a by-product of the list: `update` is told its sessions."""

    def __init__(
        self, folders: Sequence[str], *, id: str, clock: Callable[[], float] = time.time
    ) -> None:
        super().__init__(id=id)
        self._folders = [visible(folder) for folder in folders]
        self._clock = clock
        self._counts: Counter[str] = Counter()
        self._oldest = ""

    def update(self, entries: Sequence[Entry]) -> None:
        """Count the sessions anew. O(sessions)."""
        self.count(entries)
        self.refresh()

    def count(self, entries: Sequence[Entry]) -> None:
        """Count the sessions before the first paint."""
        self._counts = Counter(map(state_of, entries))
        self._oldest = min((e.started for e in entries if e.started), default="")

    def lines(self, width: int, height: int) -> list[Line]:
        """The bar; or, where there is no room for the panes, one line that asks for more."""
        if width < SMALLEST.width or height > 1:
            said = f" sessionlog needs {SMALLEST.width} columns and {SMALLEST.height} rows"
            return [Line([(said, "open")])]
        left: list[Piece] = [(" sessionlog", "fg-1 bold")]
        left += [(f"  {text}", "fg-2") for text in self._places(width)]
        right = [*self._states(width), (f"  {self._time(width)} ", "fg-2")]
        room = width - sum(columns_of(text) for text, _ in [*left, *right]) - 2
        count, since = self._since(width) if self._counts else ("", "")
        if columns_of(count) <= room:
            left.append((f"  {count}", "fg-3"))
        if columns_of(count + since) <= room:
            left.append((since, "fg-3"))
        return [Line(left, right, "surface")]

    def _places(self, columns: int) -> list[str]:
        if columns < NARROW or not self._folders:
            return []
        if columns >= WIDE and columns_of("  ".join(self._folders)) < columns // 4:
            return self._folders
        count = len(self._folders)
        return [self._folders[0]] if count == 1 else [f"{count} places"]

    def _since(self, columns: int) -> tuple[str, str]:
        total = sum(self._counts.values())
        told = "" if columns < NARROW else " sessions" if total != 1 else " session"
        oldest = moment(self._oldest)
        if oldest is None:
            return f"{total:,}{told}", ""
        local = oldest.astimezone()
        age = self._clock() - local.timestamp()
        form = "%a %H:%M" if age < 6 * 86400 else "%-d %b" if age < 300 * 86400 else "%b %Y"
        return f"{total:,}{told}", f" since {local.strftime(form)}"

    def _states(self, columns: int) -> list[Piece]:
        if not self._counts:
            return [("0 sessions", "fg-3")]
        pieces: list[Piece] = []
        for state, word in WORDS.items():
            if count := self._counts[state]:
                word = f" {word}" if columns >= WIDE else ""
                pieces += [("  ", ""), SIGNS[state], (f" {count:,}{word}", "fg")]
        return pieces

    def _time(self, columns: int) -> str:
        now = datetime.fromtimestamp(self._clock()).astimezone()
        return now.strftime("%H:%M" if columns < NARROW else "%a %-d %b %H:%M")
