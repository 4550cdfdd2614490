"""`sessionlog list`: the sessions in folders, newest first."""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from typing import Any

from sessionlog import shown
from sessionlog.commands.common import DONE, agents, cell, columns, complain, counted, say
from sessionlog.errors import SessionNotFound
from sessionlog.listing import FEW, age_of, logs_in, look, ordered
from sessionlog.logfile import there
from sessionlog.paths import agent_folders, default_folders
from sessionlog.records import Entry, Status, moment
from sessionlog.spread import spread
from sessionlog.text import ago, visible


def arguments(sub: argparse.ArgumentParser) -> None:
    """What it takes."""
    sub.add_argument("paths", nargs="*", metavar="PATH")
    sub.add_argument("--status", choices=[*(s.value for s in Status), "failed"], help="only these")
    sub.add_argument("--agent", type=agents, help="only this agent's")
    sub.add_argument("--limit", type=counted, metavar="N", help="at most N")
    sub.add_argument("--by-project", action="store_true",
                     help="under the folder that they ran in, the newest first")  # fmt: skip
    sub.add_argument("--why", action="store_true",
                     help="read the logs for what failed, too, which takes its time: a run may end "
                     "by itself without its work being done")  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Do it."""
    if not options.why:
        gc.disable()  # ten thousand rows are no garbage, and the process ends with them
    places = options.paths or default_folders()
    for path in options.paths:
        if not there(path):
            raise SessionNotFound(f"{path}: no such file or folder")
    paths = list(logs_in(places))
    now, room = time.time(), columns() if sys.stdout.isatty() else 0

    def rows(entries: Iterable[Entry]) -> Iterator[tuple[tuple[bool, str, str, str], str, str]]:
        for entry in entries:
            if not options.agent or {entry.agent, entry.format} & {*options.agent}:
                told, more = _asked(entry, now) if options.why else (entry, {})
                if not options.status or options.status in (told.status, word_of(told)):
                    yield age_of(told), told.workdir, _list_row(told, more, options.json, now, room)

    listed = partial(look, closely=len(paths) <= FEW)
    if options.why:  # in the order of the answer: no more logs are read than it needs
        found = list(islice(rows(ordered(listed(paths))), options.limit))
    else:
        found = sorted(spread(paths, lambda part: list(rows(listed(part)))), reverse=True)
        found = found[: options.limit]
    if options.by_project and not options.json:
        say(_by_project((project, row) for _, project, row in found))
    else:
        say(row for _, _, row in found)
    if not found and paths:
        asked = [options.status, options.agent and f"of {' or '.join(options.agent)}"]
        complain(f"none of {len(paths):,} sessions is {' and '.join(filter(None, asked))}")
    elif not found:
        places = places or [path for paths in agent_folders().values() for path in paths]
        complain(f"no sessions in {', '.join(places)}")
    return DONE


def _by_project(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    """A heading for each project, its rows below it; those without a folder come last."""
    groups: dict[str, list[str]] = {}
    for project, row in rows:
        groups.setdefault(project, []).append(row)
    nowhere = groups.pop("", [])
    for project, group in (*groups.items(), *([("", nowhere)] if nowhere else [])):
        yield visible(project) or "no folder"
        yield from (f"  {row}" for row in group)


def _asked(entry: Entry, now: float) -> tuple[Entry, dict[str, Any]]:
    from sessionlog.amiss import asked  # a plain listing is to start at once

    told, cause = asked(entry, datetime.fromtimestamp(now, UTC))
    return told, {"stop": told.failure or told.stop, "cause": cause, "failed": told.failed}


def _list_row(entry: Entry, more: dict[str, Any], as_json: bool, now: float, room: int) -> str:
    if as_json:
        return shown.json_line({**shown.of_entry(entry), **more})
    return _list_line(entry, now, room)


def _list_line(entry: Entry, now: float, room: int) -> str:
    """`failed  zot  8h  id  title  how it stopped`, in so many columns; 0: nothing is cut."""
    started = moment(entry.started or entry.updated)
    age = ago(now - started.timestamp()) if started else ""
    stop = entry.failure
    if not stop and not entry.is_well:
        stop = entry.stop if entry.status else entry.reason or ""
    cut = room > 0
    left = max(room - 49, 20) if cut else 60
    title = left * 5 // 9 if cut and stop else left
    agent, id = (9, 20) if cut else (14, 36)
    line = (
        f"{word_of(entry):10} {cell(entry.agent or entry.format, agent, cut)} {age:>4}  "
        f"{cell(entry.id, id, cut)}  {cell(entry.title or '-', title, cut)}"
    )
    return f"{line}  {cell(stop, left - title - 2, cut)}".rstrip() if stop else line.rstrip()


def word_of(entry: Entry) -> str:
    """The status in one word; a complete run that failed says so."""
    if entry.status is None:
        return "no log"
    return "failed" if entry.failed else entry.status.value
