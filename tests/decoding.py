"""One line of a log, and what a format makes of it."""

from __future__ import annotations

from typing import NamedTuple

from sessionlog import codec
from sessionlog.formats.base import Format
from sessionlog.records import Activity, Event, Message, Record, Span


class Decoding(NamedTuple):
    """Lines of one format."""

    form: Format

    def decoded(self, data: bytes) -> list[Record]:
        return self.form.decode(codec.loads(data), Span(1, 0, len(data)))

    def one(self, data: bytes) -> Record:
        (record,) = self.decoded(data)
        return record

    def message(self, data: bytes) -> Message:
        payload = self.one(data).payload
        assert isinstance(payload, Message)
        return payload

    def event(self, data: bytes) -> Event:
        payload = self.one(data).payload
        assert isinstance(payload, Event)
        return payload

    def activity(self, data: bytes) -> Activity:
        found = self.message(data).activity
        assert found is not None
        return found
