"""The formats in the order in which they are asked, and the asking.

Content decides; names lie. The native head is known by its first bytes, because a listing of ten
thousand logs asks ten thousand times.
"""

from __future__ import annotations

from sessionlog import codec
from sessionlog.formats.base import Format, Head
from sessionlog.formats.chat import Chat
from sessionlog.formats.codex import Codex
from sessionlog.formats.native import Native
from sessionlog.framing import split

_NATIVE = Native()
FORMATS: tuple[Format, ...] = (_NATIVE, Codex(), Chat())
"""Adding an agent adds one here."""
_LINES = 50


def recognise(name: str, folder: str, data: bytes) -> Format | None:
    """The format of a log by its file name, its folder and its first bytes."""
    if data.startswith(b'{"kind":"meta",'):
        return _NATIVE
    head = head_of(name, folder, data)
    return next((form for form in FORMATS if form.recognises(head)), None)


def head_of(name: str, folder: str, data: bytes) -> Head:
    """What formats look at: the first JSON objects. Damaged lines are passed over; a last line
    that the block cuts off counts only where it is whole."""
    values = []
    for line in split(data)[:_LINES]:
        values += [value for value, _ in codec.parse(line).objects]
    return Head(name, folder, tuple(values), data)
