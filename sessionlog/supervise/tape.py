"""The process that records what a command prints: it gets pieces through a pipe, and says in the
end what came of it.

A log that cannot be opened or written is a problem that is told, and the command runs on: what it
prints is taken in any case.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from sessionlog.errors import words_of
from sessionlog.supervise.order import Order
from sessionlog.supervise.output import END, ERR

if TYPE_CHECKING:
    from sessionlog.recording import Recording
    from sessionlog.writer import Writer

_HEAD = 5
"""Bytes in front of a piece: its kind and its length."""


def record(order: Order, pieces: int, told: int) -> None:
    """Record until the end is told, or the pipe's end comes without it: the supervisor was killed.

    Both descriptors are closed here.
    """
    recording, writer, problem = _opened(order)
    how, code = "stopped", None
    with open(pieces, "rb") as file:
        while len(head := file.read(_HEAD)) == _HEAD:
            data = file.read(int.from_bytes(head[1:], "big"))
            if head[:1] == END:
                how, code = json.loads(data)
                break
            if recording is not None:
                recording.stderr(data) if head[:1] == ERR else recording.feed(data)
    if recording is not None and writer is not None:
        recording.end(how, code)
        problem = recording.problem or ""
        try:
            writer.close()
        except OSError as error:
            problem = problem or f"the end of the recording is not synced: {words_of(error)}"
    recorded = order.log if recording is not None else ""
    with open(told, "wb") as file:
        file.write(json.dumps([recorded, problem]).encode())


def _opened(order: Order) -> tuple[Recording | None, Writer | None, str]:
    """And what stood in the way."""
    from sessionlog.errors import SessionLogError
    from sessionlog.recording import Recording
    from sessionlog.writer import reopen

    try:
        writer = reopen(order.log, sync="turn")
        return Recording(order.output, writer), writer, ""
    except (SessionLogError, OSError) as error:
        return None, None, f"not recorded: {words_of(error)}"
