"""The fork dialog: what the new log would hold, and where the cut may move."""

from __future__ import annotations

from bisect import bisect_left
from datetime import datetime

from sessionlog.records import Entry
from sessionlog.session import Session
from tui import previews
from tui.lines import Line
from tui.previews import count, field
from tui.rows import Row
from tui.screens.plan import PlanDialog

_LOW = 20
"""Rows of a terminal below which the dialog shows fewer rows of the log."""


class ForkDialog(PlanDialog):
    """`enter` forks; `j k` move the cut, `u U` to a user turn."""

    doing = "fork"

    def __init__(
        self, entry: Entry, row: Row | None, now: datetime | None = None, at: int = 0
    ) -> None:
        """Begins with a cut after message `at`; 0: at the row, or the end where there is none."""
        super().__init__(entry, now)
        self._row = row
        self._at = at

    def planned(self, session: Session) -> previews.Plan:
        """The plan at the cut. Raises NotPossible."""
        from sessionlog.forks import plan_fork

        self._at = self._at or previews.cut_at(session, self._row)
        plan = plan_fork(session, self._at, now=self.now)
        self._at = plan.at
        return plan

    def written(self, force: bool) -> str:
        """Write the fork; gives its path."""
        from sessionlog.forks import fork

        return str(fork(self.entry.path, self._at, force=force, now=self.now))

    @property
    def heading(self) -> str:
        """`Fork at 146`"""
        return f"Fork at {self._at}" if self._at else "Fork"

    def said(self, session: Session, plan: previews.Plan, width: int) -> list[Line]:
        """Rows around the cut, what the fork holds, what it closes, where it goes."""
        low = self.size.height < _LOW + 8
        lines = previews.around(session, self._at, 2 if low else 3, 1 if low else 2, width)
        holds = (f"{count(plan.messages, 'message')}, ", "fg")
        origin = (f"forked from {previews.shown_id(session.id)} at {self._at}", "fg-2")
        return [
            *lines,
            Line([]),
            field("holds", holds, ("bytes copied as they are", "fg-2")),
            *previews.closed(plan.closed),
            *previews.moved(plan),
            *previews.left_out(plan.dropped),
            previews.new_log(plan.path),
            *([] if low else [field("remembers", origin)]),
            previews.parent(),
        ]

    def plan_keys(self) -> list[tuple[str, str]]:
        """Beside enter and esc."""
        return [("j k", "move the cut"), ("u", "to a turn")]

    def moved(self, session: Session, key: str) -> bool:
        """Move the cut; False when the key does not."""
        if key in ("u", "U"):
            stops = previews.turns(session)
        elif key in ("j", "k", "down", "up", "home", "end", "g", "G"):
            stops = previews.cuts(session)
        else:
            return False
        if stops:
            self._at = _stop(stops, self._at, key)
        return True


def _stop(stops: list[int], at: int, key: str) -> int:
    """The next of the stops that a key leads to."""
    if key in ("home", "g", "end", "G"):
        return stops[0 if key in ("home", "g") else -1]
    index = bisect_left(stops, at)
    if key in ("j", "down", "U"):
        index += index < len(stops) and stops[index] == at
    else:
        index -= 1
    return stops[min(max(index, 0), len(stops) - 1)]
