"""What a text is looked for in: the words of a record that a person sees, and not its keys.

Raw bytes come first (`sieve`), the decoded texts decide. A *hit* is one line of text that holds
what is looked for, however often it does: the find in a log and the search over all logs count
the same hits. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from sessionlog import codec
from sessionlog.formats.base import Format
from sessionlog.framing import Line
from sessionlog.records import (
    Activity,
    Damage,
    Event,
    Kind,
    Message,
    Meta,
    Other,
    Record,
    Reset,
    Result,
    Span,
)
from sessionlog.sieve import Sieve, folded
from sessionlog.telling import arguments_of
from sessionlog.text import ELLIPSIS, clip, visible, width

Spans = list[tuple[int, int]]
Spellings = tuple[tuple[str, ...], ...]
"""One thing that a record says, in its spellings: each is some texts, and the first spelling that
holds what is looked for counts (arguments decoded, else as they stand)."""

WIDEST = 400
"""Columns of the text of a hit."""
_BEFORE = 120
"""Characters in front of a hit that are shown at least, where there are so many."""
_DEEP = 20


class Needle:
    """A text to look for, as it stands; lower-case text is found in any case unless told."""

    def __init__(self, text: str, ignore_case: bool | None = None) -> None:
        self.text = text
        self.any_case = text == text.lower() if ignore_case is None else ignore_case
        self.sieve = Sieve((text,), self.any_case)
        self._text = folded(text) if self.any_case else text
        shown = visible(text)
        self._shown = folded(shown) if self.any_case else shown

    def spans(self, text: str) -> Spans:
        """(start, end) of each place where it stands in a text of the log."""
        return _spans(folded(text) if self.any_case else text, self._text)

    def places(self, shown: str) -> Iterator[tuple[int, int]]:
        """(start, end) of each place where it stands in a visible text."""
        return iter(_spans(folded(shown) if self.any_case else shown, self._shown))

    def in_text(self, text: str) -> bool:
        """Does a text of the log hold it?"""
        return self._text in (folded(text) if self.any_case else text)

    def in_record(self, record: Record) -> bool:
        """Does a record say it?"""
        return any(
            self.in_text(text)
            for said in says(record)
            for texts in said
            for text in texts
        )  # fmt: skip

    def count(self, form: Format, line: Line) -> int:
        """How many lines of text on a line of the log hold it."""
        told = (said for thing in things(form, line) for said in thing.says)
        return sum(1 for said in told for _ in hits(said, self.spans))


def _spans(text: str, needle: str) -> Spans:
    found: Spans = []
    if needle:
        at = text.find(needle)
        while at >= 0:
            found.append((at, at + len(needle)))
            at = text.find(needle, at + len(needle))
    return found


def hits(said: Spellings, spans: Callable[[str], Spans]) -> Iterator[Found]:
    """The lines of text that hold what `spans` finds, in one thing that a record says."""
    for texts in said:
        found = [hit for text in texts if text for hit in lines_of(text, spans(text))]
        if found:
            yield from found
            return


class Thing(NamedTuple):
    """A record or a damage of a line, and what it says."""

    what: Record | Damage
    says: tuple[Spellings, ...]

    @property
    def is_message(self) -> bool:
        return isinstance(self.what, Record) and self.what.kind is Kind.MESSAGE

    @property
    def place(self) -> tuple[int, int]:
        """Its byte offset, and which record of its line it is."""
        what = self.what
        return what.span.offset, what.part if isinstance(what, Record) else 0


def things(form: Format, line: Line) -> Iterator[Thing]:
    """The records of a line with what they say, and the damages with their raw text."""
    parsed = codec.parse(line, form.plausible)
    for value, span in parsed.objects:
        for record in form.decode(value, span):
            yield Thing(record, says(record))
    for damage in parsed.damages:
        if not damage.mild:  # its record stands
            yield Thing(damage, (((raw_text(line, damage.span),),),))


def raw_text(line: Line, span: Span) -> str:
    """Bytes of a line as text, bad ones replaced."""
    start = span.offset - line.offset
    return line.data[start : start + span.length].decode("utf-8", "replace")


def says(record: Record) -> tuple[Spellings, ...]:
    """What a record says, each thing once: no keys, no ids of calls, no pictures."""
    payload = record.payload
    if isinstance(payload, Message):
        if payload.activity is None:
            return (((payload.text,),),)
        return _call(payload, payload.activity)
    if isinstance(payload, Event):
        return _each(payload.tool, payload.kind, payload.text)
    if isinstance(payload, Meta):
        return _each(payload.task, payload.model, payload.id, payload.workdir)
    if isinstance(payload, Result):
        failure = tuple(_leaves(payload.failure)) if payload.failure else ()
        return *_each(payload.reason, payload.message, payload.error), (failure,)
    if isinstance(payload, Reset):
        return (((payload.why,),),)
    return _data(payload) if isinstance(payload, Other) else ()


def _call(message: Message, half: Activity) -> tuple[Spellings, ...]:
    """A native result stands twice on its line, and so does a failure."""
    result = half.result
    answers: Spellings
    if isinstance(result, str) or result is None:
        answers = ((half.failure or "",), (message.text,), (result or "",))
    else:
        answers = ((half.failure or "",), tuple(_leaves(result)), (message.text,), (_json(result),))
    told: tuple[Spellings, ...] = (((half.name,),), _arguments(half.arguments), answers)
    return tuple(said for said in told if any(map(any, said)))


def _arguments(text: str) -> Spellings:
    """The strings in JSON arguments, else the arguments as they stand."""
    if not text.startswith(("{", "[", '"')):
        return ((text,),)
    whole = text.encode("utf-8", "backslashreplace").decode()  # a lone surrogate is no JSON
    return tuple(_leaves(arguments_of(whole))), (text,)


def _each(*texts: str) -> tuple[Spellings, ...]:
    return tuple(((text,),) for text in dict.fromkeys(texts) if text)


def _data(other: Other) -> tuple[Spellings, ...]:
    """What stands on a line that the format does not know."""
    data = other.data
    return (((other.name,),), (tuple(_leaves(data)), (_json(data),)))


def _leaves(value: Any, depth: int = 0) -> Iterator[str]:
    """The strings in a JSON value, keys not among them."""
    if isinstance(value, str):
        yield value
    elif depth < _DEEP and isinstance(value, Mapping):
        for item in value.values():
            yield from _leaves(item, depth + 1)
    elif depth < _DEEP and isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item, depth + 1)


def _json(value: object) -> str:
    try:
        return codec.dumps(value).decode()
    except ValueError:
        return ""


class Found(NamedTuple):
    """A line of text with the places that were found in it."""

    text: str
    """As it stands; where a place goes over several lines, all of them."""
    spans: tuple[tuple[int, int], ...]


def lines_of(text: str, spans: Spans) -> Iterator[Found]:
    """The lines of a text on which the places stand, each line once."""
    at = 0
    while at < len(spans):
        start = text.rfind("\n", 0, spans[at][0]) + 1
        end, inside = -1, []
        while at < len(spans) and (end < 0 or spans[at][0] < end):
            inside.append(spans[at])
            # a place that ends in a line feed does not take in the next line
            end = text.find("\n", max(spans[at][1] - 1, spans[at][0]))
            end = len(text) if end < 0 else end
            at += 1
        end = max(end, inside[-1][1])
        yield Found(text[start:end], tuple((a - start, b - start) for a, b in inside))


def shown(found: Found) -> tuple[str, tuple[tuple[int, int], ...]]:
    """A found line to print: visible, one line, cut around the first place to WIDEST columns;
    with the places in it."""
    text = found.text
    first = found.spans[0][0] if found.spans else 0
    start = max(first - _BEFORE, 0) if len(text) > WIDEST or _is_wide(text) else 0
    while start < first and width(visible(text[start:first])) > WIDEST // 2:
        start += -(-(first - start) // 2)  # wide signs, or such as show as marks
    made = ELLIPSIS if start else ""
    at, places = start, []
    for a, b in found.spans:
        if len(made) > WIDEST:
            break
        made += visible(text[at:a])
        begins = len(made)
        made += visible(text[a : min(b, a + WIDEST)])
        places.append((begins, len(made)))
        at = b
    made += visible(text[at : at + WIDEST].rstrip("\r\n"))
    kept = clip(made, WIDEST)
    limit = len(kept) - (kept != made and kept.endswith(ELLIPSIS))
    cut = next((a for a, b in places[1:] if a < limit < b), limit)
    if cut < limit:  # no half of a later place: the text ends in front of it
        kept, limit = made[:cut] + ELLIPSIS, cut
    return kept, tuple((a, min(b, limit)) for a, b in places if a < limit)


def _is_wide(text: str) -> bool:
    """Is a short text wider than a hit may be? Wide signs, or many that show as marks."""
    return not text.isascii() and width(visible(text)) > WIDEST
