"""A JSON document taken apart without decoding it: its members, or the items of its arrays.

Each comes as its own bytes on one line, so numbers, unknown fields and the order of keys stay as
they stand. A document that is cut off, or broken, gives what is whole before that place. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Container, Generator, Iterator
from typing import NamedTuple

from sessionlog import codec

_BLANK = re.compile(rb"[ \t\r\n]*+")
_BREAK = re.compile(rb"[ \t\r]*\n[ \t\r\n]*")
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_SCALAR = re.compile(rb'[^\[\]{}",:\s]++')
_NEXT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|["\[\]{}]', re.DOTALL)
_BOM = b"\xef\xbb\xbf"

_Way = Generator["Piece", None, int]


class Piece(NamedTuple):
    """A value of the document."""

    key: str
    """The member's; "" in a document that is an array."""
    data: bytes
    """On one line: no LF is in it."""
    item: bool
    """Is it an item of the member's array?"""
    whole: bool
    """False: from here on the document is cut off or broken; `data` is what is left of it."""


def walk(data: bytes, arrays: Container[str] = ()) -> Iterator[Piece]:
    """The members of a document in order; the items of its `arrays` one by one, after an empty
    array that says that it is there. A piece that is not whole is the last. O(bytes)."""
    at = _skip(data, len(_BOM) if data.startswith(_BOM) else 0)
    if data[at : at + 1] == b"[":
        end = yield from _items(data, at, "")
    elif data[at : at + 1] == b"{":
        end = yield from _members(data, at, arrays)
    else:
        yield _rest(data, at, "", item=False)
        return
    if end and data[end:].strip():
        yield _rest(data, end, "", item=False)


def opening(data: bytes) -> dict[str, bytes]:
    """The members that begin in the first bytes of a document, each with what there is of it; of
    an array its first item, under ""."""
    found: dict[str, bytes] = {}
    for piece in walk(data):
        found.setdefault(piece.key, piece.data)
    return found


def joined(members: dict[str, bytes]) -> bytes:
    """An object of these members."""
    return b"{" + b",".join(codec.dumps(key) + b":" + text for key, text in members.items()) + b"}"


# -- the walk ----------------------------------------------------------------------------------
# Each part of it gives where it ended; 0 when it broke off there, and has told so.


def _members(data: bytes, at: int, arrays: Container[str]) -> _Way:
    at = _skip(data, at + 1)
    while data[at : at + 1] != b"}":
        key = _STRING.match(data, at)
        colon = _skip(data, key.end()) if key else at
        if key is None or data[colon : colon + 1] != b":":
            yield _rest(data, at, "", item=False)
            return 0
        name, start = key[0][1:-1].decode("utf-8", "replace"), _skip(data, colon + 1)
        if name in arrays and data[start : start + 1] == b"[":
            yield Piece(name, b"[]", False, True)
            end = yield from _items(data, start, name)
        else:
            end = yield from _one(data, start, name, item=False)
        if not end:
            return 0
        at = yield from _next(data, end, b"}", name, item=False)
        if not at:
            return 0
    return at + 1


def _items(data: bytes, at: int, key: str) -> _Way:
    at = _skip(data, at + 1)
    while data[at : at + 1] != b"]":
        end = yield from _one(data, at, key, item=True)
        if not end:
            return 0
        at = yield from _next(data, end, b"]", key, item=True)
        if not at:
            return 0
    return at + 1


def _one(data: bytes, at: int, key: str, *, item: bool) -> _Way:
    """A value."""
    end = _value(data, at)
    if end:
        yield Piece(key, _line(data[at:end]), item, True)
    else:
        yield _rest(data, at, key, item=item)
    return end


def _next(data: bytes, end: int, close: bytes, key: str, *, item: bool) -> _Way:
    """Where the next value begins, or where the closing bracket is."""
    at = _skip(data, end)
    if data[at : at + 1] == b",":
        return _skip(data, at + 1)
    if data[at : at + 1] == close:
        return at
    yield _rest(data, end, key, item=item)
    return 0


def _rest(data: bytes, at: int, key: str, *, item: bool) -> Piece:
    """What is left; where nothing is, the last byte, which is no JSON value either."""
    left = data[at:] if data[at:].strip() else data.rstrip()[-1:]
    return Piece(key, _line(left), item, False)


def _line(data: bytes) -> bytes:
    """A value on one line. A line feed inside a string is no JSON; there it reads as a blank."""
    return _BREAK.sub(b" ", data) if b"\n" in data else data


def _skip(data: bytes, at: int) -> int:
    found = _BLANK.match(data, at)
    return found.end() if found else at


def _value(data: bytes, at: int) -> int:
    """Where the value that begins at `at` ends; 0 for one that does not."""
    first = data[at : at + 1]
    if first not in (b"{", b"["):
        found = (_STRING if first == b'"' else _SCALAR).match(data, at)
        return found.end() if found else 0
    depth = 0
    for token in _NEXT.finditer(data, at):
        if token[0] == b'"':  # of a string that does not end
            return 0
        bracket = data[token.start()]
        depth += (bracket in b"{[") - (bracket in b"}]")
        if depth == 0:
            return token.end()
    return 0
