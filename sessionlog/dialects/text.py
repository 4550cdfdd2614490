"""Plain output: a program that prints for people, without a structure of its own.

Each line is an event the moment it is there, so that a killed run shows what it printed; when the
output ends, the whole of it is one message of the model, which is what a resume hands over. Where
its paragraphs begin and end is nothing that a reader could know, so nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Iterator

from sessionlog.dialects.base import OUTPUT, Standing
from sessionlog.dialects.plain import Plain
from sessionlog.records import Message, Payload

_HEAD, _TAIL = 256 << 10, 768 << 10
"""Bytes of the message that are kept of a longer output."""


class Text:
    """Lines in, an event each; the message comes with `rest`."""

    def __init__(self) -> None:
        self._plain = Plain()
        self._head: list[str] = []
        self._tail: list[str] = []
        self._size = 0
        self._left_out = 0

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
        if text.strip():
            yield Message("bot", text)

    def standing(self) -> Standing:
        return Standing()

    def _keep(self, line: str) -> None:
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
