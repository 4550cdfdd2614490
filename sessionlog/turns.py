"""What a resume would hand over, as turns that any model's service takes: closed and cleaned.

The rules that Anthropic's messages and OpenAI's chat completions share are kept here, once. Every
call has its answer right behind it, wherever the log has the answer; an answer to no call is left
out. Ids of calls are unique and plain. Lone surrogates are U+FFFD and numbers that JSON does not
have are null, because services refuse both. Nothing is empty. The user has the last word.

Reasoning is left out. Anthropic takes a thought back only with the signature that the same model
gave it, unchanged and in its place, which a log of any format cannot vouch for, and refuses the
whole conversation otherwise; OpenAI's chat completions take none. A model that goes on does not
need them. Texts are not masked: an agent that goes on needs what the first one knew.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from sessionlog.conversation import INTERRUPTED
from sessionlog.formats.parts import json_text
from sessionlog.pairing import Pairing
from sessionlog.pictures import Picture, pictures
from sessionlog.records import Activity, Image, Message, shown_type
from sessionlog.session import Session
from sessionlog.telling import arguments_of

GO_ON = "Go on."
"""What the user says last when there is nothing else to say."""
_EMPTY = "(no output)"
_ID = re.compile(r"[a-zA-Z0-9_-]{1,40}")
"""Anthropic: ^[a-zA-Z0-9_-]+$. OpenAI: not longer than 40 at first, 64 now."""
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_UNNAMED = re.compile(r"[^a-zA-Z0-9_-]")

Part = str | Picture
Pictures = dict[tuple[int, int], Picture]


class Said(NamedTuple):
    """Words, or pictures that come with them; never empty."""

    role: Literal["user", "assistant", "system"]
    parts: tuple[Part, ...]
    """Pictures are the user's alone."""


class Answer(NamedTuple):
    """What a call gave."""

    parts: tuple[Part, ...]
    """The first is text."""
    failed: bool = False


class Call(NamedTuple):
    """A call with its answer."""

    id: str
    tool: str
    """As the log names it: `tool_name` makes it plain."""
    arguments: dict[str, Any]
    answer: Answer


Turn = Said | tuple[Call, ...]
"""Words, or calls that were made together."""


def turns(session: Session, note: str = "") -> list[Turn]:
    """The context in order, and the note (or `GO_ON`) as the user's last word. O(messages)."""
    context = session.context
    shown = pictures(session)
    answers, ids = answered(context), _ids(context)
    made: list[Turn] = []
    asked: list[Call] = []
    for at, message in enumerate(context):
        kind = shown_type(message)
        if kind == "call" and message.activity:
            answer = _answer(answers.get(at), context, shown)
            asked.append(_call(ids[at], message.activity, answer))
            continue
        said = _said(at, message, kind, shown)
        if asked and (said or kind == "response"):
            made.append(tuple(asked))
            asked = []
        if said:
            made.append(said)
    if asked:
        made.append(tuple(asked))
    return made + _last(made, note)


def tool_name(tool: str, longest: int) -> str:
    """A tool's name as services take it: letters, digits, dashes and underscores."""
    return _UNNAMED.sub("_", tool)[:longest] or "tool"


def _last(made: Sequence[Turn], note: str) -> list[Turn]:
    """What the user still has to say."""
    if note.strip():
        return [Said("user", (clean(note),))]
    users = bool(made) and isinstance(made[-1], Said) and made[-1].role == "user"
    return [] if users else [Said("user", (GO_ON,))]


def answered(context: Sequence[Message]) -> dict[int, int]:
    """Index of each call's response, by the index of the call."""
    pairing = Pairing()
    found: dict[int, int] = {}
    for at, message in enumerate(context):
        if message.activity is None:
            continue
        if message.activity.kind == "request":
            pairing.request(at, message.activity)
        elif message.activity.kind == "response":
            asked = pairing.response(message.activity)
            if asked is not None:
                found[asked] = at
    return found


def _ids(context: Sequence[Message]) -> dict[int, str]:
    """An id for each call, by its index: its own where that is plain and the first of its kind."""
    own = {at: m.activity.id for at, m in enumerate(context)
           if m.activity and m.activity.kind == "request"}  # fmt: skip
    first = {id: at for at, id in reversed(own.items()) if _ID.fullmatch(id)}
    ids = {}
    for at, id in own.items():
        if first.get(id) != at:
            id = f"call_{at}"
            while id in first:
                id += "_"
            first[id] = at
        ids[at] = id
    return ids


def _call(id: str, activity: Activity, answer: Answer) -> Call:
    value = arguments_of(activity.arguments) if activity.arguments.strip() else {}
    given = value if isinstance(value, dict) else {"input": activity.arguments}
    return Call(id, activity.name, _plain(given), answer)


def _answer(at: int | None, context: Sequence[Message], shown: Pictures) -> Answer:
    if at is None:
        return Answer((INTERRUPTED,), failed=True)
    message = context[at]
    activity = message.activity
    assert activity is not None
    text = clean(message.text or activity.failure or json_text(activity.result))
    parts = _attached(at, message.images, shown, allowed=True)
    return Answer((text if text.strip() else _EMPTY, *parts), activity.failure is not None)


def _said(at: int, message: Message, kind: str, shown: Pictures) -> Said | None:
    """The words of a message; None where there are none, or none that are sent."""
    if kind == "reasoning" or (kind == "response" and message.activity):
        return None
    role: Literal["user", "assistant", "system"] = "user"
    if kind in ("assistant", "system"):
        role = "assistant" if kind == "assistant" else "system"
    text = message.text
    if message.activity is not None and not text:  # a trigger
        text = json_text(message.activity.result) or message.activity.arguments
    parts = _attached(at, message.images, shown, allowed=role == "user")
    words = (clean(text),) if text.strip() else ()
    return Said(role, (*words, *parts)) if words or parts else None


def _attached(
    at: int, images: Sequence[Image], shown: Pictures, *, allowed: bool
) -> tuple[Part, ...]:
    """The pictures of a message; where there is none to send, a text that names it."""
    found = [shown.get((at, i)) if allowed else None for i in range(len(images))]
    return tuple(found[i] or named(image) for i, image in enumerate(images))


def named(image: Image) -> str:
    """A text in the place of a picture that is not sent."""
    where = image.extra.get("url") if image.source == "url" else None
    size = f", {image.size:,} bytes" if image.size else ""
    told = f" at {where}" if isinstance(where, str) else ", not sent"
    return clean(f"[picture: {image.media_type or 'of unknown type'}{size}{told}]")


def clean(text: str) -> str:
    """A text without lone surrogates, which services and files refuse."""
    return _SURROGATE.sub("\ufffd", text)


def _plain(value: Any) -> Any:
    """A JSON value that every service reads."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
