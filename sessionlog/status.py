"""How a session stands: one rule for the library, the command line and the screen."""

from __future__ import annotations

from collections.abc import Iterable

from sessionlog.records import Ending, Message, Meta, Record, Status

WAITS = "not gone on with yet"
"""How a log stands that was made from another, and holds nothing of its own."""

NO_END = "no ending recorded"
"""How a log stands that ends without an end, where nobody can tell what it was in."""

ANSWERING = "while the model answered"
"""How a log stands whose model was to speak."""

ALIVE = {NO_END: "between two steps", ANSWERING: "the model answers"}
"""The same in words for a log whose writer lives."""

UNASKED = "nothing was asked"
"""How a log stands that holds nothing for the model: commands that its client ran by itself."""

WENT_BACK = "went back to an earlier place"
"""How a log stands whose last act was to take back what was said last."""

HIDDEN = "in a call, or waiting at its prompt"
"""How a run goes on whose log does not tell a call that runs from a turn that has ended."""

UNSURE = "whether its agent still runs cannot be known"
"""What is to be said of a log without an end whose writer nobody sees."""

BROKE_OFF = "the stream that was recorded broke off"
"""The evidence of a recorded stream's end without its own ending."""


def waits(meta: Meta, started: str, last: Record | None) -> bool:
    """Was the log made from another, and is its last record older than it? What it was told to go
    on with, in the second in which it was made, is no going on. Times are RFC 3339, in UTC."""
    made = meta.forked_from is not None or bool(meta.resumed_from)
    if not made or not started or last is None or not last.at:
        return False
    told = isinstance(last.payload, Message) and last.payload.type == "user"
    return last.at[:19] < started[:19] or (told and last.at[:19] == started[:19])


def last_at(newest_first: Iterable[Record]) -> str:
    """When a log was written last: the latest time on the last line that tells one. A line may
    hold a whole answer, and end with when that began."""
    last: Record | None = None
    for record in newest_first:
        if last is not None and record.span.offset != last.span.offset:
            break
        if (time := record.time) and (last is None or last.time is None or time > last.time):
            last = record
    return last.at if last is not None else ""


def outlived(ending: Ending) -> Ending:
    """An ending that the log seems to have, though its writer lives (`formats.base.Traceless`)."""
    return Ending(False, text=HIDDEN, evidence=f"{ending.evidence}; but its writer is alive")


def judge(ending: Ending, *, torn: bool, alive: bool) -> Status:
    """How a session stands. An ending wins; then a living writer; then the torn tail."""
    if ending.ended:
        return Status.COMPLETE
    if alive:
        return Status.RUNNING
    return Status.TRUNCATED if torn else Status.UNFINISHED
