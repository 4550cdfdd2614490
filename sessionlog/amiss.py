"""What failed in a run that ended by itself. Its ending does not tell: `why` does."""

from __future__ import annotations

from datetime import datetime

from sessionlog.errors import SessionLogError
from sessionlog.records import Entry
from sessionlog.text import clip
from sessionlog.why.answer import Why
from sessionlog.why.said import headline

_LONGEST = 200


def failure_of(why: Why) -> str:
    """In one line, safe to print; "" of a run that is done, or goes on."""
    if why.cause in ("finished", "running"):
        return ""
    title, words = headline(why)
    return clip(f"{title}: {words}" if words else title, _LONGEST)


def asked(entry: Entry, now: datetime) -> tuple[Entry, str | None]:
    """A row with what failed in its run, and the cause; None: it cannot be read. Reads the log."""
    if entry.status is None:
        return entry, None
    from sessionlog.why.look import look  # a screen that paints first does without

    try:
        why = look(entry.path, now).why
    except SessionLogError:
        return entry, None
    return entry._replace(failure=failure_of(why) if entry.is_well else ""), why.cause
