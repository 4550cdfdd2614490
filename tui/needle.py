"""Looking for text in a log: raw bytes first, the decoded row only where they hold it. Pure.

A writer may escape what is not ASCII as \\uXXXX or leave it, Go escapes < > & too, and quotes,
backslashes and line breaks always are; so the bytes are searched in every such spelling.
Lower-case text is found in any case.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from sessionlog import codec
from sessionlog.records import Event, Message, Meta, Other, Record, Reset, Result
from sessionlog.window import LONG, Strip
from tui.rows import Row

_BLOCK = 1 << 20


class Needle:
    """One text to look for."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.any_case = text == text.lower()
        self.spellings = tuple(dict.fromkeys(_spellings(text, self.any_case)))

    def in_bytes(self, data: bytes) -> bool:
        """Do raw bytes of a log hold the text in one of its spellings?"""
        if self.any_case:
            data = data.lower()
        return any(spelling in data for spelling in self.spellings)

    def in_chunk(self, strip: Strip, number: int) -> bool:
        """Do the lines that start in a chunk hold it?"""
        found = strip.stretch(number)
        if self.in_bytes(found.data):
            return True
        if not found.cut:
            return False
        overlap = max(map(len, self.spellings))
        offset = found.offset + len(found.data)
        while offset < found.end:
            if self.in_bytes(strip.read(offset - overlap, _BLOCK + overlap)):
                return True
            offset += _BLOCK
        return False

    def count(self, strip: Strip, number: int) -> int:
        """How often the lines that start in a chunk hold it, as bytes."""
        data = strip.stretch(number).data
        if self.any_case:
            data = data.lower()
        return sum(data.count(spelling) for spelling in self.spellings)

    def in_text(self, text: str) -> bool:
        return self.text in (text.lower() if self.any_case else text)

    def in_row(self, row: Row) -> bool:
        """Does what the row stands for hold it? A line too long to decode counts by its bytes."""
        if self.in_text(row.body) or self.in_text(row.second) or self.in_text(row.label):
            return True
        return any(
            record.span.length > LONG or any(map(self.in_text, texts_of(record)))
            for record in row.records
        )

    def places(self, shown: str) -> Iterator[tuple[int, int]]:
        """(start, end) of each hit in a shown text."""
        text = shown.lower() if self.any_case else shown
        if len(text) != len(shown) or not self.text:
            return  # lower case of a few letters is longer; such a line shows no marks
        at = text.find(self.text)
        while at >= 0:
            yield at, at + len(self.text)
            at = text.find(self.text, at + len(self.text))


def texts_of(record: Record) -> Iterator[str]:
    """The words of a record, without its keys."""
    payload = record.payload
    if isinstance(payload, Message):
        yield payload.text
        if payload.activity is not None:
            activity = payload.activity
            yield from (activity.name, activity.arguments, activity.failure or "")
            if isinstance(activity.result, str):
                yield activity.result
            elif activity.result is not None:
                yield _json(activity.result)
    elif isinstance(payload, Event):
        yield from (payload.text, payload.tool, payload.kind)
    elif isinstance(payload, Meta):
        yield from (payload.task, payload.model, payload.id, payload.workdir)
    elif isinstance(payload, Result):
        yield from (payload.reason, payload.message, payload.error)
    elif isinstance(payload, Reset):
        yield payload.why
    elif isinstance(payload, Other):
        yield _json(payload.data)


def _json(value: object) -> str:
    try:
        return codec.dumps(value).decode()
    except ValueError:
        return ""


def _spellings(text: str, any_case: bool) -> Iterator[bytes]:
    texts = {text, text.upper()} if any_case and not text.isascii() else {text}
    for one in texts:
        for ascii_only in (False, True):
            spelled = json.dumps(one, ensure_ascii=ascii_only)[1:-1]
            for form in (spelled, _go(spelled), spelled.replace("/", "\\/")):
                data = form.encode("utf-8", "surrogatepass")
                yield data.lower() if any_case else data


def _go(spelled: str) -> str:
    for char in "<>&":
        spelled = spelled.replace(char, f"\\u{ord(char):04x}")
    return spelled
