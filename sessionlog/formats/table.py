"""The formats in the order in which they are asked, and the asking.

Content decides; names lie. The heads of native logs and of Codex's are known by their first
bytes, because a listing of ten thousand logs asks ten thousand times, and because Codex's first
line is longer than what a listing reads at first.
"""

from __future__ import annotations

import re
from functools import cache

from sessionlog import codec
from sessionlog.formats.base import Format, Head
from sessionlog.formats.native import Native
from sessionlog.framing import split

_NATIVE = Native()
_LINES = 50
_NATIVE_HEAD = re.compile(rb'\s*\{\s*"kind"\s*:\s*"(?:meta|message|event|result|reset)"')
_CODEX_HEAD = re.compile(
    rb'\{"timestamp":"[^"\\]*",(?:"ordinal":\d+,)?"type":"session_meta","payload":\{'
)


@cache
def formats() -> tuple[Format, ...]:
    """Every format, in the order in which they are asked. Adding an agent adds one here.

    They are imported when the first log asks: native logs do without, and the screen is there
    sooner.
    """
    from sessionlog.formats.chat import Chat
    from sessionlog.formats.claude import Claude
    from sessionlog.formats.codex import Codex
    from sessionlog.formats.pi import Pi

    return _NATIVE, Codex(), Claude(), Pi(), Chat()


def named(name: str) -> Format | None:
    """The format of that name."""
    if name == _NATIVE.name:
        return _NATIVE
    return next((form for form in formats() if form.name == name), None)


def recognise(name: str, folder: str, data: bytes) -> Format | None:
    """The format of a log by its file name, its folder and its first bytes."""
    if data.startswith(b'{"kind":"meta",'):
        return _NATIVE
    if _CODEX_HEAD.match(data):
        return named("codex")
    if b"\n" not in data and _NATIVE_HEAD.match(data):
        return _NATIVE  # a first line longer than what was read
    head = head_of(name, folder, data)
    return next((form for form in formats() if form.recognises(head)), None)


def head_of(name: str, folder: str, data: bytes) -> Head:
    """What formats look at: the first JSON objects. Damaged lines are passed over, and so is a
    last line that the block cuts off, unless there is no other."""
    lines = split(data)[:_LINES]
    if len(lines) > 1 and not lines[-1].ended:
        lines.pop()
    values = [value for line in lines for value, _ in codec.parse(line).objects]
    return Head(name, folder, tuple(values), data)
