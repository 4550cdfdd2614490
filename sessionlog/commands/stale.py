"""`sessionlog stale`: which files changed since the agent saw them; exit 1 when any did."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from sessionlog import shown
from sessionlog.commands.common import DONE, FOUND, counted, found, ref, say
from sessionlog.reader import load
from sessionlog.stale import FileNow, Staleness, note_of, stale
from sessionlog.text import visible

_SIGNS = {"changed": "~", "deleted": "-", "new": "+", "unchanged": " "}


def arguments(sub: argparse.ArgumentParser) -> None:
    """What it takes."""
    ref(sub)
    sub.add_argument("--at", type=counted, metavar="N", help="as the agent stood at message N")
    sub.add_argument("--all", action="store_true", help="list the unchanged files too")


def run(options: argparse.Namespace) -> int:
    """Do it."""
    seen = stale(load(found(options, options.ref).path), at=options.at)
    if options.json:
        say(shown.json_line(object_of(file)) for file in seen.files)
    else:
        say(_lines(seen, options.all))
    return FOUND if seen.changed else DONE


def object_of(file: FileNow) -> dict[str, object]:
    """A file as `stale --json` prints it."""
    return {
        "path": file.path, "how": file.how, "since": shown.time_of(file.since), "by": file.by,
        "changed_at": file.changed_at or None, "n": file.n, "wrote": file.wrote,
        "in_context": file.in_context, "why": file.why,
    }  # fmt: skip


def _lines(seen: Staleness, everything: bool) -> Iterator[str]:
    for file in seen.files if everything else seen.changed:
        yield f"{_SIGNS[file.how]} {visible(file.shown)}  {visible(_told(file))}"
    same = len(seen.files) - len(seen.changed)
    if not seen.files:
        yield "the transcript touched no file"
    elif same and not everything:
        noun = "other" if seen.changed else "file"
        yield f"  {same} {noun}{'s' * (same != 1)} unchanged"
    if seen.moved:
        yield visible(note_of(seen)[-1])


def _told(file: FileNow) -> str:
    """`changed since 2026-11-24 03:34, by content`"""
    time = file.since[:16].replace("T", " ")
    if file.how == "deleted" and file.why:  # a whole folder
        return f"{file.why}; last seen {time}" if time else file.why
    why = f"; {file.why}" if file.why else ""
    return f"{file.how}{f' since {time}' if time else ''}, by {file.by}{why}"
