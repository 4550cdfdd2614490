"""What a format has to tell about how one agent writes its logs.

A format is one file with one class that gives a few answers, all of them pure:

recognises   does this log look like the agent's? (from the first bytes and the name)
decode       one JSON object of a line -> its records. Without memory: any line of a log can be
             decoded alone, so a listing reads the tail, a screen a window, in any order
describe     id, title, task, model, ... for a list row, from records lazily read from the head
             and, newest first, from the tail
ending       how the log's last records say it ended, read newest first until that is decided
actor        how to act on a log of this format (close open calls, cut, resume); None: read only

Every line is accounted for: by records (`Kind.OTHER` for what the format does not know), or by a
Damage that the framing found. Content never raises.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime
from enum import Enum
from typing import Any, NamedTuple, Protocol, runtime_checkable

from sessionlog.codec import parse
from sessionlog.framing import Line
from sessionlog.records import (
    Activity,
    Ending,
    Entry,
    Event,
    InFlight,
    Kind,
    Message,
    Meta,
    OpenCall,
    Other,
    Record,
    Reset,
    Result,
    Span,
    Usage,
    shown_type,
)
from sessionlog.status import ANSWERING, NO_END
from sessionlog.telling import a_message, telling
from sessionlog.tools import label_of

# What `classify` says of a line, as bits; the low bits count its messages.
COUNT = 0x0F
"""Messages on the line (15: that many or more, count them by decoding)."""
USER, TROUBLE, RESET, LOUD = 0x10, 0x20, 0x40, 0x80
"""A prompt of a person; an error or a failed call; a reset; at least one row that is not quiet."""


class Head(NamedTuple):
    """The first bytes of a file: what recognising a format goes by."""

    name: str
    """File name, without folder."""
    folder: str
    """Path of its folder."""
    values: tuple[dict[str, Any], ...]
    """The first JSON objects, one a line, up to about fifty."""
    data: bytes
    """The raw first bytes."""

    @property
    def first(self) -> dict[str, Any]:
        return self.values[0] if self.values else {}


class Description(NamedTuple):
    """What a list row needs besides the status."""

    meta: Meta
    title: str = ""
    started: str = ""
    """RFC 3339, "" when the log does not say."""


class Format(Protocol):
    """How one agent writes its logs."""

    name: str
    """The format's word in listings: native, chat, claude, codex, ..."""
    agent: str
    """The agent's word in listings: zot, claude, codex, ...; "" when any program may write it."""
    actor: Actor | None

    def recognises(self, head: Head) -> bool:
        """Is this a log of this format? Looks at content first; names lie."""

    def plausible(self, value: dict[str, Any]) -> bool:
        """Does a salvaged object look like one of this format's records?"""

    def decode(self, value: dict[str, Any], span: Span) -> list[Record]:
        """The records of one JSON object of a line. Pure; never raises; never empty."""

    def describe(
        self, path: str, oldest_first: Iterable[Record], newest_first: Iterable[Record]
    ) -> Description:
        """What a list row shows. Both iterables read the file lazily: take no more than needed."""

    def ending(self, newest_first: Iterable[Record]) -> Ending:
        """How the last records say the run ended. Reads back until that is decided."""

    def glimpse(self, path: str, head: bytes, tail: bytes, size: int) -> Entry | None:
        """A list row straight from the raw first and last bytes, for listings of thousands; what
        an open ending was in the middle of is left out. None: these bytes do not tell."""

    def classify(self, data: bytes) -> int:
        """The bits above for one raw line; the fast way where the format has one."""

    def usage(self, record: Record) -> Usage | None:
        """What a record of this format tells of tokens, cost or model; None: nothing. Says which
        answer it is about, or which running total: `Meter` counts each once."""

    def alive(self, path: str, session_id: str) -> str | None:
        """Evidence of the agent's own (a pid file) that the writer lives; None: no such file."""


@runtime_checkable
class Tree(Protocol):
    """A format whose records name the one that they follow (`Record.parent`)."""

    def link(self, data: bytes) -> tuple[str, str] | None:
        """(key, parent) of a raw line; None for one outside the tree, or that does not decode."""


@runtime_checkable
class Rewound(Protocol):
    """A format that is read in file order, and whose prompts name the record that they go on from
    (`Record.goes_on`): an earlier one takes back what was said since."""

    def may_go_back(self, data: bytes) -> bool:
        """Can a raw line be such a prompt? Fast; true for a few others."""


@runtime_checkable
class Nested(Protocol):
    """A format whose agent starts others, each with a log of its own."""

    def subagents(self, path: str) -> list[str]:
        """Paths of the logs of all subagents of the session at `path`, in order; those of their
        own included. Never raises."""

    def started(self, path: str, half: Activity) -> str | None:
        """The log of the subagent that a call started, by one half of the call; None: it started
        none, or the log is not there. What a log says is never taken for a path."""


@runtime_checkable
class Traceless(Protocol):
    """A format whose client opens its log anew for each line and notes no pid: its processes have
    to be looked for (`sessionlog.clients`)."""

    program: str
    """The client's name on PATH, and the title that its process may have."""
    package: str
    """The folder that its script lies in, as it was installed."""
    hides_calls: bool
    """Is a call written down only when it has ended? Then a log looks finished while one runs."""


@runtime_checkable
class ReadOnly(Protocol):
    """A format of which no agent goes on with a log."""

    instead: str
    """Why not, and what can be done: words to stand behind the log's path."""


class Fate(Enum):
    """What became of a line on its way into a new log."""

    KEPT = "kept"
    MOVED = "moved"
    """A late result, now in its call's turn."""
    ADDED = "added"
    """Made by `Actor.close`."""
    DROPPED = "dropped"
    """Not part of the new log; shown to the actor so that links past it can be bridged."""


class Part(NamedTuple):
    """A line of a new log in the making, without its LF."""

    data: bytes
    fate: Fate = Fate.KEPT


class Birth(NamedTuple):
    """Where a new log comes from."""

    id: str
    """The new log's."""
    parent: str
    """The id of the log it was made from."""
    at: int | None
    """Number of the last message a fork holds; None: a repair, which holds all."""
    time: str
    """RFC 3339, UTC."""
    told: str = ""
    """What the user says at the end of the new log; "" for nothing."""
    workdir: str = ""
    """The folder that the agent works in: of a composed log, and of one that is made for another
    folder than its source's; "": the same."""
    title: str = ""
    """Of a composed log: what the session is called."""
    source: str = ""
    """Path of the log it is made from."""
    model: str = ""
    """Who answers where the log does not say, as the agent names it (`Modelled`); "": not known."""


class Said(NamedTuple):
    """A plain message, as every agent can be given it."""

    role: str
    """ "user" or "assistant"; the two take turns, and the first is the user's."""
    text: str
    at: str = ""
    """RFC 3339; "" when its log does not say."""


class Actor(Protocol):
    """How to act on a log of one format. Pure: bytes of lines in, bytes of lines out.

    The new log's lines pass `renew` in their final order, so it can do what a format needs and no
    more: nothing (chat), the head (native, pi), an id on every line (Claude, Qwen), ordinals that
    rise (Codex), links to the record before (pi, Qwen, Claude). Ids that it has to invent come
    from the new log's id and the call's, never from chance: the same plan gives the same bytes.
    """

    def close(self, request: bytes, call: OpenCall, at: str, text: str) -> bytes:
        """The line that answers `call`, which stands on the line `request`, with the error `text`.

        What a closing line shares with its request (ids, folder, version) is copied from there.
        """

    def answers(self, call: OpenCall) -> bool:
        """Can a line of this format answer the call? One that nothing names is left out."""

    def pick(self, data: bytes, results: Collection[int], rest: bool) -> bytes:
        """A line that holds several blocks with only these of its results (counted from 0 on the
        line), and with what else is on it only if `rest`."""

    def without(self, data: bytes, calls: Collection[int]) -> bytes:
        """A line without these of its calls (counted from 0 on the line)."""

    def renew(self, parts: Iterable[Part], birth: Birth) -> Iterator[bytes]:
        """The lines of the new log, `birth.told` as the user's message at its end: only what must
        change is changed, inside the bytes."""

    def place(
        self, parent: str, at: int | None, now: datetime, taken: Callable[[str], bool]
    ) -> tuple[str, str]:
        """(id, path) of the new log, the first that is not taken. `at` as in `Birth`."""


@runtime_checkable
class Composer(Protocol):
    """An actor that can also write a session of its agent out of plain messages.

    For sessions that come from another agent. Pure, as all of an actor is.
    """

    def compose(self, said: Iterable[Said], birth: Birth) -> Iterator[bytes]:
        """The lines of a new log with these messages in its context, then `birth.told`."""

    def home(
        self, workdir: str, now: datetime, environ: Mapping[str, str],
        taken: Callable[[str], bool],
    ) -> tuple[str, str]:  # fmt: skip
        """(id, path) of a new log where the agent looks for those of a working directory, the
        first that is not taken."""


@runtime_checkable
class Keeper(Protocol):
    """An actor whose agent takes a new log into its own keeping before it goes on (`Agent.before`):
    what it writes then stands there."""

    def kept(self, id: str, environ: Mapping[str, str]) -> str:
        """Path of the session with this id, once the agent has it."""


@runtime_checkable
class Modelled(Protocol):
    """An actor whose new logs have to name who answers, as the agent is set to."""

    def model(self, environ: Mapping[str, str]) -> str:
        """What the agent's sessions go to, as `Birth.model`: it asks the log that it is given, and
        would not know another agent's. Reads what the agent keeps."""


def message_record(
    type: str,
    text: str,
    span: Span,
    at: str = "",
    *,
    part: int = 0,
    key: str = "",
    quiet: bool = False,
    **more: Any,
) -> Record:
    """A Record that holds a Message; `more` are further fields of Message."""
    payload = Message(type, text, **more)
    return Record(Kind.MESSAGE, at, payload, span, part, key, quiet)


def event_record(
    kind: str, span: Span, at: str = "", *, part: int = 0, key: str = "", quiet: bool = True,
    **more: Any,
) -> Record:  # fmt: skip
    """A Record that holds an Event; `more` are further fields of Event."""
    return Record(Kind.EVENT, at, Event(kind, **more), span, part, key, quiet)


def other_record(name: str, data: Any, span: Span, at: str = "", *, quiet: bool = False) -> Record:
    """A Record for a line that the format does not know."""
    return Record(Kind.OTHER, at, Other(name, data), span, quiet=quiet)


def text_of(value: Any) -> str:
    """A string field of a log, "" for anything else that stands there."""
    return value if isinstance(value, str) else ""


def dict_of(value: Any) -> Mapping[str, Any]:
    """An object field of a log, empty for anything else that stands there."""
    return value if isinstance(value, dict) else {}


def list_of(value: Any) -> list[Any]:
    """An array field of a log, empty for anything else that stands there."""
    return value if isinstance(value, list) else []


def bits_of(records: Iterable[Record]) -> int:
    """`classify` by way of the decoded records: right for every format, fast for none."""
    count, bits = 0, 0
    for record in records:
        payload = record.payload
        if isinstance(payload, Message):
            count += 1
            if payload.type == "user" and not payload.sidechain:
                bits |= USER
            if payload.activity is not None and payload.activity.failure is not None:
                bits |= TROUBLE
        elif (isinstance(payload, Event) and payload.ok is False and not record.quiet) or (
            isinstance(payload, Result) and (payload.code or payload.error)
        ):
            bits |= TROUBLE
        elif isinstance(payload, Reset):
            bits |= RESET
        if not record.quiet:
            bits |= LOUD
    return bits | min(count, COUNT)


def decoded_bits(form: Format, data: bytes) -> int:
    """`classify` of a raw line by decoding it."""
    parsed = parse(Line(0, 0, data, True), form.plausible)
    records = [r for value, span in parsed.objects for r in form.decode(value, span)]
    return bits_of(records) | (TROUBLE | LOUD if parsed.damages else 0)


def in_flight(newest_first: Iterable[Record]) -> list[InFlight]:
    """The calls that nothing answered and nothing came after, oldest first.

    Message calls count until a person's prompt or a new answer stands behind them: agents leave
    a call open when they are killed, resume, and go on. Calls that stand only in events (a
    native run records messages at the end of an iteration) count while no message follows.
    """
    answered: set[str] = set()
    told: list[Record] = []
    flying: list[InFlight] = []
    answer: str | None = None
    messages = False
    for record in newest_first:
        payload = record.payload
        if isinstance(payload, Event) and not messages:
            told.append(record)
        if not isinstance(payload, Message) or payload.sidechain or payload.unsent:
            continue
        if not messages and (running := _told(told[::-1])):
            return running
        messages = True
        activity = payload.activity
        if activity is None:
            if shown_type(payload) in ("user", "assistant", "reasoning", "summary"):
                break
        elif activity.kind == "response":
            answered.add(activity.id or f"{activity.name}\0{activity.arguments}")
        elif activity.kind == "request":
            if answer is not None and payload.answer and payload.answer != answer:
                break
            answer = payload.answer or answer
            if (activity.id or f"{activity.name}\0{activity.arguments}") in answered:
                continue
            flying.append(InFlight(activity.name, activity.arguments, activity.id, record.at))
    return flying[::-1] if messages else _told(told[::-1])


def _told(events: Iterable[Record]) -> list[InFlight]:
    """The calls that events began and did not end. They carry no ids: an end is that of the
    first call of its tool that still runs."""
    running: list[InFlight] = []
    for record in events:
        event = record.payload
        if not isinstance(event, Event):
            continue
        if event.kind == "toolCallStart":
            running.append(InFlight(event.tool, event.text, "", record.at))
        elif event.kind in ("toolCallEnd", "toolCallError"):
            first = next((call for call in running if call.tool == event.tool), None)
            if first is not None:
                running.remove(first)
    return running


def standing(newest_first: Iterable[Record]) -> Ending:
    """The ending of a log that records none: cut off, and in the middle of what."""
    records = list(newest_first)
    flying = in_flight(records)
    if flying:
        call = flying[-1]
        said = telling(call.arguments)
        more = f" (+{len(flying) - 1} more)" if len(flying) > 1 else ""
        place = f"in {label_of(call.tool)}{more}"
        text = f"{place}: {said}" if said else place
        return Ending(False, None, None, text, "a call without a result, nothing after it")
    for record in records:
        if isinstance(record.payload, Message) and not record.payload.sidechain:
            kind = shown_type(record.payload)
            asked = kind in ("user", "response", "summary")
            text = ANSWERING if asked else NO_END
            return Ending(False, None, None, text, f"the last message is {a_message(kind)}")
    if any(isinstance(r.payload, Event) and r.payload.kind == "output" for r in records):
        return Ending(False, None, None, NO_END, "the last record is a line printed")
    return Ending(False, None, None, "nothing but the head", "no message")


def response(name: str, call_id: str, result: Any, failure: str | None, **more: Any) -> Activity:
    """The answering half of a call."""
    kept = None if failure is not None else result
    return Activity("response", call_id, name, result=kept, failure=failure, **more)
