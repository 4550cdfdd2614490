"""What a caller can do wrong, as one small tree.

Content of a log never raises (it gives records or a Damage); a caller's mistake does, and
says what, where, and what to do::

    SessionLogError
    ├── SessionNotFound      no session under that reference
    ├── SessionExists        the id or the path is taken; nothing was overwritten
    ├── NotALog              the file is no session log that any format recognises
    ├── Unreadable           not a regular file, no permission, gone
    ├── DamagedLog           strict reading met damage before the last line
    ├── LogInUse             the log's writer is alive
    ├── NotPossible          this format or this place cannot do what was asked
    │   └── Ambiguous        several sessions answer to the reference; `choices` has their paths
    └── WriterClosed         a write after close, or after the disk failed for good
"""

from __future__ import annotations

import os
from collections.abc import Sequence


class SessionLogError(Exception):
    """Base of all errors of this library. ``str(error)`` is one line: what, where, what to do."""


class SessionNotFound(SessionLogError):
    """No session answers to the reference."""


class SessionExists(SessionLogError):
    """The id is taken. Two runs sharing a log would resume as neither."""


class NotALog(SessionLogError):
    """No format recognises the file."""


class Unreadable(SessionLogError):
    """The file cannot be read: not a regular file, no permission, or gone."""


class DamagedLog(SessionLogError):
    """A line before the last is damaged: that is no crash, so acting on the log stops and asks."""


class LogInUse(SessionLogError):
    """The log's writer is alive; what it holds open cannot be repaired under its hands."""


class NotPossible(SessionLogError):
    """The format, the place or the arguments do not allow what was asked."""


class Ambiguous(NotPossible):
    """Several sessions answer to the reference; `choices` are their paths."""

    def __init__(self, words: str, choices: Sequence[str]) -> None:
        super().__init__(words)
        self.choices = tuple(choices)


class WriterClosed(SessionLogError):
    """The writer is closed, or gave up after the disk failed."""


def words_of(error: Exception) -> str:
    """What went wrong: of an error of the system its words without the number, the file first."""
    if not isinstance(error, OSError) or not error.strerror:
        return str(error) or type(error).__name__
    named = isinstance(error.filename, str | bytes)
    return f"{os.fsdecode(error.filename)}: {error.strerror}" if named else error.strerror
