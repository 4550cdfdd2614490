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
        sort = _sort(char)
        breaks = sort == "break"
        if run and (breaks or sort != _sort(run[-1])):
            pieces += [Piece(run.strip(" "))] if run.strip(" ") else []
            run = ""
        if not breaks:
            run += char
    return pieces


def _sort(char: str) -> str:
    """What a writer may treat alike: ASCII, the basic plane, emoji and the rest; or a break."""
    if char in _BREAKS or char < " " or not char.isprintable():
        return "break"
    return "ascii" if char.isascii() else "basic" if char <= "\uffff" else "far"


class Sieve:
    """Finds the lines that may hold one of some texts."""

    def __init__(self, texts: Iterable[str] = ("",), any_case: bool = False) -> None:
        """A line passes when it may hold *any* of the texts; "" lets every line pass."""
        self._any_case = any_case
        self._literal = b""
        """Looked for by `find`, in lower case if case does not count."""
        self._pattern: re.Pattern[bytes] | None = None
        self._heads: tuple[bytes, ...] = ()
        """Where what is looked for is not ASCII: how it may begin as UTF-8."""
        self._escaped: re.Pattern[bytes] | None = None
        """The same as escapes."""
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
        heads = sorted(_cases(best.text[0])) if self._any_case else [best.text]
        self._heads = tuple(head.encode() for head in heads)
        self._escaped = re.compile(_spelled(best.text, self._any_case, escaped=True))

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

        return self._nearest(data, end) if self._heads else match

    def _nearest(self, data: Bytes, end: int) -> Callable[[int], int]:
        """Finds a piece that is not ASCII in either spelling, whichever comes first."""
        pattern, escaped = self._pattern, self._escaped
        assert pattern is not None
        assert escaped is not None

        def by_escapes(at: int) -> int:
            found = escaped.search(data, at, end)
            return found.start() if found else -1

        ways = [_literally(data, end, head) for head in self._heads]
        if data.find(b"\\u", 0, end) >= 0:
            ways.append(by_escapes)
        places = [-2] * len(ways)  # -1: nowhere any more, -2: not looked yet

        def find(at: int) -> int:
            while True:
                for i, way in enumerate(ways):
                    if places[i] != -1 and places[i] < at:
                        places[i] = way(at)
                at = min((place for place in places if place >= 0), default=-1)
                if at < 0 or pattern.match(data, at, end):
                    return at
                at += 1

        return find


def _literally(data: Bytes, end: int, literal: bytes) -> Callable[[int], int]:
    return lambda at: data.find(literal, at, end)


def _all(data: Bytes, end: int) -> Iterator[tuple[int, int]]:
    start = 0
    while start < end:
        stop = data.find(b"\n", start, end)
        stop = end if stop < 0 else stop
        yield start, stop
        start = stop + 1


def _spelled(text: str, any_case: bool, escaped: bool = False) -> bytes:
    """A pattern of every spelling of a piece: as UTF-8 (unless `escaped`), or as \\uXXXX with
    digits in any case.

    JSON inside JSON escapes the backslashes of its escapes, so there may be more of them. Not so
    in front: `re` is fast when it knows the first bytes.
    """
    spelled = []
    for number, char in enumerate(text):
        forms: list[bytes] = []
        for one in sorted(_cases(char)) if any_case else [char]:
            if one.isascii() or not escaped:
                forms.append(re.escape(one.encode("utf-8", "surrogatepass")))
            if not one.isascii():
                form = _escaped(one)
                forms.append(form if number else form.replace(b"+", b"", 1))
        spelled.append(forms[0] if len(forms) == 1 else b"(?:" + b"|".join(forms) + b")")
    return b"".join(spelled)


def _escaped(char: str) -> bytes:
    units = char.encode("utf-16-be", "surrogatepass").hex()
    digits = [units[i : i + 4] for i in range(0, len(units), 4)]
    return b"".join(rb"\\+u" + re.sub(rb"[a-f]", _both_cases, d.encode()) for d in digits)


def _both_cases(digit: re.Match[bytes]) -> bytes:
    return b"[" + digit[0] + digit[0].upper() + b"]"
