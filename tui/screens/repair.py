"""The repair dialog: what the new log closes, moves and leaves out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sessionlog.session import Session
from tui import previews
from tui.lines import Line
from tui.previews import count, field
from tui.screens.plan import PlanDialog
from tui.signs import SIGNS

if TYPE_CHECKING:
    from sessionlog.plan import Repair


class RepairDialog(PlanDialog):
    """`enter` writes; damage before the end is shown first and asks for `!`."""

    doing = "repair"

    @property
    def heading(self) -> str:
        """What it is."""
        return "Repair"

    def planned(self, session: Session) -> Repair:
        """The plan. Raises NotPossible."""
        from sessionlog.repairs import plan_repair

        return plan_repair(session, now=self.now)

    def written(self, force: bool) -> str:
        """Write the repaired log; gives its path."""
        from sessionlog.repairs import repair

        return str(repair(self.entry.path, force=force, now=self.now))

    def said(self, session: Session, plan: previews.Plan, width: int) -> list[Line]:
        """What is closed, moved, left out; where the new log goes."""
        if not plan.needed:
            well = ("nothing to repair: every call is answered, no byte is lost", "fg")
            return [Line([SIGNS["ok"], (" ", ""), well]), Line([]), previews.parent()]
        lines = [field("holds", (count(plan.messages, "message"), "fg"))]
        lines += [*previews.closed(plan.closed), *previews.moved(plan)]
        origin = (f"resumed from {previews.shown_id(session.id)}", "fg-2")
        return [
            *lines,
            *previews.left_out(plan.dropped),
            previews.new_log(plan.path),
            field("remembers", origin),
            previews.parent(),
        ]
