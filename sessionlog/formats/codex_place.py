"""What Codex calls a session, and where it looks for one.

A session is found by the id in its file's name, anywhere below the folder `sessions`; an archived
one is not. The id has to be a UUID, and the same one inside (tried with 0.171: a file whose name
says otherwise is refused).
"""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Callable, Mapping
from datetime import datetime

from sessionlog.formats.ids import first_free, uuid_at
from sessionlog.paths import agent_folders

UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
ARCHIVED = "archived_sessions"
"""The folder beside `sessions`, flat."""
PROVIDER = "openai"


def beside(
    parent: str, at: int | None, now: datetime, taken: Callable[[str], bool]
) -> tuple[str, str]:
    """(id, path) of a log made from `parent`: in its folder, or, as the client resumes nothing
    that is archived, among the sessions of today."""
    folder = os.path.dirname(parent)
    home, name = os.path.split(folder)
    if name == ARCHIVED:
        folder = _of_today(os.path.join(home, "sessions"), now)
    return _free(folder, f"{parent}\0{at}", now, taken)


def home(
    workdir: str, now: datetime, environ: Mapping[str, str], taken: Callable[[str], bool]
) -> tuple[str, str]:
    """(id, path) of a new log in the client's own folder, which is the same for every `workdir`."""
    sessions = agent_folders(environ)["codex"][0]
    return _free(_of_today(sessions, now), workdir, now, taken)


def provider(environ: Mapping[str, str]) -> str:
    """The model provider that the client is set to use: a log has to name one that it knows, and
    its screen opens none without."""
    import tomllib  # few logs need it

    path = os.path.join(os.path.dirname(agent_folders(environ)["codex"][0]), "config.toml")
    try:
        with open(path, "rb") as file:
            config = tomllib.load(file)
        profile = config.get("profiles", {}).get(config.get("profile"), {})
        found = profile.get("model_provider") or config.get("model_provider")
    except (OSError, ValueError, AttributeError, TypeError):
        return PROVIDER
    return found if isinstance(found, str) else PROVIDER


def id_of(name: str, seed: str) -> str:
    """The UUID in a name, else one made of both."""
    found = UUID.findall(name)
    return found[-1].lower() if found else str(uuid.uuid5(uuid.NAMESPACE_URL, f"{seed}/{name}"))


def made(id: str, what: str) -> str:
    """An id inside a log, made of the log's own and of what it is for."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{id}/{what}"))


def _of_today(sessions: str, now: datetime) -> str:
    return os.path.join(sessions, now.astimezone().strftime("%Y/%m/%d"))


def _free(
    folder: str, seed: str, now: datetime, taken: Callable[[str], bool]
) -> tuple[str, str]:  # fmt: skip
    """The first of the folder that is not taken; its name has the local time, as the client's."""
    stamp = now.astimezone().strftime("%Y-%m-%dT%H-%M-%S")

    def made(n: int) -> tuple[str, str]:
        id = uuid_at(now, seed, now.isoformat(), n)
        return id, os.path.join(folder, f"rollout-{stamp}-{id}.jsonl")

    return first_free(made, lambda path: taken(path) or taken(f"{path}.zst"))
