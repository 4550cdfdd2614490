"""Close a native log that its agent can no longer close: its run was stopped.

What the agent left open is answered as interrupted and a result says that the run was stopped, so
that the log is one that ended, not one whose writer vanished. The log is read once, a line at a
time: its size costs time, no memory.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable
from contextlib import closing
from itertools import chain

from sessionlog import codec
from sessionlog.errors import SessionLogError
from sessionlog.formats.base import Format
from sessionlog.framing import Line
from sessionlog.pairing import Pairing
from sessionlog.paths import open_regular
from sessionlog.plan import INTERRUPTED
from sessionlog.records import Activity, Event, Message, OpenCall, Record, Result, shown_type
from sessionlog.source import decode, format_of, lines_of
from sessionlog.writer import Writer, reopen

STOPPED = "aborted"
"""The engine's word for a run that was stopped from outside (formats.md, result reasons)."""
_CODE = 130
"""Exit code of a run that a person interrupted."""
_TAIL = 512
"""Records from the end that tell how a log ends."""


def close(path: str | os.PathLike[str], how: str) -> str | None:
    """Write what is missing to the log of a run that was stopped; `how` says by whom, in words.

    A log that has its result already is left as it is. Gives None, or what stood in the way.
    """
    try:
        standing = _read(os.fspath(path))
        if standing.ended:
            return None
        with closing(reopen(path)) as writer:
            end(writer, standing.open_calls, how, calls=standing.calls)
    except (SessionLogError, OSError) as error:
        return str(error)
    return None


class _Standing:
    """How a log stands, from its lines: what is open, how many calls were made, has it ended?"""

    def __init__(self, form: Format, lines: Iterable[Line]) -> None:
        self._pairing = Pairing()
        self._open: dict[int, tuple[OpenCall, bool]] = {}
        self._calls = [0, 0]
        """Those of side chains, and of the main run."""
        self._own = self._result = False
        self._n = 0
        tail: deque[Record] = deque(maxlen=_TAIL)
        for record in chain.from_iterable(decode(form, line)[0] for line in lines):
            tail.append(record)
            if isinstance(record.payload, Message):
                self._take(record.payload)
            self._result = self._result or isinstance(record.payload, Result)
        self.ended = self._result and form.ending(reversed(tail)).ended

    @property
    def open_calls(self) -> tuple[OpenCall, ...]:
        """Of the main run; a subagent's own log is all side chain, and a run by itself."""
        return tuple(call for call, own in self._open.values() if own or not self._own)

    @property
    def calls(self) -> int:
        return self._calls[self._own]

    def _take(self, message: Message) -> None:
        self._n += 1
        own = not message.sidechain
        self._own = self._own or own
        activity, is_call = message.activity, shown_type(message) == "call"
        self._calls[own] += is_call
        if activity is None:
            return
        if activity.kind == "request":
            self._pairing.request(self._n, activity)
            if is_call and not message.unsent:
                call = OpenCall(self._n, activity.id, activity.name, activity.arguments)
                self._open[self._n] = call, own
        elif activity.kind == "response":
            self._open.pop(self._pairing.response(activity) or 0, None)


def _read(path: str) -> _Standing:
    fd = open_regular(path)
    try:
        return _Standing(format_of(path, fd), lines_of(fd))
    finally:
        os.close(fd)


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
