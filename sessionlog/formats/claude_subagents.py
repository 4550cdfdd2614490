"""Where the logs of a Claude Code session's subagents stand.

Since about 2.1.0 in `<session id>/subagents/agent-<agent id>.jsonl` beside the session's log,
before that as `agent-<agent id>.jsonl` in the same folder, told apart by the session id in them.
"""

from __future__ import annotations

import os

from sessionlog.errors import Unreadable
from sessionlog.paths import open_regular

_HEAD = 4096
_SUMMARISER = "agent-acompact-"
"""The client's own run that condenses the context: nobody's task."""


def subagents_of(path: str) -> list[str]:
    """Paths of the logs of the subagents of the session at `path`, by name. Reads the heads of
    old ones only; gives an empty list where there are none."""
    folder, _, name = path.rpartition("/")
    session = name.removesuffix(".jsonl")
    inside = os.path.join(folder, session, "subagents")
    own = [os.path.join(inside, other) for other in _agents(inside)]
    mark = f'"sessionId":"{session}"'.encode()
    beside = [os.path.join(folder, other) for other in _agents(folder or ".") if other != name]
    return own + [other for other in beside if mark in _head(other)]


def agent_log(path: str, agent_id: str) -> str | None:
    """The log of the subagent that a call of the session at `path` started, by the `agent_id`
    of its response; None where there is none. What a log says is never taken for a path."""
    name = f"agent-{agent_id}.jsonl"
    return next((other for other in subagents_of(path) if os.path.basename(other) == name), None)


def _agents(folder: str) -> list[str]:
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return sorted(
        name for name in names
        if name.startswith("agent-") and name.endswith(".jsonl")
        and not name.startswith(_SUMMARISER)
    )  # fmt: skip


def _head(path: str) -> bytes:
    try:
        fd = open_regular(path)
    except Unreadable:
        return b""
    try:
        return os.pread(fd, _HEAD, 0)
    except OSError:
        return b""
    finally:
        os.close(fd)
