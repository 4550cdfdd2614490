"""What a new log made from another will hold: computed from records, touching nothing.

A log that is to be acted on has every call answered right behind its turn, because real services
refuse a result that comes later, or none at all. So while the records stream by, `Mend` notes

- calls left open: a closing line goes behind the requests and results of their turn,
- results that came late: they move to that place, as they stand,
- results of no call, and damaged bytes: left out.

A turn is a run of requests (of one answer, where the log names answers) and the results behind
it; any other message, a reset, a native `iteration` event or the end of the log ends it.
Memory is proportional to the open calls and the changes, not to the log.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby

from sessionlog.formats.base import Fate
from sessionlog.pairing import Pairing
from sessionlog.records import (
    Damage,
    Event,
    Message,
    OpenCall,
    OrphanResult,
    Record,
    Reset,
    Result,
    Span,
    shown_type,
)

INTERRUPTED = "Interrupted by the user."
"""What a closing line answers an open call with."""


@dataclass(frozen=True, slots=True)
class Insert:
    """A line that goes in: a closing line, or a copy of a record that stands elsewhere."""

    n: int
    """Message number that orders lines at one place: the request's, or the line's own."""
    fate: Fate
    span: Span
    """The record it is made from: the request's for a closing line."""
    call: OpenCall | None = None
    at: str = ""
    """RFC 3339: time of a closing line, that of the record it goes behind."""
    parts: tuple[int, ...] = ()
    """Which records of the span it holds (`Record.part`); (): all of them."""


@dataclass(frozen=True, slots=True)
class Edit:
    """At byte `offset` of the source, `removed` bytes are left out and lines go in."""

    offset: int
    removed: int = 0
    lines: tuple[Insert, ...] = ()


@dataclass(frozen=True, slots=True)
class Edits:
    """Everything that tells a new log from the first `end` bytes of its source."""

    end: int
    messages: int
    """How many the new log holds, closing lines included."""
    closed: tuple[OpenCall, ...] = ()
    moved: tuple[int, ...] = ()
    orphans: tuple[OrphanResult, ...] = ()
    dropped: tuple[Damage, ...] = ()
    edits: tuple[Edit, ...] = ()
    blobs: frozenset[str] = frozenset()
    """Hex digests of the pictures that the taken messages name."""


@dataclass(frozen=True, slots=True)
class Repair:
    """A repair that was thought through: what `apply_repair` will write."""

    source: str
    format: str
    parent: str
    """Id of the source."""
    id: str
    path: str
    """Where it will go when no place is given."""
    now: datetime
    changes: Edits
    refused: Damage | None = None
    """The damage before the end that stops it, unless forced."""
    alive: str | None = None
    """Evidence that the source's writer lives, which stops it."""

    at = None

    @property
    def needed(self) -> bool:
        """False: the log is whole and every call is answered in its place."""
        return bool(self.changes.edits)

    @property
    def messages(self) -> int:
        return self.changes.messages

    @property
    def closed(self) -> tuple[OpenCall, ...]:
        return self.changes.closed

    @property
    def moved(self) -> tuple[int, ...]:
        return self.changes.moved

    @property
    def orphans(self) -> tuple[OrphanResult, ...]:
        return self.changes.orphans

    @property
    def dropped(self) -> tuple[Damage, ...]:
        return self.changes.dropped


@dataclass(frozen=True, slots=True)
class Fork:
    """A fork that was thought through: what `apply_fork` will write."""

    source: str
    format: str
    parent: str
    """Id of the source."""
    id: str
    path: str
    """Where it will go when no place is given."""
    now: datetime
    at: int
    """Number of the last message it holds. Messages of one line are not torn apart, so it may be
    a little more than was asked for."""
    changes: Edits
    refused: Damage | None = None
    """The damage in the taken lines that stops it, unless forced."""

    needed = True

    @property
    def messages(self) -> int:
        return self.changes.messages

    @property
    def closed(self) -> tuple[OpenCall, ...]:
        return self.changes.closed

    @property
    def moved(self) -> tuple[int, ...]:
        return self.changes.moved

    @property
    def orphans(self) -> tuple[OrphanResult, ...]:
        return self.changes.orphans

    @property
    def dropped(self) -> tuple[Damage, ...]:
        return self.changes.dropped


def units(records: Iterable[Record]) -> Iterator[tuple[Record, ...]]:
    """The records of each JSON object of the log, together."""
    for _, unit in groupby(records, key=lambda record: record.span.offset):
        yield tuple(unit)


@dataclass(slots=True)
class _Call:
    """A request whose result is awaited."""

    call: OpenCall
    span: Span
    own: bool
    """Of the main run, not of a subagent: only those are closed."""
    place: int | None = None
    """Byte offset where its answer belongs, once its turn is over."""
    at: str = ""


@dataclass(slots=True)
class _Turn:
    calls: dict[int, _Call]
    answer: str
    end: int
    at: str
    answered: bool = False


@dataclass(slots=True)
class Mend:
    """Takes the units of a log in order, then gives the edits."""

    mending: bool = True
    """False: a plain cut, calls stay open and results stay where they are."""
    endings: bool = True
    """Is a result record kept? A fork is a run to go on with, so it has none."""
    n: int = 0
    """Messages so far."""
    end: int = 0
    _pairing: Pairing = field(default_factory=Pairing)
    _waiting: dict[int, _Call] = field(default_factory=dict)
    _turn: _Turn | None = None
    _removed: list[Span] = field(default_factory=list)
    _inserts: dict[int, list[Insert]] = field(default_factory=dict)
    _moved: list[int] = field(default_factory=list)
    _orphans: list[OrphanResult] = field(default_factory=list)
    _blobs: set[str] = field(default_factory=set)

    def take(self, unit: Sequence[Record]) -> None:
        """The records of the next JSON object."""
        span = unit[0].span
        self.end = span.end
        held: list[tuple[int, Record, Message]] = []
        for record in unit:
            payload = record.payload
            if isinstance(payload, Message):
                self.n += 1
                if payload.images:
                    self._blobs |= _digests(payload)
                held.append((self.n, record, payload))
            elif isinstance(payload, Reset):
                self._over()
            elif isinstance(payload, Event) and payload.kind == "iteration":
                self._settle()
            elif isinstance(payload, Result) and not self.endings:
                self._removed.append(span)
        if held:
            self._messages(span, held)

    def edits(self, dropped: Iterable[Damage]) -> Edits:
        """Everything that has to change, once the last unit is taken."""
        self._over()
        closed = sorted(self._waiting) if self.mending else []
        closed = [n for n in closed if self._waiting[n].own]
        for n in closed:
            call = self._waiting[n]
            self._insert(call.place, Insert(n, Fate.ADDED, call.span, call.call, call.at))
        lost = tuple(damage for damage in dropped if not damage.mild)
        removed = {span.offset: span.length for span in self._removed}
        removed |= {damage.span.offset: damage.span.length for damage in lost}
        places = sorted(removed.keys() | self._inserts.keys())
        return Edits(
            end=self.end,
            messages=self.n + len(closed) - len(self._orphans),
            closed=tuple(self._waiting[n].call for n in closed),
            moved=tuple(sorted(self._moved)),
            orphans=tuple(self._orphans),
            dropped=lost,
            edits=tuple(
                Edit(at, removed.get(at, 0), _ordered(self._inserts.get(at, ()))) for at in places
            ),
            blobs=frozenset(self._blobs),
        )

    def _messages(self, span: Span, held: Sequence[tuple[int, Record, Message]]) -> None:
        answer = next((m.answer for _, _, m in held if m.answer), "")
        if not any(message.activity for _, _, message in held):  # most lines: nothing to pair
            self._reach(span, held, answer)
            return
        leaving: set[int] = set()
        kinds = {_kind(record, message) for _, record, message in held}
        if "call" in kinds and not self._goes_on(kinds, answer):
            self._over()
        for n, record, message in held:
            activity = message.activity
            if activity is None:
                continue
            if activity.kind == "request":
                call = OpenCall(n, activity.id, activity.name, activity.arguments)
                self._pairing.request(n, activity)
                asked = _Call(call, span, not message.sidechain)
                self._waiting[n] = asked
                if asked.own:
                    self._turn = self._turn or _Turn({}, answer, span.end, record.at)
                    self._turn.calls[n] = asked
            elif activity.kind == "response" and self._leaves(n, record, message):
                leaving.add(record.part)
        staying = [item for item in held if item[1].part not in leaving]
        if leaving and self.mending:
            self._take_out(span, held, staying)
        self._reach(span, staying, answer)

    def _goes_on(self, kinds: set[str], answer: str) -> bool:
        """Does a line with requests belong to the requests before it?"""
        turn = self._turn
        if turn is None or turn.answered or turn.answer != answer:
            return False
        return bool(answer) or kinds <= {"call", ""}

    def _leaves(self, n: int, record: Record, message: Message) -> bool:
        """Pair a response; True when it cannot stay where it is."""
        assert message.activity is not None
        asked = self._pairing.response(message.activity)
        if asked is None:
            if message.sidechain:
                return False
            if self.mending:
                self._orphans.append(OrphanResult(n, message.activity.id))
            return True
        call = self._waiting.pop(asked)
        turn = self._turn
        if not call.own or (turn is not None and asked in turn.calls) or call.place is None:
            return False
        if self.mending:
            self._moved.append(n)
            parts = (record.part,)
            self._insert(call.place, Insert(asked, Fate.MOVED, record.span, parts=parts))
        return True

    def _take_out(
        self, span: Span, held: Sequence[tuple[int, Record, Message]],
        staying: Sequence[tuple[int, Record, Message]],
    ) -> None:  # fmt: skip
        """Leave the line out, or put it back without the results that may not stay."""
        self._removed.append(span)
        if staying:
            parts = tuple(record.part for _, record, _ in staying)
            self._insert(span.offset, Insert(staying[0][0], Fate.KEPT, span, parts=parts))

    def _reach(
        self, span: Span, staying: Sequence[tuple[int, Record, Message]], answer: str
    ) -> None:
        """Is this line still of the turn, or is the turn over before it?"""
        turn = self._turn
        if turn is None:
            return
        kinds = {_kind(record, message) for _, record, message in staying} - {""}
        if not kinds:
            return
        if "call" in kinds or (answer and answer == turn.answer and not turn.answered):
            turn.end, turn.at = span.end, staying[-1][1].at
        elif kinds == {"response"}:
            turn.end, turn.at, turn.answered = span.end, staying[-1][1].at, True
        else:
            self._over()

    def _settle(self) -> None:
        """A new iteration: what is open now is closed here, though results may still follow."""
        if self._turn is not None:
            for call in self._turn.calls.values():
                if call.place is None:
                    call.place, call.at = self._turn.end, self._turn.at

    def _over(self) -> None:
        self._settle()
        self._turn = None

    def _insert(self, place: int | None, line: Insert) -> None:
        assert place is not None  # every call has its place once its turn is over
        self._inserts.setdefault(place, []).append(line)


def _ordered(lines: Iterable[Insert]) -> tuple[Insert, ...]:
    return tuple(sorted(lines, key=lambda line: line.n))


def _kind(record: Record, message: Message) -> str:
    """ "call", "response", "text", or "" for what never ends a turn."""
    if message.sidechain or record.quiet:
        return ""
    kind = shown_type(message)
    return kind if kind in ("call", "response") and message.activity else "text"


def _digests(message: Message) -> set[str]:
    return {
        image.digest.removeprefix("sha256:")
        for image in message.images
        if image.source == "blob" and image.digest.startswith("sha256:")
    }
