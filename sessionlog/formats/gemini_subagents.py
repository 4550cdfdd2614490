"""Where the logs of a Gemini CLI session's subagents stand: `chats/<session id>/<id>.jsonl`."""

from __future__ import annotations

import os
import re

from sessionlog.paths import beginning

_HEAD = 4096
_ID = re.compile(rb'"sessionId"\s*:\s*"([A-Za-z0-9_-]{1,100})"')


def subagents_of(path: str) -> list[str]:
    """Paths of the logs of the subagents of the session at `path`, by name. Reads the session's
    first bytes, for its id; gives an empty list where there are none."""
    id = _id_of(path)
    folder = os.path.join(os.path.dirname(path), id)
    try:
        names = os.listdir(folder) if id else []
    except OSError:
        return []
    return sorted(os.path.join(folder, name) for name in names if name.endswith(".jsonl"))


def _id_of(path: str) -> str:
    found = _ID.search(beginning(path, _HEAD))
    return found[1].decode() if found else ""
