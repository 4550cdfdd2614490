"""A run counted: messages, calls by tool, time, tokens. Pure, one pass over a stream of records.

Records and damages of one log go in, in file order, Stats come out. Memory does not grow with the
log, save for some 150 bytes for each answer that has a name. `measure` reads files.

The counts are those of `check`: calls and answers are the main run's, a subagent's stand apart.
Seconds of a call are from request to response, or, where the log narrates when calls began and
ended (a native log writes both halves of a call at once), from start to end.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from heapq import heappush, heappushpop
from itertools import islice
from typing import NamedTuple

from sessionlog.answers import Answers
from sessionlog.density import Density
from sessionlog.figures import LONGEST, Counts, Gap, Stats, Tool
from sessionlog.formats.base import Format, in_flight
from sessionlog.outcome import went_well
from sessionlog.pairing import Pairing
from sessionlog.records import (
    RETRIES,
    Activity,
    Damage,
    Event,
    InFlight,
    Message,
    Meta,
    Record,
    Reset,
    Result,
    moment,
    shown_type,
    tells_again,
)
from sessionlog.telling import telling
from sessionlog.usage import Meter, Seen, Spent

SILENT = 300.0
"""Seconds of silence from which nobody is taken to work."""
_NAMED = 60.0
"""Seconds from which a silence is worth a name."""
_EDITS = ("edit", "write", "patch", "replace", "create")
"""Parts of the names of tools that change files."""
_MANY = 100
"""Most calls of a tool that are narrated as running, and most files that one call names."""


_TAIL = 512
"""Records that tell how a log ends."""


class Clock:
    """Times of records: from when to when, and how long nothing was written."""

    __slots__ = ("_gaps", "_idle", "first", "last")

    def __init__(self) -> None:
        self.first: float | None = None
        self.last = 0.0
        self._idle = 0.0
        self._gaps: list[Gap] = []

    def tick(self, time: float, after: int) -> None:
        """A record of that time, with `after` messages before it. Times may go backwards: a
        silence is since the latest; but what stands before the first message, and is younger, is
        the head of a log that was made from another."""
        if self.first is None or (not after and time < self.last):
            self.first = self.last = time
            self._gaps, self._idle = [], 0.0
            return
        silence = time - self.last
        if silence <= 0:
            return
        if silence >= _NAMED:
            gap = Gap(silence, after or None, self.last)
            if len(self._gaps) < LONGEST:
                heappush(self._gaps, gap)
            else:
                heappushpop(self._gaps, gap)
            if silence >= SILENT:
                self._idle += silence
        self.last = time

    def tell(self, stats: Stats) -> None:
        """Put what was seen into the numbers."""
        stats.start = self.first
        stats.duration = 0.0 if self.first is None else self.last - self.first
        stats.active = stats.duration - self._idle
        stats.gaps = sorted(self._gaps, key=lambda gap: -gap.seconds)


class _Asked(NamedTuple):
    """A call that waits for its response."""

    tool: Tool
    id: str
    n: int
    """Number of its message."""
    time: float | None
    files: tuple[str, ...]
    counts: Counts
    waits: bool
    """Is it open until then? A call of an answer that broke off was never made."""


class Fold:
    """Counts one log.

    ::

        fold = Fold(form)
        for record in records: fold.record(record)
        fold.stats()
    """

    def __init__(
        self, form: Format, *, seen: Seen | None = None, parents: Collection[str] = ()
    ) -> None:
        """`seen` and `parents` are for several logs: what earlier ones had, and the ids of all
        that are counted, so that what a fork copied from one of them counts once."""
        self.form = form
        self._meter = Meter(seen)
        self._seen = seen
        self._parents = parents
        self._own, self._copied = Counts(), Counts()
        self._side, self._beside = Counts(), Counts()
        self._answers, self._side_answers = Answers(form.name), Answers(form.name)
        self._calls = _Calls()
        self._clock = Clock()
        self._own_clock: Clock | None = None  # of what is no copy, from the first copy on
        self._density = Density()
        self._n = 0
        self._until: int | None = None  # last message of a native fork that is its parent's
        self._is_copy = self._is_beside = self._is_back = False
        self._id = self._said = ""
        self._error: Record | None = None  # the last one, while nothing was said since

    # -- the stream ----------------------------------------------------------------------------

    def again(self, record: Record) -> None:
        """The next record, which stood there before: no other message, but one with a number."""
        self._n += isinstance(record.payload, Message) and not self._is_beside

    def record(self, record: Record, back: bool = False) -> None:
        """The next record of the log. `back`: the run went back to before it; it was said and
        done, but nobody waits for anything of it."""
        self._is_back = back
        payload = record.payload
        time = None
        if record.at and (found := moment(record.at)) is not None:
            time = found.timestamp()
            if not self._is_beside:
                self._tick(time)
        if isinstance(payload, Message):
            self._message(record, payload, time)
        elif isinstance(payload, Event):
            self._event(record, payload, time)
        elif isinstance(payload, Meta):
            self._meta(payload)
        elif isinstance(payload, Reset):
            self._counts.resets += 1
        elif isinstance(payload, Result) and payload.error:
            self._counts.errors += 1
        usage = self.form.usage(record)
        if usage is not None:
            self._meter.take(usage, f"{self._id} {self._said}" if usage.counter else "")

    def damage(self, damage: Damage) -> None:
        """Bytes that gave no record."""
        self._counts.damages += 1

    def beside(self) -> None:
        """What comes now is the log of a subagent of this run."""
        self._is_beside = True

    @property
    def _counts(self) -> Counts:
        if self._is_beside:
            return self._beside
        return self._copied if self._is_copy else self._own

    def _tick(self, time: float) -> None:
        self._clock.tick(time, self._n)
        if self._own_clock is not None and not self._is_copy:
            self._own_clock.tick(time, self._n)
        self._density.add(time)

    def _bad(self, time: float | None) -> None:
        if time is not None and not self._is_beside:
            self._density.add(time, 0, 1)

    def _meta(self, meta: Meta) -> None:
        """A native fork says what it was taken from: its first messages are the parent's."""
        self._meter.name(meta.model)
        self._id = meta.id
        origin = meta.forked_from
        if origin is None or self._n:
            return
        self._meter.builds = True
        if origin.at is not None and origin.id in self._parents:
            self._until = origin.at
            self._copies(origin.at > 0)

    def _copies(self, is_copy: bool) -> None:
        if is_copy and self._own_clock is None:
            self._own_clock = Clock()
        self._is_copy = is_copy

    # -- messages ------------------------------------------------------------------------------

    def _message(self, record: Record, message: Message, time: float | None) -> None:
        self._error = None
        if not self._is_beside:
            self._n += 1
            if self._until is not None:
                self._copies(self._n <= self._until)
            elif self._seen is not None:
                self._recognise(record, message, self._seen)
        is_side = bool(message.sidechain) and not self._is_beside
        counts = self._side if is_side else self._counts
        counts.messages += 1
        counts.taken_back += self._is_back
        activity = message.activity
        if activity is not None:
            self._half(message, activity, time, counts)
        else:
            kind = shown_type(message)
            counts.users += kind == "user"
            counts.reasoning += kind == "reasoning"
        answers = self._side_answers if is_side or self._is_beside else self._answers
        counts.assistants += answers.is_new(message)
        self._said = f"{activity.id if activity else ''} {message.text[:200]}"

    def _recognise(self, record: Record, message: Message, seen: Seen) -> None:
        """A line that an earlier log has, too, is a copy. What has no name of its own goes with
        what stands before it."""
        name = record.key or (message.answer and f"{message.answer} {record.at}")
        if name:
            number = self._meter.number
            self._copies(seen.first(hash(("line", name)), number) != number)

    def _half(self, message: Message, activity: Activity, time: float | None, to: Counts) -> None:
        if activity.kind == "request":
            tool = to.tool(activity.name)
            to.calls += 1
            tool.calls += 1
            waits = not (message.unsent or self._is_back)
            tool.open += waits
            asked = _Asked(tool, activity.id, self._n, time, _files(activity), to, waits)
            self._calls.ask(activity, asked)
        elif activity.kind == "response":
            call = self._calls.answer(activity)
            if call is None:
                to.orphans += not self._is_back
                return
            call.tool.open -= call.waits
            call.tool.seconds += self._calls.took(call, activity, time)
            well = went_well(message)
            if well is None:
                call.tool.interrupted += 1
            elif not well:
                call.tool.failed += 1
                self._bad(time)
            else:
                for path in call.files:
                    call.counts.changed(path)

    # -- events --------------------------------------------------------------------------------

    def _event(self, record: Record, event: Event, time: float | None) -> None:
        if event.kind.startswith("toolCall"):
            self._calls.narrated(event, time)
        elif event.ok is False and not record.quiet and not event.call_id:
            before, self._error = self._error, record
            if tells_again(record, before):
                return
            if event.kind in RETRIES:
                self._counts.retries += 1
            else:
                self._counts.errors += 1
            self._bad(time)

    # -- the numbers ---------------------------------------------------------------------------

    def stats(self, newest_first: Iterable[Record] = ()) -> Stats:
        """The log in numbers; it is through. `newest_first` reads it back from its end, as far
        as it takes to see in the middle of what that was."""
        is_subagents = self._side.messages == self._n > 0  # by itself it is a run like any
        if is_subagents:
            self._own.add(self._side)
            self._side = Counts()
        whole, side = Counts(), Counts()
        for part in (self._own, self._copied):
            whole.add(part)
        for part in (self._side, self._beside):
            side.add(part)
        whole.messages = self._n
        spent = self._meter.close()
        if is_subagents:
            spent = spent._replace(side=None, fresh_side=None)
        stats = Stats(
            counts=whole, side=side, tokens=spent.tokens, side_tokens=spent.side, cost=spent.cost,
            telling=int(spent.tokens is not None), models=self._meter.models,
            density=self._density,
        )  # fmt: skip
        self._clock.tell(stats)
        newest, own = list(islice(newest_first, _TAIL)), list[InFlight]()
        if newest and not self.form.ending(newest).ended:
            stats.in_flight, own = self._flying(newest)
        if self._seen is not None:
            stats.own = self._part(stats, spent)
            stats.own.in_flight = own
        return stats

    def _flying(self, newest: list[Record]) -> tuple[list[InFlight], list[InFlight]]:
        """The calls in flight, with the numbers of their messages; and those that are no copies."""
        flying, own = list[InFlight](), list[InFlight]()
        waiting = self._calls.waiting()
        for call in reversed(in_flight(newest)):  # the newest of those that look the same
            same = waiting.get((call.tool, call.call_id))
            asked = same.pop() if same else None
            call = call._replace(n=asked.n if asked else None)
            flying.append(call)
            if asked is None or asked.counts is not self._copied:
                own.append(call)
        return flying[::-1], own[::-1]

    def _part(self, whole: Stats, spent: Spent) -> Stats:
        """What no earlier log has."""
        self._own.messages += whole.counts.messages - self._own.messages - self._copied.messages
        own = Stats(
            counts=self._own, side=whole.side, tokens=spent.fresh, side_tokens=spent.fresh_side,
            cost=spent.fresh_cost, models=whole.models, density=whole.density,
        )  # fmt: skip
        (self._own_clock or self._clock).tell(own)
        return own


class _Calls:
    """Which response answers which request, and how long that took. Holds what is open."""

    def __init__(self) -> None:
        self._pairing = Pairing()
        self._asked: dict[int, _Asked] = {}
        self._count = 0
        self._starts: dict[str, list[tuple[str, float]]] = {}
        self._spans: dict[tuple[str, str], float] = {}

    def ask(self, request: Activity, asked: _Asked) -> None:
        self._count += 1
        self._pairing.request(self._count, request)
        self._asked[self._count] = asked

    def answer(self, response: Activity) -> _Asked | None:
        """The call that this answers; None: an orphan."""
        n = self._pairing.response(response)
        return None if n is None else self._asked.pop(n)

    def waiting(self) -> dict[tuple[str, str], list[_Asked]]:
        """The calls without a response by tool and id, oldest first."""
        found: dict[tuple[str, str], list[_Asked]] = {}
        for asked in self._asked.values():
            found.setdefault((asked.tool.name, asked.id), []).append(asked)
        return found

    def narrated(self, event: Event, time: float | None) -> None:
        """When a call began or ended, told before its messages. Events have no ids: an end is
        that of the call of its tool that began last."""
        if time is None:
            return
        if event.kind == "toolCallStart":
            starts = self._starts.setdefault(event.tool, [])
            if len(starts) < _MANY:
                starts.append((event.text, time))
        elif starts := self._starts.get(event.tool, []):
            arguments, began = starts.pop()
            if len(self._spans) >= _MANY:
                del self._spans[next(iter(self._spans))]
            self._spans[event.tool, arguments] = time - began

    def took(self, asked: _Asked, response: Activity, time: float | None) -> float:
        """Seconds; 0 where they are not told."""
        spent = self._spans.pop((asked.tool.name, response.arguments), None)
        if spent is None and time is not None and asked.time is not None:
            spent = time - asked.time
        return max(spent or 0.0, 0.0)


def _files(call: Activity) -> tuple[str, ...]:
    """The files that a call of an edit tool is to change."""
    name = call.name.lower()
    if not any(word in name for word in _EDITS):
        return ()
    said = telling(call.arguments)
    return tuple(said.split(", ")[:_MANY]) if said and "\n" not in said else ()
