"""What has to change in a log that is to be acted on: computed from records, touching nothing.

A log that is to be acted on has every call answered right behind its turn, because real services
refuse a result that comes later, or none at all. So while the records stream by, `Mend` notes

- calls left open: a closing line goes behind the requests and results of their turn,
- results that came late: they move to that place, as they stand,
- results of no call, and damaged bytes: left out,
- open calls that nothing can answer, as nothing names them: left out too,
- records that stand there a second time: left out, and what they ask for is not asked again.

A turn is a run of requests (of one answer, where the log names answers) and the results behind
it; any other message, a reset, a native `iteration` event or the end of the log ends it.
Memory is proportional to the open calls and the changes, not to the log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from sessionlog.branch import is_linked
from sessionlog.edits import Edit, Edits, Insert, ordered
from sessionlog.formats.base import Fate
from sessionlog.pairing import Pairing
from sessionlog.records import (
    Activity,
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
from sessionlog.trunk import Trunk

BACK = "taken back"
"""What was taken back stays as it stands, like a subagent's run: nobody is told of it."""

_Held = tuple[int, Record, Message]
"""Number, record and message."""
_Answer = tuple[int, int, int | None]
"""Numbers of a result and of the request that it answers, byte offset where it belongs."""
_NAMELESS = "a call with neither id nor name, which nothing can answer"
_TWICE = "a record that stands there before"
_HERE = -1
"""The place of a result that stands where it belongs."""
_EARLY = -2
"""That of one whose request may still come."""


@dataclass(slots=True)
class _Call:
    """A request whose result is awaited."""

    call: OpenCall
    span: Span
    own: bool
    """Of the main run, and told to the agent again: only those are closed. Not a subagent's, nor
    those of an answer that broke off, which were never made."""
    index: int
    """Which call of its line it is, counted from 0."""
    back: bool = False
    """Does a later prompt take it back, or does it stand on a branch that was left?"""
    twin: bool = False
    """Has another call of its turn the same id?"""
    place: int | None = None
    """Byte offset where its answer belongs, once its turn is over or a new iteration began."""
    at: str = ""


@dataclass(slots=True)
class _Turn:
    calls: dict[int, _Call]
    answer: str
    end: int
    at: str
    ids: dict[str, _Call] = field(default_factory=dict)
    """The last call with each id."""
    answered: bool = False
    settled: bool = False
    """Did a new iteration begin? Results may still follow then, but requests are a new turn's."""
    left: bool = False
    """Is it on a branch that was left?"""


@dataclass(slots=True)
class Mend:
    """Takes the units of a log in order, then gives the edits."""

    mending: bool = True
    """False: a plain cut, calls stay open and results stay where they are."""
    endings: bool = True
    """Is a result record kept? A fork is a run to go on with, so it has none."""
    answers: Callable[[OpenCall], bool] = lambda call: True
    """Can a line of the log's format answer the call? (`Actor.answers`)"""
    is_back: Callable[[int], bool] = lambda offset: False
    """Does a later prompt take back what stands there? (`branch.within`)"""
    is_again: Callable[[Sequence[Record]], bool] = lambda unit: False
    """Did the next unit come before? (`repeats`)"""
    by_line: bool = False
    """Does the client take a line for one record, so that it reads none of two on one?"""
    by_prompts: bool = False
    """Are links of the log read for prompts alone? (`formats.base.Rewound`)"""
    trunk: Trunk = field(default_factory=Trunk)
    """The way to the last record, where the log is a tree."""
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
    _early: list[tuple[Sequence[Record], list[_Answer]]] = field(default_factory=list)
    """Lines with results whose requests may still come."""
    _unsure: dict[int, OrphanResult] = field(default_factory=dict)
    """Those of them, by number, whose requests did not come yet."""
    _repeated: list[Damage] = field(default_factory=list)
    _again: int = 0
    """Messages of those."""
    _line: int = 0
    """Number of the last line."""
    _linked: bool | None = None
    """Does the first answer name what it follows?"""
    _own_ids: set[int] = field(default_factory=set)
    """Hashes of the ids of calls that count, where prompts take back."""
    _unreached: int = 0
    _blobs: set[str] = field(default_factory=set)
    _tangled: set[int] = field(default_factory=set)
    """Places of answers that ids alone do not tell apart: see `edits.ordered`."""

    def take(self, unit: Sequence[Record]) -> None:
        """The records of the next JSON object."""
        if self.mending and self.is_again(unit):
            self.repeat(unit)
        else:
            self.say(unit)

    def say(self, unit: Sequence[Record]) -> None:
        """The next object, which did not come before."""
        span = unit[0].span
        self.end = max(self.end, span.end)
        self._reached(unit[0])
        held: list[_Held] = []
        for record in unit:
            payload = record.payload
            if isinstance(payload, Message):
                self.n += 1
                if payload.images:
                    self._blobs |= _digests(payload)
                if not payload.sidechain and self.is_back(span.offset):
                    payload = payload._replace(sidechain=BACK)
                held.append((self.n, record, payload))
            elif isinstance(payload, Reset):
                self._over()
            elif isinstance(payload, Event) and payload.kind == "iteration":
                self._settle()
            elif isinstance(payload, Result) and not self.endings:
                self._removed.append(span)
        if held:
            self._messages(unit, held)

    def _reached(self, record: Record) -> None:
        """Does the client get to the object that begins with this record?"""
        if record.span.line == self._line and self.by_line:
            self._unreached += 1
        self._line = record.span.line
        said = record.payload
        if not self.by_prompts or not isinstance(said, Message) or said.sidechain:
            return
        if self._linked is None and said.answer:
            self._linked = is_linked(record)
        elif self._linked and not (record.key and (is_linked(record) or not said.answer)):
            self._unreached += 1

    def repeat(self, unit: Sequence[Record]) -> None:
        """Leave out a record that came before."""
        self.end = max(self.end, unit[0].span.end)
        messages = sum(isinstance(record.payload, Message) for record in unit)
        self.n += messages
        self._again += messages
        self._removed.append(unit[0].span)
        self._repeated.append(Damage(unit[0].span, _TWICE))

    def edits(self, dropped: Iterable[Damage]) -> Edits:
        """Everything that has to change, once the last unit is taken."""
        self._over()
        self._settle_early()
        opened = [n for n in sorted(self._waiting) if self.mending and self._waiting[n].own]
        closed = [n for n in opened if self.answers(self._waiting[n].call)]
        nameless = [self._waiting[n] for n in opened if not self.answers(self._waiting[n].call)]
        self._leave_out(nameless)
        for n in closed:
            call = self._waiting[n]
            self._tangle(call, call.call.call_id)
            self._insert(call.place, Insert(n, Fate.ADDED, call.span, call.call, call.at))
        orphans = tuple(sorted(self._orphans)) if self.mending else ()
        lost = tuple(damage for damage in dropped if not damage.mild)
        removed = {span.offset: span.length for span in self._removed}
        removed |= {damage.span.offset: damage.span.length for damage in lost}
        places = sorted(removed.keys() | self._inserts.keys())
        return Edits(
            end=self.end,
            messages=self.n + len(closed) - len(orphans) - len(nameless) - self._again,
            closed=tuple(self._waiting[n].call for n in closed),
            moved=tuple(sorted(self._moved)) if self.mending else (),
            orphans=orphans,
            dropped=lost,
            nameless=tuple(Damage(call.span, _NAMELESS) for call in nameless),
            repeated=tuple(self._repeated),
            unreached=self._unreached + self.trunk.broken,
            edits=tuple(
                Edit(
                    at, removed.get(at, 0), ordered(self._inserts.get(at, ()), at in self._tangled)
                )
                for at in places
            ),
            blobs=frozenset(self._blobs),
        )

    def _messages(self, unit: Sequence[Record], held: Sequence[_Held]) -> None:
        answer = next((m.answer for _, _, m in held if m.answer), "")
        turns = self._turn is not None and self._turn.left != self._is_left(unit[0])
        if turns and not held[0][2].sidechain:  # no turn is on two branches
            self._over()
        if not any(message.activity for _, _, message in held):  # most lines: nothing to pair
            self._reach(held, answer)
            return
        kinds = {_kind(record, message) for _, record, message in held}
        if "call" in kinds and not self._goes_on(kinds, answer):
            self._over()
        results: list[_Answer] = []
        calls = 0
        for n, record, message in held:
            if message.activity is None:
                continue
            if message.activity.kind == "request":
                self._asked(n, record, message, message.activity, calls)
                calls += 1
            elif message.activity.kind == "response":
                results.append((n, *self._home(n, record, message, message.activity)))
        leaving = {n for n, _, place in results if place != _HERE}
        if any(place == _EARLY for _, _, place in results):
            self._early.append((unit, results))
        elif leaving and self.mending:
            self._take_out(unit, results)
        self._reach([item for item in held if item[0] not in leaving], answer)

    def _goes_on(self, kinds: set[str], answer: str) -> bool:
        """Does a line with requests belong to the requests before it?"""
        turn = self._turn
        if turn is None or turn.answered or turn.settled or turn.answer != answer:
            return False
        return bool(answer) or kinds <= {"call", ""}

    def _asked(
        self, n: int, record: Record, message: Message, activity: Activity, index: int
    ) -> None:
        """Await the result of a request."""
        early = self._pairing.request(n, activity, None if message.sidechain else record)
        if early is not None:
            del self._unsure[early]
            return
        call = OpenCall(n, activity.id, activity.name, activity.arguments)
        own = not message.sidechain and not message.unsent
        back = message.sidechain == BACK or self._is_left(record)
        waiting = self._waiting[n] = _Call(call, record.span, own, index, back)
        if waiting.own:
            if self.by_prompts:
                self._own_ids.add(hash(call.call_id))
            if self._turn is None:
                left = self._is_left(record)
                self._turn = _Turn({}, message.answer, record.span.end, record.at, left=left)
            twin = self._turn.ids.get(call.call_id)
            if twin is not None:
                twin.twin = waiting.twin = True
            self._turn.ids[call.call_id] = self._turn.calls[n] = waiting

    def _home(
        self, n: int, record: Record, message: Message, activity: Activity
    ) -> tuple[int, int | None]:
        """(number of the request that a result answers, byte offset where it belongs).

        The offset is _HERE when it stands right, _EARLY when that is not known yet, and None when
        it belongs nowhere.
        """
        asked = self._pairing.response(activity)
        if asked is None:
            told = message.sidechain == BACK and hash(activity.id) in self._own_ids
            if message.sidechain and not told:  # some clients send all results of a call's id
                return n, _HERE
            orphan = OrphanResult(n, activity.id)
            ahead = record.span.offset in self.trunk.early
            if ahead and self._pairing.early(n, activity, record):
                self._unsure[n] = orphan
                return n, _EARLY
            self._orphans.append(orphan)
            return n, None
        call, left = self._waiting[asked], self._is_left(record)
        if call.back and not (left or message.sidechain):  # the client sends the result alone
            self._orphans.append(OrphanResult(n, activity.id))
            return n, None
        del self._waiting[asked]
        in_turn = self._turn is not None and asked in self._turn.calls
        if left and not call.back and call.own:  # it goes where both ways on have it
            place = self._place_of(call)
            self._tangle(call, activity.id)
            self._moved.append(n)
            return asked, place
        if not call.own or in_turn or call.place is None:
            if in_turn:
                self._resume()
            return asked, _HERE
        self._tangle(call, activity.id)
        self._moved.append(n)
        return asked, call.place

    def _is_left(self, record: Record) -> bool:
        """Does a record of a tree stand on no way to the last one?"""
        return record.span.offset in self.trunk.left

    def _place_of(self, call: _Call) -> int:
        """Where the answer of a call belongs, as far as its turn goes by now."""
        if call.place is not None:
            return call.place
        return call.span.end if self._turn is None else self._turn.end

    def _settle_early(self) -> None:
        """Results that stand before their requests stay: the links tell their order."""
        for unit, results in self._early:
            lost = {n for n, _, place in results if place == _EARLY and n in self._unsure}
            self._orphans += (self._unsure[n] for n in sorted(lost))
            settled = [
                (n, asked, None if n in lost else _HERE if place == _EARLY else place)
                for n, asked, place in results
            ]
            if self.mending and any(place != _HERE for _, _, place in settled):
                self._take_out(unit, settled)

    def _take_out(self, unit: Sequence[Record], results: Sequence[_Answer]) -> None:
        """Leave the line out; put back what may stay of it, and late results where they belong."""
        span, rest = unit[0].span, len(unit) > len(results)
        self._removed.append(span)
        places = {place for _, _, place in results if place is not None}
        if rest:
            places.add(_HERE)
        for place in places:
            held = tuple(i for i, result in enumerate(results) if result[2] == place)
            if place == _HERE:
                line = Insert(results[0][0], Fate.KEPT, span, results=held, rest=rest)
                self._insert(span.offset, line)
            else:
                whole = len(held) == len(results) and not rest
                first = min(results[i][1] for i in held)
                own = results[held[0]][0]
                line = Insert(first, Fate.MOVED, span, results=None if whole else held, own=own)
                self._insert(place, line)

    def _leave_out(self, calls: Iterable[_Call]) -> None:
        """Calls that nothing can answer go; what else is on their lines stays."""
        for span, group in groupby(calls, key=lambda call: call.span):
            found = list(group)
            here = self._inserts.setdefault(span.offset, [])
            stays = [line for line in here if line.span == span and line.fate is Fate.KEPT]
            kept = stays[0] if stays else Insert(found[0].call.n, Fate.KEPT, span)
            here[:] = [line for line in here if line is not kept]
            here.append(replace(kept, without=tuple(call.index for call in found)))
            self._removed.append(span)

    def _reach(self, staying: Sequence[_Held], answer: str) -> None:
        """Is a line with these messages still of the turn, or is the turn over before it?"""
        turn = self._turn
        if turn is None:
            return
        kinds = {_kind(record, message) for _, record, message in staying} - {""}
        if not kinds:
            return
        if "call" in kinds or (answer and answer == turn.answer and not turn.answered):
            turn.end, turn.at = staying[-1][1].span.end, staying[-1][1].at
        elif kinds == {"response"}:
            turn.end, turn.at = staying[-1][1].span.end, staying[-1][1].at
            turn.answered = True
        else:
            self._over()

    def _settle(self) -> None:
        """A new iteration: what is open now is closed here, though results may still follow."""
        if self._turn is not None and not self._turn.settled:
            for call in self._turn.calls.values():
                if call.place is None:
                    call.place, call.at = self._turn.end, self._turn.at
            self._turn.settled = True

    def _resume(self) -> None:
        """A result behind the new iteration: the turn ends behind that, for all of its calls.

        Were others answered before it, they could take a call of the same id from it.
        """
        if self._turn is not None and self._turn.settled:
            self._turn.settled = False
            for call in self._turn.calls.values():
                call.place = None

    def _over(self) -> None:
        self._settle()
        self._turn = None

    def _tangle(self, call: _Call, id: str) -> None:
        """An answer with this id goes to the call's place: is that sure to answer this call?"""
        if call.twin or not id or id != call.call.call_id:
            self._tangled.add(self._place_of(call))

    def _insert(self, place: int | None, line: Insert) -> None:
        assert place is not None  # every call has its place once its turn is over
        self._inserts.setdefault(place, []).append(line)


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
