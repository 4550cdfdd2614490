"""What a store has to tell: sessions that are kept otherwise than as lines of one plain file.

A document, a tree of files, a database, a compressed log: each session in it is read as JSON
lines, one object a line, in the shape that its format decodes. All else (frames, windows, follow,
search, fork) works on those lines, so a store is the only thing that has to know how they are
kept. Nothing in or beside a store is ever written.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from sessionlog.records import Entry

Mark = tuple[object, ...]
"""Differs whenever what a store gives may have changed: sizes and times of its files."""


class Unfit(Exception):
    """What stands in a database is not what was asked about, in words; a database's reader makes
    an Unreadable of it."""


class Unended(bytes):
    """What no line feed is to be put behind: a last line that has none in what is kept, the shape
    that a crash leaves, or a piece of text with the line feeds that it has."""


class Store(Protocol):
    """One way of keeping sessions."""

    many: bool
    """Does one file hold several sessions? Then a session's path is that of the file, a slash,
    and the session's id; else it is the file's."""

    def keeps(self, path: str, head: bytes) -> bool:
        """Is a file with these first bytes (up to 4 KB) kept in this way? Never raises: one that
        may be, and cannot be read, is."""

    def sessions(self, path: str) -> list[str]:
        """Ids of the sessions in a file that holds several, newest first, each as the last part
        of a path; [] else. "" stands for what cannot be read of it: the file itself, for which
        `glimpse` says why. Never raises."""

    def lines(self, path: str, id: str) -> Iterator[bytes]:
        """The session's lines, without LF, or pieces of its text (`Unended`); `id` is "" where
        `many` is not. Raises Unreadable for what cannot be read or holds no such session; content
        that is damaged gives what it can, and the rest as a line that is no JSON, so that it
        counts as damage: an `Unended` one where nothing follows it."""

    def mark(self, path: str, id: str) -> Mark:
        """See `Mark`. Costs a few stats. Raises OSError when the file is gone."""

    def glimpse(self, path: str, id: str) -> Entry | None:
        """A list row without reading all; None: make it from the lines. Raises Unreadable."""
