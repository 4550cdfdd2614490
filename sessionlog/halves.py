"""The other half of a call, looked for near it in the bytes of a log, by the call's id.

A hit names the tool of a response, which some agents write on the request only, and says how the
call of a request went. Looks `FAR` bytes and no further.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import NamedTuple

from sessionlog.formats.base import Format
from sessionlog.framing import Line
from sessionlog.records import Activity, Message
from sessionlog.regions import line_start
from sessionlog.source import decode
from sessionlog.window import LONG, Strip

FAR = 4 << 20
"""Bytes in which the other half is looked for."""
_FIRST = 1 << 15
_MENTIONS = 64
"""Lines with the id that are looked at: progress names it too."""
_KEPT = 4096


class Answer(NamedTuple):
    """How a call went."""

    ok: bool | None
    """None: not known."""
    open: bool = False
    """Nothing answers it up to the end of the log."""


class Halves:
    """Looks up other halves in one log; remembers the latest."""

    def __init__(self, form: Format, strip: Strip) -> None:
        self._form, self._strip = form, strip
        self._tools: OrderedDict[str, str] = OrderedDict()
        self._answers: OrderedDict[tuple[str, int], Answer] = OrderedDict()

    def tool(self, response: Activity, offset: int) -> str:
        """The tool that a response at `offset` answers for; "" when it is not found."""
        if response.name or not response.id:
            return response.name
        if response.id not in self._tools:
            asked = next(self._before(response.id, offset), None)
            _keep(self._tools, response.id, asked.name if asked else "")
        return self._tools[response.id]

    def answer(self, request: Activity, offset: int) -> Answer:
        """How the call went that the line at `offset` asks for."""
        if not request.id:
            return Answer(None)
        key = request.id, offset
        if key not in self._answers:
            found = next(self._after(request.id, offset), None)
            open_ = found is None and self._strip.size - offset <= FAR
            _keep(self._answers, key, Answer(None if found is None else went_well(found), open_))
        return self._answers[key]

    def _before(self, id: str, offset: int) -> Iterator[Activity]:
        for line in self._mentions(id, offset, -1):
            for message in self._messages(line):
                half = message.activity
                if half is not None and half.kind == "request" and half.id == id:
                    yield half

    def _after(self, id: str, offset: int) -> Iterator[Message]:
        for line in self._mentions(id, offset, 1):
            for message in self._messages(line):
                half = message.activity
                if half is not None and half.kind == "response" and half.id == id:
                    yield message

    def _messages(self, line: Line) -> Iterator[Message]:
        for record in decode(self._form, line)[0]:
            if isinstance(record.payload, Message):
                yield record.payload

    def _mentions(self, id: str, offset: int, way: int) -> Iterator[Line]:
        """The lines at and behind (before) `offset` that hold the id, nearest first."""
        mark = id.encode("utf-8", "surrogatepass")
        step, near = _FIRST, offset
        left = _MENTIONS
        while left and abs(near - offset) < FAR:
            far = min(near + step, self._strip.size) if way > 0 else max(near - step, 0)
            low, high = min(near, far), max(near, far)
            if low == high:
                return
            data = self._strip.read(low, high - low + len(mark) - 1)
            at = data.find(mark) if way > 0 else data.rfind(mark)
            while at >= 0 and left:
                line = self._line(low + at)
                if line is not None:
                    yield line
                left -= 1
                if way > 0:
                    behind = (line.offset + len(line.data) if line else low + at) - low + 1
                    at = data.find(mark, behind)
                else:
                    at = data.rfind(mark, 0, max((line.offset if line else low + at) - low, 0))
            near, step = far, step * 2

    def _line(self, offset: int) -> Line | None:
        """The line around a byte; None for one that is too long."""
        start, end = line_start(self._strip, offset), self._strip.line_end(offset)
        if end - start > LONG:
            return None
        return Line(0, start, self._strip.read(start, end - start), True)


def went_well(message: Message) -> bool | None:
    """See `outcome.went_well`."""
    from sessionlog import outcome  # most searches ask no call

    return outcome.went_well(message)


def _keep(kept: OrderedDict, key: object, value: object) -> None:  # type: ignore[type-arg]
    kept[key] = value
    if len(kept) > _KEPT:
        kept.popitem(last=False)
