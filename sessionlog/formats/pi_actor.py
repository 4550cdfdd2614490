"""Acting on pi's logs: close an open call, name a new log and its origin, write a session.

Recipes tried with 0.73.1. The client finds a session by the id in the header, goes from the last
entry to the root, skips what is no JSON, and loses all that stands before a lost entry: so entries
are linked again around what was left out, moved or added. It appends to the log it is given, and
rewrites one of an older version: version 1 has no ids, its entries follow each other.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import count
from typing import Any, ClassVar

from sessionlog import codec, splice
from sessionlog.formats.base import Birth, Fate, Part, Said, dict_of, list_of, text_of
from sessionlog.formats.ids import first_free, uuid_at
from sessionlog.formats.links import Links
from sessionlog.formats.pi_entries import KINDS, link_of
from sessionlog.paths import agent_folders
from sessionlog.records import OpenCall, moment

_VERSION = 3
_NEAR = 20
"""Lines among which a header is looked for that is not the first, where the client wants it."""
_UNKNOWN = "unknown"
"""Provider and model of answers that another agent's model gave."""
_NONE = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}
_SPENT = {**_NONE, "totalTokens": 0, "cost": {**_NONE, "total": 0}}
"""An answer has to tell of its tokens; of a carried one they are not known."""


class PiActor:
    """pi's way of acting."""

    by_line: ClassVar = True

    def close(self, request: bytes, call: OpenCall, at: str, text: str) -> bytes:
        """The result that the client writes for a failed call, linked when the log has links."""
        asked = splice.loads(request)
        at = at or text_of(asked.get("timestamp"))
        links = {"id": "", "parentId": None} if "id" in asked else {}
        message = {
            "role": "toolResult", "toolCallId": call.call_id, "toolName": call.tool,
            "content": [{"type": "text", "text": text}], "isError": True,
            "timestamp": _milliseconds(at),
        }  # fmt: skip
        return codec.dumps({"type": "message", **links, "timestamp": at, "message": message})

    def answers(self, call: OpenCall) -> bool:
        return bool(call.call_id)  # a result names its call by the id alone

    def pick(self, data: bytes, results: Collection[int], rest: bool) -> bytes:
        return data  # one result an entry

    def without(self, data: bytes, calls: Collection[int]) -> bytes:
        """The answer without these of its calls."""
        content = splice.member(data, ("message", "content"))
        if content is None:
            return data
        numbers = count()
        blocks = list_of(splice.loads(data[content.start : content.end]))
        kept = [dict_of(b).get("type") != "toolCall" or next(numbers) not in calls for b in blocks]
        return splice.only(data, content.start, kept)

    def renew(self, parts: Iterable[Part], birth: Birth) -> Iterator[bytes]:
        """The header gets the new id and the parent's path, entries are linked again, and a
        compaction names the first entry that it keeps. O(bytes)."""
        links = Links("id", "parentId", link_of, lambda digest: digest.hex()[:8])
        places = _Places()
        linked = True
        for first, part in _headed(parts, birth, links):
            if first:
                linked = _version(part.data) > 1
                links.strays = ("message", *KINDS) if linked else ()
                places.count(part.fate)
                yield _header(part.data, birth)
                continue
            line = links.take(part)
            places.count(part.fate)
            if line is not None:
                yield _kept_from(line, links, places) if b'"compaction"' in line else line
        if birth.told:
            made = links.made(birth.told.encode("utf-8", "replace")) if linked else None
            yield _entry(_said("user", birth.told, birth.time), birth.time, made)

    def place(
        self, parent: str, at: int | None, now: datetime, taken: Callable[[str], bool]
    ) -> tuple[str, str]:
        """Beside the parent, named by the time and a new id as the client names them."""
        return _free(os.path.dirname(parent), (parent, at), now, taken)

    def compose(self, said: Iterable[Said], birth: Birth) -> Iterator[bytes]:
        """A session of the newest version that is known, of messages without calls."""
        yield _new_header(birth, birth.workdir, _VERSION)
        links = Links("id", "parentId", link_of, lambda digest: digest.hex()[:8])
        seed = birth.id.encode()
        for role, text, at in said:
            at = at or birth.time
            yield _entry(_said(role, text, at), at, links.made(seed))
        if birth.title:
            yield _line("session_info", birth.time, links.made(seed), name=birth.title)
        if birth.told:
            yield _entry(_said("user", birth.told, birth.time), birth.time, links.made(seed))

    def home(
        self, workdir: str, now: datetime, environ: Mapping[str, str],
        taken: Callable[[str], bool],
    ) -> tuple[str, str]:  # fmt: skip
        """In the folder that the client makes for the working directory; a variable that names
        the folder of sessions names it for all of them (0.73.1)."""
        folder = agent_folders(environ)["pi"][0]
        if not environ.get("PI_CODING_AGENT_SESSION_DIR"):
            slug = workdir.removeprefix("/").translate(str.maketrans("/\\:", "---"))
            folder = os.path.join(folder, f"--{slug}--")
        return _free(folder, (workdir,), now, taken)


# -- the head ----------------------------------------------------------------------------------


def _headed(parts: Iterable[Part], birth: Birth, links: Links) -> Iterator[tuple[bool, Part]]:
    """Every part with a record a line, the header first and told apart. The client takes no log
    whose first line is none: where it is lost, a new one is made."""
    rest = links.in_order(parts)
    before: list[Part] = []
    for part in rest:
        if part.fate is Fate.KEPT and _is_header(part.data):
            yield True, part
            break
        before.append(part)
        if len(before) == _NEAR:
            yield True, _missing(before, birth)
            break
    else:
        yield True, _missing(before, birth)
    yield from ((False, part) for part in before)
    yield from ((False, part) for part in rest)


def _is_header(data: bytes) -> bool:
    if b'"session"' not in data:
        return False
    value = splice.object_of(data)
    return value.get("type") == "session" and "id" in value


def _missing(before: Iterable[Part], birth: Birth) -> Part:
    """A header for entries without one; these tell by their links which version they are."""
    kept = [part.data for part in before if part.fate is Fate.KEPT]
    linked = any(link_of(data) for data in kept) or not kept
    return Part(_new_header(birth, birth.workdir, _VERSION if linked else 1), Fate.ADDED)


def _new_header(birth: Birth, workdir: str, version: int) -> bytes:
    counted = {"version": version} if version > 1 else {}
    return codec.dumps({
        "type": "session", **counted, "id": birth.id, "timestamp": birth.time, "cwd": workdir,
    })  # fmt: skip


def _header(data: bytes, birth: Birth) -> bytes:
    # as the client's own forks have it: the session begins now, its entries are older
    values = {"id": codec.dumps(birth.id), "timestamp": codec.dumps(birth.time)}
    if birth.workdir:  # the client refuses a session whose folder is gone
        values["cwd"] = codec.dumps(birth.workdir)
    if birth.source:
        values["parentSession"] = codec.dumps(os.path.abspath(birth.source))
    return splice.put(data, 0, values)


def _version(header: bytes) -> int:
    version = splice.loads(header).get("version")
    return version if type(version) is int else 1


# -- entries -----------------------------------------------------------------------------------


def _line(type: str, at: str, links: tuple[str, str] | None, **more: Any) -> bytes:
    named = {"id": links[0], "parentId": links[1] or None} if links else {}
    return codec.dumps({"type": type, **named, "timestamp": at, **more})


def _entry(message: Mapping[str, Any], at: str, links: tuple[str, str] | None) -> bytes:
    return _line("message", at, links, message=message)


def _said(role: str, text: str, at: str) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    if role != "assistant":
        return {"role": "user", "content": content, "timestamp": _milliseconds(at)}
    return {
        "role": "assistant", "content": content, "api": _UNKNOWN, "provider": _UNKNOWN,
        "model": _UNKNOWN, "usage": _SPENT, "stopReason": "stop", "timestamp": _milliseconds(at),
    }  # fmt: skip


def _milliseconds(at: str) -> int:
    time = moment(at)
    return int(time.timestamp() * 1000) if time else 0


class _Places:
    """Where entries of the source stand among the new log's: version 1 counts them."""

    def __init__(self) -> None:
        self._old = self._new = 0
        self._from, self._shift = [0], [0]
        """Places in the source from which on a shift holds."""

    def count(self, fate: Fate) -> None:
        """The next line of the new log, or one that was left out of it."""
        if fate is Fate.KEPT and self._new - self._old != self._shift[-1]:
            self._from.append(self._old)
            self._shift.append(self._new - self._old)
        self._old += fate in (Fate.KEPT, Fate.DROPPED)
        self._new += fate is not Fate.DROPPED

    def now(self, old: int) -> int:
        """The place of what stood at `old`."""
        return old + self._shift[bisect_right(self._from, old) - 1]


def _kept_from(data: bytes, links: Links, places: _Places) -> bytes:
    """A compaction that names the first entry it keeps, where that one is not there any more or
    not at its place."""
    value = splice.object_of(data)
    if value.get("type") != "compaction":
        return data
    named, place = text_of(value.get("firstKeptEntryId")), value.get("firstKeptEntryIndex")
    if named and (now := links.stands_for(named)) != named:
        return splice.put(data, 0, {"firstKeptEntryId": codec.dumps(now)})
    if not named and type(place) is int and places.now(place) != place:
        return splice.put(data, 0, {"firstKeptEntryIndex": b"%d" % places.now(place)})
    return data


def _free(
    folder: str, seeds: tuple[object, ...], now: datetime, taken: Callable[[str], bool]
) -> tuple[str, str]:
    time = now.astimezone(UTC).strftime("%Y-%m-%dT%H-%M-%S-") + f"{now.microsecond // 1000:03d}Z"

    def made(turn: int) -> tuple[str, str]:
        id = uuid_at(now, *seeds, turn)
        return id, os.path.join(folder, f"{time}_{id}.jsonl")

    return first_free(made, taken)
