"""A session's conversation as plain messages, which every agent can be given.

A call of one agent's tool means nothing to another, and a service refuses calls of tools that it
was not told of. So calls and their results become words: what was said and done is all there, in
order, and what could not be carried is named. Texts are not masked: the model knew them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from sessionlog.earlier import until
from sessionlog.formats.base import Said
from sessionlog.formats.parts import json_text
from sessionlog.plan import INTERRUPTED
from sessionlog.records import Activity, Message, shown_type
from sessionlog.session import Session
from sessionlog.text import one_line
from sessionlog.turns import answered, clean, named

BEGINNING = "(The beginning of this conversation is not here.)"
"""What the user says first where an answer would stand first."""
LONGEST = 16 * 1024
"""Characters of a result, or of a call's arguments, that are carried."""
_END = LONGEST // 4
"""Of these, the ones that are taken from the end: errors stand there."""
_EMPTY = "(no output)"
_LEFT = (
    ("system", "the system prompt", "{} system messages"),
    ("reasoning", "1 reasoning block", "{} reasoning blocks"),
    ("image", "1 image", "{} images"),
    ("notice", "1 notice of the agent's", "{} notices of the agent's"),
    ("orphan", "1 result of no call", "{} results of no call"),
    ("long", "the middle of 1 long result or call", "the middle of {} long results or calls"),
)
"""What is left behind, in words, for one and for more."""

_Piece = tuple[int, str, str]
"""Index of the message in the context that it is of, role, and text."""


class Plain(NamedTuple):
    """A conversation in plain messages."""

    said: tuple[Said, ...] = ()
    """They take turns, and the first is the user's."""
    left: tuple[str, ...] = ()
    """What could not be carried, in plain words: "3 reasoning blocks", "2 images"."""
    texts: int = 0
    """Texts of both sides, as they were said."""
    calls: int = 0
    """Calls that are told in words, each with its result."""

    @property
    def counts(self) -> str:
        """How much it is, in words: "12 said, 41 calls told in words"."""
        calls = f", {self.calls:,} call{'s' if self.calls > 1 else ''} told in words"
        return f"{self.texts:,} said{calls if self.calls else ''}"


def plain(session: Session, at: int | None = None) -> Plain:
    """The context after message `at` (None: at the end), every call closed. O(messages).

    Raises NotPossible when there is no message `at`.
    """
    known = until(session, at)
    times = {id(step.message): step.record.at for step in known.history}
    left: Counter[str] = Counter()
    pieces = list(_pieces(known.context, left))
    calls = sum(shown_type(m) == "call" and m.activity is not None for m in known.context)
    said = tuple(
        Said(role, "\n\n".join(text for _, _, text in group), first)
        for role, group, first in _joined(pieces, known.context, times)
    )
    if said and said[0].role == "assistant":
        said = (Said("user", BEGINNING, said[0].at), *said)
    return Plain(said, tuple(_words(left)), len(pieces) - 2 * calls, calls)


def _joined(
    pieces: Iterable[_Piece], context: Sequence[Message], times: dict[int, str]
) -> Iterator[tuple[str, list[_Piece], str]]:
    """The pieces of one side that stand together, with their role and the first one's time."""
    for role, found in groupby(pieces, key=lambda piece: piece[1]):
        group = list(found)
        yield role, group, times.get(id(context[group[0][0]]), "")


def _pieces(context: Sequence[Message], left: Counter[str]) -> Iterator[_Piece]:
    """What is said, and what calls gave right behind the calls that were made together."""
    answers = answered(context)
    homes = set(answers.values())
    asked: list[int] = []
    for at, message in enumerate(context):
        kind = shown_type(message)
        left["image"] += len(message.images)
        if kind == "call" and message.activity:
            asked.append(at)
            yield at, "assistant", _called(message.activity, left)
            continue
        text = _said(message, kind, left)
        if text or (kind == "response" and message.activity):
            yield from _results(asked, answers, context, left)
            asked = []
            left["orphan"] += kind == "response" and at not in homes
        if text:
            yield at, "assistant" if kind == "assistant" else "user", text
    yield from _results(asked, answers, context, left)


def _called(activity: Activity, left: Counter[str]) -> str:
    given = _bounded(activity.arguments.strip(), left)
    return f"[called {_tool(activity)}: {given}]" if given else f"[called {_tool(activity)}]"


def _results(
    asked: Iterable[int], answers: dict[int, int], context: Sequence[Message], left: Counter[str]
) -> Iterator[_Piece]:
    for at in asked:
        activity = context[at].activity
        assert activity is not None
        yield at, "user", _result(_tool(activity), answers.get(at), context, left)


def _result(tool: str, at: int | None, context: Sequence[Message], left: Counter[str]) -> str:
    if at is None:
        return f"[result of {tool}] {INTERRUPTED}"
    message = context[at]
    activity = message.activity
    assert activity is not None
    text = message.text or activity.failure or json_text(activity.result)
    text = _bounded(text if text.strip() else _EMPTY, left)
    head = f"[result of {tool}]" if activity.failure is None else f"[{tool} failed]"
    told = [f"{head}\n{text}" if "\n" in text else f"{head} {text}"]
    return "\n".join([*told, *map(named, message.images)])


def _said(message: Message, kind: str, left: Counter[str]) -> str:
    """The words of a message; "" where it has none, or none that are carried."""
    if kind == "response" and message.activity:
        return ""
    if kind in ("reasoning", "system"):
        left["notice" if kind == "system" and message.extra.get("note") else kind] += 1
        return ""
    text = message.text
    if message.activity is not None and not text:  # a trigger
        text = json_text(message.activity.result) or message.activity.arguments
    if kind == "summary" and text.strip():
        text = f"[summary of what came before]\n{text}"
    return "\n".join([*([clean(text)] if text.strip() else []), *map(named, message.images)])


def _tool(activity: Activity) -> str:
    return clean(one_line(activity.name)) or "a tool"


def _bounded(text: str, left: Counter[str]) -> str:
    """A text of a bounded length: its beginning and its end, and how much is between them."""
    text = clean(text)
    if len(text) <= LONGEST:
        return text
    left["long"] += 1
    out = len(text) - LONGEST
    return f"{text[: LONGEST - _END]}\n[… {out:,} characters left out …]\n{text[-_END:]}"


def _words(left: Counter[str]) -> Iterator[str]:
    for name, one, more in _LEFT:
        if left[name]:
            yield one if left[name] == 1 else more.format(f"{left[name]:,}")
