"""Handing a session over as the screen holds it: what the person chose, what came of it, and what
they want in the end. Plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sessionlog.records import Damage
from sessionlog.session import Session
from tui.handover_rows import Strip, Transcript

if TYPE_CHECKING:
    from sessionlog.agents import Choice
    from sessionlog.resume import Resume
    from sessionlog.stale import Staleness


class Chosen(NamedTuple):
    """What the person said instead of what is proposed; None: as proposed."""

    agent: str | None = None
    note: str | None = None
    cwd: str | None = None
    screen: bool = True


class Known(NamedTuple):
    """What was read once: a new plan needs no more."""

    session: Session
    staleness: Staleness | None
    strip: Strip


class Planned(NamedTuple):
    """A handing over that was thought through for some choices, or why it could not be."""

    chosen: Chosen
    resume: Resume | None
    transcript: Transcript
    refused: Damage | None
    """The damage before the end that a person has to look at."""
    agents: tuple[Choice, ...] = ()
    problem: str = ""

    @property
    def missing(self) -> tuple[str, ...]:
        """What is not there, each with what to do."""
        return self.resume.missing if self.resume else ()


class Go(NamedTuple):
    """Hand it over now."""

    session: Session
    resume: Resume
    force: bool
    """Leave the damaged lines out: the person saw them."""


class Wrote(NamedTuple):
    """The new log was written, and nothing started."""

    path: str


class Look(NamedTuple):
    """Look at a row of the log first."""

    offset: int
    """Byte at which it begins."""


Answer = Go | Wrote | Look
