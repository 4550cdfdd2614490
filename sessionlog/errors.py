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
    └── WriterClosed         a write after close, or after the disk failed for good
"""

from __future__ import annotations


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


class WriterClosed(SessionLogError):
    """The writer is closed, or gave up after the disk failed."""
