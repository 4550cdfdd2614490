"""A stream whose dialect is not known yet: its first lines tell it.

What is no dialect's line is recorded at once, as what was printed: a program may say a few words
before its stream begins. After so many such lines it is plain output.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from sessionlog.dialects.base import Dialect, Standing
from sessionlog.dialects.plain import Plain, is_head
from sessionlog.dialects.table import dialect, named_by
from sessionlog.records import Payload

LINES, BYTES = 50, 64 << 10
"""What may come before the first line that tells."""


class Guess:
    """Lines in; what the dialect makes of them out."""

    def __init__(self) -> None:
        self.name = ""
        """The name of the dialect; "" until it is known."""
        self.found: Dialect | None = None
        """The dialect itself, then."""
        self._plain = Plain()
        self._held: list[bytes] = []
        self._size = 0

    def take(self, line: bytes) -> Iterator[Payload]:
        if self.found is None:
            self.name = named_by(line) or self._body(line)
            if not self.name:
                yield from self._hold(line)
                return
            yield from self._plain.rest()
            self.found = dialect(self.name)
            self._held.clear()
        yield from self.found.take(line)

    def rest(self, line: bytes) -> Iterator[Payload]:
        if line:
            yield from self.take(line)
        if self.found is None:
            self.found = self._text()
        yield from self.found.rest(b"")

    def standing(self) -> Standing:
        return self.found.standing() if self.found else Standing()

    def _hold(self, line: bytes) -> Iterator[Payload]:
        """A line that tells nothing; one too many tells that this is plain output."""
        yield from self._plain.take(line)
        self._held.append(line)
        self._size += len(line)
        if len(self._held) > LINES or self._size > BYTES:
            self.found = self._text()

    def _text(self) -> Dialect:
        """Plain output, which knows the lines that were recorded already."""
        self.name = "text"
        found = dialect(self.name)
        for line in self._held:
            deque(found.take(line), 0)
        self._held.clear()
        return found

    def _body(self, line: bytes) -> str:
        """JSON over several lines behind a head of HTTP: an error, in OpenAI's manner."""
        return "openai-sse" if line == b"{" and any(map(is_head, self._held)) else ""
