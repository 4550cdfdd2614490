"""Raw lines of a log that may hold a text: all that do, and few that do not.

Decoding a line costs ten times what looking at its bytes does. But one text has many spellings in
JSON: a writer may escape what is not ASCII, Go and PHP escape < > & / ' too, quotes, backslashes
and controls always are, and arguments are JSON inside JSON. So the bytes are searched for the
longest piece of the text that every writer spells alike, and what is found is decoded to be sure.
Letters and digits that a writer escapes without need are not found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

Bytes = bytes | bytearray

# What writers escape at will, what JSON spells in several ways when it is written anew, and what
# our reader puts between the parts that it joins, breaks a text into pieces.
_BREAKS = frozenset("\"\\/<>&'+=`,:{}[]\x7f\ufffd")
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,4}|.)?", re.DOTALL)
_EXTRA = {"ς": "σ", "ẞ": "ß"}


class _Folding(dict[int, str]):
    """Characters as they are compared where case does not count, one for one.

    What has an upper or lower case of one character of its own equals that; ς equals Σ, ẞ equals
    ß; ß is not ss, and signs that only look like letters (the Kelvin sign) are themselves.
    """

    def __missing__(self, code: int) -> str:
        char = chr(code)
        low = _EXTRA.get(char) or char.lower()
        if len(low) != 1 or (char not in _EXTRA and char not in (low.upper(), low.title())):
            low = char
        self[code] = low
        return low


_folding = _Folding()


def folded(text: str) -> str:
    """The text as it is compared where case does not count; as long as it was."""
    return text.lower() if text.isascii() else text.translate(_folding)


def _cases(char: str) -> set[str]:
    """Every character that equals this one where case does not count."""
    low = folded(char)
    cases = {low, low.upper(), low.title(), *(c for c, to in _EXTRA.items() if to == low)}
    return {c for c in cases if len(c) == 1 and folded(c) == low}


class Piece(NamedTuple):
    """Characters that stand side by side in every spelling of a text."""

    text: str

    @property
    def plain(self) -> bool:
        """ASCII: only one spelling."""
        return self.text.isascii()

    @property
    def worth(self) -> int:
        """How much it narrows down. What is not ASCII is rare, but costs more to look for."""
        return len(self.text) * 3 if self.plain else len(self.text) + 3


def pieces_of(text: str) -> list[Piece]:
    """The pieces of a text, none of them blank. What stands behind a backslash may be an escape
    that is part of the text (arguments are shown as JSON), so it belongs to no piece."""
    pieces: list[Piece] = []
    run = ""
    for char in _ESCAPE.sub("\\\\", text) + "\\":
        breaks = char in _BREAKS or char < " " or "\ud800" <= char <= "\udfff"
        if run and (breaks or run[-1].isascii() != char.isascii()):
            pieces += [Piece(run.strip(" "))] if run.strip(" ") else []
            run = ""
        if not breaks:
            run += char
    return pieces


class Sieve:
    """Finds the lines that may hold one of some texts."""

    def __init__(self, texts: Iterable[str] = ("",), any_case: bool = False) -> None:
        """A line passes when it may hold *any* of the texts; "" lets every line pass."""
        self._any_case = any_case
        self._literal = b""
        """Looked for by `find`, in lower case if case does not count."""
        self._pattern: re.Pattern[bytes] | None = None
        self._heads: tuple[bytes, ...] = ()
        """The first character of what the pattern finds, where it is not ASCII: each way to write
        it as UTF-8."""
        self._rest: tuple[bytes, ...] = ()
        """What else the line has to hold."""
        parts = [pieces_of(text) for text in dict.fromkeys(texts)]
        self.open = not all(parts)
        """Does every line pass?"""
        if self.open:
            return
        best = [max(pieces, key=lambda piece: piece.worth) for pieces in parts]
        if len(best) == 1:
            self._set(best[0], parts[0])
        else:
            self._pattern = re.compile(b"|".join(_spelled(p.text, any_case) for p in best))

    def _set(self, best: Piece, pieces: list[Piece]) -> None:
        low = str.lower if self._any_case else str
        self._rest = tuple(low(p.text).encode() for p in pieces if p.plain and p is not best)
        if best.plain:
            self._literal = low(best.text).encode()
            return
        self._pattern = re.compile(_spelled(best.text, self._any_case))
        first = sorted(_cases(best.text[0])) if self._any_case else [best.text[0]]
        self._heads = tuple(char.encode() for char in first)

    def may_hold(self, data: Bytes) -> bool:
        """May these raw bytes, which need not be whole lines, hold one of the texts?"""
        return self.open or self._finder(self._low(data, len(data)), len(data))(0) >= 0

    def spots(self, data: Bytes) -> Iterator[int]:
        """Where in raw bytes a text may stand, at most once every 4 KB. Not for open sieves."""
        end = len(data)
        find = self._finder(self._low(data, end), end)
        at = find(0)
        while at >= 0:
            yield at
            at = find(min(at + 4096, end))

    def lines(self, data: Bytes, end: int) -> Iterator[tuple[int, int]]:
        """(start, end) of the lines in `data[:end]` that may hold one of the texts. The data
        begins with a line."""
        if self.open:
            yield from _all(data, end)
            return
        low, rest = self._low(data, end), self._rest
        find = self._finder(low, end)
        at = find(0)
        while at >= 0:
            start = low.rfind(b"\n", 0, at) + 1
            stop = low.find(b"\n", at, end)
            stop = end if stop < 0 else stop
            if not rest or all(low.find(piece, start, stop) >= 0 for piece in rest):
                yield start, stop
            at = find(stop)

    def _low(self, data: Bytes, end: int) -> Bytes:
        return data[:end].lower() if self._any_case else data

    def _finder(self, data: Bytes, end: int) -> Callable[[int], int]:
        """What finds the next place, from an offset on, at which the piece may stand; or -1."""
        literal, pattern = self._literal, self._pattern
        if pattern is None:
            return lambda at: data.find(literal, at, end)

        def match(at: int) -> int:
            found = pattern.search(data, at, end)
            return found.start() if found else -1

        return _Nearest(data, end, self._heads, pattern).find if self._heads else match


class _Nearest:
    """Finds a pattern by its first character, as UTF-8 or escaped: ten times as fast as `re`."""

    def __init__(
        self, data: Bytes, end: int, heads: tuple[bytes, ...], pattern: re.Pattern[bytes]
    ) -> None:
        self._data, self._end, self._pattern = data, end, pattern
        self._heads = (*heads, b"\\u")
        self._next = [-2] * len(self._heads)
        """Where each head stands next; -1: nowhere, -2: not looked yet."""

    def find(self, at: int) -> int:
        """Where the pattern matches, at `at` or behind it; -1: nowhere."""
        data, end, nearest = self._data, self._end, self._next
        while True:
            for i, head in enumerate(self._heads):
                if nearest[i] != -1 and nearest[i] < at:
                    nearest[i] = data.find(head, at, end)
            at = min((place for place in nearest if place >= 0), default=-1)
            if at < 0 or self._pattern.match(data, at, end):
                return at
            at += 1


def _all(data: Bytes, end: int) -> Iterator[tuple[int, int]]:
    start = 0
    while start < end:
        stop = data.find(b"\n", start, end)
        stop = end if stop < 0 else stop
        yield start, stop
        start = stop + 1


def _spelled(text: str, any_case: bool) -> bytes:
    """A pattern of every spelling of a piece: as UTF-8, or as \\uXXXX with digits in any case.

    JSON inside JSON escapes the backslashes of its escapes, so there may be more of them. Not so
    in front: `re` is fast when it knows the first bytes.
    """
    spelled = []
    for number, char in enumerate(text):
        forms: list[bytes] = []
        for one in sorted(_cases(char)) if any_case else [char]:
            forms.append(re.escape(one.encode("utf-8", "surrogatepass")))
            if not one.isascii():
                escaped = _escaped(one)
                forms.append(escaped if number else escaped.replace(b"+", b"", 1))
        spelled.append(forms[0] if len(forms) == 1 else b"(?:" + b"|".join(forms) + b")")
    return b"".join(spelled)


def _escaped(char: str) -> bytes:
    units = char.encode("utf-16-be", "surrogatepass").hex()
    digits = [units[i : i + 4] for i in range(0, len(units), 4)]
    return b"".join(rb"\\+u" + re.sub(rb"[a-f]", _both_cases, d.encode()) for d in digits)


def _both_cases(digit: re.Match[bytes]) -> bytes:
    return b"[" + digit[0] + digit[0].upper() + b"]"
