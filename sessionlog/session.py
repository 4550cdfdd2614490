"""One run read back: the fold of its records, and the rule that tells how it stands.

Pure: records, damages and evidence of life come in, a Session comes out. The same rule gives the
status for the library, the command line and the screen.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from sessionlog import codec
from sessionlog.answers import Answers
from sessionlog.branch import left_behind
from sessionlog.context import Context
from sessionlog.conversation import repair_messages
from sessionlog.formats.base import Format, Traceless, in_flight
from sessionlog.pairing import Pairing
from sessionlog.records import (
    Damage,
    Ending,
    Event,
    InFlight,
    Message,
    Meta,
    OpenCall,
    OrphanResult,
    Record,
    Reset,
    Result,
    Status,
    as_own,
    shown_type,
)
from sessionlog.repeats import again
from sessionlog.status import judge, outlived
from sessionlog.telling import arguments_of


class Numbered(NamedTuple):
    """A message of the history with its number, counted from 1 through the whole log."""

    n: int
    record: Record
    message: Message
    in_context: bool
    """Would a resume hand it over? Not what a reset took out, nor what stands on a branch that was
    left."""
    pair: int | None = None
    """Number of the other half of the call."""
    taken_back: bool = False
    """Did a later prompt go on from before it? Nobody waits for such a call's result."""
    again: bool = False
    """Is it of a record that stands there a second time? It is no other message."""

    @property
    def open(self) -> bool:
        """A call without a result."""
        is_call = shown_type(self.message) == "call"
        told = not (self.message.unsent or self.taken_back or self.again)
        return self.pair is None and is_call and told


@dataclass(frozen=True)
class Session:
    """The fold of a log's records."""

    path: str
    format: str
    meta: Meta
    title: str
    started: str
    """RFC 3339, "" when the log does not say."""
    records: tuple[Record, ...]
    damages: tuple[Damage, ...]
    history: tuple[Numbered, ...]
    context: tuple[Message, ...]
    """What the agent would know now, calls without results included."""
    ending: Ending
    alive: str | None
    """Evidence that the log's writer lives; None when there is none."""
    size: int
    """Bytes of the file when it was read."""

    @property
    def id(self) -> str:
        return self.meta.id

    @property
    def messages(self) -> tuple[Message, ...]:
        """The conversation as the agent would know it now."""
        return self.context

    @cached_property
    def events(self) -> tuple[Event, ...]:
        return tuple(r.payload for r in self.records if isinstance(r.payload, Event))

    @cached_property
    def result(self) -> Result | None:
        """The last result record; a reset after it does not undo it."""
        results = [r.payload for r in self.records if isinstance(r.payload, Result)]
        return results[-1] if results else None

    @property
    def truncated(self) -> bool:
        """Does the log end in a torn line, whatever its status?"""
        return any(damage.torn for damage in self.damages)

    @property
    def status(self) -> Status:
        return judge(self.ending, torn=self.truncated, alive=self.alive is not None)

    @property
    def complete(self) -> bool:
        return self.status is Status.COMPLETE

    @property
    def reason(self) -> str | None:
        return self.ending.reason

    @property
    def ok(self) -> bool | None:
        return self.ending.ok if self.ending.ended else None

    @cached_property
    def open_calls(self) -> tuple[OpenCall, ...]:
        """Calls without a result among the messages, wherever they stand."""
        return tuple(
            OpenCall(step.n, activity.id, activity.name, activity.arguments)
            for step in self.history
            if step.open and not step.message.sidechain and (activity := step.message.activity)
        )

    @cached_property
    def orphan_results(self) -> tuple[OrphanResult, ...]:
        """Results whose call is nowhere before them."""
        return tuple(
            OrphanResult(step.n, activity.id)
            for step in self.history
            if step.pair is None
            and not step.message.sidechain
            and not (step.taken_back or step.again)
            and (activity := step.message.activity)
            and activity.kind == "response"
        )

    @cached_property
    def in_flight(self) -> tuple[InFlight, ...]:
        """Calls that ran when the run stopped; empty once an ending is recorded."""
        if self.ending.ended:
            return ()
        numbers = {
            step.message.activity.id: step.n
            for step in self.history
            if step.open and step.message.activity
        }
        return tuple(
            call._replace(n=numbers.get(call.call_id) if call.call_id else None)
            for call in in_flight(reversed(self.records))
        )

    def count(self, kind: str) -> int:
        """Messages of the main run that show as `kind` (user, call, ...)."""
        own = (s.message for s in self.history if not (s.message.sidechain or s.again))
        return sum(1 for message in own if shown_type(message) == kind)

    @property
    def users(self) -> int:
        """Prompts of a person."""
        return self.count("user")

    @property
    def calls(self) -> int:
        return self.count("call")

    @cached_property
    def assistants(self) -> int:
        """Distinct answers of the model: blocks of one answer count once."""
        answers = Answers(self.format)
        own = (s.message for s in self.history if not (s.message.sidechain or s.again))
        return sum(map(answers.is_new, own))

    def conversation(self) -> list[dict[str, Any]]:
        """The context as plain role/content messages (Anthropic blocks), every call closed."""
        turns: list[dict[str, Any]] = []
        for message in self.context:
            role, block = _block(message)
            if turns and turns[-1]["role"] == role:
                turns[-1]["content"].append(block)
            else:
                turns.append({"role": role, "content": [block]})
        return repair_messages(turns)


def fold(
    records: Sequence[Record],
    damages: Iterable[Damage],
    *,
    form: Format,
    path: str,
    size: int = 0,
    alive: str | None = None,
) -> Session:
    """Make a Session of a log's records, in file order. O(records)."""
    described = form.describe(path, iter(records), reversed(records))
    ending = form.ending(reversed(records))
    hides = isinstance(form, Traceless) and form.hides_calls
    if alive is not None and ending.ended and hides:  # else an ending is one, whoever lives
        ending = outlived(ending)
    records, damages = _own_run(records), tuple(damages)
    twice = again(records)
    history, context = _history(records, left_behind(records, damages, twice), twice)
    return Session(
        path=path,
        format=form.name,
        meta=described.meta,
        title=described.title,
        started=described.started,
        records=tuple(records),
        damages=damages,
        history=history,
        context=context,
        ending=ending,
        alive=alive,
        size=size,
    )


def _own_run(records: Sequence[Record]) -> Sequence[Record]:
    """A subagent's own log is all side chain: seen by itself, it is a run like any other."""
    messages = [r.payload for r in records if isinstance(r.payload, Message)]
    if not messages or not all(message.sidechain for message in messages):
        return records
    return list(map(as_own, records))


def _history(
    records: Sequence[Record], left: Container[int], twice: Container[int]
) -> tuple[tuple[Numbered, ...], tuple[Message, ...]]:
    """Number the messages, pair the calls, and see what is in the context at the end.

    `left`: indices of the records on branches that were left; `twice`: of those that came before,
    which are left as well.
    """
    held: list[tuple[Record, Message]] = []
    back: set[int] = set()
    same: set[int] = set()
    context = Context(records, held)
    places = {r.key: i for i, r in enumerate(records) if r.parent is not None}
    early: set[int] = set()
    for i, record in enumerate(records):
        payload = record.payload
        if record.parent and places.get(record.parent, -1) > i:
            early.add(len(held) + 1)
        if isinstance(payload, Message):
            n = len(held)
            held.append((record, payload))
            if not payload.sidechain and not payload.unsent and i not in left:
                context.add(n)
            if i in twice:
                same.add(n)
            elif i in left and record.parent is None:
                back.add(n)
        elif isinstance(payload, Reset) and i not in left:
            context.reset(payload, record, i)
    pairs = _pairs(((n, *one) for n, one in enumerate(held, 1) if n - 1 not in same), early)
    inside = {item for item in context.items if isinstance(item, int)}
    history = tuple(
        Numbered(i + 1, record, message, i in inside, pairs.get(i + 1), i in back, i in same)
        for i, (record, message) in enumerate(held)
    )
    return history, tuple(held[i][1] if isinstance(i, int) else i for i in context.items)


def _pairs(
    messages: Iterable[tuple[int, Record, Message]], early: Container[int]
) -> dict[int, int]:
    """Which request and response of numbered messages belong together, by number, both ways.
    `early`: those that stand before the record that they follow."""
    pairing = Pairing()
    pairs: dict[int, int] = {}
    for n, record, message in messages:
        activity = message.activity
        if activity is None:
            continue
        if activity.kind == "request":
            before = pairing.request(n, activity, record)
            if before is not None:
                pairs[before], pairs[n] = n, before
        elif activity.kind == "response":
            request = pairing.response(activity)
            if request is not None:
                pairs[request], pairs[n] = n, request
            elif n in early and not message.sidechain:
                pairing.early(n, activity, record)
    return pairs


def _block(message: Message) -> tuple[str, dict[str, Any]]:
    """(role, content block) of a message, as the Anthropic API has them."""
    activity = message.activity
    if activity is not None and activity.kind == "response":
        content = message.text or activity.failure or activity.result
        if not isinstance(content, str):
            content = codec.dumps(content).decode()
        result: dict[str, Any] = {
            "type": "tool_result",
            "tool_use_id": activity.id,
            "content": content,
        }
        if activity.failure is not None:
            result["is_error"] = True
        return "user", result
    if activity is not None and activity.kind == "request":
        value = arguments_of(activity.arguments)
        return "assistant", {
            "type": "tool_use",
            "id": activity.id,
            "name": activity.name,
            "input": value if isinstance(value, dict) else {"input": activity.arguments},
        }
    kind = shown_type(message)
    role = "assistant" if kind in ("assistant", "reasoning") else "user"
    return role, {"type": "text", "text": message.text}
