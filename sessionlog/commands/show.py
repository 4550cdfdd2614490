"""`sessionlog show`: the timeline of a session."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from sessionlog import shown
from sessionlog.commands.common import DONE, counted, found, ref, say
from sessionlog.commands.rows import row_line
from sessionlog.errors import NotPossible
from sessionlog.logfile import open_log
from sessionlog.reader import load
from sessionlog.text import visible


def arguments(sub: argparse.ArgumentParser) -> None:
    """What it takes."""
    ref(sub)
    sub.add_argument("--from", type=counted, dest="first", metavar="N", help="from message N")
    sub.add_argument("--to", type=counted, dest="last", metavar="N", help="to message N")
    sub.add_argument("--context", action="store_true", help="only what a resume hands over")
    sub.add_argument("--raw", action="store_true", help="the lines as they stand")


def run(options: argparse.Namespace) -> int:
    """Do it."""
    first, last = options.first, options.last
    if first and last and first > last:
        raise NotPossible(f"--from {first} --to {last}: from is behind to")
    session = load(found(options, options.ref).path)
    messages = session.history[-1].n if session.history else 0
    if first and first > messages:
        raise NotPossible(f"{session.path}: no message {first}; the last one is {messages}")
    items = []
    n = 0
    for item in shown.of_session(session):
        n = item["n"] or n  # events belong to the message before them
        if (first and n < first) or (last and n > last):
            continue
        if options.context and not item.get("in_context"):
            continue
        items.append(item)
    if options.raw:
        _raw(session.path, items)
    elif options.json:
        say(map(shown.json_line, items))
    else:
        say(map(row_line, items))
    return DONE


def _raw(path: str, items: list[dict[str, Any]]) -> None:
    """The lines of the file that the items stand on, each once; visible on a terminal."""
    spans = sorted({(item["offset"], item["length"]) for item in items})
    with os.fdopen(open_log(path), "rb") as file:
        for offset, length in spans:
            file.seek(offset)
            data = file.read(length)
            if sys.stdout.isatty():
                print(visible(data.decode("utf-8", "replace")))
            else:
                sys.stdout.buffer.write(data + b"\n")
    sys.stdout.flush()
