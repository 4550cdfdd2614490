"""The pictures of a conversation as the services take them, wherever their bytes stand.

A picture's bytes are in a file beside the log, or in the line itself, in whatever field the format
has for it: there it is known by its size. Anthropic's documented limits are kept, since one
picture past them makes the service refuse the whole conversation every time: PNG, JPEG, GIF and
WebP by their bytes (not by what the log calls them), 5 MB each in base64, 8000 pixels a side. Not
more than 20 pictures, because beyond that the sides may have 2000 only, and not more than 20 MB
together, because a request may have 32: the newest ones are taken.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any, NamedTuple

from sessionlog import blobs, codec
from sessionlog.errors import Unreadable
from sessionlog.reader import raw
from sessionlog.records import Image, Span
from sessionlog.session import Session

MOST = 20
LARGEST = 5 * 1024 * 1024
TOTAL = 20 * 1024 * 1024
"""Characters of base64, of one picture and of all."""
SIDE = 8000
"""Pixels."""


class Picture(NamedTuple):
    """A picture that a service takes."""

    media_type: str
    data: str
    """In base64."""


def pictures(session: Session) -> dict[tuple[int, int], Picture]:
    """The pictures of the context, by (index of the message, index among its pictures).

    One that is missing, past a limit, or of another kind is not there. Reads the lines again that
    hold pictures; never raises.
    """
    spans = {id(step.message): step.record.span for step in session.history if step.message.images}
    found: dict[tuple[int, int], Picture] = {}
    room = TOTAL
    for at in reversed(range(len(session.context))):
        message = session.context[at]
        if not message.images:
            continue
        span = spans.get(id(message))
        for number, data in enumerate(_bytes(session.path, message.images, span)):
            picture = _picture(data)
            if picture and len(found) < MOST and len(picture.data) <= room:
                room -= len(picture.data)
                found[at, number] = picture
    return found


def _bytes(path: str, images: tuple[Image, ...], span: Span | None) -> Iterator[bytes]:
    """The bytes of each image; none where they are not to be had."""
    inside = any(image.source == "inline" for image in images) and span is not None
    texts = list(_texts(path, span)) if inside and span else []
    for image in images:
        data = blobs.fetch(path, image)
        if data is None and image.source == "inline":
            data = _taken(texts, image.size)
        yield data or b""


def _texts(path: str, span: Span) -> Iterator[str]:
    """The strings of a record as it stands in the file, data URLs without their heads."""
    try:
        waiting: list[Any] = [codec.loads(raw(path, span))]
    except (ValueError, OSError, Unreadable):
        return
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += reversed(value.values())
        elif isinstance(value, list):
            waiting += reversed(value)
        elif isinstance(value, str):
            yield value.partition(",")[2] if value.startswith("data:") else value


def _taken(texts: list[str], size: int) -> bytes | None:
    """Take the first picture of that many bytes out of the texts."""
    for at, text in enumerate(texts):
        if len(text) * 3 // 4 - text[-2:].count("=") != size:
            continue
        try:
            data = base64.b64decode(text, validate=True)
        except ValueError:
            continue
        del texts[at]
        return data
    return None


def _picture(data: bytes) -> Picture | None:
    media_type, sides = _look(data)
    text = base64.b64encode(data).decode() if sides else ""
    fits = bool(sides) and len(text) <= LARGEST and all(0 < side <= SIDE for side in sides)
    return Picture(media_type, text) if fits else None


def _look(data: bytes) -> tuple[str, tuple[int, ...]]:
    """Media type and sides of a picture by its first bytes; no sides when it is none."""

    def number(start: int, size: int, order: Any = "big") -> int:
        return int.from_bytes(data[start : start + size], order)

    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png", (number(16, 4), number(20, 4))
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif", (number(6, 2, "little"), number(8, 2, "little"))
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg", _jpeg_sides(data)
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        form = data[12:16]
        if form == b"VP8X":
            return "image/webp", (number(24, 3, "little") + 1, number(27, 3, "little") + 1)
        if form == b"VP8L":
            bits = number(21, 4, "little")
            return "image/webp", ((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
        if form == b"VP8 ":
            return "image/webp", (number(26, 2, "little") & 0x3FFF,
                                  number(28, 2, "little") & 0x3FFF)  # fmt: skip
    return "", ()


def _jpeg_sides(data: bytes) -> tuple[int, ...]:
    """From the frame header (SOF0 to SOF15, without the tables that share its numbers)."""
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        mark = data[at + 1]
        if 0xC0 <= mark <= 0xCF and mark not in (0xC4, 0xC8, 0xCC):
            return int.from_bytes(data[at + 7 : at + 9]), int.from_bytes(data[at + 5 : at + 7])
        at += 1 if mark == 0xFF else 2 + int.from_bytes(data[at + 2 : at + 4])
    return ()
