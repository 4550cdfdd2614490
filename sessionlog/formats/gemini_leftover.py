"""The log that a resume of Gemini CLI leaves beside the session's own.

The client (0.61.0) begins a new log at each start, with the id of the session that it is about to
resume, and then goes on in the session's own: what is left has a head, and at most the context
that the client gives by itself.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator

from sessionlog import codec
from sessionlog.errors import Unreadable
from sessionlog.formats.base import dict_of, list_of
from sessionlog.formats.gemini_parts import CONTEXTS, parts_of, said
from sessionlog.framing import split
from sessionlog.paths import open_regular

NAME = re.compile(r"session-[\dT-]{16}-([0-9a-f]{8})(?:-[0-9a-f-]{27})?\.jsonl")
"""Names of logs; the group is the head of the session's id."""
_MOST = 256 * 1024
"""Bytes of a log that are looked at; such a one has fewer."""


def without_leftovers(folder: str, names: Collection[str]) -> Iterator[str]:
    """The names of a folder's files without those of such logs, where the session's own is there.

    Only where several names have one id, the beginnings of these files are read.
    """
    ids = [found[1] if (found := NAME.fullmatch(name)) else "" for name in names]
    groups: dict[str, list[str]] = {}
    for name, id in zip(names, ids, strict=True):
        groups.setdefault(id, []).append(name)
    for id, group in groups.items():
        yield from _asked(folder, group) if id and len(group) > 1 else group


def _asked(folder: str, names: Iterable[str]) -> list[str]:
    """The logs of one session in which something was asked; all, where nothing was in any."""
    found = {name: _about(os.path.join(folder, name)) for name in names}
    own = {id for id, asked in found.values() if asked}
    return [name for name, (id, asked) in found.items() if asked or id not in own]


def _about(path: str) -> tuple[str, bool]:
    """(id in its head, did anybody say anything?) of a log."""
    try:
        with open(open_regular(path), "rb") as file:
            data = file.read(_MOST)
    except (OSError, Unreadable):
        return "", True
    id = ""
    for line in split(data):
        for value, _ in codec.parse(line).objects:
            id = id or str(value.get("sessionId", ""))
            messages = [value, *list_of(dict_of(value.get("$set")).get("messages"))]
            if any(map(_talks, messages)):
                return id, True
    return id, len(data) == _MOST


def _talks(message: object) -> bool:
    value = dict_of(message)
    return "id" in value and not said(parts_of(value.get("content"))).lstrip().startswith(CONTEXTS)
