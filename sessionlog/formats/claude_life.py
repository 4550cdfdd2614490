"""Which Claude Code sessions run now, by the client's own pid files.

`sessions/<pid>.json` in its configuration folder names the session and the process's start, in
clock ticks since boot. A killed client leaves its file behind and pids are used again, so the
start has to be that of the process which has the pid today. Seen with 2.1.332.
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import NamedTuple

from sessionlog import codec
from sessionlog.paths import agent_folders, beginning
from sessionlog.processes import ticks

_MOST = 64 * 1024
"""Bytes of a pid file that are read; the real ones have a few hundred."""


class _Claim(NamedTuple):
    """What one pid file says."""

    session: str
    pid: int
    start: str


def evidence(path: str, session_id: str) -> str | None:
    """What shows that a client runs this session; None when nothing does. Asks the environment.

    A subagent's log is written by the client of the session whose folder it stands in.
    """
    above, _, folder = os.path.dirname(path).rpartition("/")
    session = os.path.basename(above) if folder == "subagents" else session_id
    pid = running_sessions().get(session)
    return None if pid is None else f"claude runs as pid {pid}"


def running_sessions() -> dict[str, int]:
    """Pid by session id of every client that lives. Costs a look at each pid file; one is read
    again only when it has changed, since a listing asks for every log."""
    claims = _claims(_sessions(os.environ.get("CLAUDE_CONFIG_DIR"), os.environ.get("HOME")))
    return {claim.session: claim.pid for claim in claims if str(ticks(claim.pid)) == claim.start}


@lru_cache(maxsize=4)
def _sessions(*_chosen: str | None) -> str:
    """The folder of the pid files, by the variables that choose it."""
    projects = agent_folders(os.environ)["claude"][0]
    return os.path.join(os.path.dirname(projects), "sessions")


def _claims(folder: str) -> list[_Claim]:
    try:
        with os.scandir(folder) as found:
            files = [(f.path, f.stat()) for f in found if f.name.endswith(".json")]
    except OSError:
        return []
    read = (_claim(path, seen.st_mtime_ns, seen.st_size) for path, seen in sorted(files))
    return [claim for claim in read if claim is not None]


@lru_cache(maxsize=256)
def _claim(path: str, changed: int, size: int) -> _Claim | None:
    """What a pid file says, as it was at that time; None when it says nothing of use."""
    try:
        value = codec.loads(beginning(path, _MOST))
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    session, pid, start = (value.get(name) for name in ("sessionId", "pid", "procStart"))
    if not isinstance(session, str) or type(pid) is not int or not isinstance(start, str | int):
        return None
    return _Claim(session, pid, str(start))
