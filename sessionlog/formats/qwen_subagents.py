"""Where the logs of a Qwen Code session's subagents stand.

In `subagents/<session id>/agent-<agent id>.jsonl` beside the folder of the sessions, those of its
subagents' own too. A `.meta.json` beside a log names the call that started it (`toolUseId`) and
the subagent that made the call (`parentAgentId`). A fork has no such folder: its calls lead to
those of the log that it was made from. Seen with 0.24.4.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from sessionlog import codec
from sessionlog.paths import beginning
from sessionlog.records import Activity

_HEAD = 16 * 1024
_PARENT = re.compile(rb'"forkedFrom":\{"sessionId":"([0-9a-fA-F-]{32,36})"')
_ODD = re.compile(r"[^a-zA-Z0-9_-]")
_GENERATIONS = 16


def subagents_of(path: str) -> list[str]:
    """Paths of the logs of all subagents of the session at `path`, by name; of a subagent's, of
    those that it started itself. Reads their notes; gives an empty list where there are none."""
    if not _is_own(path):
        return _agents(_folder_of(path))
    above = {other: _ODD.sub("_", str(_note(other).get("parentAgentId")))
             for other in _agents(os.path.dirname(path)) if other != path}  # fmt: skip
    found: list[str] = []
    wanted = {_agent(path)}
    while mine := [other for other, up in above.items() if up in wanted and other not in found]:
        found += mine
        wanted = set(map(_agent, mine))
    return sorted(found)


def started_by(path: str, half: Activity) -> str | None:
    """The log of the subagent that a call started, by either half of the call; None where there
    is none. What a log says is never taken for a path."""
    if not half.id:
        return None
    return next((o for o in _near(path) if _note(o).get("toolUseId") == half.id), None)


def _near(path: str) -> Iterator[str]:
    """The subagents' logs that a call in the log at `path` may lead to."""
    if _is_own(path):
        yield from _agents(os.path.dirname(path))
        return
    seen: set[str] = set()
    while path not in seen and len(seen) < _GENERATIONS:
        seen.add(path)
        yield from _agents(_folder_of(path))
        parent = _PARENT.search(beginning(path, _HEAD))
        if parent is not None:
            path = os.path.join(os.path.dirname(path), f"{parent[1].decode()}.jsonl")


def _is_own(path: str) -> bool:
    """Is it a subagent's log?"""
    above = os.path.dirname(os.path.dirname(path))
    return os.path.basename(path).startswith("agent-") and os.path.basename(above) == "subagents"


def _folder_of(path: str) -> str:
    """Where the subagents of a session are; one that was put away stands a folder deeper."""
    folder, _, name = path.rpartition("/")
    if os.path.basename(folder) == "archive":
        folder = os.path.dirname(folder)
    session = _ODD.sub("_", name.removesuffix(".jsonl"))
    return os.path.join(os.path.dirname(folder), "subagents", session)


def _agents(folder: str) -> list[str]:
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return sorted(
        os.path.join(folder, name)
        for name in names
        if name.startswith("agent-") and name.endswith(".jsonl")
    )


def _agent(path: str) -> str:
    return os.path.basename(path).removeprefix("agent-").removesuffix(".jsonl")


def _note(path: str) -> Mapping[str, Any]:
    """What the client noted of the subagent at `path`; empty where nothing can be read."""
    try:
        value = codec.loads(beginning(path.removesuffix("jsonl") + "meta.json", _HEAD))
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
