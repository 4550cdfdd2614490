"""Records to native lines, byte for byte as the engine orders them.

Go's encoder: no spaces, `<` `>` `&` U+2028 U+2029 written as escapes, optional fields left out
when they are empty, the numbers of a result always there. Fields we do not name (`extra`) are
written back behind the known ones.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from time import time_ns
from typing import Any

from sessionlog import codec
from sessionlog.errors import NotPossible
from sessionlog.records import (
    NOTHING,
    Activity,
    Event,
    Image,
    Message,
    Meta,
    Payload,
    Reset,
    Result,
)

_ESCAPES = ((0x3C, b"<", b"\\u003c"), (0x3E, b">", b"\\u003e"), (0x26, b"&", b"\\u0026"))
_SEPARATORS = ((b"\xe2\x80\xa8", b"\\u2028"), (b"\xe2\x80\xa9", b"\\u2029"))
_TEXTS = ("task", "model", "provider", "driver", "workdir")
_SECOND = 1_000_000_000


def stamp(now: datetime | None = None) -> str:
    """RFC 3339 in UTC, as Go writes it: up to nine decimals, trailing zeros cut."""
    if now is None:
        seconds, rest = divmod(time_ns(), _SECOND)
    else:
        seconds, rest = int(now.timestamp() // 1), now.microsecond * 1000
    return f"{_clock(seconds)}.{rest:09d}".rstrip("0").rstrip(".") + "Z"


@lru_cache(maxsize=8)
def _clock(seconds: int) -> str:
    """A whole second as text: thousands of records fall into one."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def encode(payload: Payload, at: str) -> bytes:
    """One line, LF included.

    Raises NotPossible, before anything is written, for a value that JSON has no word for, that
    nests deeper than can be read back, or that is no payload of this format.
    """
    kind = _KINDS.get(type(payload))
    if kind is None:
        raise NotPossible(f"a {type(payload).__name__} is no record of the native format")
    record: dict[str, Any] = {"kind": kind, "at": at}
    if kind != "reset":
        record[kind] = _BODIES[kind](payload)
    try:
        data = codec.dumps(record)
        if _nests(payload) and data.count(b"{") + data.count(b"[") > codec.MAX_DEPTH:
            codec.loads(data)  # refuses what could not be read back
    except ValueError as error:
        raise NotPossible(f"this {kind} cannot be written as a record: {error}") from None
    return _escaped(data) + b"\n"


def _nests(payload: Payload) -> bool:
    """Does it hold values of the caller's making?"""
    if isinstance(payload, Message):
        return bool(payload.activity or payload.images or payload.extra)
    return not isinstance(payload, Event) or bool(payload.extra)


def _escaped(data: bytes) -> bytes:
    """Go's escapes. The characters stand only inside strings, so bytes will do."""
    for byte, plain, escape in _ESCAPES:
        if byte in data:
            data = data.replace(plain, escape)
    if not data.isascii():
        for plain, escape in _SEPARATORS:
            data = data.replace(plain, escape)
    return data


def _meta(meta: Meta) -> dict[str, Any]:
    body: dict[str, Any] = {
        "id": meta.id, "task": meta.task, "model": meta.model, "provider": meta.provider,
        "driver": meta.driver, "workdir": meta.workdir,
    }  # fmt: skip
    if meta.resumed_from:
        body["resumedFrom"] = meta.resumed_from
    if meta.forked_from:
        body["forkedFrom"] = {"id": meta.forked_from.id, "at": meta.forked_from.at}
    return _with(body, meta.extra)


def _message(message: Message) -> dict[str, Any]:
    body: dict[str, Any] = {"type": message.type, "text": message.text}
    if message.activity is not None:
        body["activity"] = _activity(message.activity)
    if message.images:
        body["images"] = [_image(image) for image in message.images]
    return _with(body, message.extra)


def _activity(activity: Activity) -> dict[str, Any]:
    body: dict[str, Any] = {"kind": activity.kind}
    for name, value in (("id", activity.id), ("name", activity.name),
                        ("arguments", activity.arguments)):  # fmt: skip
        if value:
            body[name] = value
    if activity.failure is not None:
        body["failure"] = activity.failure or "failed"  # the engine takes an empty one for none
    elif activity.result is not None:
        body["result"] = activity.result
    return _with(body, activity.extra)


_MORE = ("tokens", "origin", "detail")
"""What the engine says of a picture between its size and its source, and nobody else does."""


def _image(image: Image) -> dict[str, Any]:
    body: dict[str, Any] = {"media_type": image.media_type}
    extra = image.extra
    for name, value in (("digest", image.digest), ("width", image.width), ("height", image.height),
                        ("size", image.size), *((name, extra.get(name)) for name in _MORE),
                        ("source", image.source)):  # fmt: skip
        if value:
            body[name] = value
    if image.source == "inline" and image.data is not None:
        body["data"] = base64.b64encode(image.data).decode()
    return _with(body, image.extra)


def _event(event: Event) -> dict[str, Any]:
    body: dict[str, Any] = {"kind": event.kind}
    for name, value in (("tool", event.tool), ("text", event.text)):
        if value:
            body[name] = value
    if event.iteration:
        body["iteration"] = event.iteration
    return _with(body, event.extra)


def _result(result: Result) -> dict[str, Any]:
    body: dict[str, Any] = {"reason": result.reason}
    for name, value in (("message", result.message), ("error", result.error),
                        ("failure", result.failure)):  # fmt: skip
        if value:
            body[name] = value
    for name in ("code", "iterations", "calls", "continuations", "cycles", "settles"):
        body[name] = getattr(result, name)
    return _with(body, result.extra)


def _with(body: dict[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    if extra:
        for name, value in extra.items():
            body.setdefault(name, value)
    return body


_KINDS = {Meta: "meta", Message: "message", Event: "event", Result: "result", Reset: "reset"}
_BODIES: dict[str, Callable[[Any], dict[str, Any]]] = {
    "meta": _meta, "message": _message, "event": _event, "result": _result,
}  # fmt: skip


def meta_of(meta: Meta | Mapping[str, Any], id: str) -> Meta:
    """A Meta from one, or from the fields of one by their Python or native names.

    Raises NotPossible for a text field that is no text.
    """
    if isinstance(meta, Meta):
        return meta._replace(id=id)
    named = dict(meta)
    resumed = named.pop("resumedFrom", named.pop("resumed_from", None))
    texts = {name: named.pop(name, "") or "" for name in _TEXTS}
    wrong = [name for name, value in texts.items() if not isinstance(value, str)]
    if wrong:
        raise NotPossible(f"meta: {', '.join(wrong)} must be text")
    origin = named.pop("forked_from", None)
    named.pop("id", None)
    extra = {**named.pop("extra", NOTHING), **named}
    return Meta(id, **texts, resumed_from=resumed, forked_from=origin, extra=extra)
