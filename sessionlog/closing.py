"""Close a native log that its agent can no longer close: its run was stopped.

What the agent left open is answered as interrupted and a result says that the run was stopped, so
that the log is one that ended, not one whose writer vanished.
"""

from __future__ import annotations

import os
from contextlib import closing

from sessionlog import codec
from sessionlog.errors import SessionLogError
from sessionlog.plan import INTERRUPTED
from sessionlog.reader import load
from sessionlog.records import Activity, Event, Message, OpenCall, Result
from sessionlog.writer import Writer, reopen

STOPPED = "aborted"
"""The engine's word for a run that was stopped from outside (formats.md, result reasons)."""
_CODE = 130
"""Exit code of a run that a person interrupted."""


def close(path: str | os.PathLike[str], how: str) -> str | None:
    """Write what is missing to the log of a run that was stopped; `how` says by whom, in words.

    A log that has its result already is left as it is. Gives None, or what stood in the way.
    """
    try:
        session = load(path)
        if session.result is not None and session.complete:
            return None
        with closing(reopen(path)) as writer:
            end(writer, session.open_calls, how, calls=session.calls)
    except (SessionLogError, OSError) as error:
        return str(error)
    return None


def end(writer: Writer, calls_open: tuple[OpenCall, ...], how: str, *, calls: int = 0) -> None:
    """Answer the open calls as interrupted, then write the event and the result of a stop.

    Raises OSError when the disk refuses.
    """
    for call in calls_open:
        writer.message(interrupted(call))
    writer.event(Event("stopped", text=how))
    writer.result(Result(STOPPED, message=how, code=_CODE, calls=calls))


def interrupted(call: OpenCall) -> Message:
    """The answer of a call whose outcome nobody knows, as the engine writes a failed one."""
    activity = Activity("response", call.call_id, call.tool, call.arguments, failure=INTERRUPTED)
    return Message("activity", codec.dumps({"error": INTERRUPTED}).decode(), activity)
