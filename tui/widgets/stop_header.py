"""The head of an open session: what it is, how it stands, and why, without a key."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from sessionlog.records import Entry, Record
from sessionlog.text import one_line, visible
from sessionlog.why.answer import Why
from sessionlog.why.facts import Beside
from tui.lines import Line, Piece
from tui.signs import SIGNS, badge, state_of
from tui.stop import gather, lines_of, why_of
from tui.widgets.line_widget import LineWidget


def _now() -> datetime:
    return datetime.now(UTC)


class StopHeader(LineWidget):
    """Title, stop, facts; the last of them goes first where the pane has fewer than 3 lines."""

    DEFAULT_CSS = "StopHeader { height: 3; }"

    def __init__(self, *, now: Callable[[], datetime] = _now, id: str | None = None) -> None:
        super().__init__(id=id)
        self.entry: Entry | None = None
        self.is_active = False
        """The pane below has the focus: its mark stands before the title."""
        self._now = now
        self._why: Why | None = None
        self._writer = ""

    def show(
        self,
        entry: Entry | None,
        records: Sequence[Record] = (),
        *,
        before: int | None = None,
        writer: str = "",
        beside: Beside | None = None,
    ) -> None:
        """Show a session by its row and its last records; see `tui.stop.stop_lines`."""
        self.entry, self._writer = entry, writer
        self._why = None if entry is None else why_of(entry, gather(records, before), beside)
        self.refresh()

    def set_active(self, is_active: bool) -> None:
        if is_active != self.is_active:
            self.is_active = is_active
            self.refresh()

    def lines(self, width: int, height: int) -> list[Line]:
        if self.entry is None or self._why is None:
            return []
        title = title_line(self.entry, os.path.expanduser("~"), focused=self.is_active)
        stop = lines_of(self.entry, self._why, self._now(), width, self._writer)
        return [title, *stop][:height]


def title_line(entry: Entry, home: str, *, focused: bool) -> Line:
    """Sign, title, damages; agent and folder at the right."""
    gutter: Piece = SIGNS["cursor"] if focused else (" ", "")
    sign, style = SIGNS[state_of(entry)]
    title = one_line(entry.title or entry.task) or visible(entry.id)
    folder = visible(entry.workdir)
    if home and (folder == home or folder.startswith(home + "/")):
        folder = "~" + folder[len(home) :]
    right: list[Piece] = [(" ", ""), *badge(entry.damage)]
    right += [(f" {visible(word)}", style) for word, style in
              ((entry.agent or entry.format, "fg-2"), (folder, "fg-3")) if word]  # fmt: skip
    return Line(
        [gutter, (sign, style), (" ", ""), (title, "fg-1 bold")], [*right, (" ", "")], "surface"
    )
