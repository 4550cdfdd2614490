"""What is looked for: a text and what narrows it down, and the one line that a person types.

``advisory lock is:error tool:bash,edit after:fri``. Words are one text, quotes keep spaces, a
``word:`` that is none of ours is plain text. Pure: the clock comes in.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, time, timedelta
from typing import Any, NamedTuple

from sessionlog.errors import SessionLogError
from sessionlog.records import Entry, Status, moment

STATUSES = (*(status.value for status in Status), "failed")
KINDS = (
    "user", "assistant", "reasoning", "call", "response", "system", "summary", "attachment",
    "event", "result", "reset", "meta", "damage", "other",
)  # fmt: skip
"""Shown types; what a log calls otherwise is a kind as well."""
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_AGE = re.compile(r"(\d{1,6})([smhdw])\Z", re.ASCII)
_CLOCK = re.compile(r"(\d{1,2}):(\d\d)(?::(\d\d))?\Z", re.ASCII)
_PIECES = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[()]", re.DOTALL)
"""Escapes and classes, in which brackets are text, and the brackets of groups."""
_DEEPEST = 100
"""Groups in groups: `re` takes the interpreter's stack for them, and so does who looks at them."""
_ERRORS = ("error", "errors", "failed")
_TOKEN = re.compile(
    r'(?P<key>is|status|agent|tool|kind|after|before):(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<bare>\S*))'
    r'(?=\s|\Z)|"(?P<text>(?:[^"\\]|\\.)*)"(?=\s|\Z)|\S+'
)


class BadQuery(SessionLogError):
    """The query is none: a pattern that does not compile, a time or a word that is not known."""


class Query(NamedTuple):
    """A text and what narrows it down. Empty tuples and None let everything through."""

    text: str = ""
    """The literal or the pattern; "": everything that the filters let through."""
    ignore_case: bool = False
    regex: bool = False
    tools: tuple[str, ...] = ()
    errors: bool = False
    """Only what stands on a row where `e` stops: failed calls, error events, damages."""
    kinds: tuple[str, ...] = ()
    """Shown types, as in KINDS."""
    status: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    after: datetime | None = None
    """Aware; records from then on. What has no time is not let through."""
    before: datetime | None = None
    """Aware; records earlier than this."""

    @property
    def empty(self) -> bool:
        """Does it look for nothing at all?"""
        return not (self.text or self.tools or self.errors or self.kinds)

    def admits(self, entry: Entry) -> bool:
        """May a session hold a hit, by its status, its agent, its first and its last time?"""
        if self.status and not set(self.status) & {entry.status, _verdict(entry)}:
            return False
        if self.agents and not {entry.agent.lower(), entry.format.lower()} & set(self.agents):
            return False
        ended = moment(entry.updated) if self.after and entry.status is not Status.RUNNING else None
        return not (ended and self.after and ended < self.after)


def _verdict(entry: Entry) -> str:
    return "failed" if entry.ok is False else ""


def parse_query(
    text: str, now: datetime, *, ignore_case: bool = False, regex: bool = False
) -> Query:
    """The query of one typed line. `now` is aware: its zone is the one in which times are meant.

    Raises BadQuery, with the word that is not understood.
    """
    words: list[str] = []
    found: dict[str, Any] = {}
    for match in _TOKEN.finditer(text):
        key = match["key"]
        if key is None:
            words.append(match[0] if match["text"] is None else _unquoted(match["text"]))
            continue
        said = match["bare"] if match["quoted"] is None else _unquoted(match["quoted"])
        if said:
            _take(found, key, said, now)
    pattern = " ".join(words)
    if regex:
        compiled(pattern, ignore_case)
    return Query(pattern, ignore_case, regex, **found)


def _unquoted(text: str) -> str:
    return re.sub(r'\\(["\\])', r"\1", text)


def _take(found: dict[str, Any], key: str, said: str, now: datetime) -> None:
    """Note what `key:said` asks for."""
    if key == "is":
        found["errors"] = errors_of(said)
    elif key in ("after", "before"):
        found[key] = parse_time(said, now)
    else:
        field, check = _LISTS[key]
        items = [item for item in said.lower().split(",") if item]
        found[field] = (*found.get(field, ()), *map(check, items))


def errors_of(word: str) -> bool:
    """True for the word behind `is:`. Raises BadQuery for any but "error"."""
    if word.lower() not in _ERRORS:
        raise BadQuery(f"is:{word}: only is:error is known")
    return True


def status_of(word: str) -> str:
    """A status in lower case. Raises BadQuery for what is none."""
    if word.lower() not in STATUSES:
        raise BadQuery(f"status:{word}: say one of {', '.join(STATUSES)}")
    return word.lower()


_LISTS: dict[str, tuple[str, Callable[[str], str]]] = {
    "tool": ("tools", str),
    "kind": ("kinds", str),
    "agent": ("agents", str),
    "status": ("status", status_of),
}
"""The field that a key fills, and what its words have to pass."""


def compiled(pattern: str, ignore_case: bool) -> re.Pattern[str]:
    """The pattern as Python's `re` has it, `^` and `$` at lines. Raises BadQuery."""
    if _nesting(pattern) > _DEEPEST:
        raise BadQuery(f"no regex: too deep, groups nest {_DEEPEST} times at the most")
    flags = re.MULTILINE | (re.IGNORECASE if ignore_case else 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return re.compile(pattern, flags)
        except re.error as error:
            where = f" at {error.pos + 1}" if error.pos is not None else ""
            raise BadQuery(f"no regex: {error.msg}{where}") from None
        except (OverflowError, RecursionError, MemoryError):
            raise BadQuery("no regex: too large or too deep") from None


def _nesting(pattern: str) -> int:
    """How deep the groups of a pattern nest."""
    depth = deepest = 0
    for piece in _PIECES.finditer(pattern):
        depth += (piece[0] == "(") - (piece[0] == ")")
        deepest = max(deepest, depth)
    return deepest


def parse_time(text: str, now: datetime) -> datetime:
    """The moment that a person means, in the zone of `now`: `fri` (the last one, or today, at
    00:00), `today`, `yesterday`, `2026-11-27`, `2026-11-27T03:00`, `03:00` (the last one), `2h`
    (ago; s m h d w). Raises BadQuery for anything else.
    """
    word = text.strip().lower()
    now = now.astimezone() if now.tzinfo is None else now
    for made in (_age, _clock, _day, _date):
        when = made(word, now)
        if when is not None:
            return when
    raise BadQuery(f"{text}: no time; say fri, 2026-11-27, 03:00 or 2h")


def _age(word: str, now: datetime) -> datetime | None:
    found = _AGE.match(word)
    if not found:
        return None
    try:
        return now - timedelta(seconds=int(found[1]) * _UNITS[found[2]])
    except OverflowError:
        return None


def _clock(word: str, now: datetime) -> datetime | None:
    found = _CLOCK.match(word)
    if not found:
        return None
    hours, minutes, seconds = (int(part or 0) for part in found.groups())
    if hours > 23 or minutes > 59 or seconds > 59:
        return None
    when = _at(now, time(hours, minutes, seconds))
    return when if when <= now else _at(now - timedelta(days=1), time(hours, minutes, seconds))


def _day(word: str, now: datetime) -> datetime | None:
    if word in ("today", "yesterday"):
        return _at(now - timedelta(days=word == "yesterday"), time())
    named = [i for i, day in enumerate(_DAYS) if len(word) >= 3 and day.startswith(word)]
    if not named:
        return None
    return _at(now - timedelta(days=(now.weekday() - named[0]) % 7), time())


def _date(word: str, now: datetime) -> datetime | None:
    if not re.match(r"\d{4}-\d\d-\d\d", word):
        return None
    try:
        when = datetime.fromisoformat(word.upper())
    except ValueError:
        return None
    return when if when.tzinfo else _zoned(when, now)


def _at(day: datetime, clock: time) -> datetime:
    return _zoned(datetime.combine(day.date(), clock), day)


def _zoned(plain: datetime, now: datetime) -> datetime:
    """A wall time in the zone of `now`; the machine's own zone knows its summer time."""
    if now.utcoffset() == now.astimezone().utcoffset():
        try:
            return plain.astimezone()
        except (ValueError, OverflowError):  # at the ends of the calendar there is no room for one
            return plain.replace(tzinfo=UTC)
    return plain.replace(tzinfo=now.tzinfo)


def filters(query: Query) -> Iterator[str]:
    """What narrows a query down, in the words of the line: "is:error", "tool:bash,edit"."""
    if query.errors:
        yield "is:error"
    for key, (field, _) in _LISTS.items():
        if items := getattr(query, field):
            yield f"{key}:{','.join(items)}"
    for key in ("after", "before"):
        when = getattr(query, key)
        if when is not None:
            yield f"{key}:{when:%Y-%m-%dT%H:%M}"
