"""What a new log made from another will hold: a repair or a fork that was thought through.

`mend` computes it from the records of the source, `newlog` writes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sessionlog.edits import Edit as Edit
from sessionlog.edits import Edits as Edits
from sessionlog.edits import Insert as Insert
from sessionlog.records import Damage, OpenCall, OrphanResult

INTERRUPTED = "Interrupted by the user."
"""What a closing line answers an open call with."""


class _Planned:
    """What a fork and a repair have in common: the new log, told from its changes."""

    __slots__ = ()
    changes: Edits

    @property
    def messages(self) -> int:
        return self.changes.messages

    @property
    def closed(self) -> tuple[OpenCall, ...]:
        return self.changes.closed

    @property
    def moved(self) -> tuple[int, ...]:
        return self.changes.moved

    @property
    def orphans(self) -> tuple[OrphanResult, ...]:
        return self.changes.orphans

    @property
    def dropped(self) -> tuple[Damage, ...]:
        """What is left out of the source's bytes, in their order."""
        lost = (*self.changes.dropped, *self.changes.nameless, *self.changes.repeated)
        return tuple(sorted(lost, key=lambda damage: damage.span.offset))


@dataclass(frozen=True, slots=True)
class Repair(_Planned):
    """A repair that was thought through: what `apply_repair` will write."""

    source: str
    format: str
    parent: str
    """Id of the source."""
    id: str
    path: str
    """Where it will go when no place is given."""
    now: datetime
    changes: Edits
    refused: Damage | None = None
    """The damage before the end that stops it, unless forced."""
    alive: str | None = None
    """Evidence that the source's writer lives, which stops it."""
    workdir: str = ""
    """Another working directory than the source's, for the new log; "": the same."""

    at = None

    @property
    def needed(self) -> bool:
        """False: the log is whole and every call is answered in its place."""
        return bool(self.changes.edits or self.changes.unreached)


@dataclass(frozen=True, slots=True)
class Fork(_Planned):
    """A fork that was thought through: what `apply_fork` will write."""

    source: str
    format: str
    parent: str
    """Id of the source."""
    id: str
    path: str
    """Where it will go when no place is given."""
    now: datetime
    at: int
    """Number of the last message it holds. Messages of one line are not torn apart, so it may be
    a little more than was asked for."""
    changes: Edits
    refused: Damage | None = None
    """The damage in the taken lines that stops it, unless forced."""
    workdir: str = ""
    """Another working directory than the source's, for the new log; "": the same."""

    needed = True
