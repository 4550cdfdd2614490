"""Hits in a line that is too long to decode: its bytes are looked at, a few kilobytes at a time.

What stands there may be a picture in base64 or a key: only for such lines that is a hit, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

from sessionlog.formats.base import Format
from sessionlog.needle import Found, Spans, Thing, lines_of
from sessionlog.regions import BLOCK, Region
from sessionlog.sieve import Sieve
from sessionlog.window import Strip, long_records

_BEFORE, _AFTER = 2048, 6144
"""Bytes around a place that are decoded."""
_ESCAPE = re.compile(r'\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt])')


def long_hits(
    form: Format, strip: Strip, region: Region, sieve: Sieve, spans: Callable[[str], Spans]
) -> Iterator[tuple[Thing, Found]]:
    """Each line of text in the long line of a region that holds what is looked for, with the
    record of the line. An open sieve finds the line itself, without words."""
    records = long_records(form, region.line(0, region.end), region.long)
    if not records:
        return
    thing = Thing(records[0], ())
    start, end = region.offset, region.offset + region.long
    if sieve.open:
        yield thing, Found("", ())
        return
    at, seen = start, start
    while at < end:
        data = strip.read(at, min(BLOCK + _BEFORE, end - at))
        if not data:
            return
        for spot in sieve.spots(data):
            if at + spot < seen:
                continue
            low = max(at + spot - _BEFORE, seen)
            raw = strip.read(low, min(at + spot + _AFTER, end) - low)
            seen = at + spot + 4096
            for found in _found(raw, spans):
                yield thing, found
        at += BLOCK


def _found(raw: bytes, spans: Callable[[str], Spans]) -> list[Found]:
    """The lines of text in raw bytes of a line, decoded else as they stand."""
    plain = raw.decode("utf-8", "replace")
    for text in (_ESCAPE.sub(_unescaped, plain), plain):
        if places := spans(text):
            return list(lines_of(text, places))
    return []


def _unescaped(match: re.Match[str]) -> str:
    return str(json.loads(f'"{match[0]}"'))
