"""Records to native lines, byte for byte as the engine orders them.

Go's encoder: no spaces, `<` `>` `&` U+2028 U+2029 written as escapes, optional fields left out
when they are empty, the numbers of a result always there. Fields we do not name (`extra`) are
written back behind the known ones.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any

from sessionlog import codec
from sessionlog.errors import NotPossible
from sessionlog.records import Activity, Event, Image, Kind, Message, Meta, Payload, Reset, Result

_ESCAPES = ((b"<", b"\\u003c"), (b">", b"\\u003e"), (b"&", b"\\u0026"),
            (b"\xe2\x80\xa8", b"\\u2028"), (b"\xe2\x80\xa9", b"\\u2029"))  # fmt: skip


def stamp(now: datetime | None = None) -> str:
    """RFC 3339 in UTC, as Go writes it: trailing zeros of the fraction are cut."""
    text = (now or datetime.now(UTC)).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")
    return text.rstrip("0").rstrip(".") + "Z"


def encode(payload: Payload, at: str) -> bytes:
    """One line, LF included.

    Raises NotPossible for a value that JSON has no word for, before anything is written.
    """
    kind, body = _KINDS[type(payload)], _body(payload)
    record: dict[str, Any] = {"kind": kind.value, "at": at}
    if body is not None:
        record[kind.value] = body
    try:
        data = codec.dumps(record)
    except ValueError as error:
        raise NotPossible(f"this {kind} cannot be written as a record: {error}") from None
    for plain, escaped in _ESCAPES:
        if plain in data:  # these bytes stand only inside strings
            data = data.replace(plain, escaped)
    return data + b"\n"


_KINDS = {Meta: Kind.META, Message: Kind.MESSAGE, Event: Kind.EVENT, Result: Kind.RESULT,
          Reset: Kind.RESET}  # fmt: skip


def _body(payload: Payload) -> dict[str, Any] | None:
    if isinstance(payload, Meta):
        return _meta(payload)
    if isinstance(payload, Message):
        return _message(payload)
    if isinstance(payload, Event):
        return _event(payload)
    if isinstance(payload, Result):
        return _result(payload)
    return None


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
        body["failure"] = activity.failure
    elif activity.result is not None:
        body["result"] = activity.result
    return _with(body, activity.extra)


def _image(image: Image) -> dict[str, Any]:
    body: dict[str, Any] = {"media_type": image.media_type}
    for name, value in (("digest", image.digest), ("width", image.width), ("height", image.height),
                        ("size", image.size), ("source", image.source)):  # fmt: skip
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
    for name, value in extra.items():
        body.setdefault(name, value)
    return body


def meta_of(meta: Meta | Mapping[str, Any], id: str) -> Meta:
    """A Meta from one, or from the fields of one by their Python or native names."""
    if isinstance(meta, Meta):
        return replace(meta, id=id)
    named = dict(meta)
    named["resumed_from"] = named.pop("resumedFrom", named.get("resumed_from"))
    known = {f.name for f in fields(Meta)} - {"id", "extra"}
    extra = {k: v for k, v in named.items() if k not in known and k != "id"}
    return Meta(id=id, extra=extra, **{k: v for k, v in named.items() if k in known})

