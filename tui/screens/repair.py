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

        return plan_repair(session)

    def written(self, force: bool) -> str:
        """Write the repaired log; gives its path."""
        from sessionlog.repairs import repair

        return str(repair(self.entry.path, force=force))

    def needed(self, plan: previews.Plan) -> bool:
        """A log in which every call is answered and no byte is lost needs no repair."""
        return bool(getattr(plan, "needed", True))

    def said(self, session: Session, plan: previews.Plan, width: int) -> list[Line]:
        """What is closed, moved, left out; where the new log goes."""
        if not self.needed(plan):
            well = ("nothing to repair: every call is answered, no byte is lost", "fg")
            return [Line([SIGNS["ok"], (" ", ""), well]), Line([]), previews.parent()]
        moved = tuple(getattr(plan, "moved", ()))
        lines = [field("holds", (count(len(session.history), "message"), "fg"))]
        lines += previews.closed(plan.closed)
        if moved:
            numbers = ", ".join(map(str, moved[:6]))
            said = (f"the results {numbers}", "fg")
            lines.append(field("moved", said, (" to their calls", "fg-2")))
        origin = (f"resumed from {previews.shown_id(session.id)}", "fg-2")
        return [
            *lines,
            *previews.left_out(plan.dropped),
            previews.new_log(plan.path),
            field("remembers", origin),
            previews.parent(),
        ]
