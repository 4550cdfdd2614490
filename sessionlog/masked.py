"""A record without secrets: what every recorded stream goes through on its way to the disk. Pure.

Whole blocks are masked, never pieces, because a key has a shape only as a whole. Arguments of calls
are JSON inside a text, and are that still when they are masked. The end of a text that was cut off
may be the first half of a key, which has no shape yet: there the last word goes too, when it could
be one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sessionlog import codec
from sessionlog.records import Activity, Event, Image, Message, Payload, Result
from sessionlog.secrets import MASKED, mask, mask_value

_TAIL = 8 << 10
"""Characters at the end of a text among which its last word is looked for."""
_APART = " \t\r\n\"'\\"
_STAYS = 4
"""Characters that are left of a last word."""
_PLAIN = re.compile(r"[A-Za-z]?[a-z.,:;!?()_-]{0,24}|[A-Z_]{0,24}|.{0,7}", re.DOTALL)
"""A last word that is no half of a key: a plain word of some language, or very short."""


def masked(payload: Payload) -> Payload:
    """The record, masked; anything but messages, events and results as it is."""
    if isinstance(payload, Message):
        activity = payload.activity and _activity(payload.activity)
        return payload._replace(
            text=_text(payload.text) if activity else mask(payload.text),
            activity=activity,
            images=tuple(map(_image, payload.images)),
            extra=_fields(payload.extra),
        )
    if isinstance(payload, Event):
        tool = payload.tool and mask(payload.tool)
        extra = _fields(payload.extra)
        return payload._replace(tool=tool, text=_text(payload.text), extra=extra)
    if isinstance(payload, Result):
        return payload._replace(
            message=mask(payload.message),
            error=mask(payload.error),
            failure=None if payload.failure is None else mask_value(dict(payload.failure)),
            extra=_fields(payload.extra),
        )
    return payload


def masked_cut(text: str) -> str:
    """A text that was cut off in the middle, masked."""
    text = mask(text)
    head, tail = text[:-_TAIL], text[-_TAIL:]
    for quote in ('"', "'"):  # a value is known to be one by its closing quote
        tail = mask(tail + quote).removesuffix(quote)
    start = max(map(tail.rfind, _APART)) + 1
    last = tail[start:]
    if MASKED in last or _PLAIN.fullmatch(last):
        return head + tail
    return head + tail[: start + _STAYS] + MASKED


def masked_json(text: str) -> str:
    """A text that may be JSON, masked: JSON stays JSON, byte for byte where nothing was masked."""
    plain = mask(text)
    try:
        value = codec.loads(text.encode("utf-8", "surrogatepass"))
    except ValueError:
        return plain
    hidden = mask_value(value)
    if plain == text and hidden == value:
        return text
    return codec.dumps(hidden).decode()


def _text(text: str) -> str:
    return masked_json(text) if text.startswith(("{", "[")) else mask(text)


def _activity(activity: Activity) -> Activity:
    failure: Any = activity.failure
    return activity._replace(
        id=mask(activity.id),
        name=mask(activity.name),
        arguments=masked_json(activity.arguments),
        result=_value(activity.result),
        failure=failure and _text(failure),
        extra=_fields(activity.extra),
    )


def _fields(extra: Mapping[str, Any]) -> Mapping[str, Any]:
    fields: Mapping[str, Any] = mask_value(dict(extra)) if extra else extra
    return fields


def _value(value: Any) -> Any:
    return _text(value) if isinstance(value, str) else mask_value(value)


def _image(image: Image) -> Image:
    return image._replace(extra=_fields(image.extra))
