"""What the last records of a log say about its stop. Pure; evidence only, no guesses.

One pass over the records that are at hand (the last chunks of a big log, or all of it): the calls
with how they went, the last error that nothing overcame, what was repeated, the retries and the
silence before the end. What the records do not tell stays empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sessionlog.formats.base import in_flight
from sessionlog.records import Activity, Event, InFlight, Message, Record, shown_type
from sessionlog.telling import arguments_of, telling
from sessionlog.text import one_line
from tui.calls import result_of
from tui.diffs import edits_of
from tui.highlight import telling_line
from tui.outcome import outcome_of

MOST = 4000
"""Records that are looked at, from the end."""
_RETRIES = ("retry", "stream_error")
_ASKS = ("sandbox_permissions", "with_escalated_permissions")


class Done(NamedTuple):
    """A call that was answered."""

    n: int | None
    """Message number of the request; None where it is not known."""
    tool: str
    arguments: str
    failed: bool
    words: str
    """"exit 1", or a size."""
    error: str
    """The telling line of a failure, visible."""
    result: str
    """What came back, shortened: equal for equal outcomes."""


class Trouble(NamedTuple):
    """An error in its own words."""

    text: str
    """Visible, one line."""
    n: int | None = None
    tool: str = ""
    """"" where no tool failed, but the run itself."""


class Evidence(NamedTuple):
    """What the end of a log tells."""

    flying: tuple[InFlight, ...] = ()
    """Calls without a result, with nothing after them."""
    unanswered: tuple[InFlight, ...] = ()
    """Calls without a result that the run went on past."""
    asked: str = ""
    """The leave that the call in flight asked for."""
    last_call: Done | None = None
    last_error: Trouble | None = None
    """The last error that nothing overcame."""
    repeated: tuple[Done, int] | None = None
    """The last call's like, the same outcome included, and how many of it there were."""
    before: int = 0
    """How often the call in flight had failed already."""
    errors: int = 0
    """Failed calls, overcome or not."""
    retries: int = 0
    """Attempts that failed after the last thing that went well."""
    silence: float = 0.0
    """Seconds between the last two records that have a time."""
    last_at: datetime | None = None
    last_words: str = ""
    """The model's last text, visible, one line."""
    expects: str = ""
    """Who was to go on: "model" after a prompt, a result or a thought, "tool" after a call,
    "person" after the model's text."""
    messages: int = 0
    files: int | None = None
    """Files that edits changed; None where only the end of the log is known."""


def gather(records: Sequence[Record], before: int | None = None) -> Evidence:
    """Read the records. `before`: messages of the log ahead of them, None where not known."""
    if before is None and records and records[0].span.offset == 0:
        before = 0
    whole = len(records) <= MOST and before == 0
    if len(records) > MOST:
        skipped = sum(isinstance(r.payload, Message) for r in records[:-MOST])
        before = None if before is None else before + skipped
        records = records[-MOST:]
    reading = _Reading(before)
    for record in records:
        reading.take(record)
    flying = tuple(in_flight(reversed(records)))
    return reading.evidence(flying, whole)


class _Reading:
    """The pass: what is known after each record."""

    def __init__(self, before: int | None) -> None:
        self._n = before
        self._count = 0
        self._open: dict[str, tuple[int | None, Activity]] = {}
        self._numbers: dict[str, int | None] = {}
        self._done: list[Done] = []
        self._events: list[Trouble] = []
        self._retries = 0
        self._times: list[datetime] = []
        self._words, self._expects = "", ""

    def take(self, record: Record) -> None:
        payload = record.payload
        if isinstance(payload, Message):
            self._count += 1
            self._n = None if self._n is None else self._n + 1
            if not payload.sidechain:
                self._message(payload)
        elif isinstance(payload, Event) and not (payload.ok is False and record.quiet):
            self._event(payload)
        if (time := record.time) is not None:
            self._times = [*self._times[-1:], time]

    def _message(self, message: Message) -> None:
        activity, kind = message.activity, shown_type(message)
        if activity is None:
            if kind == "assistant" and message.text.strip():
                self._words, self._expects = one_line(message.text), "person"
            elif kind in ("user", "summary", "reasoning"):
                self._expects = "model"
            if kind in ("assistant", "reasoning"):
                self._answered()
            return
        name = activity.id or f"{activity.name}\0{activity.arguments}"
        if activity.kind == "request":
            self._open[name] = self._n, activity
            if activity.id:
                self._numbers[activity.id] = self._n
            self._answered()
            self._expects = "tool"
        elif activity.kind == "response":
            self._expects = "model"
            n, request = self._open.pop(name, (self._n, activity))
            self._done.append(_done(n, request, message))

    def _answered(self) -> None:
        """What went wrong before was overcome."""
        self._events.clear()
        self._retries = 0

    def _event(self, event: Event) -> None:
        """Errors between messages: retries, refusals of the provider, aborts.

        What an event says of a call stands in the call's result, too.
        """
        if event.ok is False and not event.call_id and event.kind != "toolCallError":
            self._retries += event.kind in _RETRIES
            if event.text:
                self._events.append(Trouble(one_line(event.text)))
        elif event.kind in ("message", "toolCallStart", "agent_message"):
            self._answered()  # the model answered after all

    def evidence(self, flying: tuple[InFlight, ...], whole: bool) -> Evidence:
        flying = tuple(call._replace(n=self._numbers.get(call.call_id)) for call in flying)
        last = self._done[-1] if self._done else None
        like = [d for d in self._done if last and d[1:3] == last[1:3] and d.result == last.result]
        times = self._times
        return Evidence(
            flying=flying,
            unanswered=self._unanswered(flying),
            asked=_asked(flying[-1].arguments) if flying else "",
            last_call=last,
            last_error=self._last_error(),
            repeated=(last, len(like)) if last and len(like) > 2 else None,
            before=sum(
                d.failed and bool(flying) and (d.tool, d.arguments)
                == (flying[-1].tool, flying[-1].arguments) for d in self._done
            ),
            errors=sum(d.failed for d in self._done),
            retries=self._retries,
            silence=(times[-1] - times[-2]).total_seconds() if len(times) > 1 else 0.0,
            last_at=times[-1] if times else None,
            last_words=self._words,
            expects=self._expects,
            messages=self._count,
            files=len(_files(self._done)) if whole else None,
        )  # fmt: skip

    def _unanswered(self, flying: tuple[InFlight, ...]) -> tuple[InFlight, ...]:
        known = {(call.tool, call.arguments) for call in flying}
        return tuple(
            InFlight(call.name, call.arguments, call.id, n=n)
            for n, call in self._open.values()
            if (call.name, call.arguments) not in known
        )

    def _last_error(self) -> Trouble | None:
        """The latest error: of the run itself, or of a tool that did not work again later."""
        if self._events:
            return self._events[-1]
        works: set[str] = set()
        for done in reversed(self._done):
            if done.failed and done.tool not in works:
                return Trouble(_worded(done), done.n, done.tool)
            works.add(done.tool)
        return None


def _worded(done: Done) -> str:
    """What the failure says; where that is next to nothing, what was called."""
    if len(done.error) > 4:
        return done.error
    return f"{done.words}: {one_line(telling(done.arguments))}"


def _done(n: int | None, request: Activity, message: Message) -> Done:
    outcome = outcome_of(request, message)
    text = _said(message)
    error = telling_line(text) if outcome.failed else ""
    return Done(n, request.name, request.arguments, outcome.failed, outcome.words, error,
                text[:2000])  # fmt: skip


def _said(message: Message) -> str:
    """The text of a response; the output where it is wrapped in an object."""
    text, value = result_of(message)
    if isinstance(value, dict):
        for key in ("output", "stderr", "stdout", "error", "text"):
            if isinstance(value.get(key), str) and value[key]:
                return str(value[key])
    return text or message.text


def _asked(arguments: str) -> str:
    """The leave that a call asks for, as Codex words it (seen in 0.171)."""
    value = arguments_of(arguments)
    if not isinstance(value, dict):
        return ""
    for key in _ASKS:
        if (word := value.get(key)) and word != "use_default":
            why = value.get("justification")
            return one_line(f"{key if word is True else word}" + (f": {why}" if why else ""))
    return ""


def _files(done: Sequence[Done]) -> set[str]:
    """The paths that edits which went well have changed."""
    found: set[str] = set()
    for call in done:
        value = None if call.failed else arguments_of(call.arguments)
        if not call.failed:
            diffs = edits_of(call.arguments if value is None else value)
            found |= {diff.path for diff in diffs if diff.path}
    return found
