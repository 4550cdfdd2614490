"""Pieces of messages that several agents write alike: pictures, arguments, what is left over.

Pure; content never raises.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sessionlog.codec import dumps
from sessionlog.records import Event, Image, Record


def json_text(value: Any) -> str:
    """A value as compact JSON text; a string as it stands, nothing as ""."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    try:
        return dumps(value).decode()
    except ValueError:  # deeper than what is written
        return str(value)


def rest_of(body: Mapping[str, Any], *known: str) -> dict[str, Any]:
    """The fields of an object that were not used."""
    return {key: value for key, value in body.items() if key not in known}


def last_said(newest_first: Iterable[Record], kind: str, within: int) -> str:
    """The text of the last event of a kind in the last `within` bytes of a log; "" for none."""
    end = -1
    for record in newest_first:
        payload = record.payload
        end = record.span.end if end < 0 else end
        if record.span.offset < end - within:
            break
        if isinstance(payload, Event) and payload.kind == kind and payload.text:
            return payload.text
    return ""


def image_at(url: str) -> Image:
    """The picture behind an address or a data URL.

    Its bytes stay in the log's line: a picture of a megabyte is decoded when it is looked at.
    """
    if not url.startswith("data:"):
        return Image("", source="url", extra={"url": url})
    head, _, body = url.partition(",")
    return image_inline(head[5:].partition(";")[0], body)


def image_inline(media_type: str, base64: str) -> Image:
    """A picture whose bytes stand in the line, in base64."""
    size = max(len(base64) * 3 // 4 - base64[-2:].count("="), 0)
    return Image(media_type, size=size, source="inline")
