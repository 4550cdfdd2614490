"""What an agent's loop calls: records what happens, and never stops the run.

A recorder that raised into the agent would lose the work it is there to witness. So every failure
is kept in `problem`, what could not be written waits in order with the time it happened, and the
next call tries again: recording resumes by itself when the disk has space again.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from sessionlog.errors import WriterClosed, words_of
from sessionlog.formats.native_encode import stamp
from sessionlog.records import Event, Message, Payload, Reset, Result
from sessionlog.writer import Writer

_DROPPED = ("token", "reasoningToken")
"""Narration of single tokens: the message says it all again."""
_WAITING = 10_000


class Recorder:
    """Takes a run's messages, events, resets and result, from any thread.

    `Recorder(None)` takes them and does nothing, so that an agent without a log needs no other
    code. At most `waiting` records wait for the disk; then events are given up first, as they are
    never state.
    """

    def __init__(self, writer: Writer | None, waiting: int = _WAITING) -> None:
        self._writer = writer
        self._most = waiting
        self._lock = threading.Lock()
        self._waiting: list[tuple[Payload, str]] = []
        self._lost = 0
        self._why_lost = ""
        self.problem: str | None = None
        """What is wrong, for a person to read; None while all is written."""

    def message(self, message: Message) -> None:
        """Record a message."""
        self._take(message)

    def event(self, kind: str, tool: str = "", text: str = "", iteration: int = 0) -> None:
        """Record an event, unless it narrates single tokens."""
        if kind not in _DROPPED:
            self._take(Event(kind, tool, text, iteration))

    def reset(self) -> None:
        """Record that the conversation starts anew."""
        self._take(Reset())

    def result(self, result: Result) -> None:
        """Record how the run ended."""
        self._take(result)

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """What is recorded inside came in one piece: each is written at once, all are synced at
        the end. A sync costs a hundred times a write."""
        if self._writer is None:
            yield
            return
        self._writer.hold()
        try:
            yield
        finally:
            with self._lock:
                try:
                    self._writer.release()
                except OSError as error:
                    self.problem = f"not synced: {words_of(error)}"

    def close(self) -> None:
        """Try what still waits once more, and let go of the log."""
        if self._writer is None:
            return
        with self._lock:
            self._flush(self._writer)
            try:
                self._writer.close()
            except OSError as error:
                self.problem = f"the end is not synced: {words_of(error)}"

    def _take(self, payload: Payload) -> None:
        if self._writer is None:
            return
        with self._lock:
            self._waiting.append((payload, stamp()))
            self._flush(self._writer)

    def _give_up_one(self) -> None:
        """Of what waits, the oldest event; where only state waits, the newest record."""
        events = (i for i, (waits, _) in enumerate(self._waiting) if isinstance(waits, Event))
        del self._waiting[next(events, -1)]
        self._lose(1, "too many waited")

    def _flush(self, writer: Writer) -> None:
        """Write what waits, in order, as far as the disk takes it."""
        done, why = 0, ""
        for payload, at in self._waiting:
            try:
                writer.write(payload, at)
            except OSError as error:
                why = words_of(error)
                break
            except WriterClosed as error:
                self._lose(len(self._waiting) - done, str(error))
                done = len(self._waiting)
                break
            except Exception as error:  # this one can never be written; the run goes on
                self._lose(1, words_of(error))
            done += 1
        del self._waiting[:done]
        if len(self._waiting) > self._most:
            self._give_up_one()
        self._tell(why)

    def _lose(self, count: int, why: str) -> None:
        self._lost += count
        self._why_lost = why

    def _tell(self, why: str) -> None:
        told = []
        if self._waiting:
            told.append(f"not written: {why}; records that wait: {len(self._waiting)}")
        if self._lost:
            told.append(f"records lost: {self._lost} ({self._why_lost})")
        self.problem = "; ".join(told) or None
