"""What a Gemini CLI message holds: parts of content, calls, results. Pure; content never raises.

Content is a text, a part or a list of both (the API's PartListUnion). A call stands in `toolCalls`
with its result, or, in a conversation that the client took over from its memory, as a
`functionCall` among the parts, its result in the next user message. Read from the client's source
(0.61.0); Qwen Code's first logs have the same shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

MODEL = ("gemini", "qwen", "model", "assistant")
"""Types of the model's messages: the client's own, and those of clients made from it."""
NOTES = ("info", "warning", "error")
"""Types of what the client tells the person alone."""
UNHEARD = ("/", "?")
"""How a prompt begins that the client leaves out when it resumes (`isIgnoredUserContent`), though
the model was told of it: a command that the client runs by itself is in no log."""
SPOKEN = "[the user said] "
"""What stands before such a prompt in a log of ours, so that the model is told of it again."""
CONTEXTS = ("<session_context>", "<hook_context>")
"""How what the client puts into the conversation begins; it is made anew at a resume."""
TOLD = "$told"
"""The member in which a store says what earlier lines told: see `stores.gemini_fold`."""
_NOTHING: Mapping[str, Any] = {}
_LONG = 200
"""Characters of an id that a key holds; the client's are 36 long."""


class Call(NamedTuple):
    """A call of a model's message."""

    key: str
    """Its id; where it has none, its name and its number of that name."""
    id: str
    name: str
    args: Any
    entry: Mapping[str, Any]
    """What `toolCalls` has of it: status, resultDisplay, ..."""
    response: Mapping[str, Any] | None
    """The API's response object; None: nothing answers it here."""


class Answer(NamedTuple):
    """A functionResponse among the parts of a message."""

    key: str
    """As `Call.key`."""
    id: str
    name: str
    response: Mapping[str, Any]


def key_of(id: str, again: bool) -> str:
    """`Record.key` of a message's first line, and of those that tell more of it. It is never long:
    each line that goes back names two."""
    if len(id) > _LONG:
        from hashlib import sha256

        id = sha256(id.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{id}+" if again else id


def parts_of(content: Any) -> list[Mapping[str, Any]]:
    """Content in any shape as parts; what is no part is one of text."""
    if content is None:
        return []
    items = content if isinstance(content, list) else [content]
    return [item if isinstance(item, dict) else {"text": item} for item in items]


def said(parts: list[Mapping[str, Any]]) -> str:
    """The text of the parts, without thoughts."""
    texts = (part.get("text") for part in parts if part.get("thought") is not True)
    return "".join(text for text in texts if isinstance(text, str))


def is_whole(parts: list[Mapping[str, Any]]) -> bool:
    """Do the parts hold the whole answer, so that the client passes `thoughts` over?"""
    return any(part.get("functionCall") or part.get("thought") for part in parts)


def calls_of(value: Mapping[str, Any], parts: list[Mapping[str, Any]]) -> list[Call]:
    """The calls of a model's message, each once."""
    made: list[Mapping[str, Any]] = []
    for part in parts:
        if isinstance(part.get("functionCall"), dict):
            made.append(part["functionCall"])
    listed = value.get("toolCalls")
    entries = [e for e in listed if isinstance(e, dict)] if isinstance(listed, list) else []
    names = _keys([*made, *entries], len(made))
    calls = dict(zip(names, made, strict=False))
    beside = dict(zip(names[len(made) :], entries, strict=True))
    return [
        _call(key, beside.get(key, _NOTHING), calls.get(key, _NOTHING))
        for key in dict.fromkeys(names)
    ]


def _call(key: str, entry: Mapping[str, Any], call: Mapping[str, Any]) -> Call:
    """A call by what `toolCalls` and what the parts have of it."""
    id, name = (_text(entry, key) or _text(call, key) for key in ("id", "name"))
    return Call(key, id, name, entry.get("args", call.get("args")), entry, _response(entry))


def _keys(calls: list[Mapping[str, Any]], parts: int) -> list[str]:
    """Names by which calls are told apart; numbers begin anew behind the first `parts`."""
    keys: list[str] = []
    count: dict[str, int] = {}
    for i, call in enumerate(calls):
        if i == parts:  # the same calls once more
            count.clear()
        id, name = _text(call, "id"), _text(call, "name")
        if not id:
            count[name] = count.get(name, 0) + 1
        keys.append(id or f"{name}#{count[name]}")
    return keys


def answers_in(parts: list[Mapping[str, Any]]) -> list[Answer]:
    """The results among the parts of a user's message."""
    found: list[Mapping[str, Any]] = []
    for part in parts:
        if isinstance(part.get("functionResponse"), dict):
            found.append(part["functionResponse"])
    return [
        Answer(key, _text(answer, "id"), _text(answer, "name"), body)
        for key, answer in zip(_keys(found, 0), found, strict=True)
        for response in [answer.get("response")]
        for body in [response if isinstance(response, dict) else {"output": response}]
    ]


def _response(entry: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The response in a `toolCalls` entry: after a resume it holds those of its neighbours too."""
    result = entry.get("result")
    if isinstance(result, str):
        return {"output": result} if result else None
    answers = answers_in(parts_of(result))
    id = _text(entry, "id")
    own = [answer for answer in answers if answer.id == id] or answers
    return own[0].response if own else None


def _text(value: Mapping[str, Any], key: str) -> str:
    found = value.get(key)
    return found if isinstance(found, str) else ""
