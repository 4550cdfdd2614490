"""OpenCode's tree of files (before 1.2): one file for a session, each message and each part.

`storage/session/<project>/<session>.json`, `storage/message/<session>/<message>.json` and
`storage/part/<message>/<part>.json`; the first versions had `session/info/<session>.json`,
`session/message/<session>/<message>.json` and `session/part/<session>/<message>/<part>.json`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from sessionlog import codec
from sessionlog.errors import Unreadable
from sessionlog.formats.base import dict_of, list_of, text_of
from sessionlog.formats.opencode_lines import message_line, noted, one_line, session_line
from sessionlog.paths import open_regular
from sessionlog.records import Entry
from sessionlog.stores.base import Mark

_ID = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{[^{}\[\]]*?"id"\s*:\s*"[^"\\]+"')
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class OpenCodeTree:
    """One session, from its file."""

    many = False

    def keeps(self, path: str, head: bytes) -> bool:
        return path.endswith(".json") and bool(_ID.match(head)) and _places(path, ()) is not None

    def sessions(self, path: str) -> list[str]:
        return []

    def lines(self, path: str, id: str) -> Iterator[bytes]:
        data = _read(path)
        info = _object(data)
        yield session_line(data) if info else data
        places = _places(path, (text_of(info.get("id")),))
        if places is not None:
            yield from noted(_messages(places), dict_of(info.get("revert")))

    def mark(self, path: str, id: str) -> Mark:
        """The client writes the session's file each turn, and parts of the last message alone."""
        places = _places(path, (os.path.basename(path).removesuffix(".json"),))
        marks: list[object] = [_changed(path)]
        if places is not None:
            files = _files(places.messages)
            marks += [_changed(places.messages), *map(_changed, files[-2:])]
            stems = [os.path.basename(file).removesuffix(".json") for file in files[-2:]]
            parts = [os.path.join(places.parts, stem) for stem in stems]
            marks += [_changed(file) for folder in parts for file in (folder, *_files(folder))]
        return tuple(marks)

    def glimpse(self, path: str, id: str) -> Entry | None:
        return None


class _Places(NamedTuple):
    messages: str
    """Folder of the session's messages."""
    parts: str
    """Folder that has one for each message."""


def _places(path: str, ids: Iterable[str]) -> _Places | None:
    """Where the rest of a session is; None for a file that is not in such a tree.

    `ids`: names that its folder may have, besides that of its file.
    """
    path = os.path.abspath(path)
    folder, stem = os.path.dirname(path), os.path.basename(path).removesuffix(".json")
    above = os.path.dirname(folder)
    if os.path.basename(above) != "session":
        return None
    names = [name for name in (*ids, stem) if _NAME.fullmatch(name)]
    if os.path.basename(folder) == "info":
        return _Places(_first(above, "message", names), _first(above, "part", names))
    root = os.path.dirname(above)
    if not any(os.path.isdir(os.path.join(root, name)) for name in ("message", "part")):
        return None
    return _Places(_first(root, "message", names), os.path.join(root, "part"))


def _first(root: str, kind: str, names: list[str]) -> str:
    folders = [os.path.join(root, kind, name) for name in names]
    return next(filter(os.path.isdir, folders), os.path.join(root, kind, "-"))


def _messages(places: _Places) -> Iterator[bytes]:
    """Messages by their time and id, as the client orders them; damaged ones come last."""
    read = [(_read(file), file) for file in _files(places.messages)]
    found = [(data, _object(data), file) for data, file in read]
    for data, info, file in sorted(found, key=lambda item: _order(item[1])):
        stem = os.path.basename(file).removesuffix(".json")
        id = text_of(info.get("id"))
        names = [name for name in (id, stem) if _NAME.fullmatch(name)]
        folders = [os.path.join(places.parts, name) for name in names]
        files = _files(next(filter(os.path.isdir, folders), ""))
        parts = [_read(part) for part in files]
        inside = [codec.dumps(part) for part in list_of(info.get("parts"))]
        whole = [part for part in parts if _object(part)]
        yield message_line(data, whole or inside) if info else data
        yield from (part for part in parts if not _object(part))


def _order(info: dict[str, Any]) -> tuple[bool, float, str]:
    created = dict_of(info.get("time")).get("created")
    time = created if isinstance(created, int | float) else 0
    return not info, time, text_of(info.get("id"))


def _files(folder: str) -> list[str]:
    """The JSON files of a folder, by name."""
    try:
        names = sorted(os.listdir(folder)) if folder else []
    except OSError:
        return []
    return [os.path.join(folder, name) for name in names if name.endswith(".json")]


def _read(path: str) -> bytes:
    """A file on one line; what cannot be read is a line that is no JSON."""
    try:
        with open(open_regular(path), "rb") as file:
            return one_line(file.read())
    except (Unreadable, OSError) as error:
        return str(error).encode()


def _object(data: bytes) -> dict[str, Any]:
    """The object in a file; empty for one that is damaged."""
    try:
        return dict(dict_of(codec.loads(data)))
    except ValueError:
        return {}


def _changed(path: str) -> tuple[int, ...]:
    try:
        found = os.stat(path)
    except OSError:
        return ()
    return found.st_ino, found.st_size, found.st_mtime_ns
