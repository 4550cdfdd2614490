"""A session of Gemini CLI made out of plain messages, and the folder where it looks for it.

The client finds sessions in `tmp/<project>/chats`; which folder is whose, `projects.json` and the
file `.project_root` in each say. For a folder that it does not know yet it takes the name as a
short one, or that with a number, the first that nobody has (0.61.0); so that name is given here. A
head, and messages with an id, a time, a type and a text, are all it needs.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import count

from sessionlog import codec
from sessionlog.formats.base import Birth, Said, dict_of, text_of
from sessionlog.formats.ids import uuid_of
from sessionlog.paths import gemini_folder

_MOST = 1 << 20
"""Bytes of the list of projects that are read."""
_UNSENT = ("/", "?", "<session_context>", "<hook_context>")
_NAME = re.compile(r"[A-Za-z0-9_-]+")


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
    return f"[the user said] {text}" if text.lstrip().startswith(_UNSENT) else text


def project_hash(workdir: str) -> str:
    """The client's name for a project in a session's head."""
    return hashlib.sha256(workdir.encode("utf-8", "surrogateescape")).hexdigest()


def home_of(workdir: str, environ: Mapping[str, str]) -> str:
    """The folder in which the client keeps the sessions of a working directory."""
    own, root = gemini_folder(environ), os.path.abspath(workdir)
    return os.path.join(own, "tmp", _project(own, root), "chats")


def _project(own: str, root: str) -> str:
    """The client's short name for a project; the one that it will take for a new one."""
    known = _registered(own)
    if root in known:
        return known[root]
    slug = re.sub(r"[^a-z0-9]+", "-", os.path.basename(root).lower()).strip("-") or "project"
    for n in count():
        name = f"{slug}-{n}" if n else slug
        owner = _owner(os.path.join(own, "tmp", name))
        if owner == root or (not owner and name not in known.values()):
            break
    return name


def _registered(own: str) -> dict[str, str]:
    """The projects that the client knows, by their folders."""
    try:
        with open(os.path.join(own, "projects.json"), "rb") as file:
            known = dict_of(dict_of(codec.loads(file.read(_MOST))).get("projects"))
    except (OSError, ValueError):
        return {}
    return {root: name for root, name in known.items() if _NAME.fullmatch(text_of(name))}


def _owner(folder: str) -> str:
    """Whose folder it is; "" for one that is nobody's yet."""
    try:
        with open(os.path.join(folder, ".project_root"), encoding="utf-8") as file:
            return file.read(4096).strip()
    except (OSError, ValueError):
        return ""
