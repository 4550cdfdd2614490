"""A document that `opencode export` prints: a session with all its messages in one JSON object.

Damage in it costs what it hits: behind a place that is no JSON, messages are found again by how
each begins.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import pairwise

from sessionlog import codec
from sessionlog.formats.base import dict_of
from sessionlog.formats.opencode_lines import message_line, noted, one_line
from sessionlog.paths import open_regular
from sessionlog.records import Entry
from sessionlog.stores.base import Mark, Unended
from sessionlog.stores.document import joined, walk

_HEAD = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"info"\s*:\s*\{')
_OWN = re.compile(rb'"id"\s*:\s*"ses_|"projectID"\s*:')
_BETWEEN = b", \t\r\n"
_END = re.compile(rb"(?:\][ \t\r\n]*\})?")
"""What closes the document behind its last message."""
_MESSAGE = re.compile(rb'\{\s*"info"\s*:')


class OpenCodeExport:
    """One session in one document."""

    many = False

    def keeps(self, path: str, head: bytes) -> bool:
        return _HEAD.match(head) is not None and _OWN.search(head) is not None

    def sessions(self, path: str) -> list[str]:
        return []

    def lines(self, path: str, id: str) -> Iterator[bytes]:
        with open(open_regular(path), "rb") as file:
            yield from lines_of(file.read())

    def mark(self, path: str, id: str) -> Mark:
        found = os.stat(path)
        return found.st_ino, found.st_size, found.st_mtime_ns

    def glimpse(self, path: str, id: str) -> Entry | None:
        return None


def lines_of(document: bytes) -> Iterator[bytes]:
    """The session's line, then its messages'. O(bytes)."""
    members: dict[str, bytes] = {}
    messages: list[bytes] = []
    rest = b""
    for piece in walk(document, ("messages",)):
        if not piece.whole:
            rest = piece.data
            if piece.key and not piece.item and piece.key != "messages":
                rest = b'{"%s":' % piece.key.encode() + rest
        elif piece.item:
            messages.append(one_line(piece.data))
        elif piece.key != "messages":
            members[piece.key] = one_line(piece.data)
    if members:
        yield joined(members)
    salvaged = _salvaged(rest) if len(rest) > 1 else [Unended(rest)] if rest else []
    yield from noted([*messages, *salvaged], _revert(members.get("info", b"")))


def _revert(info: bytes) -> dict[str, object]:
    if b'"revert"' not in info:
        return {}
    try:
        return dict(dict_of(dict_of(codec.loads(info)).get("revert")))
    except ValueError:
        return {}


def _salvaged(data: bytes) -> Iterator[bytes]:
    """The messages in what is left of a document, and what is none as lines that are no JSON."""
    starts = [found.start() for found in _MESSAGE.finditer(data)]
    bounds = [*([0] if starts[:1] != [0] else []), *starts, len(data)]
    for start, end in pairwise(bounds):
        message, left = _apart(data[start:end].strip(_BETWEEN))
        if message:
            yield message
        if left:
            yield Unended(left) if end == len(data) else left


def _apart(chunk: bytes) -> tuple[bytes, bytes]:
    """A message with what is whole of it, b"" where that is nothing; and what is left."""
    info, left, parts = b"", b"", []
    for piece in walk(chunk, ("parts",)):
        if not piece.whole:
            left = piece.data.strip(_BETWEEN)
        elif piece.item:
            parts.append(one_line(piece.data))
        elif piece.key == "info":
            info = one_line(piece.data)
    if not all(map(_is_object, (info, *parts))):
        return b"", chunk
    return message_line(info, parts), b"" if _END.fullmatch(left) else left


def _is_object(data: bytes) -> bool:
    try:
        return isinstance(codec.loads(data), dict)
    except ValueError:
        return False
