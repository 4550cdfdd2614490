"""What the records of a run tell of its stop, as values. No judgement here."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from sessionlog.records import NOTHING, Damage, Record, Result, Span
from sessionlog.telling import telling
from sessionlog.text import one_line


class Saying(NamedTuple):
    """Words of evidence, and the record that they stand in."""

    says: str
    """Visible, one line."""
    n: int | None = None
    """Message number; None where no message says it, or where it is not known."""
    line: int = 0
    """Line of the file, from 1; 0 where it is not known."""
    offset: int = -1
    """Byte at which the record begins; -1: no record says it."""


class Beside(NamedTuple):
    """The end of a run. Its words are safe to print."""

    says: str
    """`zot was stopped from here at 03:31:07, 4 processes killed`"""
    short: str
    """The same for a row of the list."""
    stopped: bool
    """A person stopped it, or its viewer went away."""
    failed: bool = False
    last: str = ""
    """The last words of a program that failed."""


class Call(NamedTuple):
    """A call that was asked for."""

    tool: str
    arguments: str
    """As they stand in the log: not visible yet."""
    call_id: str = ""
    n: int | None = None
    line: int = 0
    offset: int = -1
    since: str = ""
    """RFC 3339, as in the log."""

    @property
    def said(self) -> str:
        """Its telling argument, visible, one line."""
        return one_line(telling(self.arguments))


class Done(NamedTuple):
    """A call that was answered."""

    call: Call
    failed: bool
    words: str
    """"exit 1", or a size."""
    error: str
    """The telling line of a failure, visible."""
    text: str
    """Both ends of what came back, as they stand in the log."""
    line: int
    offset: int
    """Of the answer."""
    at: str
    nth: int
    """How many calls were answered before."""
    interrupted: bool = False
    """It was cut short: it neither failed nor went well."""


class Trouble(NamedTuple):
    """An error of the run itself, in its own words."""

    says: str
    kind: str
    line: int
    offset: int
    at: str
    detail: str = ""
    """What the log has beside the words: the type of the error, its status, its body."""
    ends: bool = False
    """It ended a turn of the run."""


class Repeat(NamedTuple):
    """A call that was asked for again with the same arguments and gave the same."""

    call: Call
    """The first of them."""
    times: int
    failed: bool
    words: str
    error: str
    first: int
    last: int
    """The `nth` of the first and the last of them."""

    @property
    def dense(self) -> float:
        """Which part of the calls from its first to its last it was."""
        return self.times / (self.last - self.first + 1)


class Gap(NamedTuple):
    """A silence: nothing was written."""

    seconds: float
    after: int | None
    """Number of the last message before it."""
    at: str
    """When it began: RFC 3339, as in the log."""
    line: int = 0
    offset: int = -1


class Facts(NamedTuple):
    """What the pass found."""

    messages: int = 0
    """Of the main run, as far as it was read."""
    number: int | None = None
    """Number of the last message; None where it is not known."""
    calls: int = 0
    errors: int = 0
    """Calls that failed, overcome or not."""
    interrupted: int = 0
    """Calls that were cut short and closed."""
    files: int | None = None
    """Files that edits changed; None where only the end of the log was read."""
    set_out: Saying | None = None
    """The task, or the first prompt."""
    flying: tuple[Call, ...] = ()
    """Calls without a result, with nothing after them."""
    unanswered: tuple[Call, ...] = ()
    """Calls without a result that the run went on past."""
    recent: tuple[Done, ...] = ()
    works: Mapping[str, int] = NOTHING
    """Tool: `nth` of its last call that went well."""
    repeats: tuple[Repeat, ...] = ()
    troubles: tuple[Trouble, ...] = ()
    """Errors of the run itself after the last thing that went well, oldest first."""
    overcome: Trouble | None = None
    """The last such error that the model answered after."""
    retries: int = 0
    """How many of `troubles` were followed by another attempt."""
    result: Result | None = None
    ended: Saying | None = None
    """The record that closed the run, or a turn of it."""
    message: Saying | None = None
    """The last message; it says its type: user, assistant, call, response, ..."""
    words: Saying | None = None
    """The model's last text, whole and as it stands in the log."""
    expects: str = ""
    """Who was to go on: "model" after a prompt, a result or a thought, "tool" after a call,
    "person" after the model's text."""
    resets: int = 0
    reset: Saying | None = None
    """The last time that the conversation was condensed or emptied."""
    after_reset: int = 0
    """Texts and calls of the model since then."""
    asks: Saying | None = None
    """An event that asks a person for leave, with no message after it."""
    gaps: tuple[Gap, ...] = ()
    """The longest silences, longest first."""
    silence: float = 0.0
    """Seconds between the last two records that have a time."""
    first_at: datetime | None = None
    last_at: datetime | None = None
    end: Span | None = None
    """The last record."""
    last: tuple[tuple[int | None, Record], ...] = ()
    """The last records that are shown, with the numbers of messages."""
    damages: tuple[Damage, ...] = ()
    damaged: int = 0
    """How many damages there are; `damages` holds the last of them."""
    torn: bool = False
    """The last line is torn."""

    @property
    def last_call(self) -> Done | None:
        return self.recent[-1] if self.recent else None
