"""Lines of Codex's rollouts as 0.171 writes them, made or changed byte for byte."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sessionlog import codec, splice

VERSION = "0.171.0"
"""Of the client whose lines these are like."""
ORIGINATOR = "sessionlog"
_HEAD = re.compile(rb'\{"timestamp":"[^"\\]*",(?:"ordinal":(\d{1,15}),)?(?!"ordinal")')
_MOST = 10**15
"""An ordinal above this is none of the client's."""


def envelope(kind: str, payload: Mapping[str, Any], at: str) -> bytes:
    """A line of that type."""
    return codec.dumps({"timestamp": at, "type": kind, "payload": payload})


def wrapped(item: bytes, at: bytes) -> bytes:
    """A bare item, of before 0.32, as a line of today; `at` is JSON."""
    return b'{"timestamp":' + at + b',"type":"response_item","payload":' + item + b"}"


def said(role: str, text: str, **more: Any) -> dict[str, Any]:
    """A message of the user or the assistant, as an item.

    The client marks what is a person's own words; without the mark, how a text begins decides.
    """
    if role == "assistant":
        part: dict[str, Any] = {"type": "output_text", "text": text, "annotations": []}
        return {"type": "message", "role": role, "content": [part], **more}
    part = {"type": "input_text", "text": text}
    told = {**more.pop("internal_chat_message_metadata_passthrough", {}),
            "content_item_kinds": ["user.text"]}  # fmt: skip
    return {"type": "message", "role": role, "content": [part], **more,
            "internal_chat_message_metadata_passthrough": told}  # fmt: skip


def ordinal_of(data: bytes) -> int | None:
    """The number of a line, None where it has none."""
    head = _HEAD.match(data)
    if head is not None and head[1]:
        return int(head[1])
    if b'"ordinal"' not in data:
        return None
    value = splice.value(data, ("ordinal",))
    return int(value) if value.isdigit() and int(value[:20]) < _MOST else None


def numbered(data: bytes, ordinal: int) -> bytes:
    """The line with that number, where the client writes it."""
    head = _HEAD.match(data)
    if head is not None and head[1]:
        return data[: head.start(1)] + b"%d" % ordinal + data[head.end(1) :]
    if head is None or b'"ordinal"' in data:
        return splice.put(data, 0, {"ordinal": b"%d" % ordinal})
    return data[: head.end()] + b'"ordinal":%d,' % ordinal + data[head.end() :]
