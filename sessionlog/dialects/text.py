"""Plain output: a program that prints for people, without a structure of its own.

Each line is an event the moment it is there, so that a killed run shows what it printed; when the
output ends, the whole of it is one message of the model, which is what a resume hands over. Where
its paragraphs begin and end is nothing that a reader could know, so nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sessionlog.dialects.base import OUTPUT, Standing
from sessionlog.dialects.plain import Plain
from sessionlog.records import Message, Payload

_HEAD, _TAIL = 256 << 10, 768 << 10
"""Bytes of the message that are kept of a longer output."""
_CONTROL = re.compile(r"[\0-\x06\x0e-\x1a\x1c-\x1f\x7f]")
"""Controls that no terminal is sent; text has none in any encoding."""
_MOST_CONTROL, _MOST_LOST = 0.03, 0.6
"""Shares from which on an output is no text: of those, and of what is no UTF-8."""
NO_TEXT = "what came is no text"


class Text:
    """Lines in, an event each; the message comes with `rest`."""

    def __init__(self) -> None:
        self._plain = Plain()
        self._head: list[str] = []
        self._tail: list[str] = []
        self._size = 0
        self._left_out = 0
        self._said_all = self._control = self._lost = 0
        """Characters, the controls among them, and what stands for bytes that are no UTF-8."""

    def take(self, line: bytes) -> Iterator[Payload]:
        said = ""
        for event in self._plain.take(line):
            yield event
            said = event.text if event.kind == OUTPUT else said
        self._keep(said)

    def rest(self, line: bytes) -> Iterator[Payload]:
        if line:
            yield from self.take(line)
        yield from self._plain.rest()
        text = "\n".join(self._said()).strip("\n")
        if text.strip() and not self._is_odd:
            yield Message("bot", text)

    def standing(self) -> Standing:
        return Standing(remark=NO_TEXT if self._is_odd else "")

    @property
    def _is_odd(self) -> bool:
        if self._control > self._said_all * _MOST_CONTROL:
            return True
        return self._lost > self._said_all * _MOST_LOST

    def _keep(self, line: str) -> None:
        self._said_all += len(line)
        if not line.isprintable() or "\ufffd" in line:
            self._control += len(_CONTROL.findall(line))
            self._lost += line.count("\ufffd")
        self._size += len(line) + 1
        if self._size <= _HEAD:
            self._head.append(line)
            return
        self._tail.append(line)
        if self._size > _HEAD + 2 * _TAIL:
            self._shorten()

    def _shorten(self) -> None:
        """Let the oldest lines of the tail go, so that it is bounded."""
        kept, first = 0, len(self._tail)
        while first and kept + len(self._tail[first - 1]) < _TAIL:
            first -= 1
            kept += len(self._tail[first]) + 1
        self._left_out += first
        del self._tail[:first]
        self._size = _HEAD + kept

    def _said(self) -> list[str]:
        if not self._left_out:
            return self._head + self._tail
        return [*self._head, f"[{self._left_out} lines left out]", *self._tail]
