"""`sessionlog list`: the sessions in folders, newest first."""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Iterable, Iterator, Sequence

from sessionlog import shown
from sessionlog.commands.common import DONE, columns, counted, say
from sessionlog.errors import SessionNotFound
from sessionlog.listing import FEW, age_of, logs_in, look
from sessionlog.logfile import there
from sessionlog.paths import agent_folders, default_folders
from sessionlog.records import Entry, Status, moment
from sessionlog.spread import spread
from sessionlog.text import ago, one_line, pad, visible


def arguments(sub: argparse.ArgumentParser) -> None:
    """What it takes."""
    sub.add_argument("paths", nargs="*", metavar="PATH")
    sub.add_argument("--status", choices=[*(s.value for s in Status), "failed"], help="only these")
    sub.add_argument("--agent", help="only this agent's")
    sub.add_argument("--limit", type=counted, metavar="N", help="at most N")
    sub.add_argument("--by-project", action="store_true",
                     help="under the folder that they ran in, the newest first")  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Do it."""
    gc.disable()  # ten thousand rows are no garbage, and the process ends with them
    places = options.paths or default_folders()
    for path in options.paths:
        if not there(path):
            raise SessionNotFound(f"{path}: no such file or folder")
    paths = list(logs_in(places))
    now, room = time.time(), columns()

    def rows(part: Sequence[str]) -> list[tuple[tuple[bool, str, str], str, str]]:
        return [
            (age_of(entry), entry.workdir, _list_row(entry, options.json, now, room))
            for entry in look(part, closely=len(paths) <= FEW)
            if (not options.status or options.status in (entry.status, word_of(entry)))
            and (not options.agent or entry.agent == options.agent)
        ]

    found = sorted(spread(paths, rows), reverse=True)[: options.limit]
    if options.by_project and not options.json:
        say(_by_project((project, row) for _, project, row in found))
    else:
        say(row for _, _, row in found)
    if not found:
        places = places or [path for paths in agent_folders().values() for path in paths]
        where = f"no sessions in {', '.join(places)}"
        print(f"sessionlog: {visible(where)}", file=sys.stderr)
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


def _list_row(entry: Entry, as_json: bool, now: float, columns: int) -> str:
    return shown.json_line(shown.of_entry(entry)) if as_json else _list_line(entry, now, columns)


def _list_line(entry: Entry, now: float, columns: int) -> str:
    """`failed  zot  8h  id  title  how it stopped`; thousands of them, so no work is done twice."""
    started = moment(entry.started or entry.updated)
    age = ago(now - started.timestamp()) if started else ""
    stop = entry.stop if entry.status else entry.reason or ""
    if entry.ok and entry.status is Status.COMPLETE:
        stop = ""
    room = max(columns - 48, 20)
    left = room if not stop else room * 5 // 9
    line = (
        f"{word_of(entry):10} {_cell(entry.agent or entry.format, 8)} {age:>4}  "
        f"{_cell(entry.id, 20)}  {_cell(entry.title or '-', left)}"
    )
    return f"{line}  {_cell(stop, room - left - 2)}".rstrip() if stop else line.rstrip()


def _cell(text: str, columns: int) -> str:
    """The first line of `text` in exactly so many columns, safe to print."""
    if text.isascii() and text.isprintable():
        return text.ljust(columns) if len(text) <= columns else text[: columns - 1] + "…"
    return pad(one_line(text), columns)


def word_of(entry: Entry) -> str:
    """The status in one word; a complete run that failed says so."""
    if entry.status is None:
        return "no log"
    return "failed" if entry.ok is False else entry.status.value
