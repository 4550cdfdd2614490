"""Which rollouts of Codex belong together: a session's by its id, and those of its subagents.

A subagent has a rollout of its own among the others, whose head names the session that started it
(`parent_thread_id`, 0.171); the call that started it is answered with the subagent's id.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

from sessionlog import codec
from sessionlog.formats.codex_place import ARCHIVED, UUID
from sessionlog.paths import beginning
from sessionlog.records import Activity

_SUFFIXES = (".jsonl", ".jsonl.zst")
_DAY = re.compile(r"(.*/)(\d{4})/(\d\d)/(\d\d)\Z")
_DAYS = 31
"""Days after its own in which a session's subagents are looked for."""
_HEAD = 4096
_ID = re.compile(rb'"id"\s*:\s*"([0-9a-fA-F-]{36})"')
_PARENT = re.compile(rb'"parent_thread_id"\s*:\s*"([0-9a-fA-F-]{36})"')


def log_of(id: str, beside: str) -> str | None:
    """The rollout of a session: in the folder of `beside`, or in the client's, by the id's time.

    The plain file wins over the compressed one.
    """
    if not UUID.fullmatch(id):
        return None
    for folder in _folders(id, os.path.dirname(os.path.abspath(beside))):
        names = _rollouts(folder)
        for suffix in _SUFFIXES:
            for name in names:
                if name.endswith(f"-{id}{suffix}"):
                    return os.path.join(folder, name)
    return None


def subagents_of(path: str) -> list[str]:
    """Paths of the rollouts of a session's subagents and of theirs, by name. Reads the heads of
    those of its days; gives an empty list where there are none."""
    children: dict[str, list[tuple[str, str]]] = {}
    for folder in _days(path):
        for name in _rollouts(folder):
            other = os.path.join(folder, name)
            head = beginning(other, _HEAD)
            parent, own = _PARENT.search(head), _ID.search(head)
            if parent and own:
                children.setdefault(parent[1].decode(), []).append((other, own[1].decode()))
    own = _ID.search(beginning(path, _HEAD)) if children else None
    found, todo = [], [own[1].decode()] if own else []
    while todo:
        for other, id in children.pop(todo.pop(), ()):
            found.append(other)
            todo.append(id)
    return sorted(found)


def started_by(path: str, half: Activity) -> str | None:
    """The rollout of the subagent that the answer to a call of the session at `path` names."""
    if half.kind != "response" or not isinstance(half.result, str):
        return None
    if '"agent_id"' not in half.result:
        return None
    try:
        id = codec.loads(half.result.encode("utf-8", "surrogatepass"))["agent_id"]
    except (ValueError, KeyError, TypeError):
        return None
    other = log_of(id, path) if isinstance(id, str) else None
    return other if other and other != path and _PARENT.search(beginning(other, _HEAD)) else None


def _folders(id: str, here: str) -> Iterator[str]:
    """Where a session may lie, the likeliest first."""
    yield here
    day = _DAY.match(here)
    sessions = day[1] if day else os.path.join(os.path.dirname(here), "sessions", "")
    seconds = int(id.replace("-", "")[:12], 16) / 1000
    moment = datetime.fromtimestamp(seconds % 1e11, UTC)
    for days in (0, -1, 1):  # names have the local time, ids the world's
        yield os.path.join(sessions, (moment + timedelta(days)).strftime("%Y/%m/%d"))
    yield os.path.join(os.path.dirname(sessions.rstrip("/")), ARCHIVED)


def _days(path: str) -> Iterator[str]:
    """The folders of the days on which a session was written."""
    here = os.path.dirname(os.path.abspath(path))
    yield here
    found = _DAY.match(here)
    if found is None:
        return
    try:
        first = date(int(found[2]), int(found[3]), int(found[4]))
        last = date.fromtimestamp(os.stat(path).st_mtime)
        for days in range(1, min((last - first).days, _DAYS) + 1):
            yield found[1] + (first + timedelta(days)).strftime("%Y/%m/%d")
    except (OSError, ValueError, OverflowError):
        return


def _rollouts(folder: str) -> list[str]:
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return sorted(n for n in names if n.startswith("rollout-") and n.endswith(_SUFFIXES))
