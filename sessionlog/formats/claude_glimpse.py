"""A list row of a Claude Code log from its first and last bytes, the same as from its records.

By the rules of `claude_facts` and `claude_ends`, over those few lines that they ask for. Where
they would read on beyond the bytes, or a line is no record, there is no row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from sessionlog import codec
from sessionlog.formats.claude_blocks import ABOUT, side_of
from sessionlog.formats.claude_ends import verdict_of
from sessionlog.formats.claude_events import TITLES
from sessionlog.formats.claude_facts import TAIL, Facts
from sessionlog.framing import Line
from sessionlog.records import Ending, Entry, Kind, Message, Record, Span
from sessionlog.status import judge

_TITLE = re.compile(rb'"type":"(?:%s)"' % "|".join(TITLES).encode())
_KINDS = tuple(f'{{"type":"{kind}"'.encode() for kind in TITLES)
_BOOKS, _SPOKEN = b'{"type":"', b'{"parentUuid":'
"""How bookkeeping and the conversation begin, as the client orders the keys."""
_OPEN = Ending(False)

Decode = Callable[[dict[str, Any], Span], list[Record]]


class _ShortError(Exception):
    """The bytes do not tell."""


def row(decode: Decode, path: str, head: bytes, tail: bytes, size: int) -> Entry | None:
    """See `Format.glimpse`."""
    try:
        return _row(decode, path, head, tail, size)
    except _ShortError:
        return None


def _row(decode: Decode, path: str, head: bytes, tail: bytes, size: int) -> Entry:
    start, torn = size - len(tail), False
    if not tail.endswith(b"\n"):
        last = tail.rfind(b"\n") + 1
        torn = _is_torn(tail[last:])
        tail = tail[:last] if torn else tail
    newest = _Newest(decode, tail, start)
    facts = Facts()
    facts.read_head(_oldest_first(decode, head, len(head) >= size))
    facts.read_tail(newest.titles())
    ending, _ = verdict_of(newest.records())
    ending = ending if ending and ending.ended else _OPEN
    described = facts.description(path)
    meta, updated = described.meta, newest.updated
    told = updated and meta.model and not facts.summaries
    made = meta.forked_from or meta.resumed_from
    if not told or (made and not ending.ended):
        raise _ShortError
    return Entry(
        meta.id, path, "claude", "claude", described.title, described.title, meta.model,
        meta.workdir, described.started, updated, judge(ending, torn=torn, alive=False),
        ending.reason, ending.ok, None, meta.resumed_from, meta.forked_from, size, ending.text,
    )  # fmt: skip


def _is_torn(line: bytes) -> bool:
    """Does a last line without LF not decode? One of which something can be saved is not told."""
    found = codec.parse(Line(0, 0, line, False))
    if found.objects and found.damages:
        raise _ShortError
    return bool(found.damages)


def _value(line: bytes) -> dict[str, Any]:
    try:
        value = codec.peek(line)
    except ValueError:
        raise _ShortError from None
    if type(value) is not dict:
        raise _ShortError
    return value


def _oldest_first(decode: Decode, head: bytes, whole: bool) -> Iterator[Record]:
    at = 0
    while True:
        end = head.find(b"\n", at)
        if end < 0:
            if not whole or head[at:]:
                raise _ShortError
            return
        value = _value(head[at:end])
        plain = _plain(value, Span(0, at, end - at))
        yield from (plain,) if plain else decode(value, Span(0, at, end - at))
        at = end + 1


def _plain(value: dict[str, Any], span: Span) -> Record | None:
    """A prompt or a line of an answer with no more in it than `Facts` reads: most lines of most
    logs. None: the line needs a closer look."""
    message, kind = value.get("message"), value.get("type")
    at, key = value.get("timestamp"), value.get("uuid")
    if type(message) is not dict or type(at) is not str or type(key) is not str:
        return None
    if kind == "assistant" and value.get("isApiErrorMessage") is not True:
        text, model = "", {"model": message.get("model")}
    elif kind == "user" and not value.get("isMeta") and not value.get("isCompactSummary"):
        content = message.get("content")
        if type(content) is list and len(content) == 1 and type(content[0]) is dict:
            content = content[0].get("text") if content[0].get("type") == "text" else None
        if type(content) is not str or content.lstrip()[:1] in ("<", ""):
            return None  # the client's own marks
        text, model = content, {}
    else:
        return None
    about = {name: value[name] for name in ABOUT if name in value} | model
    said = Message(kind, text, sidechain=side_of(value), extra=about)
    return Record(Kind.MESSAGE, at, said, span, 0, key)


class _Newest:
    """The last records of a log, newest first; each line is decoded once, and not before."""

    def __init__(self, decode: Decode, tail: bytes, start: int) -> None:
        self._decode, self._tail, self._start = decode, tail, start
        self._end = len(tail)
        self._made: list[Record] = []

    def records(self) -> Iterator[Record]:
        at = 0
        while True:
            while at < len(self._made):
                yield self._made[at]
                at += 1
            if self._end <= 0:
                if self._start:
                    raise _ShortError
                return
            self._back()

    def titles(self) -> Iterator[Record]:
        """Those of the last records that name the session; the others are passed over."""
        tail = self._tail
        end = stop = len(tail) - tail.endswith(b"\n")
        if self._start and end < TAIL:
            raise _ShortError
        while stop > 0 and (begin := tail.rfind(b"\n", 0, stop) + 1) >= end - TAIL:
            if tail.startswith(_BOOKS, begin):
                named = tail.startswith(_KINDS, begin)
            else:
                named = not tail.startswith(_SPOKEN, begin) and bool(
                    _TITLE.search(tail, begin, stop)
                )
            if named:
                yield from self._title(begin, stop)
            stop = begin - 1

    def _title(self, begin: int, stop: int) -> Iterator[Record]:
        value = _value(self._tail[begin:stop])
        if value.get("type") == "summary":
            raise _ShortError  # of this log or of another: more of it has to be read
        if value.get("type") in TITLES:
            yield from self._decode(value, Span(0, self._start + begin, stop - begin))

    @property
    def updated(self) -> str:
        """The time of the last record that has one, of those that were asked for."""
        return next((record.at for record in self._made if record.at), "")

    def _back(self) -> None:
        """Decode one line more."""
        stop = self._end - 1 if self._tail[self._end - 1 : self._end] == b"\n" else self._end
        begin = self._tail.rfind(b"\n", 0, stop) + 1
        if not begin and self._start:
            raise _ShortError
        self._end = begin
        span = Span(0, self._start + begin, stop - begin)
        self._made += self._decode(_value(self._tail[begin:stop]), span)[::-1]
