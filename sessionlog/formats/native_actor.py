"""Acting on native logs: close an open call, name a new log and its origin.

The engine resumes by reading the messages of a log into a new one, so the lines need no change;
only the meta says which log this is and what it was made from.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import chain, count

from sessionlog import codec, splice
from sessionlog.formats.base import Birth, Fate, Part, Said
from sessionlog.formats.native_encode import encode
from sessionlog.framing import Line
from sessionlog.paths import native_folder, new_id
from sessionlog.records import Message, OpenCall

_SIX = ("id", "task", "model", "provider", "driver", "workdir")


class NativeActor:
    """The native format's way of acting."""

    def close(self, request: bytes, call: OpenCall, at: str, text: str) -> bytes:
        """The response that the engine writes for a failed call; id, name and arguments are the
        request's own bytes, so that the two pair."""
        failure = codec.dumps(text)
        shown = codec.dumps((b'{"error":' + failure + b"}").decode())
        known = {"id": call.call_id, "name": call.tool, "arguments": call.arguments}
        copied = b"".join(
            b"," + codec.dumps(key) + b":" + value
            for key, text_of_call in known.items()
            if (value := _copied(request, key, text_of_call))
        )
        return (
            b'{"kind":"message","at":' + codec.dumps(at)
            + b',"message":{"type":"activity","text":' + shown
            + b',"activity":{"kind":"response"' + copied + b',"failure":' + failure + b"}}}"
        )  # fmt: skip

    def answers(self, call: OpenCall) -> bool:
        return True  # a call without id and name pairs by its arguments

    def without(self, data: bytes, calls: Collection[int]) -> bytes:
        return data  # one record an object

    def pick(self, data: bytes, results: Collection[int], rest: bool) -> bytes:
        return data  # one record an object

    def renew(self, parts: Iterable[Part], birth: Birth) -> Iterator[bytes]:
        """The first meta is the session's: it gets the new id and the origin. A log without one
        gets a meta in front, which the origin needs. O(lines)."""
        values = _values(birth)
        before: list[bytes] = []
        rest = iter(parts)
        for data, fate in rest:
            if fate is Fate.DROPPED:
                continue
            renewed = _with_meta(data, values)
            if renewed is not None:
                yield from (*before, renewed)
                break
            before.append(data)
            if len(before) > _HEAD:
                yield _new_meta(birth, values)
                yield from before
                break
        else:
            yield _new_meta(birth, values)
            yield from before
        yield from (data for data, fate in rest if fate is not Fate.DROPPED)
        if birth.told:
            yield encode(Message("user", birth.told), birth.time).removesuffix(b"\n")

    def place(
        self, parent: str, at: int | None, now: datetime, taken: Callable[[str], bool]
    ) -> tuple[str, str]:
        """In the parent's folder, by the time."""
        return _free(os.path.dirname(parent), now, taken)

    def compose(self, said: Iterable[Said], birth: Birth) -> Iterator[bytes]:
        """A run of such messages, which names its origin as a fork or a repair does."""
        yield _new_meta(birth, _values(birth) | {
            "task": codec.dumps(birth.title), "workdir": codec.dumps(birth.workdir),
        })  # fmt: skip
        for role, text, at in said:
            type = "bot" if role == "assistant" else "user"
            yield encode(Message(type, text), at or birth.time).removesuffix(b"\n")
        if birth.told:
            yield encode(Message("user", birth.told), birth.time).removesuffix(b"\n")

    def home(
        self, workdir: str, now: datetime, environ: Mapping[str, str],
        taken: Callable[[str], bool],
    ) -> tuple[str, str]:  # fmt: skip
        """In the native folder: the engine keeps all runs in one, whatever they work on."""
        return _free(native_folder(environ), now, taken)


def _free(folder: str, now: datetime, taken: Callable[[str], bool]) -> tuple[str, str]:
    """The first free (id, path) there: base, base-2, base-3, ..."""
    base = new_id(now)
    ids = chain([base], (f"{base}-{n}" for n in count(2)))
    stems = ((id, os.path.join(folder, id)) for id in ids)
    return next(
        (id, f"{stem}.jsonl")
        for id, stem in stems
        if not taken(f"{stem}.jsonl") and not taken(f"{stem}.blobs")
    )


_HEAD = 1000
"""Lines that may stand before the meta; further behind it is not the head of a session."""


def _copied(request: bytes, key: str, wanted: str) -> bytes:
    """The bytes of a member of the call, where they read as what the reader made of them."""
    found = splice.clean(splice.value(request, ("message", "activity", key)))
    read = splice.loads(found) if found else ""
    if (read if isinstance(read, str) else "") == wanted:
        return found
    return codec.dumps(wanted)


def _values(birth: Birth) -> dict[str, bytes]:
    parent = codec.dumps(birth.parent)
    values = {"id": codec.dumps(birth.id)}
    if birth.at is None:
        values["resumedFrom"] = parent
    else:
        values["forkedFrom"] = b'{"id":' + parent + b',"at":%d}' % birth.at
    return values


def _with_meta(data: bytes, values: dict[str, bytes]) -> bytes | None:
    """The line with its meta renewed; None when it holds none."""
    if b"meta" not in data and b"\\u" not in data:
        return None
    for value, span in codec.parse(Line(0, 0, data, True)).objects:
        if value.get("kind") == "meta" and isinstance(value.get("meta"), dict):
            found = splice.member(data, ("meta",), span.offset)
            if found is not None:
                return splice.put(data, found.start, values)
    return None


def _new_meta(birth: Birth, values: dict[str, bytes]) -> bytes:
    empty = b"{" + b",".join(codec.dumps(key) + b':""' for key in _SIX) + b"}"
    body = splice.put(empty, 0, values)
    return b'{"kind":"meta","at":' + codec.dumps(birth.time) + b',"meta":' + body + b"}"
