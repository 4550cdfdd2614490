"""What workers tell the screen. Messages of one widget stand in that widget's file."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message

from sessionlog.records import Entry


@dataclass
class Read(Message):
    """Heads and tails of more sessions were read."""

    entries: tuple[Entry, ...]
    done: int
    total: int


@dataclass
class Changed(Message):
    """Sessions are new, or stand otherwise than before; others are gone."""

    entries: tuple[Entry, ...]
    gone: tuple[str, ...] = ()


@dataclass
class LogGrew(Message):
    """The open log is not what it was: it grew, was replaced, or is gone."""

    path: str


@dataclass
class WatchState(Message):
    """How the folders are watched; `problem` says why not by events."""

    problem: str = ""


@dataclass
class Failed(Message):
    """A worker came to an unexpected end: what it did, and the error."""

    what: str
    error: str


@dataclass
class Made(Message):
    """A new log was written."""

    path: str
    said: str


class NextTheme(Message):
    """The person asks the program for its next theme."""
