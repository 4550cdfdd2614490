"""The frozen values that everything else is made of.

A log is a strip of lines; a line gives Records (or a Damage), and a Record holds one payload.
The five native kinds (meta, message, event, result, reset) are the vocabulary that every format
maps onto; what a format writes beyond them survives as Other, so nothing is dropped.
No I/O here, and no JSON: `codec` and `formats` make these, `session` folds them. They are named
tuples, because a listing makes tens of thousands of them, and a program that has to be on the
screen at once cannot wait for classes to be generated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import MAXYEAR, MINYEAR, UTC, datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple

NOTHING: Mapping[str, Any] = MappingProxyType({})
RETRIES = ("retry", "stream_error")
"""Kinds of events that tell of another try at the model, in the words of all agents."""


class Kind(StrEnum):
    """What a record is; OTHER is a line that decodes but that the format does not know."""

    META = "meta"
    MESSAGE = "message"
    EVENT = "event"
    RESULT = "result"
    RESET = "reset"
    OTHER = "other"


class Status(StrEnum):
    """How a session stands, by evidence. Damage is a separate count beside any of them."""

    COMPLETE = "complete"
    RUNNING = "running"
    UNFINISHED = "unfinished"
    TRUNCATED = "truncated"


class Span(NamedTuple):
    """Where bytes stand in a file: line counts from 1, offset and length are bytes."""

    line: int
    """Number of the line, from 1; 0 when it is not known yet (a window of a big log)."""
    offset: int
    length: int
    """Without the line feed."""

    @property
    def end(self) -> int:
        return self.offset + self.length


class Damage(NamedTuple):
    """Bytes that gave no record."""

    span: Span
    """The lost bytes only; intact neighbours on the same line are not in it."""
    why: str
    """One plain sentence fragment: "torn last line", "NUL bytes", "not JSON"."""
    salvaged: int = 0
    """Bytes of the same line that did give records."""
    torn: bool = False
    """It is the last line, without LF, and does not decode: the shape a crash leaves."""
    mild: bool = False
    """Text was replaced (bad UTF-8) but the record stands; strict reading does not refuse it."""


class Origin(NamedTuple):
    """Where a fork was taken from: the parent's id and the number of the last message it holds."""

    id: str
    at: int | None = None


class Meta(NamedTuple):
    """The head of a session. Empty strings where the log does not say."""

    id: str = ""
    task: str = ""
    model: str = ""
    provider: str = ""
    driver: str = ""
    workdir: str = ""
    resumed_from: str | None = None
    forked_from: Origin | None = None
    extra: Mapping[str, Any] = NOTHING
    """Fields that the format does not name, as they stand."""


class Activity(NamedTuple):
    """One half of a tool call inside a Message."""

    kind: str
    """"request", "response" or "trigger" (which never pairs)."""
    id: str = ""
    name: str = ""
    arguments: str = ""
    """JSON text, verbatim; may be invalid."""
    result: Any = None
    """Response only; any JSON value."""
    failure: str | None = None
    """Response only, instead of a result: why the call failed."""
    extra: Mapping[str, Any] = NOTHING
    """reasoning_items, reasoning_details and whatever else stands there."""


class Image(NamedTuple):
    """A picture that came with a message. Its bytes are never in a native log's line."""

    media_type: str
    digest: str = ""
    """"sha256:<hex>" of the bytes, where known."""
    width: int = 0
    height: int = 0
    size: int = 0
    """Bytes of the picture."""
    source: str = ""
    """"blob" (a file beside the log), "inline" (base64 in the line) or "url"."""
    data: bytes | None = None
    """The bytes where they are at hand; None when missing or not yet read."""
    extra: Mapping[str, Any] = NOTHING


class Message(NamedTuple):
    """One text, reasoning, call, response or attachment block.

    ``type`` is the native word (user, bot, reasoning, activity, instructions, checkpoint,
    attachment) or a neutral one (assistant, system, summary), or whatever a log says: unknown
    types are kept. `shown_type` gives the one vocabulary of the screen and the command line.
    """

    type: str
    text: str = ""
    activity: Activity | None = None
    images: tuple[Image, ...] = ()
    answer: str = ""
    """Which answer of the model's API this block belongs to; "" where that is not told."""
    sidechain: str = ""
    """Name or id of the subagent whose run this is; such messages are not in the context."""
    extra: Mapping[str, Any] = NOTHING
    unsent: bool = False
    """Said in the main run, but the agent is never told of it again: a broken-off answer, whose
    calls were never made, or a command that a person ran for themselves."""


class Event(NamedTuple):
    """Narration of a run. Never state: dropping all events changes no conversation."""

    kind: str
    tool: str = ""
    text: str = ""
    iteration: int = 0
    call_id: str = ""
    """The call it speaks of, where the format says; native events carry none."""
    ok: bool | None = None
    """False: the event tells of something that went wrong (an error, a failed call, a retry)."""
    ends: bool = False
    """The event ends a turn of the run (task_complete, an abort, an error that stopped it)."""
    extra: Mapping[str, Any] = NOTHING


ENDED = "ended"
"""A recorder's word for a run whose output ended, and of which nobody knows the exit status."""


class Result(NamedTuple):
    """How a run ended, in the log's own words. Native: written once, closes the file."""

    reason: str = ""
    message: str = ""
    error: str = ""
    failure: Mapping[str, Any] | None = None
    """status, response_body, request_bytes of the provider's refusal."""
    code: int = 0
    """Exit code."""
    iterations: int = 0
    calls: int = 0
    continuations: int = 0
    cycles: int = 0
    settles: int = 0
    extra: Mapping[str, Any] = NOTHING


class Reset(NamedTuple):
    """The conversation starts anew; the history stays readable, marked out of context."""

    why: str = ""
    """How the log words it ("auto compaction", "rollback of 2 turns"); "" in native logs."""
    turns: int | None = None
    """Undo of the last n user turns; None: everything before is out of context."""
    keep: tuple[str, str] | None = None
    """First and last `Record.key` of earlier records that stay in context; the last is "" where
    all up to the reset stay."""
    context: tuple[Message, ...] = ()
    """What the new conversation starts with, where the reset itself holds it."""
    keep_line: int | None = None
    """Number of the first line that stays in context, in logs without keys."""
    drop: frozenset[str] = frozenset()
    """`Record.key` of earlier records that leave the context, though `keep` holds them."""
    behind: frozenset[str] = frozenset()
    """`Record.key` of records on its own line that stand behind what stays; the others on its line
    stand before it."""


class Other(NamedTuple):
    """A line that decodes but that the format does not know: kept and shown."""

    name: str
    data: Any


Payload = Meta | Message | Event | Result | Reset | Other


class Record(NamedTuple):
    """One thing a line says. A line may give several (two blocks, two glued objects)."""

    kind: Kind
    at: str
    """RFC 3339 as it stands in the log; "" when the line has no time."""
    payload: Payload
    span: Span
    part: int = 0
    """Which of the records of its line, from 0."""
    key: str = ""
    """The record's own id in the log (a uuid), where the format has one."""
    quiet: bool = False
    """Bookkeeping that a reader folds away (usage, iterations, duplicates, snapshots)."""
    parent: str | None = None
    """`key` of the record that this one follows, in logs that are trees: the branch of the last
    record is the conversation. "" for a root; None: it follows the record before it."""
    goes_on: str | None = None
    """`key` of the record that a prompt goes on from, in trees that are read in file order: where
    more was said since, that was taken back. "" for the start of the log, and on an answer that
    follows nothing; None: it begins no turn."""

    @property
    def time(self) -> datetime | None:
        return moment(self.at)


class Tokens(NamedTuple):
    """Tokens, each in one field only: `input` is what was neither read from a cache nor written
    to one. `reasoning` is a part of `output`."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0

    @property
    def total(self) -> int:
        return self.input + self.output + self.cache_read + self.cache_write

    def plus(self, other: Tokens) -> Tokens:
        return Tokens(*(a + b for a, b in zip(self, other, strict=True)))

    def minus(self, other: Tokens) -> Tokens:
        """What is more here; never below nothing."""
        return Tokens(*(max(a - b, 0) for a, b in zip(self, other, strict=True)))


class Usage(NamedTuple):
    """What one record tells of tokens, cost and model. `usage.Meter` counts it once."""

    tokens: Tokens | None = None
    cost: float | None = None
    """US dollars, where the log itself has them."""
    model: str = ""
    answer: str = ""
    """The answer whose tokens these are: a record with the same one tells of the same tokens."""
    counter: str = ""
    """Name of a running total of the log, whose state this is; "" for an amount of its own."""
    step: Tokens | None = None
    """Beside a running total: what its last step added."""
    side: str = ""
    """The subagent that used them."""


class OpenCall(NamedTuple):
    """A call without a result among the messages."""

    n: int
    """Number of the message that holds the request."""
    call_id: str
    tool: str
    arguments: str = ""


class OrphanResult(NamedTuple):
    """A result whose call is nowhere before it."""

    n: int
    call_id: str


class InFlight(NamedTuple):
    """A call that ran when the run stopped (or runs now)."""

    tool: str
    arguments: str = ""
    call_id: str = ""
    """"" where the log has no id for it: native events carry none."""
    since: str = ""
    """RFC 3339, as in the log."""
    n: int | None = None
    """Message number of the request; None when it stands only in events."""


class Ending(NamedTuple):
    """What the last records of a log say of its end, before any evidence of life."""

    ended: bool
    reason: str | None = None
    """The log's own word for the ending; None when it has none."""
    ok: bool | None = None
    text: str = ""
    """A few words for a list row: the error's own words, "in bash: go test", "done"."""
    evidence: str = ""
    """The rule that was applied, named: "result record", "tool_use without a result"."""


class Entry(NamedTuple):
    """A session as it stands in a listing: head and tail were read, nothing between."""

    id: str
    path: str
    format: str
    agent: str = ""
    title: str = ""
    task: str = ""
    model: str = ""
    workdir: str = ""
    started: str = ""
    """RFC 3339; "" when the log does not say."""
    updated: str = ""
    """Time of the last record, or the file's mtime where records have none."""
    status: Status | None = None
    """None: not a log that can be read; `reason` says why."""
    reason: str | None = None
    ok: bool | None = None
    damage: int | None = None
    """Spots that gave no record; None: not looked yet."""
    resumed_from: str | None = None
    forked_from: Origin | None = None
    bytes: int = 0
    stop: str = ""
    """How it stands in a few words, for the list: "in bash: go test", "iteration limit"."""
    failure: str = ""
    """Why it stopped, as `why` has it, where its ending does not tell: "protoc is missing: …"; ""
    where it does, or nobody asked. Safe to print."""

    @property
    def complete(self) -> bool:
        return self.status is Status.COMPLETE

    @property
    def is_well(self) -> bool:
        """Did it end by itself? Whether its work is done, `why` alone tells."""
        return self.status is Status.COMPLETE and self.ok is True

    @property
    def failed(self) -> bool:
        """By its own ending, by how its program ended, or by what `why` found."""
        return self.ok is False or (self.is_well and bool(self.failure))


_SHOWN = {"bot": "assistant", "instructions": "system", "checkpoint": "summary"}
_HALVES = {"request": "call", "response": "response"}


def shown_type(message: Message) -> str:
    """The word for a message that commands and screen share; unknown types as they are."""
    if message.activity is not None:
        return _HALVES.get(message.activity.kind, message.activity.kind)
    return _SHOWN.get(message.type, message.type)


def moment(at: str) -> datetime | None:
    """The aware UTC time of an RFC 3339 text; None when it is none (never raises).

    Years 1 and 9999 are none either: programs write them where they have no time (Go's zero time,
    others' greatest), and they have no room for a time zone.
    """
    if not at:
        return None
    try:
        time = datetime.fromisoformat(at)
        if not MINYEAR < time.year < MAXYEAR:
            return None
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def tells_again(record: Record, before: Record | None) -> bool:
    """Does an event that ends a turn only repeat the error right before it, as clients do?"""
    event, error = record.payload, before.payload if before is not None else None
    return (
        isinstance(event, Event) and isinstance(error, Event) and event.ends
        and event.ok is False and error.ok is False and event.text == error.text
    )  # fmt: skip


def as_own(record: Record) -> Record:
    """A record of a side chain as one of the run that its log is of."""
    payload = record.payload
    if isinstance(payload, Message) and payload.sidechain:
        return record._replace(payload=payload._replace(sidechain=""))
    if isinstance(payload, Event) and "sidechain" in payload.extra:
        extra = {key: value for key, value in payload.extra.items() if key != "sidechain"}
        return record._replace(payload=payload._replace(extra=extra))
    return record


def begun(oldest_first: Iterable[Record]) -> str:
    """When a run began: the earliest time up to its first message; "" where none is told. The head
    of a log that was made from another is younger than what it took along."""
    found, first = "", None
    for record in oldest_first:
        time = record.time
        if time is not None and (first is None or time < first):
            found, first = record.at, time
        if record.kind is Kind.MESSAGE and found:
            break
    return found


def stamp(seconds: float) -> str:
    """POSIX seconds as RFC 3339 in UTC, the way back from `moment`; "" where that has no time."""
    try:
        time = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return ""
    return time.isoformat().replace("+00:00", "Z") if MINYEAR < time.year < MAXYEAR else ""
