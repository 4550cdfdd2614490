"""In what two alike messages differ, in one line of each: the first that is not the same. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest

from sessionlog.outcome import result_text
from sessionlog.records import Message
from sessionlog.telling import arguments_of
from sessionlog.text import one_line

_LOOK = 256 * 1024
"""Characters that are looked through."""
_SEEN = 400
"""Characters of the differing line."""


def contrast(left: Message, right: Message) -> tuple[str, str]:
    """The first line of either that the other does not have there; visible text, "" for none.

    Of two calls the first argument that differs, of two results the first line.
    """
    if _is_call(left) and _is_call(right):
        return _arguments(left, right)
    return _lines(_text(left), _text(right))


def _is_call(message: Message) -> bool:
    return message.activity is not None and message.activity.kind != "response"


def _text(message: Message) -> str:
    return result_text(message) if message.activity is not None else message.text


def _arguments(left: Message, right: Message) -> tuple[str, str]:
    texts = [m.activity.arguments if m.activity is not None else "" for m in (left, right)]
    one, other = (arguments_of(text) if len(text) <= _LOOK else None for text in texts)
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in {**one, **other}:
            if one.get(key) != other.get(key) or (key in one) != (key in other):
                return _named(key, one), _named(key, other)
    return _lines(*texts)


def _named(key: str, arguments: Mapping[str, object]) -> str:
    value = arguments.get(key)
    if key not in arguments:
        return one_line(f"no {key}")
    return one_line(f"{key}: {value if isinstance(value, str) else repr(value)}"[:_SEEN])


def _lines(left: str, right: str) -> tuple[str, str]:
    pairs = zip_longest(left[:_LOOK].split("\n"), right[:_LOOK].split("\n"), fillvalue="")
    one, other = next(((a, b) for a, b in pairs if a != b), ("", ""))
    return one_line(_from_there(one, other)), one_line(_from_there(other, one))


def _from_there(line: str, other: str) -> str:
    """A long line from shortly before where it differs."""
    at = next((i for i, (a, b) in enumerate(zip(line, other, strict=False)) if a != b), 0)
    return line[max(at - 40, 0) :][:_SEEN] if at > 80 else line[:_SEEN]
