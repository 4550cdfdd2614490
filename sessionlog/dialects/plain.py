"""Lines that are no part of a dialect's stream: what a program prints, and HTTP around a body.

Every line becomes an event, so that nothing that was printed is lost. Status lines, request lines
and headers up to the blank line are one event together; the values of headers that hold keys or
tell whose they are get masked here, because their shape alone does not give them away. So do the
lines of a private key, which only the line before them does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sessionlog.dialects.base import DAMAGE, OUTPUT, PRINTED, shortened
from sessionlog.records import Event
from sessionlog.secrets import MASKED

HTTP = "http"
_START = re.compile(
    rb"(?:[<>] )?(?:HTTP/[\d.]+ \d{3}\b|(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) \S+ HTTP/[\d.]+)"
)
_HEADER = re.compile(rb"(?:[<>] )?[A-Za-z0-9][A-Za-z0-9_-]*:(?:[ \t]|$)")
_IN_HEAD = (
    r"[A-Za-z0-9_-]*(?:key|token|secret|auth|cookie|credential|organi[sz]ation|project)[\w-]*"
)
_ANYWHERE = (
    r"(?:proxy-)?authorization|(?:set-)?cookie|(?:[a-z]+-){0,2}api-?key|x-(?:amz-|auth-|[a-z]+-)*token"
    r"|openai-(?:organization|project)|anthropic-organization-id"
)
_SECRET, _KNOWN = (
    re.compile(rf"^((?:[<>*] ?)?(?:{names})[ \t]*:[ \t]*)\S.*$", re.I)
    for names in (_IN_HEAD, _ANYWHERE)
)
"""Headers whose values are nobody's business: among headers any such name, elsewhere the known."""
_MOST = 200
"""Lines of one head of HTTP."""
_BODY = re.compile(r"[\s>|0-9:→+-]*(?:[A-Za-z0-9-]+: .*|[A-Za-z0-9+/=\\]*)[\s\"',]*$")
"""A line of a private key as it may be printed: numbered, quoted, or a header of its own."""
_KEY_LINES = 400
"""Lines of the longest private key."""


class Plain:
    """Lines in, events out."""

    def __init__(self, kind: str = OUTPUT) -> None:
        self._kind = kind
        self._head: list[str] = []
        self._key = 0
        """Lines since a private key began; 0: in none."""

    def take(self, line: bytes) -> Iterator[Event]:
        """A line, without its end. A blank one is no event, and ends a head of HTTP."""
        if _START.match(line) or (self._head and _HEADER.match(line)):
            self._head.append(self._said(line, _SECRET))
            if len(self._head) >= _MOST:
                yield from self.rest()
            return
        yield from self.rest()
        if line.strip(b"<> \t\r"):
            yield Event(self._kind, text=self._said(shortened(line), _KNOWN))
        if len(line) > PRINTED:
            yield Event(DAMAGE, text=f"a line of {len(line):,} bytes: the end of it was left out")

    def rest(self) -> Iterator[Event]:
        """A head of HTTP that is not ended."""
        if self._head:
            yield Event(HTTP, text="\n".join(self._head))
            self._head.clear()

    @property
    def in_head(self) -> bool:
        """Is a head of HTTP open?"""
        return bool(self._head)

    def _said(self, line: bytes, secret: re.Pattern[str]) -> str:
        """The text of a line, without what only its place shows to be secret."""
        text = line.decode("utf-8", "replace")
        if ":" in text:
            text = secret.sub(rf"\1{MASKED}", text)
        if "-----BEGIN " in text and "PRIVATE KEY" in text:
            self._key = 0 if "-----END " in text else 1
        elif "-----END " in text:
            self._key = 0
        elif self._key:
            self._key = self._key + 1 if _BODY.match(text) and self._key < _KEY_LINES else 0
            return MASKED if self._key else text
        return text


def is_head(line: bytes) -> bool:
    """Does a head of HTTP begin with this line?"""
    return bool(_START.match(line))
