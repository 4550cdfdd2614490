"""The only door for JSON.

orjson is fast but not lossless: 2**70 comes back as a float, and NaN, lone surrogates, a byte
order mark and deep nesting are refused. So it is the fast path only where the result is provably
the same; the standard library takes over elsewhere, and one depth cap of our own makes both give
the same answer for every line. `parse` takes one line apart and never raises: what cannot be
decoded becomes a Damage that names the bytes, and intact objects beside it are salvaged (two
records on one line, a record glued to a torn one, a record before a run of NULs).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import orjson

from sessionlog.framing import Line
from sessionlog.records import Damage, Span

MAX_DEPTH = 200
"""Deepest nesting that is read or written: the same on the fast and on the slow path."""

_AROUND = 8
"""Levels that may be put around what was read, so that it can be printed."""
_MOST = 10_000
"""Records that are salvaged from one line: a damaged line of any length takes bounded memory."""
_TRIES = 64
"""How often the bytes of a broken line may be looked at to find whole objects in it."""
_DIGITS = bytes.maketrans(b"123456789", b"0" * 9)
_LONG_NUMBER = b"0" * 19
_TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
_BLANK = b" \t\r"
_FILLER = " \t\r\0"
_NOTHING = b"\0" + _BLANK
_BEGINS = b' \t\r\n{["-0123456789tfnNI\xef'
"""First bytes of what may be JSON, by the slow path's lights: a byte order mark, NaN, Infinity."""
_BOM = b"\xef\xbb\xbf"


class Parsed(NamedTuple):
    """What one line gave: JSON objects with their bytes' place, and the losses."""

    objects: list[tuple[dict[str, Any], Span]]
    damages: list[Damage]


def loads(data: bytes) -> Any:
    """The JSON value of `data`, exactly: big integers, NaN and lone surrogates included.

    Raises ValueError for anything that is no JSON or nests deeper than MAX_DEPTH.
    """
    try:
        value = orjson.loads(data)
    except ValueError:
        return _slow_loads(data)
    if _LONG_NUMBER in data.translate(_DIGITS):
        return _slow_loads(data)
    if data.count(b"{") + data.count(b"[") > MAX_DEPTH and _depth(data) > MAX_DEPTH:
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
    return value


def peek(data: bytes) -> Any:
    """A JSON value fast, for its strings alone: big integers may come back as floats.

    Raises ValueError for what the fast parser refuses, which `loads` may still read.
    """
    return orjson.loads(data)


def dumps(value: Any) -> bytes:
    """Compact JSON in UTF-8. NaN and infinities become null; lone surrogates are escaped.

    Raises ValueError for values that JSON has no word for, or that nest deeper than MAX_DEPTH.
    """
    try:
        return orjson.dumps(value)
    except TypeError:
        pass
    try:
        text = json.dumps(_plain(value, 0), ensure_ascii=False, separators=(",", ":"))
    except (TypeError, RecursionError) as error:
        raise ValueError(f"not a JSON value: {error}") from None
    return text.encode("utf-8", "backslashreplace")  # only lone surrogates need it


def parse(line: Line, plausible: Callable[[dict[str, Any]], bool] | None = None) -> Parsed:
    """Take one line apart. Never raises; a blank line gives nothing.

    `plausible` says whether a salvaged object looks like a record of the log's format, so that a
    piece inside a broken record is not taken for one.
    """
    data = line.data
    if not data or not data.strip(_BLANK):
        return Parsed([], [])
    if b"}" not in data and data[:1] == b"{":
        return _all_lost(line)  # a torn record, or junk: the closer look would find no object
    try:
        value = loads(data)
    except ValueError:
        return _salvage(line, plausible) if b"{" in data else _all_lost(line)
    span = Span(line.number, line.offset, len(data))
    if type(value) is dict:
        return Parsed([(value, span)], [])
    return Parsed([], [Damage(span, "a JSON value that is no record", torn=not line.ended)])


def _slow_loads(data: bytes) -> Any:
    if data[:1] not in _BEGINS:
        raise ValueError("not JSON")
    if _depth(data) > MAX_DEPTH:
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
    try:
        return _DECODER.decode(data.removeprefix(_BOM).decode("utf-8"))
    except (RecursionError, MemoryError) as error:
        raise ValueError(str(error)) from None


def _integer(digits: str) -> int | str:
    """Integers past the interpreter's limit on digits stay text: nothing is lost."""
    return int(digits) if len(digits) < 4300 else digits


_DECODER = json.JSONDecoder(parse_int=_integer)


def _depth(data: bytes) -> int:
    """Deepest nesting of brackets outside strings. O(bytes)."""
    if data.count(b"{") + data.count(b"[") <= MAX_DEPTH:
        return 0
    depth = deepest = 0
    for token in _TOKENS.finditer(data):
        byte = data[token.start()]
        if byte in b"{[":
            depth += 1
            deepest = max(deepest, depth)
        elif byte in b"}]":
            depth -= 1
    return deepest


def _plain(value: Any, depth: int) -> Any:
    """What json.dumps would refuse or write as no JSON, made plain."""
    if depth > MAX_DEPTH + _AROUND:
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, dict):
        return {str(key): _plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, depth + 1) for item in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    return value


def _salvage(line: Line, plausible: Callable[[dict[str, Any]], bool] | None) -> Parsed:
    """Objects and losses of a line that does not decode as a whole. O(bytes of the line).

    A record that was torn behind a colon takes the next one on the line for its value, so every
    object inside a failed one is tried, too; what they cost together is bounded.
    """
    data = line.data
    text = data.decode("utf-8", "surrogateescape")
    too_deep = _depth(data) > MAX_DEPTH
    budget = _TRIES * len(text)
    objects: list[tuple[dict[str, Any], Span]] = []
    mild: list[Damage] = []
    at = byte = 0
    marks = [0]  # byte positions: start, end of each salvaged object in turn
    while not too_deep and len(objects) < _MOST:
        start = text.find("{", at)
        if start < 0:
            break
        byte += _bytes(text, at, start)
        at = start
        try:
            value, end = _DECODER.raw_decode(text, start)
        except ValueError as error:
            budget -= _cost(error, start, len(text))
            skip = text.find('{"', start + 1)
            if skip < 0 or budget < 0:
                break
            byte += _bytes(text, at, skip)
            at = skip
            continue
        except (RecursionError, MemoryError):
            break
        length = _bytes(text, start, end)
        span = Span(line.number, line.offset + byte, length)
        likely = plausible is None or plausible(value)
        if likely:
            taken = not _nested(text, start, end, line.ended)
        else:
            taken = start == 0 and _ends(text, end) in "{"
        if taken:
            clean = data[byte : byte + length]
            try:
                clean.decode("utf-8")
            except UnicodeDecodeError:
                value = _DECODER.decode(clean.decode("utf-8", "replace"))
                mild.append(Damage(span, "bad UTF-8, shown as U+FFFD", length, mild=True))
            objects.append((value, span))
            marks += (byte, byte + length)
        byte += length
        at = end
    marks.append(len(data))
    kept = sum(span.length for _, span in objects)
    losses = _losses(line, marks, kept, too_deep, len(objects))
    return Parsed(objects, sorted(mild + losses, key=lambda damage: damage.span.offset))


def _all_lost(line: Line) -> Parsed:
    """A line that gives nothing."""
    data = line.data
    too_deep = _depth(data) > MAX_DEPTH
    if too_deep or not 0x20 < data[0] < 0x7F:  # blanks, NULs or a byte order mark in front
        return Parsed([], _losses(line, [0, len(data)], 0, too_deep, 0))
    why = "not JSON" if line.ended else "torn last line"
    span = Span(line.number, line.offset, len(data))
    return Parsed([], [Damage(span, why, torn=not line.ended)])


def _cost(error: ValueError, start: int, end: int) -> int:
    """Characters that a failed attempt looked at."""
    if not isinstance(error, json.JSONDecodeError) or error.msg.startswith("Unterminated"):
        return end - start
    return error.pos - start + 1


def _bytes(text: str, start: int, end: int) -> int:
    return len(text[start:end].encode("utf-8", "surrogateescape"))


def _nested(text: str, start: int, end: int, ended: bool) -> bool:
    """Is an object a piece of the one around it? Torn text may stand right before or behind a
    whole record, but hardly both as if it were a value there; a torn line may end at a value."""
    while start and text[start - 1] in _FILLER:
        start -= 1
    if start == 0 or text[start - 1] not in ":,[":
        return False
    after = _ends(text, end)
    return after in (",", "}", "]") or not (after or ended)


def _ends(text: str, end: int) -> str:
    """The first character behind an object that is not filler; "" at the end of the line."""
    while end < len(text) and text[end] in _FILLER:
        end += 1
    return text[end : end + 1]


def _losses(line: Line, marks: list[int], kept: int, too_deep: bool, salvaged: int) -> list[Damage]:
    """A Damage for each stretch between salvaged objects that is more than blanks."""
    losses = []
    for start, end in zip(marks[::2], marks[1::2], strict=True):
        gap = line.data[start:end]
        if start == 0 and gap.startswith(_BOM):
            start, gap = start + len(_BOM), gap[len(_BOM) :]
        said = gap.strip(_NOTHING)
        if not said and not gap.strip(_BLANK):
            continue
        last = end == len(line.data) and not line.ended
        if not said:
            why = "NUL bytes"
        elif len(said) == 1 and salvaged:
            why = "a stray byte"
        elif salvaged >= _MOST:
            why = f"more than {_MOST:,} records on one line"
        elif too_deep:
            why = f"nested deeper than {MAX_DEPTH} levels"
        elif last:
            why = "torn last line"
        elif end < len(line.data):
            why = "a torn record, with another written onto it"
        elif salvaged:
            why = "a second record on the line, cut"
        else:
            why = "not JSON"
        span = Span(line.number, line.offset + start, end - start)
        losses.append(Damage(span, why, kept, torn=last))
    return losses
