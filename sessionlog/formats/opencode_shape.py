"""What `opencode import` wants a session, a message and a part to have, and some do not.

The client checks what it imports against its schema (1.18.33) and takes nothing of a session when
one field is missing; older ones, and exports of other programs, lack some. What is there in the
right type stays as it stands. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sessionlog import codec

Fields = Mapping[str, Any]

_TOKENS = {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}
SESSION: Fields = {
    "slug": "session", "projectID": "global", "directory": "", "title": "", "version": "0",
    "time": {"created": 0, "updated": 0},
}  # fmt: skip
MESSAGES: Mapping[str, Fields] = {
    "user": {
        "time": {"created": 0}, "agent": "build",
        "model": {"providerID": "unknown", "modelID": "unknown"},
    },
    "assistant": {
        "time": {"created": 0}, "modelID": "unknown", "providerID": "unknown", "mode": "build",
        "agent": "build", "path": {"cwd": "/", "root": "/"}, "cost": 0, "tokens": _TOKENS,
    },
}  # fmt: skip
PARTS: Mapping[str, Fields] = {
    "text": {"text": ""},
    "reasoning": {"text": "", "time": {"start": 0}},
    "file": {"mime": "text/plain", "url": ""},
    "tool": {"tool": "unknown", "callID": ""},
    "step-finish": {"reason": "unknown", "cost": 0, "tokens": _TOKENS},
    "snapshot": {"snapshot": ""},
    "patch": {"hash": "", "files": []},
    "agent": {"name": ""},
    "subtask": {"prompt": "", "description": "", "agent": "build"},
    "compaction": {"auto": False},
}
STATES: Mapping[str, Fields] = {
    "pending": {"input": {}, "raw": ""},
    "running": {"input": {}, "time": {"start": 0}},
    "completed": {
        "input": {}, "output": "", "title": "", "metadata": {}, "time": {"start": 0, "end": 0},
    },
    "error": {"input": {}, "error": "", "time": {"start": 0, "end": 0}},
}  # fmt: skip
_OPTIONAL: Fields = {
    "snapshot": "", "source": {}, "filename": "", "finish": "", "variant": "", "system": "",
    "synthetic": False, "ignored": False, "title": "", "error": {},
}  # fmt: skip
"""Members that may be missing, but not of another type."""


def missing(value: Fields, wanted: Fields) -> dict[str, bytes]:
    """What has to be put into an object, as JSON, so that it has all that is wanted."""
    found = {}
    for key, default in wanted.items():
        there = value.get(key)
        whole = _whole(there, default)
        if whole is not there:
            found[key] = codec.dumps(whole)
    return found


def wrong(value: Fields, wanted: Fields) -> list[str]:
    """Keys of members that have to go."""
    kind = value.get("role")
    keys = [
        key for key, like in _OPTIONAL.items()
        if key in value and key not in wanted and not _like(value[key], like)
    ]  # fmt: skip
    if "summary" in value and kind is not None:
        right = isinstance(value["summary"], bool if kind == "assistant" else dict)
        if not right or (kind == "user" and not isinstance(value["summary"].get("diffs"), list)):
            keys.append("summary")
    return keys


def _whole(there: Any, default: Any) -> Any:
    """The value itself where nothing is wrong with it."""
    if not _like(there, default):
        return default
    if not isinstance(default, dict):
        return there
    whole = {key: _whole(there.get(key), inner) for key, inner in default.items()}
    if all(whole[key] is there.get(key) for key in whole):
        return there
    return {**there, **whole}


def _like(value: Any, default: Any) -> bool:
    """Is it of the same JSON type?"""
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(value, bool) and isinstance(default, bool)
    if isinstance(default, int):
        return isinstance(value, int | float)
    return isinstance(value, type(default))
