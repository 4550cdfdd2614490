"""A session of Gemini CLI made out of plain messages, and the folder where it looks for it.

The client finds sessions in `tmp/<project>/chats`; which folder is whose, `projects.json` and the
file `.project_root` in each say. For a folder that it does not know yet it takes the name as a
short one, or that with a number, the first that nobody has (0.61.0); so that name is given here. A
head, and messages with an id, a time, a type and a text, are all it needs.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import count

from sessionlog import codec
from sessionlog.errors import NotPossible
from sessionlog.formats.base import Birth, Said, dict_of, text_of
from sessionlog.formats.gemini_parts import CONTEXTS, SPOKEN, UNHEARD
from sessionlog.formats.ids import uuid_of
from sessionlog.paths import gemini_folder

_MOST = 1 << 20
"""Bytes of the list of projects that are read."""
_LEFT_OUT = (*UNHEARD, *CONTEXTS)
_NAME = re.compile(r"[a-z0-9-]+")
_PLACES = ("tmp", "history")
"""Folders in which the client keeps something of each project."""


def composed(said: Iterable[Said], birth: Birth) -> Iterator[bytes]:
    """The lines of a log that holds these messages, then `birth.told`."""
    head = {
        "sessionId": birth.id, "projectHash": project_hash(birth.workdir),
        "startTime": birth.time, "lastUpdated": birth.time, "kind": "main",
    }  # fmt: skip
    if birth.title:
        head["summary"] = birth.title
    yield codec.dumps(head)
    for n, message in enumerate(said):
        yield message_line(birth, n, message)
    if birth.told:
        yield told_line(birth)


def told_line(birth: Birth) -> bytes:
    """`birth.told` as the user's message."""
    return message_line(birth, "told", Said("user", birth.told, birth.time))


def message_line(birth: Birth, n: object, message: Said) -> bytes:
    """A plain message; its id comes from the new log's and its number there."""
    mine = message.role == "assistant"
    content = message.text if mine else [{"text": _heard(message.text)}]
    digest = hashlib.sha256(f"{birth.id}/{n}".encode()).digest()
    return codec.dumps(
        {
            "id": uuid_of(digest), "timestamp": message.at or birth.time,
            "type": "gemini" if mine else "user", "content": content,
        }
    )  # fmt: skip


def _heard(text: str) -> str:
    """A user's text so that the model gets it: what begins as a command, or as what the client
    puts in by itself, it leaves out when it resumes (0.61.0)."""
    return SPOKEN + text if text.lstrip().startswith(_LEFT_OUT) else text


def project_hash(workdir: str) -> str:
    """The client's name for a project in a session's head."""
    return hashlib.sha256(workdir.encode("utf-8", "surrogateescape")).hexdigest()


def home_of(workdir: str, environ: Mapping[str, str]) -> str:
    """The folder in which the client keeps the sessions of a working directory, links resolved.

    Raises NotPossible where that ends in a blank: the client (0.61.0) reads the owner of its own
    folders without it, takes another folder at each start, and finds no session again.
    """
    own, root = gemini_folder(environ), os.path.realpath(workdir)
    if root != root.strip():
        raise NotPossible(
            f"{root!r}: Gemini CLI finds no session of a folder whose name ends in a blank: "
            "choose another folder"
        )
    return os.path.join(own, "tmp", _project(own, root), "chats")


def _project(own: str, root: str) -> str:
    """The client's short name for a project (`ProjectRegistry`): the one that it has written down,
    that of a folder which says so, or the one that it will take for a new one."""
    known = _registered(own)
    name = known.pop(root, "")
    if name and _owners(own, name) <= {root}:
        return name
    for name in _named(own):
        if root in _owners(own, name):
            return name
    slug = re.sub(r"[^a-z0-9]+", "-", os.path.basename(root).lower()).strip("-") or "project"
    taken = set(known.values())
    names = (f"{slug}-{n}" if n else slug for n in count())
    return next(name for name in names if name not in taken and _owners(own, name) <= {root})


def _registered(own: str) -> dict[str, str]:
    """The projects that the client knows, by their folders; it takes all of them or none."""
    try:
        with open(os.path.join(own, "projects.json"), "rb") as file:
            known = dict_of(dict_of(codec.loads(file.read(_MOST))).get("projects"))
    except (OSError, ValueError):
        return {}
    return dict(known) if all(_NAME.fullmatch(text_of(name)) for name in known.values()) else {}


def _named(own: str) -> list[str]:
    """The names of the projects that the client keeps something of."""
    names: list[str] = []
    for place in _PLACES:
        with contextlib.suppress(OSError):
            names += os.listdir(os.path.join(own, place))
    return names


def _owners(own: str, name: str) -> set[str]:
    """Whose a project of that name is; nobody's yet where nothing says so."""
    owners = set()
    for place in _PLACES:
        path = os.path.join(own, place, name, ".project_root")
        with contextlib.suppress(OSError, ValueError), open(path, encoding="utf-8") as file:
            owners.add(file.read(4096).strip())
    return owners
