"""OpenCode's sessions as lines: one for the session, one for each message with its parts.

The shape is that of the client's export. What only the whole list of messages tells is noted on
the lines that it is about, so that each can be decoded alone; a new log goes without these notes.
Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sessionlog import codec
from sessionlog.formats.base import dict_of, list_of, text_of

REVERTED = "reverted"
"""Note on a message that a person took back (`session.revert`): how many of its parts stand. The
client hides the others, and removes them when the session goes on."""
TAIL = "tail"
"""Note on a summary: id of the first message that stays in context before it."""
NOTES = (REVERTED, TAIL)
ORIGIN = "sessionlog"
"""Member of a session's metadata, which is free to be used: what our copy was made from."""
_BREAK = re.compile(rb"[\r\n][ \t\r\n]*")


def one_line(data: bytes) -> bytes:
    """A JSON value without its line breaks, which stand between its tokens alone."""
    return _BREAK.sub(b"", data.strip()) if b"\n" in data or b"\r" in data else data.strip()


def session_line(info: bytes) -> bytes:
    return b'{"info":' + info + b"}"


def message_line(info: bytes, parts: Iterable[bytes]) -> bytes:
    return b'{"info":' + info + b',"parts":[' + b",".join(parts) + b"]}"


def noted(lines: Iterable[bytes], revert: Mapping[str, Any]) -> Iterator[bytes]:
    """Lines of messages, in their order, with their notes. `revert` as the session has it; empty
    for none."""
    messages = _Messages(text_of(revert.get("messageID")), text_of(revert.get("partID")))
    for line in lines:
        notes = messages.notes(line)
        if notes:
            line = line[:-1] + b"," + codec.dumps(notes)[1:]
        yield line


class _Messages:
    """What is known of the messages so far."""

    def __init__(self, back: str, part: str) -> None:
        self._back, self._part = back, part
        self._gone = False
        self._tails: dict[str, str] = {}

    def notes(self, line: bytes) -> dict[str, Any]:
        compacts = b'"compaction"' in line or b'"summary"' in line
        if not (compacts or self._back) or not line.endswith(b"}"):
            return {}
        try:
            value = dict_of(codec.loads(line))
        except ValueError:
            return {}
        info, parts = dict_of(value.get("info")), list_of(value.get("parts"))
        notes: dict[str, Any] = {}
        for part in map(dict_of, parts):
            if part.get("type") == "compaction" and text_of(part.get("tail_start_id")):
                self._tails[text_of(info.get("id"))] = part["tail_start_id"]
        if info.get("summary") is True and (tail := self._tails.get(text_of(info.get("parentID")))):
            notes[TAIL] = tail
        if (standing := self._standing(info, parts)) is not None:
            notes[REVERTED] = standing
        return notes

    def _standing(self, info: Mapping[str, Any], parts: list[Any]) -> int | None:
        """How many parts of a message stand that is reverted; None for one that is not."""
        if self._gone:
            return 0
        if not self._back or info.get("id") != self._back:
            return None
        self._gone = True
        ids = [dict_of(part).get("id") for part in parts]
        return ids.index(self._part) if self._part in ids else 0
