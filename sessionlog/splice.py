"""Change a member of a JSON object inside its bytes: every other byte stays as it stands.

Decoding and encoding again loses things (2**70, NaN, doubled keys, the order and spacing of a
writer that is not ours), so what must change in a copied line is cut in. The bytes have to be an
object that the reader takes; bad UTF-8 reads as U+FFFD, as it does there. Of doubled keys the last
counts, as it does for the decoder.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sessionlog import codec

_SPACE = re.compile(rb"[ \t\r\n]*+")
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_SCALAR = re.compile(rb'[^\[\]{}",:\s]++')
_NEXT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}]', re.DOTALL)


class Member(NamedTuple):
    """A value inside an object or an array, by place: the value is data[start:end]."""

    key: str
    """"" in an array."""
    begin: int
    """Where its key begins (in an array: its value)."""
    start: int
    end: int


def loads(data: bytes) -> Any:
    """The JSON value of `data` as the reader takes it: bad UTF-8 is replaced, not refused."""
    try:
        return codec.loads(data)
    except UnicodeDecodeError:
        return codec.loads(clean(data))


def object_of(data: bytes) -> dict[str, Any]:
    """The JSON object that a line is; {} for a line that is none."""
    try:
        value = loads(data)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def members(data: bytes, at: int = 0) -> list[Member]:
    """The members of the object, or the items of the array, that begins at `at`. O(bytes)."""
    at = _space(data, at)
    keyed = data[at : at + 1] == b"{"
    found = []
    at = _space(data, at + 1)
    while data[at : at + 1] not in (b"}", b"]"):
        begin, key = at, ""
        if keyed:
            at = _string(data, at)
            key = str(loads(data[begin:at]))
            at = _space(data, _space(data, at) + 1)
        end = _value(data, at)
        found.append(Member(key, begin, at, end))
        at = _space(data, end)
        if data[at : at + 1] == b",":
            at = _space(data, at + 1)
    return found


def member(data: bytes, path: Sequence[str], at: int = 0) -> Member | None:
    """The member that the keys of `path` lead to, None when there is none."""
    found: Member | None = None
    for key in path:
        at = _space(data, found.start if found else at)
        if data[at : at + 1] != b"{":
            return None
        found = next((m for m in reversed(members(data, at)) if m.key == key), None)
        if found is None:
            return None
    return found


def value(data: bytes, path: Sequence[str], at: int = 0) -> bytes:
    """The bytes of the value at `path`, b"" when there is none."""
    found = member(data, path, at)
    return data[found.start : found.end] if found else b""


def clean(data: bytes) -> bytes:
    """A value's bytes for a line of ours: as they stand, but with bad UTF-8 replaced."""
    return data.decode("utf-8", "replace").encode()


def put(data: bytes, at: int, values: Mapping[str, bytes]) -> bytes:
    """The object at `at` with these members (JSON bytes) in place of its own, or behind them."""
    at = _space(data, at)
    there = {m.key: m for m in members(data, at)}
    changes = [(m.start, m.end, values[key]) for key, m in there.items() if key in values]
    new = b",".join(
        codec.dumps(key) + b":" + text for key, text in values.items() if key not in there
    )
    if new:
        last = max((m.end for m in there.values()), default=at + 1)
        changes.append((last, last, b"," + new if there else new))
    for start, end, text in sorted(changes, reverse=True):
        data = data[:start] + text + data[end:]
    return data


def without(data: bytes, key: str) -> bytes:
    """The object without a member, however often that stands there."""
    while found := member(data, (key,)):
        before, after = data[: found.begin].rstrip(), data[found.end :].lstrip()
        if before.endswith(b","):
            before = before[:-1]
        else:
            after = after.removeprefix(b",")
        data = before + after
    return data


def only(data: bytes, at: int, kept: Sequence[bool]) -> bytes:
    """The array at `at` with the kept items alone."""
    at = _space(data, at)
    items = members(data, at)
    end = _value(data, at)
    inside = b",".join(data[m.start : m.end] for m, keep in zip(items, kept, strict=True) if keep)
    return data[: at + 1] + inside + data[end - 1 :]


def _space(data: bytes, at: int) -> int:
    if at == 0 and data.startswith(b"\xef\xbb\xbf"):
        at = 3
    found = _SPACE.match(data, at)
    return found.end() if found else at


def _string(data: bytes, at: int) -> int:
    found = _STRING.match(data, at)
    if found is None:
        raise ValueError(f"no JSON string at byte {at}")
    return found.end()


def _value(data: bytes, at: int) -> int:
    """Where the value that begins at `at` ends."""
    if data[at : at + 1] == b'"':
        return _string(data, at)
    if data[at : at + 1] not in (b"{", b"["):
        found = _SCALAR.match(data, at)
        if found is None:
            raise ValueError(f"no JSON value at byte {at}")
        return found.end()
    depth = 0
    for token in _NEXT.finditer(data, at):
        first = data[token.start()]
        depth += (first in b"{[") - (first in b"}]")
        if depth == 0:
            return token.end()
    raise ValueError(f"no end of the JSON value at byte {at}")
