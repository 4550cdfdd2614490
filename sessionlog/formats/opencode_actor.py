"""Acting on OpenCode's sessions: close an open call, copy a session under new ids, write one.

The client's database is not written: a new log is a document as `opencode export` prints it, one
message a line, for `opencode import` (recipes tried with 1.18.33). Every id in it is new, since an
import passes over ids that are there. A call and its result are one object, so what closes a call
stands in the message that made it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import count

from sessionlog import codec, splice
from sessionlog.errors import NotPossible
from sessionlog.formats.base import Birth, Fate, Part, Said, dict_of
from sessionlog.formats.ids import first_free
from sessionlog.formats.opencode_copy import Copy
from sessionlog.formats.opencode_ids import is_session, session_id
from sessionlog.paths import opencode_databases, runs_folder
from sessionlog.records import OpenCall, moment

_TREE = re.compile(r"/session/[^/]+/[^/]+\.json\Z")


class OpenCodeActor:
    """OpenCode's way of acting."""

    def close(self, request: bytes, call: OpenCall, at: str, text: str) -> bytes:
        """What is to become of the call, for `renew` to write into its message."""
        return codec.dumps({"closes": call.call_id, "tool": call.tool, "text": text, "at": at})

    def answers(self, call: OpenCall) -> bool:
        return True  # the result stands in the call's own object

    def pick(self, data: bytes, results: Collection[int], rest: bool) -> bytes:
        return data  # a result is never apart from its call

    def without(self, data: bytes, calls: Collection[int]) -> bytes:
        return data  # every call can be answered

    def renew(self, parts: Iterable[Part], birth: Birth) -> Iterator[bytes]:
        """The document: the session's object, then a message a line. Holds the whole session.

        Raises NotPossible for a session of version 2, which no import takes.
        """
        copy = Copy(_id_of(birth), birth)
        head, messages = b"", []
        for line, closings in _closed(parts):
            value = splice.object_of(line)
            info = dict_of(value.get("info"))
            if "role" in info or "parts" in value:
                messages.append(copy.message(line, value, closings))
            elif "type" in info:
                raise NotPossible(f"{birth.parent}: a session of OpenCode 2 cannot be copied yet")
            elif info and not head:
                head = line
        if birth.told:
            messages.append(copy.said("user", birth.told, birth.time))
        yield from _document(copy.session(head), messages)

    def place(
        self, parent: str, at: int | None, now: datetime, taken: Callable[[str], bool]
    ) -> tuple[str, str]:
        """Beside an export, under its name and what was done; of a session in the client's own
        keeping in a folder of ours, under its id."""
        if not parent.endswith(".json") or _TREE.search(parent):
            return _private(os.environ, (parent, at), now, taken)
        stem = parent.removesuffix(".json") + ("-repaired" if at is None else f"-fork-{at}")
        names = (f"{stem}.json" if n == 1 else f"{stem}-{n}.json" for n in count(1))
        path = next(name for name in names if not taken(name))
        return session_id(now, path), path

    def compose(self, said: Iterable[Said], birth: Birth) -> Iterator[bytes]:
        """A session of messages without calls."""
        copy = Copy(_id_of(birth), birth)
        messages = [copy.said(role, text, at or birth.time) for role, text, at in said]
        if birth.told:
            messages.append(copy.said("user", birth.told, birth.time))
        yield from _document(copy.session(b""), messages)

    def home(
        self, workdir: str, now: datetime, environ: Mapping[str, str],
        taken: Callable[[str], bool],
    ) -> tuple[str, str]:  # fmt: skip
        """In a folder of ours: the client's database is reached by an import alone."""
        return _private(environ, (workdir,), now, taken)

    def kept(self, id: str, environ: Mapping[str, str]) -> str:
        """In the client's database."""
        return f"{opencode_databases(environ)[0]}/{id}"

    def model(self, environ: Mapping[str, str]) -> str:
        """The newest session's, else the one that is configured."""
        from sessionlog.formats.opencode_model import model_of

        return model_of(environ)


def _private(
    environ: Mapping[str, str], seeds: tuple[object, ...], now: datetime,
    taken: Callable[[str], bool],
) -> tuple[str, str]:  # fmt: skip
    folder = os.path.join(os.path.dirname(runs_folder(environ)), "opencode")

    def made(turn: int) -> tuple[str, str]:
        id = session_id(now, *seeds, turn)
        return id, os.path.join(folder, f"{id}.json")

    return first_free(made, taken)


def _id_of(birth: Birth) -> str:
    """The new session's id; a file that a person named may have given one that cannot be."""
    if is_session(birth.id):
        return birth.id
    return session_id(moment(birth.time) or datetime.fromtimestamp(0, UTC), birth.id)


def _closed(parts: Iterable[Part]) -> Iterator[tuple[bytes, list[Mapping[str, object]]]]:
    """Every line that stays, with what closes its calls."""
    line, closings = b"", list[Mapping[str, object]]()
    for data, fate in parts:
        if fate is Fate.ADDED:
            closings.append(dict_of(codec.loads(data)))
        elif fate is not Fate.DROPPED:
            if line:
                yield line, closings
            line, closings = data, []
    if line:
        yield line, closings


def _document(session: bytes, messages: list[bytes]) -> Iterator[bytes]:
    """The lines of the document; the first is one that no log of lines begins with."""
    yield b"{"
    yield session + b","
    yield b'"messages":['
    yield from (message + b"," for message in messages[:-1])
    yield from messages[-1:]
    yield b"]}"
