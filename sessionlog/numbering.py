"""Message numbers, pairs and context while records come: what `session.fold` tells of a whole log.

Records come in batches, and each is told what is known when it comes: a call whose result is in
the same batch has its pair, one whose result comes later is open. Holds the open calls only.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence

from sessionlog.branch import Stretch, is_linked, origin_of, speech_of, turns_of, within
from sessionlog.pairing import Pairing
from sessionlog.records import Event, Message, Record, Reset, Span, as_own, shown_type
from sessionlog.repeats import Repeats, names_of, units
from sessionlog.session import Numbered

_MOST = 1 << 17
"""Records that are remembered; when there are more, the older half is forgotten."""


class Numbering:
    """The count of a log's messages so far."""

    def __init__(self, n: int = 0) -> None:
        self.n = n
        """Number of the last message."""
        self._pairing = Pairing()
        self._past = _Past()

    def take(self, records: Iterable[Record]) -> list[Numbered | None]:
        """The next records' places in the conversation; None for what is no message."""
        steps: list[Numbered | None] = []
        context: list[int] = []  # indices into steps
        pairs: dict[int, int] = {}
        records = tuple(records)
        back, same = self._past.take(records)
        for record in records:
            payload = record.payload
            if isinstance(payload, Reset):
                context = _after(payload, context, steps)
            if not isinstance(payload, Message):
                steps.append(None)
                continue
            self.n += 1
            offset = record.span.offset
            again, taken = offset in same, back(offset)
            if not again:
                self._pair(payload, pairs)
            if not (payload.sidechain or payload.unsent or again or taken):
                context.append(len(steps))
            steps.append(Numbered(self.n, record, payload, False, None, taken, again))
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


class _Past:
    """What came before, as far as later records may come back to it."""

    def __init__(self) -> None:
        self._repeats = Repeats(self._is_same)
        self._digests: dict[int, int] = {}
        self._older: dict[int, int] = {}
        """Of each unit with a name, by its offset, what it says."""
        self._digest = 0
        self._keys: set[int] = set()
        """Hashes of the keys of earlier batches, where prompts name what they go on from."""
        self._tells = self._linked = False
        self._last = ""
        """What was said last, as `speech_of` has it."""
        self._tip: set[int] = set()
        """Hashes of the keys since then: to go on from one of them takes nothing back."""

    def take(self, records: Sequence[Record]) -> tuple[Callable[[int], bool], frozenset[int]]:
        """The next batch: was what stands at an offset in it taken back in it; and the offsets of
        what came before."""
        same = set()
        for unit in units(records):
            if not names_of(unit):
                continue
            self._digest = _digest(unit)
            offset = unit[0].span.offset
            if self._repeats.is_again(unit):
                same.add(offset)
                continue
            self._digests[offset] = self._digest
            if len(self._digests) > _MOST:
                self._older, self._digests = self._digests, {}
        return within(self._turns(records, same)), frozenset(same)

    def _is_same(self, offset: int, span: Span) -> bool:
        return self._digests.get(offset, self._older.get(offset)) == self._digest

    def _turns(self, records: Sequence[Record], same: Container[int]) -> list[Stretch]:
        """Where the batch goes back, to a place in it or before it."""
        self._tells = self._tells or any(record.goes_on is not None for record in records)
        if not self._tells:
            return []
        fresh = [record for record in records if record.span.offset not in same]
        turns = turns_of(fresh)
        first = -1
        for record in fresh:
            origin, speech = origin_of(record), speech_of(record)
            if origin is not None and (hash(origin) in self._keys if origin else self._linked):
                start = first if hash(origin) in self._tip else records[0].span.offset
                turns += [(start, record.span.offset)] if start >= 0 else []
            if speech is not None and first < 0 and (not speech or speech != self._last):
                first = record.span.offset
        for record in fresh:
            speech = speech_of(record)
            self._linked = self._linked or (bool(speech) and is_linked(record))
            if speech is not None and (not speech or speech != self._last):
                self._tip.clear()
            self._last = self._last if speech is None else speech
            if record.key:
                self._tip.add(hash(record.key))
                self._keys.add(hash(record.key))
        if len(self._keys) > 2 * _MOST:
            self._keys = {hash(record.key) for record in fresh if record.key}
        return sorted(turns, key=lambda turn: turn[1])


def _digest(unit: Sequence[Record]) -> int:
    """What a unit says, as a number."""
    told: list[object] = []
    for record in unit:
        said = record.payload
        text = said.text if isinstance(said, Message | Event) else ""
        call = said.activity if isinstance(said, Message) else None
        told += (record.span.length, record.at, record.key, record.kind, text)
        told += (call.id, call.name, call.arguments) if call else ()
    return hash(tuple(told))


class OwnRun:
    """A side chain is a side chain only beside a main run: in a subagent's own log, where there
    is no other, it is the main run. Known for good once a message of a main run has come."""

    def __init__(self, beside: bool = False) -> None:
        """`beside`: a main run is known already."""
        self._beside = beside

    def place(self, record: Record) -> Record:
        """The next record, as a part of the run that the log is of."""
        message = record.payload
        own = isinstance(message, Message) and not message.sidechain
        self._beside = self._beside or own
        return record if self._beside else as_own(record)


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
