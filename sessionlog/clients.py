"""Evidence from an agent's processes, where its logs bear no trace of them.

Such a client opens its log anew for each line and notes its pid nowhere. What shows that it goes
on with a log is a living process of its program, of this user, that

- has the session's working directory for its own, and keeps its sessions of that where the log is;
- began before the log changed last;
- has no log there that it wrote to later. As many logs as there are such processes have a writer,
  those that changed last.

A process that sits at its prompt looks the same, so this is asked for logs with an open end, and
for those of agents that write a call down only when it has ended. Seen with pi 0.73, Qwen Code
0.24 and Gemini CLI 0.61, on Linux; elsewhere there is nothing to see.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from sessionlog.errors import NotPossible
from sessionlog.formats.base import Composer, Format, Traceless
from sessionlog.processes import PROC, Process, environ_of, folder_of, those_of
from sessionlog.records import stamp

_RUNTIMES = ("node", "nodejs", "bun")
"""Executables that run a client's script."""
_LOGS = (".jsonl", ".json")


class _Client(NamedTuple):
    """A process of an agent's client."""

    pid: int
    began: float
    workdir: str
    folder: str
    """Where it keeps its sessions of that working directory."""


class Clients:
    """Looks once, and answers for many logs; the processes are looked at when a log asks for them.

    A client that started itself anew is one, by its first process.
    """

    def __init__(self, proc: str = PROC) -> None:
        self._proc = proc
        self._found: dict[str, list[_Client]] = {}
        self._changes: dict[str, list[int]] = {}

    def evidence(self, form: Format, path: str, workdir: str, seen: os.stat_result) -> str | None:
        """What shows that a client goes on with this log, in a few words; None when nothing does.

        `workdir`: the session's, "" where the log does not tell; `seen`: the log's file.
        """
        if not isinstance(form, Traceless) or not _is_appended(seen):
            return None
        if form.name not in self._found:
            self._found[form.name] = self._look(form, form)
        changed = seen.st_mtime_ns / 1e9
        folder = os.path.realpath(os.path.dirname(path)) if self._found[form.name] else ""
        here = [
            client
            for client in self._found[form.name]
            if client.began <= changed and _is_in(folder, client.folder)
            and (not workdir or os.path.realpath(workdir) == client.workdir)
        ]  # fmt: skip
        if not here or self._later(folder, seen.st_mtime_ns) >= len(here):
            return None
        client = max(here, key=lambda client: client.began)
        since = stamp(int(client.began))
        said = f"a {form.program} process (pid {client.pid}) works in its folder since {since}"
        return f"{said}, or waits at its prompt: the log cannot tell" if form.hides_calls else said

    def _look(self, form: Format, traces: Traceless) -> list[_Client]:
        names = frozenset((*_RUNTIMES, traces.program))
        found = [p for p in those_of(names, self._proc) if _is_client(p.argv, traces)]
        pids = {process.pid for process in found}
        first = [process for process in found if process.parent not in pids]
        clients = (self._client(process, form) for process in first)
        return [client for client in clients if client is not None]

    def _client(self, process: Process, form: Format) -> _Client | None:
        workdir = folder_of(process.pid, self._proc)
        if workdir is None or not isinstance(form.actor, Composer):
            return None
        environ = environ_of(process.pid, self._proc)
        try:
            _, path = form.actor.home(workdir, datetime.now(UTC), environ, lambda path: False)
        except NotPossible:  # a folder for which it keeps none
            return None
        folder = os.path.realpath(os.path.dirname(path))
        return _Client(process.pid, process.began, workdir, folder)

    def _later(self, folder: str, changed: int) -> int:
        """How many logs in the folder were written to later. O(files in it), once."""
        if folder not in self._changes:
            self._changes[folder] = list(_changes(folder))
        return sum(time > changed for time in self._changes[folder])


def _is_client(argv: Sequence[str], traces: Traceless) -> bool:
    """By its title or program (a link on PATH), or by the script that it runs."""
    if not argv:
        return False
    script = next((word for word in argv[1:] if not word.startswith("-")), "")
    names = (os.path.basename(argv[0]), os.path.basename(script))
    return traces.program in names or f"/{traces.package}/" in script


def _is_in(folder: str, whole: str) -> bool:
    """Is it that folder, or below it, as those of subagents are?"""
    return folder == whole or folder.startswith(f"{whole}/")


def _is_appended(seen: os.stat_result) -> bool:
    """Is the last thing that happened to the file a line being written? Not where its time was set:
    that of a new log of ours (`newlog`), or of a copy that kept it."""
    return seen.st_mtime_ns == seen.st_ctime_ns


def _changes(folder: str) -> list[int]:
    changes = []
    try:
        with os.scandir(folder) as found:
            for item in found:
                if item.name.endswith(_LOGS) and _is_appended(seen := item.stat()):
                    changes.append(seen.st_mtime_ns)
    except OSError:
        pass  # gone meanwhile
    return changes
