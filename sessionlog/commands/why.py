"""`sessionlog why`: why a run stopped; exit 1 for any cause but finished and running."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

from sessionlog.commands.common import DONE, FOUND, columns, found, ref, say
from sessionlog.shown import json_line, of_damage, time_of
from sessionlog.text import clip, pad, visible, width, wrap
from sessionlog.why.facts import Saying
from sessionlog.why.look import Looked, look
from sessionlog.why.said import Statement, place_of, statements, summary

_SIGNS = {"fail": "✗", "amiss": "!", "open": "○", "run": "►", "torn": "≈", "bytes": "▒",
          "reset": "║", "ok": "✓"}  # fmt: skip
_LABEL = 11
_LINES = 3
"""Lines that a statement may take."""
_SOON = 1.0
"""Seconds after which a reading that goes on says how far it is."""


def arguments(sub: argparse.ArgumentParser) -> None:
    """What it takes."""
    ref(sub)


def run(options: argparse.Namespace) -> int:
    """Do it."""
    looked = look(found(options, options.ref).path, datetime.now(UTC), _progress())
    say([json_line(of_looked(looked))] if options.json else lines(looked, columns()))
    return DONE if looked.why.cause in ("finished", "running") else FOUND


def _progress() -> Callable[[int, int], None]:
    """A word of progress on a terminal, once a second; none anywhere else."""
    if not sys.stderr.isatty():
        return lambda done, total: None
    due = time.monotonic() + _SOON

    def told(done: int, total: int) -> None:
        nonlocal due
        if time.monotonic() >= due:
            due += _SOON
            print(
                f"\rreading {100 * done // max(total, 1)}%", end="\r", file=sys.stderr, flush=True
            )

    return told


# -- JSON ------------------------------------------------------------------------------------------


def of_looked(looked: Looked) -> dict[str, Any]:
    """What `why --json` prints."""
    why, error = looked.why, looked.why.last_error
    return {
        "id": looked.id, "path": looked.path, "format": looked.format,
        "status": why.status, "reason": why.reason, "ok": why.ok, "cause": why.cause,
        "summary": summary(why),
        "evidence": [_said(said) for said in why.evidence],
        "last_error": error and {
            "text": error.text, "n": error.n, "overcome": error.overcome,
            "tool": error.tool or None, **_place(error.line, error.offset),
        },
        "in_flight": [
            {"tool": call.tool, "call_id": call.call_id or None, "since": time_of(call.since),
             "says": call.says, "n": call.n, "seconds": call.seconds, "asks": call.asks or None,
             **_place(call.line, call.offset)}
            for call in why.in_flight
        ],
        "repeated": [
            {"tool": again.tool, "times": again.times, "n": again.n, "says": again.says,
             "outcome": again.outcome, "error": again.error, **_place(again.line, again.offset)}
            for again in why.repeated
        ],
        "longest_gaps": [
            {"seconds": round(gap.seconds, 3), "after": gap.after, "at": time_of(gap.at)}
            for gap in why.longest_gaps
        ],
        "retries": why.retries,
        "resets": why.resets,
        "reset": why.reset and _said(why.reset),
        "set_out": why.set_out and why.set_out.says,
        "progress": {
            "messages": why.progress.messages, "calls": why.progress.calls,
            "errors": why.progress.errors, "interrupted": why.facts.interrupted,
            "files": why.progress.files,
            "seconds": why.progress.seconds and round(why.progress.seconds, 3),
            "last_words": why.progress.last_words and _said(why.progress.last_words),
        },
        "damages": [of_damage(damage) for damage in why.damages],
        "writer": why.alive,
        "last": [_said(said) for said in why.last],
        "read_from": looked.read_from,
    }  # fmt: skip


def _said(said: Saying) -> dict[str, Any]:
    return {"says": said.says, "n": said.n, **_place(said.line, said.offset)}


def _place(line: int, offset: int) -> dict[str, Any]:
    return {"line": line or None, "offset": offset if offset >= 0 else None}


# -- text ------------------------------------------------------------------------------------------


def lines(looked: Looked, room: int) -> Iterator[str]:
    """The page: label, statement, and the row it is about at the right."""
    name = clip(visible(looked.id), max(room // 2, 1))
    yield f"{clip(visible(looked.title), max(room - width(name) - 2, 1))}  {name}"
    for statement in statements(looked.why):
        yield from _lines(statement, room)
    if looked.read_from:
        yield ""
        yield (f"Read from byte {looked.read_from:,} of {looked.size:,}: calls, errors and repeats "
               "are of there; messages and silences of all.")  # fmt: skip


def _lines(said: Statement, room: int) -> Iterator[str]:
    if not said.words:
        yield ""
        return
    place = place_of(said)
    head = f"{_SIGNS.get(said.level, '·')} {pad(said.label, _LABEL)}" if said.label else ""
    head = head or (" " * (_LABEL + 2) if said.n or said.line or not said.level else "")
    left = max(room - width(head) - width(place) - 2, 20)
    for i, text in enumerate(wrap(said.words, left, _LINES)):
        line = f"{head if not i else ' ' * width(head)}{text}"
        yield f"{pad(line, room - width(place))}{place}" if place and not i else line
