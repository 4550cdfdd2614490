"""Server-sent events: lines to JSON values. Sans-io.

The rules are the WHATWG's: a field a line, `data` lines joined by LF, a blank line sends the event;
comments, ids and unknown fields say nothing. Around them stands what proxies and tools print:
heads of HTTP, the sizes of chunks, and the JSON of an error that came instead of a stream.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from sessionlog.dialects.base import DAMAGE, loaded
from sessionlog.dialects.plain import Plain
from sessionlog.records import Event, Payload

Take = Callable[[Mapping[str, Any], int], Iterator[Payload]]
"""What is done with an event's value and its size in bytes."""
DONE = b"[DONE]"
_FIELD = re.compile(rb"(data|event|id|retry|)(?:: ?|$)")
_CHUNK = re.compile(rb"[0-9A-Fa-f]{1,8}$")
_MOST = 64 << 20
"""Bytes of the data of one event."""
_BODY = 1 << 20
"""Bytes of JSON over several lines that came instead of a stream."""


class Sse:
    """Lines in; what `take` and `done` make of the events out."""

    def __init__(self, take: Take, done: Callable[[], Iterator[Payload]]) -> None:
        self._take = take
        self._done = done
        self._data: list[bytes] = []
        self._size = 0
        self._name = ""
        self._plain = Plain()
        self._body: list[bytes] = []
        self._body_size = 0

    def take(self, line: bytes) -> Iterable[Payload]:
        """A line, without its end. Most say nothing by themselves."""
        if self._body:
            return self._more(line)
        if not self._plain.in_head:
            if not line:
                return self._send() if self._data else ()
            if field := _FIELD.match(line):
                self._field(field[1], line[field.end() :])
                return ()
            if line == b"{":
                self._body, self._body_size = [line], 0
                return ()
            if _CHUNK.match(line):
                return ()
            value = loaded(line)
            if value is not None and any(key in value for key in ("type", "choices", "error")):
                return self._take(value, len(line))
        return self._plain.take(line)

    def rest(self, line: bytes) -> Iterator[Payload]:
        """The stream is over: an event may be whole though its blank line is not there."""
        if line:
            yield from self.take(line)
        if self._data and self._size <= _MOST:
            value = loaded(b"\n".join(self._data))
            if value is not None or self._data == [DONE]:
                yield from self._send()
        yield from self._loose()
        yield from self._plain.rest()

    def _field(self, name: bytes, value: bytes) -> None:
        if name == b"data":
            self._size += len(value)
            if self._size <= _MOST:
                self._data.append(value)
        elif name == b"event":
            self._name = value.decode("utf-8", "replace")

    def _send(self) -> Iterator[Payload]:
        """A blank line: the event is whole."""
        data, name, size = b"\n".join(self._data), self._name, self._size
        self._data.clear()
        self._size, self._name = 0, ""
        if size > _MOST:
            yield Event(DAMAGE, text=f"an event of {size:,} bytes was left out")
        elif data.strip() == DONE:
            yield from self._done()
        elif (value := loaded(data)) is not None:
            yield from self._take(_named(value, name), size)
        elif data.strip():
            yield Event(DAMAGE, text=f"an event of {size:,} bytes that is not JSON: {_head(data)}")

    def _more(self, line: bytes) -> Iterator[Payload]:
        """A line of a JSON body that was begun."""
        self._body.append(line)
        self._body_size += len(line) + 1
        if line == b"}" and (value := loaded(b"\n".join(self._body))):
            self._body.clear()
            yield from self._take(value, len(line))
        elif line == b"}" or self._body_size > _BODY:
            yield from self._loose()

    def _loose(self) -> Iterator[Payload]:
        """A body that was none."""
        for line in self._body:
            yield from self._plain.take(line)
        self._body.clear()


def _head(data: bytes) -> str:
    return data[:200].decode("utf-8", "replace")


def _named(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The value of an event, with the type that only its name tells."""
    return value if "type" in value or not name else {"type": name, **value}
