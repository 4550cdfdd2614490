"""How a session stands: one rule for the library, the command line and the screen."""

from __future__ import annotations

from sessionlog.records import Ending, Meta, Status

WAITS = "not gone on with yet"
"""How a log stands that was made from another, and holds nothing of its own."""


def waits(meta: Meta, started: str, updated: str) -> bool:
    """Was the log made from another, and is its last record no younger than it? What it was told
    to go on with (in the same second) is no going on. Times are RFC 3339, in UTC."""
    made = meta.forked_from is not None or bool(meta.resumed_from)
    return made and bool(started and updated) and updated[:19] <= started[:19]


def judge(ending: Ending, *, torn: bool, alive: bool) -> Status:
    """How a session stands. An ending wins; then a living writer; then the torn tail."""
    if ending.ended:
        return Status.COMPLETE
    if alive:
        return Status.RUNNING
    return Status.TRUNCATED if torn else Status.UNFINISHED
