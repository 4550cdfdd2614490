"""A session of Claude Code made out of plain messages, and the folder where it looks for it.

The client needs little of a record: links, ids, the folder and the message (tried with 2.1.332).
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sessionlog import codec
from sessionlog.formats.base import Birth, Said
from sessionlog.paths import agent_folders, dashed

_VERSION = "2.1.332"
"""Of the client whose records these are like."""
_LONGEST = 200
"""Characters of a folder's name, above which the client cuts it."""
_NO_TOKENS = {"input_tokens": 0, "output_tokens": 0}


def composed(said: Iterable[Said], birth: Birth) -> Iterator[bytes]:
    """The lines of a log that holds these messages, then `birth.told`, titled if it has a title."""
    parent, origin = None, {"sessionId": birth.parent, "timestamp": birth.time}
    told = [Said("user", birth.told, birth.time)] if birth.told else []
    for n, message in enumerate([*said, *told]):
        key = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{birth.id}/{n}"))
        mine = message.role == "assistant"
        yield codec.dumps(
            {
                "parentUuid": parent, "isSidechain": False, "userType": "external",
                "cwd": birth.workdir, "sessionId": birth.id, "version": _VERSION,
                "gitBranch": "", "type": message.role,
                "message": _answer(key, message.text) if mine else
                {"role": "user", "content": message.text},
                "uuid": key, "timestamp": message.at or birth.time,
                **({} if parent else {"forkedFrom": origin}),
            }
        )  # fmt: skip
        parent = key
    if birth.title:
        yield codec.dumps(
            {"type": "custom-title", "customTitle": birth.title, "sessionId": birth.id}
        )


def _answer(key: str, text: str) -> dict[str, Any]:
    return {
        "model": "imported", "id": f"msg_{key.replace('-', '')}", "type": "message",
        "role": "assistant", "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn", "stop_sequence": None, "usage": _NO_TOKENS,
    }  # fmt: skip


def home_of(workdir: str, environ: Mapping[str, str]) -> str:
    """The folder that the client keeps for sessions of a working directory."""
    name = dashed(os.path.abspath(workdir))
    if len(name) > _LONGEST:  # the client's own hash differs from one runtime to the next
        name = f"{name[:_LONGEST]}-{uuid.uuid5(uuid.NAMESPACE_URL, workdir).hex[:8]}"
    return os.path.join(agent_folders(environ)["claude"][0], name)
