"""Read, record, fork and repair the session logs of coding agents.

    load(path)                      a log as a Session: messages, history, events, result, damages
    list_sessions(dir)              what a folder holds, newest first, by head and tail
    raw(path, span)                 a record's bytes as they stand in the file
    start(dir, meta) -> Writer      record a run, one line a record; Recorder never raises
    plan_fork, fork                 a new log with the first part of a session
    plan_repair, repair             a new log in which every open call is closed
    repair_messages                 the same on plain role/content messages
    StreamAssembler                 streamed blocks to whole ones

The names below are all there is to rely on; modules are how it is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sessionlog.conversation import repair_messages
    from sessionlog.errors import (
        Ambiguous,
        DamagedLog,
        LogInUse,
        NotALog,
        NotPossible,
        SessionExists,
        SessionLogError,
        SessionNotFound,
        Unreadable,
        WriterClosed,
    )
    from sessionlog.forks import fork, plan_fork
    from sessionlog.listing import list_sessions
    from sessionlog.lookup import resolve
    from sessionlog.paths import new_id
    from sessionlog.plan import Fork, Repair
    from sessionlog.reader import load, load_lines, raw
    from sessionlog.recorder import Recorder
    from sessionlog.records import (
        Activity,
        Damage,
        Entry,
        Event,
        Image,
        Kind,
        Message,
        Meta,
        Origin,
        Other,
        Record,
        Reset,
        Result,
        Span,
        Status,
    )
    from sessionlog.repairs import plan_repair, repair
    from sessionlog.session import Session
    from sessionlog.stream import Block, StreamAssembler
    from sessionlog.writer import Writer, create, start

__all__ = [
    "Activity", "Ambiguous", "Block", "Damage", "DamagedLog", "Entry", "Event", "Fork", "Image",
    "Kind", "LogInUse", "Message", "Meta", "NotALog", "NotPossible", "Origin", "Other", "Record",
    "Recorder", "Repair", "Reset", "Result", "Session", "SessionExists", "SessionLogError",
    "SessionNotFound", "Span", "Status", "StreamAssembler", "Unreadable", "Writer",
    "WriterClosed", "create", "fork", "list_sessions", "load", "load_lines", "new_id",
    "plan_fork", "plan_repair", "raw", "repair", "repair_messages", "resolve", "start",
]  # fmt: skip

_MODULES = {
    "conversation": "repair_messages",
    "errors": "Ambiguous DamagedLog LogInUse NotALog NotPossible SessionExists SessionLogError "
    "SessionNotFound Unreadable WriterClosed",
    "forks": "fork plan_fork",
    "listing": "list_sessions",
    "lookup": "resolve",
    "paths": "new_id",
    "plan": "Fork Repair",
    "reader": "load load_lines raw",
    "recorder": "Recorder",
    "records": "Activity Damage Entry Event Image Kind Message Meta Origin Other Record Reset "
    "Result Span Status",
    "repairs": "plan_repair repair",
    "session": "Session",
    "stream": "Block StreamAssembler",
    "writer": "Writer create start",
}
_HOME = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Import a public name when it is asked for: a listing must not pay for the recorder."""
    if name not in _HOME:
        raise AttributeError(f"module 'sessionlog' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"sessionlog.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
