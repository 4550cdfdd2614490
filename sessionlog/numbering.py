"""Message numbers, pairs and context while records come: what `session.fold` tells of a whole log.

Records come in batches, and each is told what is known when it comes: a call whose result is in
the same batch has its pair, one whose result comes later is open. Holds the open calls only.
"""

from __future__ import annotations

from collections.abc import Iterable

from sessionlog.pairing import Pairing
from sessionlog.records import Message, Record, Reset, shown_type
from sessionlog.session import Numbered


class Numbering:
    """The count of a log's messages so far."""

    def __init__(self, n: int = 0) -> None:
        self.n = n
        """Number of the last message."""
        self._pairing = Pairing()

    def take(self, records: Iterable[Record]) -> list[Numbered | None]:
        """The next records' places in the conversation; None for what is no message."""
        steps: list[Numbered | None] = []
        context: list[int] = []  # indices into steps
        pairs: dict[int, int] = {}
        for record in records:
            payload = record.payload
            if isinstance(payload, Reset):
                context = _after(payload, context, steps)
            if not isinstance(payload, Message):
                steps.append(None)
                continue
            self.n += 1
            self._pair(payload, pairs)
            if not payload.sidechain and not payload.unsent:
                context.append(len(steps))
            steps.append(Numbered(self.n, record, payload, False))
        inside = set(context)
        return [
            step and step._replace(in_context=i in inside, pair=pairs.get(step.n))
            for i, step in enumerate(steps)
        ]

    def _pair(self, message: Message, pairs: dict[int, int]) -> None:
        activity = message.activity
        if activity is None:
            return
        if activity.kind == "request":
            self._pairing.request(self.n, activity)
        elif activity.kind == "response":
            request = self._pairing.response(activity)
            if request is not None:
                pairs[request], pairs[self.n] = self.n, request


class OwnRun:
    """A side chain is a side chain only beside a main run: in a subagent's own log, where there
    is no other, it is the main run. Known for good once a message of a main run has come."""

    def __init__(self, beside: bool = False) -> None:
        """`beside`: a main run is known already."""
        self._beside = beside

    def place(self, record: Record) -> Record:
        """The next record, as a part of the run that the log is of."""
        message = record.payload
        if self._beside or not isinstance(message, Message):
            return record
        if not message.sidechain:
            self._beside = True
            return record
        return record._replace(payload=message._replace(sidechain=""))


def _after(reset: Reset, context: list[int], steps: list[Numbered | None]) -> list[int]:
    """Which of the batch's messages a reset leaves in the context."""
    held = [(i, step) for i in context if (step := steps[i])]
    if reset.turns is not None:
        left = reset.turns
        for i, step in reversed(held):
            if shown_type(step.message) == "user":
                left -= 1
                if left <= 0:
                    return [other for other in context if other < i]
        return [] if reset.turns > 0 else context
    if reset.keep is not None:
        first, last = reset.keep
        keys = [step.record.key for _, step in held]
        if last in keys or not last:  # what it keeps may begin before the batch
            end = len(keys) - keys[::-1].index(last) if last else len(keys)
            start = keys.index(first) if first in keys else 0
            kept = list(zip(context, keys, strict=True))[start:end]
            return [i for i, key in kept if key not in reset.drop]
    return []
