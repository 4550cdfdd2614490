"""The rows of one chunk of a log, from its records and a bounded look beside it. Pure.

Deterministic from the chunk and its surroundings, so any part of a log of any size can be shown
alone. A call and its response are one row, standing where the call stands; every record and every
damage is in exactly one row.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Protocol

from sessionlog.outcome import Outcome, event_outcome, outcome_of, result_text
from sessionlog.records import (
    RETRIES,
    Activity,
    Damage,
    Event,
    Message,
    Meta,
    Other,
    Record,
    Reset,
    Result,
    shown_type,
    tells_again,
)
from sessionlog.telling import telling
from sessionlog.text import one_line, size, took, visible
from sessionlog.tools import label_of
from sessionlog.window import LONG, Chunk
from tui.pairs import LOOK, At, Gist, Pairs
from tui.rows import Row
from tui.words import between, first_line, how_ended, prose, spans_of, waited

GAP = 300.0
"""Seconds of silence from which a gap is a row."""
ALIKE = 4
"""Chunks before that are looked through for the same failure."""
_LONG_TEXT = 400
_RETRY = (*RETRIES, "api_error")


class Around(Protocol):
    """What the rows of a chunk may ask of the rest of its log."""

    alive: bool
    """Is the log's writer known to live?"""

    @property
    def chunks(self) -> int:
        """Chunks of the log."""

    def chunk(self, number: int) -> Chunk:
        """A chunk, decoded."""

    def gist(self, number: int) -> Gist:
        """The gist of a chunk."""

    def paired(self, number: int) -> Pairs:
        """The pairs of a chunk."""

    def messages_before(self, number: int) -> int | None:
        """Messages in front of a chunk; None while it is not counted."""

    def lines_before(self, number: int) -> int | None:
        """Lines in front of a chunk; None while it is not counted."""

    def failures(self, number: int) -> dict[tuple[str, ...], int]:
        """What failed in a chunk, with the position of the call among its messages."""


def rows_of(number: int, around: Around) -> list[Row]:
    """The rows of chunk `number`, in order; those of subagents and quiet ones included."""
    return sorted(_Maker(number, around).rows(), key=lambda row: row.place)


def failures_of(number: int, around: Around) -> dict[tuple[str, ...], int]:
    """The failed calls of a chunk whose response it holds too: what failed -> position."""
    chunk, found = around.chunk(number), dict[tuple[str, ...], int]()
    position = 0
    pairs = around.paired(number)
    for index, record in enumerate(chunk.records):
        payload = record.payload
        if not isinstance(payload, Message):
            continue
        position += 1
        answer = pairs.response.get(index)
        if payload.activity is None or answer is None or answer[0] != number:
            continue
        other = chunk.records[answer[1]].payload
        if isinstance(other, Message):
            outcome = outcome_of(payload.activity, other)
            if outcome.failed:
                found.setdefault(_sameness(payload.activity, outcome), position)
    return found


def _sameness(call: Activity, outcome: Outcome) -> tuple[str, ...]:
    return call.name, call.arguments, outcome.words, outcome.second


class _Maker:
    """Walks one chunk once."""

    def __init__(self, number: int, around: Around) -> None:
        self.number = number
        self.around = around
        self.chunk = around.chunk(number)
        self.records = self.chunk.records
        self.pairs = around.paired(number)
        self.base = around.messages_before(number)
        self.lines = around.lines_before(number)
        self.position = 0  # messages of this chunk so far
        self.before = self._last_before()
        self.failed: dict[tuple[str, ...], int] = {}
        self.spans: dict[tuple[str, str], float] = {}  # what events say of the calls' times
        self.storm: list[Record] = []

    # -- the walk ---------------------------------------------------------------------------

    def rows(self) -> Iterator[Row]:
        damages = list(self.chunk.damages)
        for index, record in enumerate(self.records):
            while damages and damages[0].span.offset < record.span.offset:
                yield from self._storm_over(record)
                yield self._damage(damages.pop(0))
            yield from self._record(index, record)
            self.before = record.at or self.before
        yield from self._storm_over(None)
        for damage in damages:
            yield self._damage(damage)

    def _record(self, index: int, record: Record) -> Iterator[Row]:
        payload = record.payload
        is_retry = isinstance(payload, Event) and payload.ok is False and not record.quiet
        if is_retry and isinstance(payload, Event) and payload.kind in _RETRY:
            yield from self._gap(record)
            self.storm.append(record)
            return
        if not record.quiet:
            yield from self._storm_over(record)
        if isinstance(payload, Message):
            self.position += 1
            if index in self.pairs.request:
                return  # it stands in its call's row
            yield from self._gap(record)
            yield self._message(index, record, payload)
        elif isinstance(payload, Event):
            row = self._event(index, record, payload)
            if row is not None:
                if not payload.kind.startswith("toolCall"):
                    yield from self._gap(record)
                yield row
        else:
            yield from self._gap(record)
            yield self._rest(record)

    def _row(self, record: Record, sort: str, label: str, body: str, **more: Any) -> Row:
        offset = record.span.offset
        fields = {"at": record.at, "quiet": record.quiet, "records": (record,), **more}
        payload = record.payload
        if isinstance(payload, Message):
            fields["n"] = None if self.base is None else self.base + self.position
            if payload.sidechain:
                fields["side"] = visible(payload.sidechain)
            if record.span.length > LONG:
                fields["outcome"] = size(record.span.length)
        return Row((offset, record.part), sort, label, body, line=self._line(offset), **fields)

    def _line(self, offset: int) -> int:
        return 0 if self.lines is None else self.lines + self.chunk.line_of(offset) + 1

    def _last_before(self) -> str:
        """The time of the last record in front of the chunk."""
        for number in range(self.number - 1, max(self.number - LOOK - 1, -1), -1):
            for record in self.around.chunk(number).records[::-1]:
                if record.at:
                    return record.at
        return ""

    def _gap(self, record: Record) -> Iterator[Row]:
        seconds = between(self.before, record.at)
        if seconds >= GAP:
            body = f"{took(seconds)} with nothing written"
            yield Row((record.span.offset, record.part - 1), "gap", "", body)

    # -- messages ---------------------------------------------------------------------------

    def _message(self, index: int, record: Record, message: Message) -> Row:
        kind = shown_type(message)
        if message.activity is not None:
            return self._activity(index, record, message, message.activity)
        if kind == "user":
            return self._row(record, "user", "user", prose(message), sign="user")
        body = first_line(message)
        if kind == "reasoning":
            seconds = between(self.before, record.at)
            spent = took(seconds) if seconds >= 1 else ""
            return self._row(record, "think", "think", body, took=spent)
        if kind == "summary":
            return self._row(record, "summary", "summary", body, sign="summary")
        if kind in ("system", "attachment"):
            quiet = record.quiet or kind == "attachment" or len(message.text) > _LONG_TEXT
            label = "attach" if kind == "attachment" else kind
            return self._row(record, "system", label, body, quiet=quiet)
        if kind == "assistant":
            return self._row(record, "agent", "agent", body)
        return self._row(record, "other", one_line(kind) or "message", body)

    def _activity(self, index: int, record: Record, message: Message, half: Activity) -> Row:
        name = label_of(half.name) or (one_line(half.kind) if half.kind == "trigger" else "call")
        if half.kind == "response":
            near = index not in self.pairs.earlier
            return self._row(
                record, "call", name, one_line(result_text(message)), sign="open" if near else "",
                outcome="no call" if near else "earlier call",
            )  # fmt: skip
        body = one_line(telling(half.arguments))
        if half.kind != "request":
            return self._row(record, "call", name, body or one_line(message.text))
        where = self.pairs.response.get(index)
        if where is None:
            return self._row(record, "call", name, body, **self._unanswered(index))
        answer = self.around.chunk(where[0]).records[where[1]]
        return self._row(record, "call", name, body, **self._answered(half, record, answer))

    def _answered(self, call: Activity, request: Record, answer: Record) -> dict[str, Any]:
        """What the response adds to a call's row."""
        fields = {"records": (request, answer), "took": self._took(call, request, answer)}
        if not isinstance(answer.payload, Message):
            return fields
        outcome = outcome_of(call, answer.payload)
        if outcome.interrupted:
            return {**fields, "sign": "open", "outcome": outcome.words}
        if not outcome.failed:
            return {**fields, "sign": "ok", "outcome": outcome.words}
        same = self._same(_sameness(call, outcome))
        words = outcome.words if same is None else f"{outcome.words} {same}"
        second = outcome.second if same is None else ""
        return {**fields, "sign": "fail", "outcome": words, "outcome_bad": True, "trouble": True,
                "second": second}  # fmt: skip

    def _same(self, what: tuple[str, ...]) -> str | None:
        """How to point at the same failure before; None when this is the first."""
        found = None
        for number in range(max(self.number - ALIKE, 0), self.number):
            position = self.around.failures(number).get(what)
            if position is not None:
                base = self.around.messages_before(number)
                found = "again" if base is None else f"={base + position}"
                break
        if found is None and what in self.failed:
            found = "again" if self.base is None else f"={self.base + self.failed[what]}"
        self.failed.setdefault(what, self.position)
        return found

    def _unanswered(self, index: int) -> dict[str, Any]:
        """What the missing response means for a call's row."""
        prompted = self._prompted_after(index)
        if index in self.pairs.later and not prompted:
            return {"outcome": "later"}
        if self.around.alive and not prompted:
            return {"sign": "run"}
        second = "nothing written after this" if self._is_last(index) else ""
        return {"sign": "open", "outcome": "no result", "trouble": True, "second": second}

    def _prompted_after(self, index: int) -> bool:
        """Did a person speak after this? Then the call is not waited for any more."""
        if self.around.gist(self.number).last_user > index:
            return True
        ahead = range(self.number + 1, min(self.number + LOOK + 1, self.around.chunks))
        return any(self.around.gist(number).last_user >= 0 for number in ahead)

    def _is_last(self, index: int) -> bool:
        if any(not record.quiet for record in self.records[index + 1 :]):
            return False
        ahead = range(self.number + 1, min(self.number + 3, self.around.chunks))
        return not any(not r.quiet for number in ahead for r in self.around.chunk(number).records)

    def _took(self, call: Activity, request: Record, answer: Record) -> str:
        """From the log's own narration where it has one: a native log writes both at once."""
        seconds = self.spans.get((call.name, call.arguments))
        if seconds is None and self.number and not self.spans:
            self.spans = spans_of(self.around.chunk(self.number - 1)) | self.spans
            seconds = self.spans.get((call.name, call.arguments))
        if seconds is None:
            seconds = between(request.at, answer.at)
        return took(seconds) if seconds >= 0 and request.at and answer.at else ""

    # -- events -----------------------------------------------------------------------------

    def _event(self, index: int, record: Record, event: Event) -> Row | None:
        if event.kind == "toolCallStart":
            return self._narrated(index, record, event)
        if index in self.pairs.request:
            start = self._start_of(self.pairs.request[index], event, record)
            if start and self._stands_alone(self.pairs.request[index]):
                return None
        if record.quiet:
            words = " ".join(filter(None, (event.kind, event.tool, event.text[:200])))
            return self._row(record, "event", "event", one_line(words), sign="event")
        words = one_line(event.text) or one_line(event.tool) or one_line(event.kind)
        if event.ends and tells_again(record, self._loud_before(index)):
            return self._row(record, "event", "event", words, sign="event", quiet=True)
        if event.ok is False:
            return self._row(record, "event", "event", words, sign="fail", trouble=True)
        return self._row(record, "event", "event", words, sign="event")

    def _loud_before(self, index: int) -> Record | None:
        return next((r for r in reversed(self.records[:index]) if not r.quiet), None)

    def _start_of(self, where: At, event: Event, record: Record) -> bool:
        """Note how long the call took that this event ends; is there a start to it?"""
        start = self.around.chunk(where[0]).records[where[1]]
        if isinstance(start.payload, Event):
            spent = between(start.at, record.at)
            self.spans[start.payload.tool, start.payload.text] = spent
            return True
        return False

    def _stands_alone(self, where: At) -> bool:
        """Is the call that starts here known from events only: no message comes after it?"""
        number, index = where
        if self.around.gist(number).last_message > index:
            return False
        last = min(number + LOOK, self.around.chunks - 1)
        if any(self.around.gist(k).last_message >= 0 for k in range(number + 1, last + 1)):
            return False
        return number + LOOK + 1 >= self.around.chunks

    def _narrated(self, index: int, record: Record, event: Event) -> Row:
        """A call's start among the events: its row, where no message will tell of it."""
        if not self._stands_alone((self.number, index)):
            words = f"{event.kind} {event.tool} {event.text[:200]}"
            return self._row(record, "event", "event", one_line(words), sign="event")
        where = self.pairs.response.get(index)
        if where is None:
            fields = self._unanswered(index)
        else:
            end = self.around.chunk(where[0]).records[where[1]]
            outcome = event_outcome(end.payload) if isinstance(end.payload, Event) else Outcome()
            seconds = between(record.at, end.at)
            fields = {
                "records": (record, end), "sign": "fail" if outcome.failed else "ok",
                "outcome": outcome.words, "outcome_bad": outcome.failed,
                "second": outcome.second, "trouble": outcome.failed,
                "took": took(seconds) if seconds >= 0 else "",
            }  # fmt: skip
        body = one_line(telling(event.text))
        name = label_of(event.tool) or "call"
        return self._row(record, "call", name, body, quiet=False, **fields)

    def _storm_over(self, after: Record | None) -> Iterator[Row]:
        """The retries so far as one row; `after` is what came then."""
        if not self.storm:
            return
        storm, self.storm = self.storm, []
        texts = [r.payload.text for r in storm if isinstance(r.payload, Event)]
        waits = [between(a.at, b.at) for a, b in pairwise(storm)]
        ending = how_ended(after)
        second = ", ".join(filter(None, (waited(waits), ending)))
        tries = f"{len(storm)} tries" if len(storm) > 1 else "retry"
        spent = between(storm[0].at, after.at if after and ending else storm[-1].at)
        yield self._row(
            storm[0], "retries", "model", one_line(texts[-1] if texts else "") or "retry",
            sign="fail", outcome=tries, outcome_bad=True, trouble=True, second=second,
            took=took(spent) if spent > 0 else "", records=tuple(storm),
        )  # fmt: skip

    # -- the others -------------------------------------------------------------------------

    def _rest(self, record: Record) -> Row:
        payload = record.payload
        if isinstance(payload, Reset):
            return self._reset(record, payload)
        if isinstance(payload, Result):
            return self._result(record, payload)
        if isinstance(payload, Meta):
            parts = (payload.task, payload.model, payload.workdir)
            body = " · ".join(filter(None, map(one_line, parts)))
            return self._row(record, "event", "meta", body, sign="event", quiet=True)
        assert isinstance(payload, Other)
        name = one_line(payload.name) or "record"
        keys = ", ".join(map(str, payload.data)) if isinstance(payload.data, dict) else ""
        body = f"{name} · {one_line(keys)}" if keys else name
        big = size(record.span.length) if record.span.length > LONG else ""
        return self._row(record, "other", "other", body, outcome=big)

    def _reset(self, record: Record, reset: Reset) -> Row:
        why = one_line(reset.why) or "context reset"
        if reset.turns is not None or reset.keep is not None:
            return self._row(record, "reset", "", why)
        if self.base is None:
            return self._row(record, "reset", "", f"{why} · what is above is history now")
        n = self.base + self.position
        history = f"1 to {n:,} are history now" if n else "nothing before it"
        return self._row(record, "reset", "", f"{why} · {history}")

    def _result(self, record: Record, result: Result) -> Row:
        bad = bool(result.code or result.error)
        reason = "" if result.error else result.reason
        words = [one_line(text) for text in (reason, result.error, result.message)]
        body = " · ".join(dict.fromkeys(filter(None, ("end of run", *words))))
        return self._row(record, "end", "", body, sign="fail" if bad else "ok", trouble=bad)

    def _damage(self, damage: Damage) -> Row:
        span = damage.span
        place = (span.offset, 1000 if damage.mild else 0)
        if damage.torn and self.around.alive:
            body = f"half a line so far · {size(span.length)}"
            return Row(place, "writing", "writing", body, "run", at="", damage=damage)
        line = self._line(span.offset)
        where = f"line {line:,} · " if line else ""
        body = f"{where}byte {span.offset:,} · {span.length:,} bytes"
        saved = self._beside(damage)
        return Row(
            place, "damage", "damage", body, "bytes", at=self.before, second=damage.why,
            outcome=f"{saved} of {saved + 1}" if saved and not damage.mild else "",
            trouble=True, damage=damage, line=line,
        )  # fmt: skip

    def _beside(self, damage: Damage) -> int:
        """Records that the same line gave."""
        line = self.chunk.line_of(damage.span.offset)
        return sum(self.chunk.line_of(r.span.offset) == line for r in self.records)
