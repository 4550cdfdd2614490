"""Acting on Qwen Code's logs: close an open call, name a new log, write a session.

Recipes tried with 0.24.4. The client finds a session by its file's name, refuses a log with two
session ids in it, goes from the last record to the root, and loses all that stands before a lost
one: so each line gets the new id, and links go around what was left out, moved or added. Like the
client's own fork, a copied record says where it came from.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import count
from typing import Any, ClassVar

from sessionlog import codec, splice
from sessionlog.formats.base import Birth, Fate, Part, Said, list_of, text_of
from sessionlog.formats.ids import digest_of, first_free, uuid_of
from sessionlog.formats.links import Links
from sessionlog.formats.qwen_links import link_of
from sessionlog.formats.qwen_parts import runs_of
from sessionlog.paths import dashed, qwen_folder
from sessionlog.records import OpenCall

_SHARED = ("sessionId", "cwd", "version", "gitBranch", "agentId", "agentName", "agentColor",
           "isSidechain")  # fmt: skip
"""What a closing record has in common with the one that asks."""
_STRAYS = ("user", "assistant", "tool_result")
"""Types of records that the client does not read without all of their ids."""
_PROVENANCE = {"user": "real_user", "assistant": "assistant_output", "system": "system"}
_ID = b'"sessionId":'
_HEAD = re.compile(
    rb'\{"uuid":"([^"\\]*)","parentUuid":(?:null|"[^"\\]*"),"sessionId":("[^"\\]*"),'
)


class QwenActor:
    """Qwen Code's way of acting."""

    by_line: ClassVar = True

    def close(self, request: bytes, call: OpenCall, at: str, text: str) -> bytes:
        """The result that the client writes for a failed call; its links come later."""
        asked = splice.loads(request)
        shared = {name: asked[name] for name in _SHARED if name in asked}
        body = {"id": call.call_id, "name": call.tool, "response": {"error": text}}
        return codec.dumps({
            "uuid": "", "parentUuid": None, "sessionId": "", **shared,
            "timestamp": at or text_of(asked.get("timestamp")),
            "type": "tool_result", "provenance": "tool_result",
            "message": {"role": "user", "parts": [{"functionResponse": body}]},
            "toolCallResult": {"callId": call.call_id, "status": "error", "resultDisplay": text},
        })  # fmt: skip

    def answers(self, call: OpenCall) -> bool:
        return bool(call.call_id)  # a result names its call by the id alone

    def pick(self, data: bytes, results: Collection[int], rest: bool) -> bytes:
        """A tool's record with some of its results, each with what belongs to it."""
        parts = _parts(data)
        numbers = count()
        kept: list[bool] = []
        for run in runs_of(parts):
            stays = next(numbers) in results if _holds(run[0], "functionResponse") else rest
            kept += [stays] * len(run)
        data = _only(data, kept)
        ids = [text_of(p["functionResponse"].get("id")) for p, keep in zip(parts, kept, strict=True)
               if keep and _holds(p, "functionResponse")]  # fmt: skip
        known = splice.value(data, ("toolCallResult", "callId"))
        if known and splice.loads(known) not in ids:
            data = splice.put(data, 0, {"toolCallResult": b"null"})
        return data

    def without(self, data: bytes, calls: Collection[int]) -> bytes:
        """An answer without these of its calls."""
        numbers = count()
        kept = [not _holds(p, "functionCall") or next(numbers) not in calls for p in _parts(data)]
        return _only(data, kept)

    def renew(self, parts: Iterable[Part], birth: Birth) -> Iterator[bytes]:
        """Each record gets the new id and says where it came from; links are made anew where one
        would lead nowhere. O(bytes)."""
        links = Links("uuid", "parentUuid", link_of, uuid_of, _STRAYS, joins=True)
        last = b"{}"
        for part in links.in_order(parts):
            line = links.take(part)
            if line is None:
                continue
            line = _renewed(line, birth, copied=part.fate is Fate.KEPT)
            last = line if _HEAD.match(line) else last
            yield line
        if birth.told:
            made = links.made(birth.told.encode("utf-8", "replace"))
            yield _record("user", birth.told, birth.time, made, _shared(last), birth.id)

    def place(
        self, parent: str, at: int | None, now: datetime, taken: Callable[[str], bool]
    ) -> tuple[str, str]:
        """Beside the parent, under a new id."""
        return _free(os.path.dirname(parent), (parent, at), now, taken)

    def compose(self, said: Iterable[Said], birth: Birth) -> Iterator[bytes]:
        """A session of messages without calls, each record with what the client asks of it."""
        links = Links("uuid", "parentUuid", link_of, uuid_of)
        about = {"cwd": birth.workdir, "version": _UNKNOWN}
        seed = birth.id.encode()
        for role, text, at in said:
            kind = "assistant" if role == "assistant" else "user"
            yield _record(kind, text, at or birth.time, links.made(seed), about, birth.id)
        if birth.title:
            title = {"customTitle": birth.title, "titleSource": "manual"}
            yield _line("system", birth.time, links.made(seed), about, birth.id,
                        subtype="custom_title", systemPayload=title)  # fmt: skip
        if birth.told:
            yield _record("user", birth.told, birth.time, links.made(seed), about, birth.id)

    def home(
        self, workdir: str, now: datetime, environ: Mapping[str, str],
        taken: Callable[[str], bool],
    ) -> tuple[str, str]:  # fmt: skip
        """In the folder that the client keeps for the working directory."""
        folder = os.path.join(qwen_folder(environ), "projects", dashed(workdir), "chats")
        return _free(folder, (workdir,), now, taken)


_UNKNOWN = "unknown"
"""The client's own word for a version that it does not know."""


# -- lines -------------------------------------------------------------------------------------


def _renewed(data: bytes, birth: Birth, copied: bool) -> bytes:
    """The line with the new session's id, and where it came from if it is `copied`."""
    id = codec.dumps(birth.id)
    head = _HEAD.match(data)
    plain = b'"forkedFrom"' not in data and data.endswith(b"}") and data.count(_ID) == 1
    if head is not None and plain and not birth.workdir:
        came = b',"forkedFrom":' + _origin(head[1].decode("utf-8", "replace"), birth)
        start, end = head.span(2)
        return data[:start] + id + data[end:-1] + (came if copied else b"") + b"}"
    value = splice.object_of(data)
    if not {"sessionId", "parentUuid"} & value.keys() and value.get("type") not in _STRAYS:
        return data
    values = {"sessionId": id}
    if birth.workdir and "cwd" in value:  # the client looks for it in the folder that it names
        values["cwd"] = codec.dumps(birth.workdir)
    if copied and isinstance(value.get("uuid"), str):
        values["forkedFrom"] = _origin(value["uuid"], birth)
    return splice.put(data, 0, values)


def _origin(uuid: str, birth: Birth) -> bytes:
    """What the client's own forks have, and when that was: a copy's own start for `describe`."""
    came = {"sessionId": birth.parent, "messageUuid": uuid, "timestamp": birth.time}
    return codec.dumps(came)


def _shared(data: bytes) -> Mapping[str, Any]:
    """What the next record has in common with this one."""
    value = splice.object_of(data)
    return {name: value[name] for name in _SHARED[1:] if name in value and "cwd" in value}


def _record(
    type: str, text: str, at: str, links: tuple[str, str], about: Mapping[str, Any], id: str
) -> bytes:
    role = "model" if type == "assistant" else "user"
    message = {"role": role, "parts": [{"text": text}]}
    return _line(type, at, links, about, id, message=message)


def _line(
    type: str, at: str, links: tuple[str, str], about: Mapping[str, Any], id: str, **more: Any
) -> bytes:
    """A record, its keys in the client's order."""
    return codec.dumps({
        "uuid": links[0], "parentUuid": links[1] or None, "sessionId": id, "timestamp": at,
        "type": type, "provenance": _PROVENANCE[type], **about, **more,
    })  # fmt: skip


def _parts(data: bytes) -> list[Any]:
    found = splice.value(data, ("message", "parts"))
    return [p if isinstance(p, dict) else {} for p in list_of(splice.loads(found))] if found else []


def _holds(part: Mapping[str, Any], name: str) -> bool:
    return isinstance(part.get(name), dict)


def _only(data: bytes, kept: list[bool]) -> bytes:
    found = splice.member(data, ("message", "parts"))
    return data if found is None else splice.only(data, found.start, kept)


def _free(
    folder: str, seeds: tuple[object, ...], now: datetime, taken: Callable[[str], bool]
) -> tuple[str, str]:
    def made(turn: int) -> tuple[str, str]:
        id = uuid_of(digest_of(now, *seeds, turn))  # versions above 5 are no id to the client
        return id, os.path.join(folder, id + ".jsonl")

    return first_free(made, taken)
