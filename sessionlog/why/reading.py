"""The pass over a run's records: facts out, bounded memory, no judgement. Pure.

The pass may begin anywhere in a log, so a screen gives it the last records only; what needs the
whole of it (files changed) stays unknown then. Side chains are another agent's run: they show
life, and nothing else is taken from them.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from sessionlog.records import (
    RETRIES,
    Activity,
    Damage,
    Event,
    Kind,
    Message,
    Meta,
    Record,
    Reset,
    Result,
    Span,
    as_own,
    shown_type,
)
from sessionlog.text import one_line
from sessionlog.why.calls import Calls
from sessionlog.why.facts import Call, Facts, Gap, Saying, Trouble

_LAST = 12
"""Records that are told at the end."""
GAPS = 3
"""Silences that are told."""
_MANY = 100
"""Damages and troubles that are kept."""
_ASIDE = ("hook", "notice", "warning", "notification", "rollback")
"""Parts of the names of events that tell of trouble beside the run."""
_TELLING = ("error", "cause", "connection", "data", "codex_error_info", "message", "formatted",
            "type", "name", "code", "status", "statusCode", "http_status_code")  # fmt: skip
"""Fields that tell of an error beyond its words."""
_ASKING = re.compile(r"approval_request|request_permission|permission[._](?:request|asked)|elicit")
_ASKED = re.compile(r"needs your (?:permission|approval)|wait\w* for (?:your )?approval", re.I)
_LIMIT = re.compile(r"max_(?:turns|budget|steps)|(?:budget|limit)_(?:reached|exceeded)|loop_detect")
"""Kinds of events that tell of a limit which ended the run (Claude Code's max_turns_reached)."""
_STDERR = "local-command-stderr"
"""The note that Claude Code gives to what a command of its own (/compact) failed with."""
SYNTHETIC = "<synthetic>"
"""The model that Claude Code names where it speaks itself."""


class Pass:
    """Records in, facts out. Holds no more than the last of everything."""

    def __init__(self, before: int | None = 0) -> None:
        """`before`: messages of the log ahead of the first record; None where not known."""
        self._whole = before == 0
        self._n = before
        self._calls = Calls(self._whole)
        self._clock = Clock(self._whole)
        self._messages = 0
        self._troubles: deque[Trouble] = deque(maxlen=_MANY)
        self._overcome: Trouble | None = None
        self._retries = 0
        self._set_out: Saying | None = None
        self._result: Result | None = None
        self._ended: Saying | None = None
        self._message: Saying | None = None
        self._words: Saying | None = None
        self._expects = ""
        self._asks: Saying | None = None
        self._resets = 0
        self._reset: Saying | None = None
        self._after_reset = 0
        self._narrates = False
        self._end: Span | None = None
        self._last: deque[tuple[int | None, Record]] = deque(maxlen=_LAST)
        self._damages: deque[Damage] = deque(maxlen=_MANY)
        self._damaged = 0
        self._side: Pass | None = None
        """What a log tells in which only a subagent spoke."""

    def damage(self, damage: Damage) -> None:
        """A spot that gave no record."""
        self._damages.append(damage)
        self._damaged += 1

    def past(self, record: Record, again: bool) -> None:
        """The next record, of a part of the log that counts for nothing now: the run went back to
        before it, or it stood there before (`again`). It happened, and that is all."""
        message = record.payload
        if isinstance(message, Message):
            self._n = None if self._n is None else self._n + 1
            if not (again or message.sidechain):
                self._messages += 1
                self._calls.past(message)
        self._clock.take(record, self._n)
        self._end = record.span

    def take(self, record: Record) -> None:
        """The next record of the log."""
        payload = record.payload
        number = None
        if isinstance(payload, Message):
            self._n = number = None if self._n is None else self._n + 1
            if payload.sidechain:
                self._beside(record)
                self._clock.take(record, self._n)
                return
            self._messages += 1
            self._take_message(record, payload)
        elif isinstance(payload, Event):
            if payload.extra.get("sidechain"):
                self._beside(record)
            else:
                self._take_event(record, payload)
        elif isinstance(payload, Result):
            words = payload.error or payload.message or payload.reason
            self._result, self._ended = payload, self._at(record, words, None)
        elif isinstance(payload, Reset):
            self._take_reset(record, payload)
        elif isinstance(payload, Meta) and payload.task and self._set_out is None:
            self._set_out = self._at(record, payload.task, None)
        if not record.quiet:
            self._last.append((number, record))
        self._clock.take(record, self._n)
        self._end = record.span

    @property
    def _is_own(self) -> bool:
        """Did the run that the log is of tell anything?"""
        return bool(self._messages or self._troubles or self._result)

    def _beside(self, record: Record) -> None:
        """A subagent's record. Where a log holds no others, they are its run."""
        if self._whole and not self._is_own:
            if self._side is None:
                self._side = Pass()
                self._side._n = (self._n or 1) - 1
            self._side.take(as_own(record))

    # -- messages ------------------------------------------------------------------------------

    def _take_message(self, record: Record, message: Message) -> None:
        activity, kind = message.activity, shown_type(message)
        if activity is None:
            self._said(record, message, kind)
        elif activity.kind == "request":
            self._answered(counts=not self._narrates)
            self._expects = "tool"
            call = self._call(record, activity)
            self._calls.request(self._messages, message, activity, call)
        elif activity.kind == "response":
            self._expects = "model"
            self._calls.response(record, message, activity, self._call(record, activity))
        self._calls.message()
        if kind not in ("system", "attachment") and not record.quiet:
            self._asks = None
            self._message = self._at(record, kind, self._n)

    def _said(self, record: Record, message: Message, kind: str) -> None:
        text = message.text.strip()
        if message.extra.get("model") == SYNTHETIC:
            return
        if kind in ("user", "assistant", "reasoning", "summary"):
            self._calls.land()
        if kind == "assistant" and text:
            self._words, self._expects = self._at(record, text, self._n), "person"
        elif kind in ("user", "summary", "reasoning"):
            self._expects = "model"
        if message.extra.get("note") == _STDERR and text:
            self._wrong(record, one_line(text), "error", "", ends=False)
        if kind == "user" and text and self._whole and self._set_out is None:
            self._set_out = self._at(record, text, self._n)
        if kind == "reasoning" or (kind == "assistant" and text):
            self._answered(counts=not self._narrates)

    def _answered(self, counts: bool) -> None:
        """The model answered: what went wrong before was overcome."""
        if self._troubles:
            self._overcome = self._troubles[-1]
            self._troubles.clear()
            self._retries = 0
        self._after_reset += counts

    def _call(self, record: Record, activity: Activity) -> Call:
        span = record.span
        since = self._calls.began(activity) or record.at
        return Call(
            activity.name, activity.arguments, activity.id, self._n, span.line, span.offset, since
        )

    # -- events --------------------------------------------------------------------------------

    def _take_event(self, record: Record, event: Event) -> None:
        self._calls.replaying = False
        kind = event.kind
        if kind in ("toolCallStart", "toolCallEnd", "toolCallError"):
            self._calls.told(record, event)
        self._narrates = self._narrates or kind == "iteration"
        if kind == "compact":
            self._condensed(record, event.text or "the conversation was condensed")
        elif event.ok is False:
            self._trouble(record, event)
        elif _LIMIT.search(kind):
            self._wrong(record, one_line(f"{kind} {event.text}"), kind, "", ends=True)
        elif kind in ("message", "toolCallStart", "agent_message"):
            self._answered(counts=True)
        elif _ASKING.search(kind) or (event.text and _ASKED.search(event.text[:400])):
            self._asks = self._at(record, one_line(event.text or kind), None)
        if event.ends:
            self._ended = self._at(record, event.text or kind, None)

    def _trouble(self, record: Record, event: Event) -> None:
        """An error of the run itself. What an event says of a call its result says, too."""
        if event.call_id or event.kind == "toolCallError" or record.quiet:
            return
        if any(word in event.kind for word in _ASIDE):
            return
        detail = " ".join(details_of(event.extra))[:2000]
        says = one_line(event.text or detail[:200])
        if says:
            self._wrong(record, says, event.kind, detail, ends=event.ends)

    def _wrong(self, record: Record, says: str, kind: str, detail: str, *, ends: bool) -> None:
        """Something went wrong with the run. Clients tell of the error that ended it twice."""
        again = kind in RETRIES
        if not again and self._troubles and self._troubles[-1].says == says:
            return
        self._retries += again
        span = record.span
        self._troubles.append(Trouble(says, kind, span.line, span.offset, record.at, detail, ends))

    def _take_reset(self, record: Record, reset: Reset) -> None:
        if reset.turns is None:
            self._calls.replaying = True
            self._condensed(record, reset.why or "the conversation began anew")

    def _condensed(self, record: Record, says: str) -> None:
        self._resets += isinstance(record.payload, Reset)
        self._reset, self._after_reset = self._at(record, says, self._n), 0

    # -- what was found ------------------------------------------------------------------------

    def facts(self) -> Facts:
        """What is known after the records so far; more may follow."""
        if self._side is not None and not self._is_own:
            return self._side.facts()._replace(
                damages=tuple(self._damages), damaged=self._damaged, set_out=self._set_out,
                torn=any(damage.torn for damage in self._damages), end=self._end,
            )  # fmt: skip
        calls, clock, message = self._calls, self._clock, self._message
        return Facts(
            messages=self._messages,
            number=self._n,
            calls=calls.asked,
            errors=calls.errors(),
            interrupted=calls.interrupted,
            files=calls.files(),
            set_out=self._set_out,
            flying=calls.flying(),
            unanswered=calls.unanswered(),
            recent=calls.recent(),
            works=dict(calls.works),
            repeats=calls.repeats(),
            troubles=tuple(self._troubles),
            overcome=self._overcome,
            retries=self._retries,
            result=self._result,
            ended=self._ended,
            message=message,
            words=self._words,
            expects=self._expects,
            resets=self._resets,
            reset=self._reset,
            after_reset=self._after_reset,
            asks=self._asks,
            gaps=tuple(clock.gaps),
            silence=clock.silence,
            first_at=clock.first,
            last_at=clock.last,
            end=self._end,
            last=tuple(self._last),
            damages=tuple(self._damages),
            damaged=self._damaged,
            torn=any(damage.torn for damage in self._damages),
        )

    def _at(self, record: Record, says: str, n: int | None) -> Saying:
        return Saying(says, n, record.span.line, record.span.offset)


class Clock:
    """The times of records: the longest silences, and the last."""

    def __init__(self, whole: bool = False) -> None:
        """`whole`: the first record is the log's."""
        self.gaps: list[Gap] = []
        self.silence = 0.0
        self.first: datetime | None = None
        self.last: datetime | None = None
        self._before: tuple[Record, int | None] | None = None
        self._spoken = not whole

    def take(self, record: Record, n: int | None) -> None:
        """`n` is the number of the record's message, or of the last one before it.

        Times may run backwards, where hooks and subagents write: that is no silence. What stands
        before the first message, and is younger, is the head of a log that was made from another.
        """
        time = record.time
        if time is None:
            return
        spoken, self._spoken = self._spoken, self._spoken or record.kind is Kind.MESSAGE
        if self.last is None or self._before is None or (not spoken and time < self.last):
            self.first, self.gaps, self.silence = time, [], 0.0
        else:
            self.silence = max((time - self.last).total_seconds(), 0.0)
            if time < self.last:
                return
            if self.silence and (len(self.gaps) < GAPS or self.silence > self.gaps[-1].seconds):
                last, after = self._before
                gap = Gap(self.silence, after or None, last.at, last.span.line, last.span.offset)
                self.gaps = sorted([*self.gaps, gap], key=lambda g: -g.seconds)[:GAPS]
        self.last, self._before = time, (record, n)


def details_of(value: Any, depth: int = 4) -> Iterator[str]:
    """The words of an error's fields: its type, its status, the error that it wraps."""
    if isinstance(value, str | int) and not isinstance(value, bool):
        yield str(value)
    elif isinstance(value, Mapping) and depth:
        for key in _TELLING:
            if key == "codex_error_info" and isinstance(value.get(key), dict):
                yield from value[key]  # the word is the key
                for inner in value[key].values():
                    yield from details_of(inner, depth - 1)
            elif key in value:
                yield from details_of(value[key], depth - 1)
