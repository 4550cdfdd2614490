"""Acting on Claude Code's logs: close an open call, give a copy its own id, keep its tree whole.

The client resumes by walking `parentUuid` from the last record back (and gathers parallel calls
and results by `message.id` and `tool_use_id`), so a link that leads to no line of the new log
would cost all that stands before it: `renew` leads such links past what is gone. uuids stay as
they are, `sessionId` becomes the new log's on every line that has one, and the first message says
where the log was taken from, in the words of the client's own branches. Tried with 2.1.332.
"""

from __future__ import annotations

import os
import uuid
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, ClassVar

from sessionlog import codec, splice
from sessionlog.formats.base import Birth, Fate, Part, Said, dict_of, list_of, text_of
from sessionlog.formats.claude_compose import composed, home_of
from sessionlog.formats.claude_links import Links
from sessionlog.formats.ids import first_free
from sessionlog.framing import Line
from sessionlog.records import OpenCall

ENVELOPE = (
    "isSidechain", "userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch", "agentId",
    "slug",
)  # fmt: skip
"""What a line of ours copies from the record that it follows."""
_AHEAD = 64
"""Lines that may stand before the one that they follow, as far as the client's order goes."""


class ClaudeActor:
    """Claude Code's way of acting."""

    by_line: ClassVar = True

    def close(self, request: bytes, call: OpenCall, at: str, text: str) -> bytes:
        """The record that the client takes for the call's result. `renew` gives it its uuid."""
        asked = splice.loads(request)
        copied = {key: splice.clean(splice.value(request, (key,))) for key in ENVELOPE}
        block = {"type": "tool_result", "tool_use_id": call.call_id, "content": text,
                 "is_error": True}  # fmt: skip
        parent = codec.dumps(text_of(asked.get("uuid")))
        return _line(
            {"parentUuid": parent}
            | {key: value for key, value in copied.items() if value}
            | {
                "type": b'"user"',
                "message": codec.dumps({"role": "user", "content": [block]}),
                "uuid": codec.dumps(call.call_id),
                "timestamp": codec.dumps(at),
                "toolUseResult": codec.dumps(f"Error: {text}"),
                "sourceToolAssistantUUID": parent,
            }
        )

    def answers(self, call: OpenCall) -> bool:
        return bool(call.call_id)  # a result names its call by the id alone

    def without(self, data: bytes, calls: Collection[int]) -> bytes:
        """A line without these of its calls; b"" when they are all that it says."""
        return _kept(data, lambda kind, n: kind != "use" or n not in calls)

    def pick(self, data: bytes, results: Collection[int], rest: bool) -> bytes:
        """A line with some of its results, and with all else that it says if `rest`."""
        return _kept(data, lambda kind, n: n in results if kind == "result" else rest)

    def renew(self, parts: Iterable[Part], birth: Birth) -> Iterator[bytes]:
        """The lines with the new id and links that lead on. O(bytes); in memory: a number for
        each uuid."""
        links = Links(birth.id)
        last: Mapping[str, Any] = {}
        named = False
        for part, value in _ahead(parts, links):
            if part.fate is Fate.DROPPED:
                links.drop(value)
                continue
            changes = links.follow(value, part.fate)
            spoken = value.get("type") in ("user", "assistant")
            if spoken and not named and part.fate is not Fate.ADDED:
                changes["forkedFrom"] = _origin(birth, text_of(value.get("uuid")))
                named = True
            if part.fate is Fate.ADDED and not value.get("timestamp"):
                changes["timestamp"] = codec.dumps(birth.time)
            if spoken and value.get("isSidechain") is not True:
                last = {key: value[key] for key in ENVELOPE if key in value}
            yield _changed(part.data, value, codec.dumps(birth.id), changes)
        if birth.told:
            yield _told(birth, links, last)

    def place(
        self, parent: str, at: int | None, now: datetime, taken: Callable[[str], bool]
    ) -> tuple[str, str]:
        """Beside the parent under a new uuid, which is the session's id and the file's name."""
        return free(os.path.dirname(parent), taken)

    def compose(self, said: Iterable[Said], birth: Birth) -> Iterator[bytes]:
        """A session of these messages."""
        return composed(said, birth)

    def home(
        self, workdir: str, now: datetime, environ: Mapping[str, str],
        taken: Callable[[str], bool],
    ) -> tuple[str, str]:  # fmt: skip
        """In the folder that the client keeps for that working directory."""
        return free(home_of(workdir, environ), taken)


def free(folder: str, taken: Callable[[str], bool]) -> tuple[str, str]:
    """(id, path) of a new log there."""

    def made(_: int) -> tuple[str, str]:
        id = str(uuid.uuid4())
        return id, os.path.join(folder, f"{id}.jsonl")

    return first_free(made, taken)


def _ahead(parts: Iterable[Part], links: Links) -> Iterator[tuple[Part, dict[str, Any]]]:
    """The parts with their values, one object a line; `links` knows what is there a few lines
    before it comes."""
    waiting: deque[tuple[Part, dict[str, Any]]] = deque()
    for part in parts:
        for data, value in _objects(part.data):
            if part.fate is not Fate.DROPPED:
                links.expect(value)
            waiting.append((part._replace(data=data), value))
        while len(waiting) > _AHEAD:
            yield waiting.popleft()
    yield from waiting


def _objects(data: bytes) -> list[tuple[bytes, dict[str, Any]]]:
    """The objects of a line with their bytes; {} for a line that holds none. Only strings and
    flags of them are used."""
    try:
        value = codec.peek(data)
        return [(data, value if isinstance(value, dict) else {})]
    except ValueError:
        found = codec.parse(Line(0, 0, data, True)).objects
        return [(data[span.offset : span.end], value) for value, span in found] or [(data, {})]


def _changed(
    data: bytes, value: Mapping[str, Any], id: bytes, changes: Mapping[str, bytes]
) -> bytes:
    """The line with these members, and the new id where it has one."""
    if isinstance(value.get("sessionId"), str):
        old = b'"sessionId":' + codec.dumps(value["sessionId"])
        if data.count(b'"sessionId"') == 1 and data.count(old) == 1:
            data = data.replace(old, b'"sessionId":' + id)
        else:
            changes = {**changes, "sessionId": id}
    return splice.put(data, 0, changes) if changes else data


def _origin(birth: Birth, key: str) -> bytes:
    """Where the log was taken from, as the client's own branches say it; the last two are ours."""
    origin = {"sessionId": birth.parent, "messageUuid": key, "timestamp": birth.time}
    return codec.dumps(origin if birth.at is None else origin | {"at": birth.at})


def _told(birth: Birth, links: Links, envelope: Mapping[str, Any]) -> bytes:
    """What the user says at the end."""
    parent = links.last("")
    return codec.dumps(
        {"parentUuid": parent or None}
        | {"isSidechain": False, "userType": "external", **envelope, "sessionId": birth.id}
        | {
            "type": "user", "message": {"role": "user", "content": birth.told},
            "uuid": links.made("told"), "timestamp": birth.time,
        }
    )  # fmt: skip


def _kept(data: bytes, keep: Callable[[str, int], bool]) -> bytes:
    """A line with those of its blocks that `keep` wants, by their kind and number of that kind;
    b"" when none is left."""
    found = splice.member(data, ("message", "content"))
    if found is None:
        return data
    blocks = list_of(splice.loads(data[found.start : found.end]))
    counts = {"use": 0, "result": 0, "": 0}
    wanted = []
    for block in blocks:
        kind = _kind(block)
        wanted.append(keep(kind, counts[kind]))
        counts[kind] += 1
    if not any(wanted):
        return b""
    return data if all(wanted) else splice.only(data, found.start, wanted)


def _kind(block: Any) -> str:
    kind = text_of(dict_of(block).get("type"))
    if kind.endswith("tool_result"):
        return "result"
    return "use" if kind.endswith("tool_use") else ""


def _line(members: Mapping[str, bytes]) -> bytes:
    return b"{" + b",".join(codec.dumps(key) + b":" + text for key, text in members.items()) + b"}"
