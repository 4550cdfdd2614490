"""How far a handing over is, and why a key cannot act on it yet. Pure."""

from __future__ import annotations

from typing import NamedTuple

from sessionlog.text import visible
from tui.handover import Known, Planned
from tui.handover_facts import in_short

NOTHING = "nothing to repair: every call is answered, no byte is lost"
_NEEDS_PLAN = ("go", "accept", "write", "diff", "copy")
_ACTS = (*_NEEDS_PLAN, "note", "agent", "screen_or_not", "folder")


class Standing(NamedTuple):
    """How far it is."""

    known: Known | None = None
    planned: Planned | None = None
    """The last plan; an older choice's while it is thought through anew."""
    busy: str = "reading the log …"
    """What a thread is at; "" when none is."""
    problem: str = ""
    """What went wrong last."""
    accepted: bool = False
    """Did the person see the damage, and go on?"""

    @property
    def asks(self) -> bool:
        """Does damage before the end wait for a person?"""
        damaged = self.planned is not None and self.planned.refused is not None
        return damaged and not self.accepted

    @property
    def waits(self) -> str:
        """Why it cannot go now, in a few words; "" when it can."""
        if self.busy:
            return self.busy.removesuffix(" …")
        resume = self.planned.resume if self.planned else None
        if resume is None or self.problem:
            return visible(self.problem).partition(";")[0] or "there is no plan"
        reasons = ["damage before the end"] if self.asks else []
        return ", ".join([*reasons, *(in_short(resume, words) for words in resume.missing)])


def refused(at: Standing, id: str) -> str:
    """Why the command cannot act now; "" when it can."""
    if id not in _ACTS:
        return ""
    if at.known is None or at.busy.startswith("writing"):
        return at.busy.removesuffix(" …") or at.problem
    if at.busy and id in _NEEDS_PLAN:
        return at.busy.removesuffix(" …")
    if id == "go":  # while damage waits, it leads there
        return f"enter waits: {at.waits}" if at.waits and not at.asks else ""
    if id == "accept":
        return "" if at.asks else "! has nothing to accept: no damage before the end"
    if id == "write":
        return _write(at)
    return _choice(at, id)


def _write(at: Standing) -> str:
    resume = at.planned.resume if at.planned else None
    if at.asks:
        return "write: damage before the end waits; ! accepts it"
    if resume is None or resume.plan is not None or resume.carried:
        return ""
    is_whole = at.known is not None and not at.known.session.open_calls
    return f"write: {NOTHING}" if is_whole else "write: the log goes over as it stands"


def _choice(at: Standing, id: str) -> str:
    resume = at.planned.resume if at.planned else None
    if id in ("note", "copy") and resume is None:
        return f"{id}: there is no plan; a chooses another agent"
    if id == "screen_or_not" and resume is not None and resume.agent.output:
        return f"{visible(resume.agent.name)} is recorded, so it runs without the screen"
    if id == "diff" and resume is not None and resume.carried:
        return f"diff: every line is new, in a {resume.format} log"
    if id == "diff" and (resume is None or resume.plan is None):
        return "diff: the log goes over as it stands"
    return ""
