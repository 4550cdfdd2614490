"""How a session stands: one rule for the library, the command line and the screen."""

from __future__ import annotations

from sessionlog.records import Ending, Status


def judge(ending: Ending, *, torn: bool, alive: bool) -> Status:
    """How a session stands. An ending wins; then a living writer; then the torn tail."""
    if ending.ended:
        return Status.COMPLETE
    if alive:
        return Status.RUNNING
    return Status.TRUNCATED if torn else Status.UNFINISHED
