"""Logs on disk as the two sides of a comparison: read once for their keys, and again, message by
message, for what is shown. One line in memory at a time."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

from sessionlog.compare import Comparison, Side
from sessionlog.framing import Line
from sessionlog.logfile import open_log
from sessionlog.outcome import outcome_of
from sessionlog.records import Activity, Message, Record, Reset, shown_type
from sessionlog.session import Numbered
from sessionlog.source import decode, format_of, lines_of
from sessionlog.telling import telling
from sessionlog.text import clip, one_line
from sessionlog.tools import label_of

_SLICE = 256 * 1024
"""Bytes between two looks at who wants to stop it."""

_SEEN = 64 * 1024
"""Characters of a text that are looked at to say it in a line."""
_LABELS = {"assistant": "agent", "reasoning": "think"}

Tick = Callable[[int], bool]
"""Is told the bytes of a log that are done; False: stop."""


class Words(NamedTuple):
    """A message in one line, visible text. Of a result: its call, and how that went."""

    label: str
    """The tool, or the kind of text as the timeline names it."""
    body: str
    outcome: str = ""
    """"" for a text; of a call at least "ok", "no result" while nothing answers it."""
    failed: bool = False


class SideLog:
    """An open log and its messages as a Side. `close` it."""

    def __init__(self, path: str) -> None:
        """Raises NotALog when no format recognises it, Unreadable when it cannot be opened."""
        self.path = path
        self.side = Side()
        self._horizon = 0
        """Messages in front of the last reset that left nothing in context."""
        self._unsure = 0
        """Messages in front of the last reset that left some."""
        self._fd = open_log(path)
        try:
            self._form = format_of(path, self._fd)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the file."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def read(self, tick: Tick = lambda done: True) -> bool:
        """Read the whole log; False when `tick` stopped it. O(bytes)."""
        due = _SLICE
        for line in lines_of(self._fd, empty=False):
            for record in decode(self._form, line)[0]:
                self._take(record)
            end = line.offset + len(line.data)
            if end >= due:
                due = end + _SLICE
                if not tick(end):
                    return False
        return True

    def _take(self, record: Record) -> None:
        reset = record.payload
        if isinstance(reset, Reset):
            if reset.turns is None and reset.keep is None:
                self._horizon = len(self.side)
            self._unsure = len(self.side)
        self.side.take(record)

    def record(self, n: int) -> Record | None:
        """Message n, decoded anew; None when the file does not hold it there any more."""
        place = self.side.place(n)
        data = os.pread(self._fd, place.length, place.offset)
        records = decode(self._form, Line(place.line, place.offset, data, True))[0]
        found = next((r for r in records if r.part == place.part), None)
        return found if found is not None and isinstance(found.payload, Message) else None

    def numbered(self, n: int) -> Numbered | None:
        """Message n with its number and its other half; `in_context` is right where
        `knows_context` says so."""
        record = self.record(n)
        if record is None or not isinstance(record.payload, Message):
            return None
        own = not record.payload.sidechain
        pair = self.side.pairs[n - 1] or None
        return Numbered(n, record, record.payload, own and n > self._horizon, pair)

    def knows_context(self, n: int) -> bool:
        """Is it known whether message n is in context? Not where a reset kept a part of what was
        before it: that would take more than one look."""
        return n <= self._horizon or n > self._unsure

    def words(self, n: int) -> Words:
        """Message n in one line; of a call or a result, the call with its outcome."""
        call = self.side.call_of(n) or n
        message = self._message(call)
        if message is None:
            return Words("", "the log is another one by now")
        half = message.activity
        if half is None:
            kind = shown_type(message)
            return Words(one_line(_LABELS.get(kind, kind)), one_line(message.text[:_SEEN]))
        if half.kind != "request":
            return Words(
                label_of(half.name) or one_line(half.kind),
                one_line(message.text[:_SEEN]),
                "no call",
            )
        answer = self._message(pair) if (pair := self.side.pairs[call - 1]) else None
        outcome, failed = _outcome(half, answer)
        return Words(
            label_of(half.name), one_line(telling(half.arguments)[:_SEEN]), outcome, failed
        )

    def _message(self, n: int) -> Message | None:
        record = self.record(n)
        return record.payload if record and isinstance(record.payload, Message) else None


def _outcome(call: Activity, answer: Message | None) -> tuple[str, bool]:
    if answer is None:
        return "no result", False
    found = outcome_of(call, answer)
    return one_line(found.words) or "ok", found.failed


def summary(comparison: Comparison, logs: tuple[SideLog, SideLog]) -> str:
    """`61 messages in common, 1 to 61; first difference at 62: bash, go test | edit, replay.go`;
    what is common behind the first difference is told apart."""
    count = comparison.common
    said = f"{count:,} {'message' if count == 1 else 'messages'} in common"
    at = comparison.first_difference
    if at is None:
        return f"{said}, no difference"
    later = count - (at - 1)
    more = f"{later:,} further on" if at > 1 else "further on"
    parts = [f"1 to {at - 1:,}"] * (at > 1) + [more] * (later > 0)
    head = f", {' and '.join(parts)}" if parts else ""
    sides = (_brief(log, at) for log in logs)
    return f"{said}{head}; first difference at {at:,}: {' | '.join(sides)}"


def _brief(log: SideLog, n: int) -> str:
    if n > len(log.side):
        return "nothing more"
    words = log.words(n)
    said = f"{words.label}, {clip(words.body, 40)}" if words.body else words.label
    return f"{said}, {words.outcome}" if log.side.call_of(n) else said
