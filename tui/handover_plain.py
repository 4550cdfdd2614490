"""A conversation that goes over as plain messages, as lines: each message as the other agent gets
it, calls and their results told in words. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sessionlog.formats.base import Said
from sessionlog.secrets import mask
from sessionlog.text import visible, wrap
from tui.lines import Line
from tui.row_lines import Clock, Columns, Look, lines_of
from tui.rows import Row

_HEAD, _TAIL = 13, 6
"""Lines of a message, from its start and from its end, where it has more than both and one."""
_SLICE = 8 << 10
"""Characters at each end of a long message that are laid out: more than those lines hold."""
_TOLD = ("[called ", "[result of ")
"""How calls in words begin."""


def plain_lines(said: Iterable[Said], columns: Columns, clock: Clock, *, bare: bool) -> list[Line]:
    """The messages one below the other. O(messages)."""
    lines: list[Line] = []
    above = ""
    for message in said:
        lines += _message(message, Look(columns, clock, above), bare)
        above = clock.tell(message.at, columns.clock == 5) or above
    return lines


def _message(message: Said, look: Look, bare: bool) -> Iterator[Line]:
    room = look.columns.width - look.columns.body - 1
    is_users = message.role == "user"
    first, *rest = _texts(message.text, max(room, 4), bare)
    sort, sign = ("user", "user") if is_users else ("agent", "")
    row = Row((0, 0), sort, sort, "", sign, at=message.at)
    (line,) = lines_of(row, look)
    tint = "surface" if is_users else ""
    yield Line([*line.left[:-1], (first, _style(first, is_users))], line.right, tint)
    for text in rest:
        blank = " " * look.columns.body
        yield Line([(blank, ""), (text, _style(text, is_users))], tint=tint)


def _style(text: str, is_users: bool) -> str:
    if text.startswith(_TOLD) or is_users:
        return "fg-2" if text.startswith(_TOLD) else "fg-1"
    return "fg"


def _texts(text: str, room: int, bare: bool) -> list[str]:
    """Its lines; of a long one the first, the last, and how much is between them."""
    most = _HEAD + _TAIL + 1
    if len(text) <= 2 * _SLICE:
        lines = wrap(_shown(text, bare), room, len(text) + 1) or [""]
        if len(lines) <= most:
            return lines
        left = f"+ {len(lines) - most + 1:,} lines"
        return [*lines[:_HEAD], left, *lines[-_TAIL:]]
    head = wrap(_shown(text[:_SLICE], bare), room, _SLICE)[:_HEAD]
    tail = wrap(_shown(text[-_SLICE:], bare), room, _SLICE)[-_TAIL:]
    return [*head, f"+ much of {len(text):,} characters", *tail]


def _shown(text: str, bare: bool) -> str:
    return visible(text if bare else mask(text), newlines=True)
