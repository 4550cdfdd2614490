"""Acting on Agent Session logs of 0.1 to 0.4: close an open call, name a new log and its origin.

There the ids of entries mean nothing, so that lines can be put between others and the links be set
anew (RFC 0001, drafts 0.1 to 0.4). From 0.5 on an id is the hash of what the entry says, its
parent's id included, and a reader refuses a log in which one is not: such logs are only copied.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import datetime
from itertools import count
from typing import Any, ClassVar

from sessionlog import codec, splice
from sessionlog.errors import NotPossible
from sessionlog.formats.base import Birth, Fate, Part, text_of
from sessionlog.formats.ids import uuid_at
from sessionlog.formats.links import Links
from sessionlog.records import OpenCall

_VERSION = re.compile(r"agentsession/(\d+)\.(\d+)")
_HASHED = (0, 5)
"""The first version whose ids are hashes."""


class AgentSessionActor:
    """The format's way of acting."""

    by_line: ClassVar = True

    def close(self, request: bytes, call: OpenCall, at: str, text: str) -> bytes:
        """The output of the call; the format has no word for one that failed."""
        at = at or text_of(splice.loads(request).get("ts"))
        output = {"type": "function_call_output", "call_id": call.call_id, "output": text}
        return codec.dumps({"type": "item", "id": "", "parent": None, "ts": at, "item": output})

    def answers(self, call: OpenCall) -> bool:
        return bool(call.call_id)  # an output names its call by the id alone

    def pick(self, data: bytes, results: Collection[int], rest: bool) -> bytes:
        return data  # one item an entry

    def without(self, data: bytes, calls: Collection[int]) -> bytes:
        return b""  # one item an entry

    def renew(self, parts: Iterable[Part], birth: Birth) -> Iterator[bytes]:
        """The header gets the new id and names its parent, the entries are linked again. O(bytes).

        Raises NotPossible for a log whose ids are hashes.
        """
        links = Links("id", "parent", link_of, lambda digest: digest.hex()[:8], ("item",))
        headed = False
        for part in links.in_order(parts):
            if part.fate is Fate.KEPT and not headed and (header := _header_of(part.data)):
                headed = True
                yield _header(part.data, header, birth)
            elif (line := links.take(part)) is not None:
                yield _kept_from(line, links) if b'"compaction"' in line else line
        if birth.told:
            id, parent = links.made(birth.told.encode())
            content = [{"type": "input_text", "text": birth.told}]
            item = {"type": "message", "role": "user", "content": content}
            entry = {"type": "item", "id": id, "parent": parent or None, "ts": birth.time}
            yield codec.dumps({**entry, "item": item})

    def place(
        self, parent: str, at: int | None, now: datetime, taken: Callable[[str], bool]
    ) -> tuple[str, str]:
        """Beside the parent, named by its id as the format's own store names logs."""
        for turn in count():
            id = uuid_at(now, parent, at, turn)
            path = os.path.join(os.path.dirname(parent), f"{id}.jsonl")
            if not taken(path):
                return id, path
        raise AssertionError("the numbers do not end")


def link_of(data: bytes) -> tuple[str, str] | None:
    """(id, parent) of the entry on a raw line; None where there is none."""
    value = splice.object_of(data)
    if value.get("type") == "session" or "parent" not in value:
        return None
    return text_of(value.get("id")), text_of(value["parent"])


def _header_of(data: bytes) -> dict[str, Any]:
    """The header on a line; {} where there is none."""
    if b'"session"' not in data:
        return {}
    value = splice.object_of(data)
    return value if value.get("type") == "session" else {}


def _header(data: bytes, header: dict[str, Any], birth: Birth) -> bytes:
    said = text_of(header.get("format"))
    found = _VERSION.fullmatch(said)
    if found is None or (int(found[1]), int(found[2])) >= _HASHED:
        raise NotPossible(
            f"{birth.source or birth.parent}: the ids of {said} are hashes of the entries, so none "
            "can be put between others; give its conversation to an agent (--agent)"
        )
    values = {"id": birth.id, "created_at": birth.time, "parent_session": birth.parent}
    return splice.put(data, 0, {key: codec.dumps(text) for key, text in values.items()})


def _kept_from(data: bytes, links: Links) -> bytes:
    """A compaction that names the first entry it keeps, where that one was left out."""
    named = text_of(splice.object_of(data).get("first_kept"))
    if named and (now := links.stands_for(named)) != named:
        return splice.put(data, 0, {"first_kept": codec.dumps(now)})
    return data
