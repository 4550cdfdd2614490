"""What an agent's loop calls: records what happens, and never stops the run.

A recorder that raised into the agent would lose the work it is there to witness. So every failure
is kept in `problem`, what could not be written waits in order, and the next call tries again:
recording resumes by itself when the disk has space again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from sessionlog.errors import SessionLogError, WriterClosed
from sessionlog.records import Event, Message, Result
from sessionlog.writer import Writer

_DROPPED = ("token", "reasoningToken")
"""Narration of single tokens: the message says it all again."""
_WAITING = 10_000
"""Records that wait at most; the oldest are given up first, and `problem` says how many."""


class Recorder:
    """Takes a run's messages, events, resets and result; `Recorder(None)` takes them and does
    nothing, so that an agent without a log needs no other code."""

    def __init__(self, writer: Writer | None) -> None:
        self._writer = writer
        self._waiting: deque[Callable[[], None]] = deque()
        self._lost = 0
        self.problem: str | None = None
        """What went wrong last, for a person to read; None while all is written."""

    def message(self, message: Message) -> None:
        """Record a message."""
        if self._writer is not None:
            writer = self._writer
            self._do(lambda: writer.message(message))

    def event(self, kind: str, tool: str = "", text: str = "", iteration: int = 0) -> None:
        """Record an event, unless it narrates single tokens."""
        if self._writer is not None and kind not in _DROPPED:
            writer = self._writer
            event = Event(kind, tool, text, iteration)
            self._do(lambda: writer.event(event))

    def reset(self) -> None:
        """Record that the conversation starts anew."""
        if self._writer is not None:
            self._do(self._writer.reset)

    def result(self, result: Result) -> None:
        """Record how the run ended."""
        if self._writer is not None:
            writer = self._writer
            self._do(lambda: writer.result(result))

    def close(self) -> None:
        """Try what still waits once more, and let go of the log."""
        if self._writer is not None:
            self._flush()
            self._writer.close()

    def _do(self, write: Callable[[], None]) -> None:
        self._waiting.append(write)
        if len(self._waiting) > _WAITING:
            self._waiting.popleft()
            self._lost += 1
        self._flush()

    def _flush(self) -> None:
        """Write what waits, in order, as far as the disk takes it."""
        while self._waiting:
            try:
                self._waiting[0]()
            except WriterClosed as error:
                self._waiting.clear()
                self.problem = str(error)
                return
            except SessionLogError as error:  # this record can never be written: tell, go on
                self.problem = str(error)
                self._lost += 1
            except OSError as error:
                lost = f", {self._lost} lost" if self._lost else ""
                count = len(self._waiting)
                self.problem = f"not written: {error.strerror or error}; {count} wait{lost}"
                return
            self._waiting.popleft()
        if self.problem and self.problem.startswith("not written"):
            self.problem = f"{self._lost} records were lost" if self._lost else None
