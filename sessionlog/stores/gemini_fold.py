"""Gemini CLI's log as lines that can each be read alone.

The client writes a message whenever it knows more of it (first its text, then its calls and their
results), takes the whole conversation over from its memory when it resumes, and goes back by
`$rewindTo`; its own reader folds that (`loadConversationRecord`, 0.61.0): an id that comes again
replaces the earlier message in its place. Every line keeps its bytes, its number and its place
here; one that repeats something gets a first member more, `$told`, which says what:

    {"said": true}                text and thoughts
    {"calls": [id]}               requests
    {"results": [id]}             responses
    {"messages": {id: ...}}       of the messages in a `$set`, the same for each
    {"reset": true}               the `$set` leaves out what the conversation held
    {"keep": [first, last]}       keys of the records that a reset or a `$rewindTo` keeps
    {"drop": [id]}                messages that it takes out, which may stand between those
    {"behind": [id]}              of the messages in a `$set`, those from the first that it keeps on
    {"unsent": true}              a prompt that a later `$set` leaves out (`UNHEARD`)

So a log that grows only grows, but for three things: where a message's text was written anew, the
line of its first version gives way to that of the last; a `$set` that left the conversation out
did not, where a later one has all of it again (a client that resumes in the minute in which the
session began first writes its new one into the same file); and `unsent` stands with the prompt.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sessionlog import codec, splice
from sessionlog.formats.gemini_parts import (
    CONTEXTS,
    MODEL,
    TOLD,
    UNHEARD,
    answers_in,
    calls_of,
    key_of,
    parts_of,
    said,
)
from sessionlog.framing import Line

Mark = dict[str, Any]


def plausible(value: Mapping[str, Any]) -> bool:
    """Does a salvaged object look like a record of this format?"""
    if isinstance(value.get("type"), str) and isinstance(value.get("timestamp"), str):
        return isinstance(value.get("id"), str)
    return (
        isinstance(value.get("$set"), dict)
        or isinstance(value.get("$rewindTo"), str)
        or (isinstance(value.get("sessionId"), str) and isinstance(value.get("projectHash"), str))
    )


@dataclass(slots=True)
class _Known:
    """What was told of a message."""

    text: str
    calls: set[str]
    results: set[str]
    talk: bool
    """Is it part of what the model is told?"""
    slips: bool = False
    """Is it a prompt that the client leaves out when it resumes?"""
    place: tuple[int, frozenset[str], frozenset[str]] | None = None
    """Index of its first line, and the calls and results that line tells; None: no line's own."""
    again: bool = False
    """Did a later line tell more of it?"""


@dataclass(slots=True)
class _Loss:
    """A `$set` that left messages out."""

    at: int
    data: bytes
    mark: Mark
    lost: dict[str, _Known]


@dataclass(slots=True)
class Fold:
    """Lines in, one by one; `lines` are those to be read."""

    lines: list[bytes] = field(default_factory=list)
    _current: dict[str, _Known] = field(default_factory=dict)
    _answered: set[str] = field(default_factory=set)
    _loss: _Loss | None = None

    def take(self, data: bytes) -> None:
        """The next line of the log, without its LF."""
        at = len(self.lines)
        self.lines.append(data)
        found = codec.parse(Line(0, 0, data, True), plausible).objects
        pieces, done = [], 0
        for value, span in found:
            mark = self._mark(value, at, len(found) == 1)
            if mark or TOLD in value:
                end = span.offset + span.length
                pieces += [data[done : span.offset], marked(data[span.offset : end], mark)]
                done = end
        if pieces:
            self.lines[at] = b"".join((*pieces, data[done:]))

    def _mark(self, value: Mapping[str, Any], at: int, alone: bool) -> Mark:
        if isinstance(value.get("$rewindTo"), str):
            return self._rewind(value["$rewindTo"])
        if isinstance(value.get("id"), str):
            return self._message(value, at if alone else None)
        if isinstance(value.get("$set"), dict):
            listed = value["$set"].get("messages")
            if not isinstance(listed, list):
                return {}
            return self._replace(_messages(listed), at if alone else None)
        for message in _messages(value.get("messages")):
            self._message(message, None)
        return {}

    def _message(self, value: Mapping[str, Any], at: int | None) -> Mark:
        id = value["id"]
        text, calls, results, talk = _told_by(value)
        prompt = value.get("type") == "user" and not results
        slips = prompt and text.lstrip().startswith(UNHEARD)
        known = self._current.get(id)
        if known is None:
            told = (results & self._answered) - calls
            place = None if at is None else (at, frozenset(calls), frozenset(results))
            self._current[id] = _Known(text, calls, results, talk, slips, place)
            self._answer(calls, results)
            return _mark(results=told)
        first = calls - known.calls
        told = results & known.results | (results & self._answered) - first
        mark = _mark(True, calls & known.calls, told)
        known.again = True
        known.calls |= calls
        known.results |= results
        self._answer(first, results)
        if text != known.text:
            known.text = text
            if known.place is None or at is None:
                del mark["said"]
            else:
                self._rewrite(known, at, calls, results)
        return mark

    def _rewrite(self, known: _Known, at: int, calls: set[str], results: set[str]) -> None:
        """The first line of a message gives way to this one, without what others tell."""
        assert known.place is not None
        place, own, answered = known.place
        told = _mark(calls=calls - own, results=results - answered)
        self.lines[place] = marked(self.lines[at], told) if told else self.lines[at]

    def _replace(self, messages: list[Mapping[str, Any]], at: int | None) -> Mark:
        """The conversation is what the list says."""
        ids = {message["id"]: None for message in messages}
        self._restore(ids)
        lost = {id: known for id, known in self._current.items() if id not in ids and known.talk}
        for id in [id for id, known in lost.items() if known.slips]:
            if place := lost.pop(id).place:
                self.lines[place[0]] = marked(self.lines[place[0]], {"unsent": True})
        mark: Mark = {}
        if lost:
            mark["reset"] = True
            kept = {id: None for id in ids if id in self._current}
            if kept:
                order = list(ids)
                behind = order[order.index(next(iter(kept))) :]
                mark |= {"keep": self._range(kept), "drop": list(lost), "behind": behind}
        told = {message["id"]: self._message(message, None) for message in messages}
        told = {id: one for id, one in told.items() if one}
        if told:
            mark["messages"] = told
        self._current = {id: self._current[id] for id in ids}
        if lost:
            self._answered.difference_update(*(known.results for known in lost.values()))
            self._loss = None if at is None else _Loss(at, self.lines[at], mark, lost)
        return mark

    def _restore(self, ids: Container[str]) -> None:
        """What an earlier list left out is there again: nothing was lost."""
        loss = self._loss
        if loss is None or not all(id in ids for id in loss.lost):
            return
        left = {key: what for key, what in loss.mark.items() if key == "messages"}
        self.lines[loss.at] = marked(loss.data, left) if left else loss.data
        self._current = loss.lost | self._current
        self._answered.update(*(known.results for known in loss.lost.values()))
        self._loss = None

    def _rewind(self, id: str) -> Mark:
        """That message and all after it are gone; all are, where there is none such."""
        known = id in self._current
        dropped = []
        while self._current:
            last, gone = self._current.popitem()
            dropped.append(last)
            self._answered -= gone.results
            if last == id and known:
                break
        return {"keep": self._range(self._current), "drop": dropped} if self._current else {}

    def _range(self, ids: dict[str, Any]) -> list[str]:
        """The keys of the first and the last of these."""
        last = next(reversed(ids))
        return [key_of(next(iter(ids)), False), key_of(last, self._current[last].again)]

    def _answer(self, asked: Iterable[str], results: Iterable[str]) -> None:
        """Calls that are asked anew wait for an answer of their own."""
        self._answered.difference_update(asked)
        self._answered.update(results)


def fold(lines: Iterable[bytes]) -> list[bytes]:
    """All lines of a log."""
    made = Fold()
    for data in lines:
        made.take(data)
    return made.lines


def marked(data: bytes, mark: Mark) -> bytes:
    """The line of one object, marked. What a log itself has under that name goes. O(bytes)."""
    data = bare(data)
    start = data.index(b"{") + 1
    space = b"," if not data[start:].lstrip().startswith(b"}") else b""
    return b'%b"%b":%b%b%b' % (
        data[:start], TOLD.encode(), codec.dumps(mark), space, data[start:]
    )  # fmt: skip


def bare(data: bytes) -> bytes:
    """The line of one object without its mark. O(bytes)."""
    if TOLD.encode() not in data and b"\\u" not in data:  # a key may be spelled in escapes
        return data
    members = splice.members(data)
    kept = [member for member in members if member.key != TOLD]
    if not kept:
        return data[: members[0].begin] + data[members[-1].end :] if members else data
    pieces, done = [], 0
    for member in members[: members.index(kept[-1])]:
        if member.key == TOLD:
            pieces.append(data[done : member.begin])
            done = data.index(b",", member.end) + 1
    return b"".join((*pieces, data[done : kept[-1].end], data[members[-1].end :]))


def _mark(said: bool = False, calls: Iterable[str] = (), results: Iterable[str] = ()) -> Mark:
    mark: Mark = {"said": said, "calls": sorted(calls), "results": sorted(results)}
    return {key: what for key, what in mark.items() if what}


def _messages(listed: Any) -> list[Mapping[str, Any]]:
    """The messages of a list; of two with one id the last, in the place of the first."""
    items = listed if isinstance(listed, list) else []
    found = {m["id"]: m for m in items if isinstance(m, dict) and isinstance(m.get("id"), str)}
    return list(found.values())


def _told_by(value: Mapping[str, Any]) -> tuple[str, set[str], set[str], bool]:
    """(text, keys of calls, of results, is it talk?) of a message."""
    parts = parts_of(value.get("content"))
    text, kind = said(parts), value.get("type")
    if kind in MODEL:
        calls = calls_of(value, parts)
        results = {call.key for call in calls if call.response is not None}
        return text, {call.key for call in calls}, results, True
    if kind != "user":
        return text, set(), set(), False
    results = {answer.key for answer in answers_in(parts)}
    return text, set(), results, bool(results) or not text.lstrip().startswith(CONTEXTS)
