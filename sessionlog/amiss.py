"""What the ending of a run does not tell, and `why` does: above all what failed in one that ended
by itself.
"""

from __future__ import annotations

from datetime import datetime

from sessionlog.errors import SessionLogError
from sessionlog.records import Entry, Status
from sessionlog.text import clip, one_line
from sessionlog.why.answer import Why
from sessionlog.why.said import headline

_LONGEST = 200
_TOLD = ("finished", "running")
_IN_ROW = (*_TOLD, "killed_in_tool", "killed_answering", "torn_write", "never_started",
           "interrupted", "not_known")  # fmt: skip
"""Causes that the row of a run that was cut off, or failed, tells in words of its own."""


def failure_of(entry: Entry, why: Why) -> str:
    """Why it stopped, in one line, safe to print; "" where the row tells it, or the run goes on."""
    if why.cause in (_TOLD if entry.is_well else _IN_ROW) or entry.status is Status.RUNNING:
        return ""
    title, words = headline(why)
    if not entry.is_well and entry.stop and one_line(entry.stop) in words:
        return ""
    return clip(f"{title}: {words}" if words else title, _LONGEST)


def asked(entry: Entry, now: datetime) -> tuple[Entry, str | None]:
    """A row with why it stopped, and the cause; None: it cannot be read. Reads the log."""
    if entry.status is None:
        return entry, None
    from sessionlog.why.look import look  # a screen that paints first does without

    try:
        why = look(entry.path, now).why
    except SessionLogError:
        return entry, None
    return entry._replace(failure=failure_of(entry, why)), why.cause
