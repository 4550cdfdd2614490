"""What workers tell the screen. Messages of one widget stand in its file.

They are compared and printed by nobody, so no code for that is made: it would be made at start.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from textual.message import Message

from sessionlog.records import Entry


@dataclass(eq=False, repr=False)
class Read(Message):
    """Heads and tails of more sessions were read."""

    entries: tuple[Entry, ...]
    done: int
    total: int


@dataclass(eq=False, repr=False)
class Changed(Message):
    """Sessions are new, or stand otherwise than before; others are gone."""

    entries: tuple[Entry, ...]
    gone: tuple[str, ...] = ()


@dataclass(eq=False, repr=False)
class LogGrew(Message):
    """The open log is not what it was: it grew, was replaced, or is gone."""

    path: str


@dataclass(eq=False, repr=False)
class WatchState(Message):
    """How the folders are watched; `problem` says why not by events."""

    problem: str = ""


@dataclass(eq=False, repr=False)
class Failed(Message):
    """A worker came to an unexpected end: what it did, and the error."""

    what: str
    error: str


@dataclass(eq=False, repr=False)
class Made(Message):
    """A new log was written."""

    path: str
    said: str


class NextTheme(Message):
    """The person asks the program for its next theme."""


@dataclass(eq=False, repr=False)
class Came(Message):
    """A worker has come to something: what is to be done about it, on the screen's own thread."""

    act: Callable[[], object]


@dataclass(eq=False, repr=False)
class DesktopNotice(Message):
    """The desktop is to be told."""

    words: str
