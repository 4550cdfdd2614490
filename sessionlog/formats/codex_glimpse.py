"""A list row of a Codex log from a few of its lines, the same as from its records.

The prompt stands behind 25 KB of instructions, so the file is read once more; of its lines those
are decoded that tell what a row shows. Where they do not tell, there is no row.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from typing import Any

from sessionlog import codec
from sessionlog.formats.codex_events import STARTED, ended_by
from sessionlog.formats.codex_head import read_head
from sessionlog.records import Ending, Entry, Event, Message, Record, Reset, Span, shown_type
from sessionlog.status import judge

HEAD = re.compile(rb'\{"timestamp":"[^"\\]*",(?:"ordinal":\d+,)?"type":"session_meta","payload":\{')
_FIRST = 96 * 1024
"""Bytes in which the prompt is looked for."""
_TELLS = re.compile(
    rb'\{"timestamp":"[^"\\]*",(?:"ordinal":\d+,)?"type":(?:"session_meta"|"turn_context"'
    rb'|"response_item","payload":\{(?!"type":"message",.{0,100}"role":"developer")'
    rb'|"event_msg","payload":\{"type":"user_message")'
)
_OPEN = Ending(False)

Decode = Callable[[dict[str, Any], Span], list[Record]]


class _ShortError(Exception):
    """The bytes do not tell."""


def row(decode: Decode, path: str, head: bytes, tail: bytes, size: int) -> Entry | None:
    """See `Format.glimpse`."""
    if not HEAD.match(head) or not tail.endswith(b"\n"):
        return None
    try:
        return _row(decode, path, _more(path, head, size), tail, size)
    except (_ShortError, OSError):
        return None


def _row(decode: Decode, path: str, head: bytes, tail: bytes, size: int) -> Entry:
    facts = read_head(_oldest_first(decode, head))
    last: list[str] = []
    ending = _ending(_newest_first(decode, tail, size, last))
    described = facts.description(path)
    meta = described.meta
    made = meta.forked_from is not None or bool(meta.resumed_from)
    if not facts.whole or not last or (made and not ending.ended):
        raise _ShortError
    return Entry(
        meta.id, path, "codex", "codex", described.title, described.title, meta.model,
        meta.workdir, described.started, last[0], judge(ending, torn=False, alive=False),
        ending.reason, ending.ok if ending.ended else None, None, meta.resumed_from,
        meta.forked_from, size, ending.text,
    )  # fmt: skip


def _more(path: str, head: bytes, size: int) -> bytes:
    """The first bytes of the file, where it is the file that `head` is from."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        data = os.pread(fd, _FIRST, 0)
    finally:
        os.close(fd)
    if not data.startswith(head) or (len(data) != size and len(data) < _FIRST):
        raise _ShortError  # a store's lines, or a log that grew
    return data


def _oldest_first(decode: Decode, data: bytes) -> Iterator[Record]:
    at = 0
    while (end := data.find(b"\n", at)) >= 0:
        if _TELLS.match(data, at):
            yield from decode(_value(data[at:end]), Span(0, at, end - at))
        at = end + 1
    raise _ShortError


def _newest_first(decode: Decode, tail: bytes, size: int, last: list[str]) -> Iterator[Record]:
    """The records of the last lines; `last` gets the time of the last that has one."""
    start, end = size - len(tail), len(tail) - 1
    while True:
        begin = tail.rfind(b"\n", 0, end) + 1
        if not begin and start:
            raise _ShortError
        span = Span(0, start + begin, end - begin)
        for record in reversed(decode(_value(tail[begin:end]), span)):
            if record.at and not last:
                last.append(record.at)
            yield record
        if not begin:
            raise _ShortError
        end = begin - 1


def _value(line: bytes) -> dict[str, Any]:
    try:
        value = codec.peek(line)
    except ValueError:
        raise _ShortError from None
    if type(value) is not dict:
        raise _ShortError
    return value


def _ending(newest_first: Iterator[Record]) -> Ending:
    """As `Codex.ending` has it, as far as the last bytes decide it; open ones without words."""
    spoke = False
    for record in newest_first:
        payload = record.payload
        if isinstance(payload, Reset) and payload.turns and not spoke:
            raise _ShortError
        if isinstance(payload, Event):
            if payload.ends and not spoke:
                return ended_by(payload, newest_first)
            if payload.ends:
                break
            if spoke and (payload.kind in STARTED or "turn_id" in payload.extra):
                return _OPEN
        elif isinstance(payload, Message) and not spoke:
            said = shown_type(payload)
            if said not in ("system", "summary", "assistant"):
                return _OPEN
            spoke = said == "assistant"
    raise _ShortError
