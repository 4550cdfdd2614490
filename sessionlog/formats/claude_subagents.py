"""Where the logs of a Claude Code session's subagents stand.

Since about 2.1.0 in `<session id>/subagents/agent-<agent id>.jsonl` beside the session's log,
those of its subagents' own too; before that as `agent-<agent id>.jsonl` in the same folder, told
apart by the session id in them. A `.meta.json` beside a log names the call that started it
(`toolUseId`, seen with 2.1.332), which leads there while nothing has answered the call. A fork has
no such folder: its calls lead to those of the log that it was made from.
"""

from __future__ import annotations

import os
import re

from sessionlog import codec
from sessionlog.paths import beginning
from sessionlog.records import Activity

_HEAD = 4096
_SUMMARISER = "agent-acompact-"
"""The client's own run that condenses the context: nobody's task."""
_PARENT = re.compile(rb'"forkedFrom":\{"sessionId":"([0-9a-f-]{36})"')
_GENERATIONS = 16


def subagents_of(path: str) -> list[str]:
    """Paths of the logs of the subagents of the session at `path`, by name. Reads the heads of
    old ones only; gives an empty list where there are none."""
    folder, _, name = path.rpartition("/")
    session = name.removesuffix(".jsonl")
    inside = os.path.join(folder, session, "subagents")
    own = [os.path.join(inside, other) for other in _agents(inside)]
    mark = f'"sessionId":"{session}"'.encode()
    beside = [os.path.join(folder, other) for other in _agents(folder or ".") if other != name]
    return own + [other for other in beside if mark in beginning(other, _HEAD)]


def agent_log(path: str, agent_id: str) -> str | None:
    """The log of the subagent that a call of the session at `path` started, by the `agent_id`
    of its response; None where there is none. What a log says is never taken for a path."""
    name = f"agent-{agent_id}.jsonl"
    return next((other for other in _near(path) if os.path.basename(other) == name), None)


def started_by(path: str, half: Activity) -> str | None:
    """The log of the subagent that a call started, by either half of the call; None where there
    is none."""
    agent = half.extra.get("agent_id")
    if isinstance(agent, str) and (found := agent_log(path, agent)):
        return found
    return next((other for other in _near(path) if half.id and _call_of(other) == half.id), None)


def _near(path: str) -> list[str]:
    """The subagents' logs that a call in the log at `path` may lead to."""
    if os.path.basename(os.path.dirname(path)) == "subagents":
        folder = os.path.dirname(path)
        return [os.path.join(folder, name) for name in _agents(folder)]
    found, seen = list(subagents_of(path)), {path}
    for _ in range(_GENERATIONS):
        parent = _PARENT.search(beginning(path, _HEAD))
        if parent is None:
            break
        path = os.path.join(os.path.dirname(path), f"{parent[1].decode()}.jsonl")
        if path in seen:
            break
        seen.add(path)
        found += subagents_of(path)
    return found


def _call_of(path: str) -> str:
    """Id of the call that started the subagent at `path`; "" where nothing tells."""
    try:
        value = codec.loads(beginning(path.removesuffix("jsonl") + "meta.json", _HEAD))
    except ValueError:
        return ""
    call = value.get("toolUseId") if isinstance(value, dict) else None
    return call if isinstance(call, str) else ""


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
