"""Gemini CLI's sessions: JSON lines to be folded, and the one document of the client before 0.39.

The document (`{"sessionId", ..., "messages": [...]}`, also that of Qwen Code's first versions) is
rewritten as a whole and may be torn while that happens. It becomes the lines that the client
itself makes of it when it resumes one: the object without its messages, then a line a message.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from sessionlog import codec
from sessionlog.paths import open_regular
from sessionlog.records import Entry
from sessionlog.stores.base import Mark, Unended
from sessionlog.stores.document import joined, walk
from sessionlog.stores.gemini_fold import fold
from sessionlog.stores.gemini_glimpse import from_ends

_IDS = (re.compile(rb'"sessionId"\s*:\s*"'), re.compile(rb'"projectHash"\s*:\s*"'))
_CHANGE = re.compile(rb'^\s*\{\s*"\$(?:set"\s*:\s*\{|rewindTo"\s*:\s*")', re.MULTILINE)
_ANSWER = re.compile(rb'^\s*\{\s*"id"\s*:\s*"[^"\\]*"[^\n]*"type"\s*:\s*"gemini"', re.MULTILINE)
_SHORT = 256 * 1024
_LISTED = re.compile(rb'"messages"\s*:\s*\[')


class GeminiJson:
    """One file, one session."""

    many = False

    def keeps(self, path: str, head: bytes) -> bool:
        """By its head's two ids (inside a text their quotes would be escaped), or by a line that
        only this client writes."""
        if not head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
            return bool(_CHANGE.search(head))
        return (
            all(key.search(head) for key in _IDS)
            or _CHANGE.search(head) is not None
            or _ANSWER.search(head) is not None
        )

    def sessions(self, path: str) -> list[str]:
        return []

    def lines(self, path: str, id: str) -> Iterator[bytes]:
        """O(bytes), in memory. Raises Unreadable."""
        with open(open_regular(path), "rb") as file:
            data = file.read()
        *lines, last = fold(rows(data))
        yield from lines
        if last:  # nothing behind the last line feed
            yield Unended(last)

    def mark(self, path: str, id: str) -> Mark:
        found = os.stat(path)
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns

    def glimpse(self, path: str, id: str) -> Entry | None:
        """Of a long log of lines, from both ends; a short one is soon read."""
        size = os.stat(path).st_size
        return from_ends(path, size) if size > _SHORT else None


def rows(data: bytes) -> list[bytes]:
    """The lines of a log in either form, the last b"" when it has its line feed."""
    first, lf, rest = data.partition(b"\n")
    if not _LISTED.search(data):
        return data.split(b"\n")
    try:
        whole = codec.loads(first)
    except ValueError:
        return _document(data) if _opens(first, data) else data.split(b"\n")
    if isinstance(whole, dict) and isinstance(whole.get("messages"), list) and "id" not in whole:
        return _document(first)[: -1 if lf else None] + (rest.split(b"\n") if lf else [])
    return data.split(b"\n")


def _opens(first: bytes, data: bytes) -> bool:
    """Does a line that is no JSON by itself open a document? A torn one counts."""
    if first == data or first.strip(b"\xef\xbb\xbf \t\r") == b"{":
        return True
    try:
        return isinstance(codec.loads(data), dict)
    except ValueError:
        return False


def _document(data: bytes) -> list[bytes]:
    """What can be read of a document; where it is torn or broken, the rest is the last line."""
    head: dict[str, bytes] = {}
    messages: list[bytes] = []
    torn = b""
    for piece in walk(data, ("messages",)):
        if not piece.whole:
            torn = piece.data
        elif piece.item:
            messages.append(piece.data)
        elif piece.key != "messages":
            head[piece.key] = piece.data
    return [joined(head), *messages, torn]
