"""The head of an open session: what it is, how it stands, and why, without a key."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from sessionlog.records import Entry, Record
from sessionlog.text import clip, one_line, visible, width
from sessionlog.why.answer import Why
from sessionlog.why.facts import Beside
from tui.lines import Line, Piece, end_of
from tui.signs import SIGNS, badge, state_of
from tui.stop import gather, lines_of, why_of
from tui.widgets.line_widget import LineWidget

_SHARE = {False: 35, True: 55}
"""Of a hundred columns, those that the folder may take from the title, or the words on where the
log came from."""
_LEAST = 8
"""Columns below which a folder says nothing."""


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
        self._crumb: list[Piece] = []

    def show(
        self,
        entry: Entry | None,
        records: Sequence[Record] = (),
        *,
        before: int | None = None,
        writer: str = "",
        beside: Beside | None = None,
        began: str = "",
    ) -> None:
        """Show a session by its row and its last records; see `tui.stop.stop_lines`, `why_of`."""
        self.entry, self._writer = entry, writer
        facts = gather(records, before)
        self._why = None if entry is None else why_of(entry, facts, beside, began)
        self.refresh()

    def set_crumb(self, crumb: list[Piece]) -> None:
        """What the log is of another one, and the way there."""
        if crumb != self._crumb:
            self._crumb = crumb
            self.refresh()

    def set_active(self, is_active: bool) -> None:
        if is_active != self.is_active:
            self.is_active = is_active
            self.refresh()

    def lines(self, width: int, height: int) -> list[Line]:
        if self.entry is None or self._why is None:
            return []
        home = os.path.expanduser("~")
        title = title_line(self.entry, home, width, crumb=self._crumb, focused=self.is_active)
        stop = lines_of(self.entry, self._why, self._now(), width, self._writer)
        return [title, *stop][:height]


def title_line(
    entry: Entry, home: str, columns: int, *, crumb: Sequence[Piece] = (), focused: bool
) -> Line:
    """Sign, title, damages; at the right the agent, and the folder or what the log is of another.
    The right has what the title leaves, and at least its share of the line."""
    gutter: Piece = SIGNS["cursor"] if focused else (" ", "")
    sign, style = SIGNS[state_of(entry)]
    title = one_line(entry.title or entry.task) or visible(entry.id)
    folder = visible(entry.workdir)
    if home and (folder == home or folder.startswith(home + "/")):
        folder = "~" + folder[len(home) :]
    right: list[Piece] = [(" ", ""), *badge(entry.damage)]
    right += [(f" {visible(entry.agent or entry.format)}", "fg-2"), (" ", "")]
    taken = 4 + sum(width(text) for text, _ in right)
    room = max(columns - taken - width(title), (columns - taken) * _SHARE[bool(crumb)] // 100)
    if crumb:
        (words, tint), *key = crumb
        room -= sum(width(text) for text, _ in key)
        right += [(clip(words, max(room, 8)), tint), *key]
    elif room >= _LEAST:
        right.append((end_of(folder, room), "fg-3"))
    return Line(
        [gutter, (sign, style), (" ", ""), (title, "fg-1 bold")], [*right, (" ", "")], "surface"
    )
