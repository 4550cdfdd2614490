"""The answer to "why did it stop": cause, evidence, and what a person asks next. Pure.

`Reading` takes the records of a log, all of them or the last, and answers; `why` does it for a
session that is at hand. Evidence only: what the records do not tell stays empty, and a stop that
they do not explain is `not_known`.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from sessionlog.branch import left_behind
from sessionlog.outcome import outcome_of, result_text
from sessionlog.records import (
    Damage,
    Ending,
    Event,
    Message,
    Record,
    Result,
    Status,
    moment,
    shown_type,
)
from sessionlog.repeats import again
from sessionlog.telling import telling
from sessionlog.text import clip, one_line
from sessionlog.why import judge
from sessionlog.why.facts import Beside, Done, Facts, Gap, Repeat, Saying
from sessionlog.why.reading import Pass

if TYPE_CHECKING:
    from sessionlog.session import Session

_TOLD = 8
_REPEATED = 3
_WORDS = 200
"""Columns of a row that is told in words."""


class LastError(NamedTuple):
    """The last error, in its own words."""

    text: str
    n: int | None = None
    overcome: bool = False
    """Something went well after it, so it is not why the run stopped."""
    tool: str = ""
    """"" where no tool failed, but the run itself."""
    line: int = 0
    offset: int = -1


class Flight(NamedTuple):
    """A call that ran when the run stopped, or runs now."""

    tool: str
    call_id: str
    """"" where the log has no id for it."""
    since: str
    """RFC 3339, as in the log."""
    says: str
    """Its telling argument, visible."""
    n: int | None
    line: int
    offset: int
    seconds: float | None = None
    """How long it has run; None where it runs no more."""
    before: int = 0
    """How often the same call had failed already."""
    asks: str = ""
    """The leave that it waits for."""


class Repeated(NamedTuple):
    """A call that was made again with the same arguments and the same outcome."""

    tool: str
    times: int
    n: int | None
    """Number of the first of them."""
    says: str
    """Their telling argument, visible."""
    outcome: str
    """"exit 1", or "the same result"."""
    error: str = ""
    """The telling line of a failure, visible."""
    line: int = 0
    offset: int = -1


class Progress(NamedTuple):
    """How far the run got."""

    messages: int
    calls: int
    errors: int
    files: int | None
    """Files that edits changed; None where only the end of the log was read."""
    seconds: float | None
    """From when the run began to the last record; None where the log does not tell."""
    last_words: Saying | None
    """The model's last text, visible, one line."""


class Why(NamedTuple):
    """Why a run stopped, or that it runs."""

    status: Status | None
    reason: str | None
    ok: bool | None
    cause: str
    """One of the closed list, or `not_known`."""
    evidence: tuple[Saying, ...]
    """The most telling first."""
    last_error: LastError | None
    failed: LastError | None
    """The last call that failed."""
    in_flight: tuple[Flight, ...]
    """Empty once an ending is recorded."""
    repeated: tuple[Repeated, ...]
    """Without effect: the same call, the same outcome; most often first."""
    longest_gaps: tuple[Gap, ...]
    retries: int
    """Attempts that failed after the last thing that went well."""
    resets: int
    reset: Saying | None
    """The last one."""
    set_out: Saying | None
    progress: Progress
    damages: tuple[Damage, ...]
    damaged: int
    """How many damages there are; `damages` holds the last hundred."""
    last: tuple[Saying, ...]
    """The last rows in words, oldest first."""
    alive: str | None
    """Evidence that the log's writer lives; None when there is none."""
    subject: str
    """The program that is missing, where the cause is that."""
    blamed: Done | None
    """The call whose failure is the cause."""
    facts: Facts
    ending: Ending
    beside: Beside | None = None
    """How the run ended by the journal of what was handed over, where the log does not tell."""


class Reading(Pass):
    """Records in, the answer out; bounded memory, whatever the log's size."""

    def answer(
        self,
        ending: Ending,
        status: Status | None,
        *,
        alive: str | None = None,
        now: datetime | None = None,
    ) -> Why:
        """What the records so far tell of a run that stands like this.

        `alive` is the evidence that the writer lives, `now` the clock that a call which runs is
        measured by (None: how long it has run is not told).
        """
        return answered(self.facts(), ending, status, alive=alive, now=now)


def why(session: Session, now: datetime | None = None) -> Why:
    """Why a session's run stopped, or that it runs."""
    reading = Reading()
    for damage in session.damages:
        reading.damage(damage)
    twice = again(session.records)
    left = left_behind(session.records, session.damages, twice)
    for i, record in enumerate(session.records):
        if i in left:
            reading.past(record, i in twice)
        else:
            reading.take(record)
    return reading.answer(session.ending, session.status, alive=session.alive, now=now)


def answered(
    facts: Facts,
    ending: Ending,
    status: Status | None,
    *,
    alive: str | None = None,
    now: datetime | None = None,
    beside: Beside | None = None,
) -> Why:
    """The answer from facts that were gathered once: only the clock and the evidence change.

    `beside`: how the run ended by the journal of what was handed over; it counts where the log
    itself tells of no ending.
    """
    facts = facts._replace(torn=facts.torn or status is Status.TRUNCATED)
    verdict = judge.judge(facts, ending, status)
    if status not in (Status.UNFINISHED, Status.TRUNCATED):
        beside = None
    if beside is not None:
        verdict = judge.with_beside(verdict, beside)
    running = now if status is Status.RUNNING else None
    return Why(
        status=status,
        reason=ending.reason,
        ok=ending.ok if ending.ended else None,
        cause=verdict.cause,
        evidence=verdict.evidence,
        last_error=_last_error(facts, ending, verdict),
        failed=_last_failed(facts),
        in_flight=() if ending.ended else _flights(facts, running),
        repeated=_repeated(facts),
        longest_gaps=facts.gaps,
        retries=facts.retries,
        resets=facts.resets,
        reset=facts.reset,
        set_out=_one_line(facts.set_out),
        progress=_progress(facts),
        damages=facts.damages,
        damaged=facts.damaged,
        last=tuple(told(n, record) for n, record in facts.last[-_TOLD:]),
        alive=alive,
        subject=verdict.subject,
        blamed=verdict.blamed,
        facts=facts,
        ending=ending,
        beside=beside,
    )


def _one_line(said: Saying | None) -> Saying | None:
    return said and said._replace(says=clip(one_line(said.says), 4 * _WORDS))


def _flights(facts: Facts, now: datetime | None) -> tuple[Flight, ...]:
    found = []
    for call in facts.flying:
        same = (call.tool, call.arguments)
        began = moment(call.since)
        found.append(
            Flight(
                call.tool, call.call_id, call.since, call.said, call.n, call.line, call.offset,
                max((now - began).total_seconds(), 0.0) if now and began else None,
                sum(d.failed and (d.call.tool, d.call.arguments) == same for d in facts.recent),
                judge.leave_of(call),
            )
        )  # fmt: skip
    return tuple(found)


def _repeated(facts: Facts) -> tuple[Repeated, ...]:
    """What came three times or more with the same outcome; well-meant polling only in a row."""
    many = [r for r in facts.repeats if r.times > 2 and (r.failed or r.dense > 0.6)]
    many.sort(key=lambda r: (-r.times, -r.last))
    return tuple(map(_again, many[:_REPEATED]))


def _again(repeat: Repeat) -> Repeated:
    call, outcome = repeat.call, repeat.words if repeat.failed else "the same result"
    return Repeated(call.tool, repeat.times, call.n, call.said, outcome, repeat.error, call.line,
                    call.offset)  # fmt: skip


def _progress(facts: Facts) -> Progress:
    first, last = facts.first_at, facts.last_at
    seconds = (last - first).total_seconds() if first and last and first != last else None
    return Progress(facts.messages, facts.calls, facts.errors, facts.files, seconds,
                    _one_line(facts.words))  # fmt: skip


# -- the last error ------------------------------------------------------------------------------

_OF_THE_RUN = ("provider_overloaded", "rate_limit", "auth", "context_full", "dangling_call",
               "network", "disk_full", "compaction", "permission")  # fmt: skip


def _last_error(facts: Facts, ending: Ending, verdict: judge.Verdict) -> LastError | None:
    """The error that the cause is about; else the last, and whether it was overcome."""
    if verdict.blamed is not None:
        return _of_call(verdict.blamed, overcome=False)
    named = verdict.cause in _OF_THE_RUN or bool(facts.result and facts.result.error)
    if ending.ended and ending.ok is False and (named or verdict.cause == judge.NOT_KNOWN):
        said = judge.closing(facts, ending)
        return LastError(said.says, said.n, False, "", said.line, said.offset)
    stopped = verdict.cause == "interrupted"  # its own mark is no error
    troubles = [t for t in facts.troubles if not (stopped and t.ends)]
    if troubles:
        last = troubles[-1]
        return LastError(last.says, None, False, "", last.line, last.offset)
    failed, trouble = _last_failed(facts), facts.overcome
    if trouble is not None and (failed is None or trouble.offset > failed.offset):
        return LastError(trouble.says, None, True, "", trouble.line, trouble.offset)
    return failed


def _last_failed(facts: Facts) -> LastError | None:
    done = next((done for done in reversed(facts.recent) if done.failed), None)
    if done is None:
        return None
    return _of_call(done, overcome=facts.works.get(done.call.tool, -1) > done.nth)


def _of_call(done: Done, *, overcome: bool) -> LastError:
    return LastError(judge.worded(done), done.call.n, overcome, done.call.tool, done.line,
                     done.offset)  # fmt: skip


# -- rows in words ---------------------------------------------------------------------------------


def told(n: int | None, record: Record) -> Saying:
    """A row in words."""
    payload = record.payload
    if isinstance(payload, Message):
        says = _message(payload)
    elif isinstance(payload, Event):
        words = " ".join(filter(None, [payload.tool, payload.text]))
        says = f"{payload.kind}: {words}" if words else payload.kind
    elif isinstance(payload, Result):
        says = f"result {payload.reason}: {payload.error or payload.message}"
    else:
        says = str(record.kind)
    return Saying(clip(one_line(says), _WORDS), n, record.span.line, record.span.offset)


def _message(message: Message) -> str:

    activity = message.activity
    if activity is None:
        return f"{shown_type(message)}: {message.text[: 4 * _WORDS]}"
    if activity.kind == "request":
        return f"{activity.name} {telling(activity.arguments)}"
    outcome = outcome_of(activity, message)
    if outcome.interrupted:
        return f"{activity.name} interrupted"
    if outcome.failed:
        return f"{activity.name} failed: {outcome.words} {outcome.second}"
    return f"{activity.name} gave: {result_text(message)[: 4 * _WORDS]}"
