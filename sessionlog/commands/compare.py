"""`sessionlog compare`: two runs, what they share, where they part, how each ended."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from sessionlog.commands.common import DONE, columns, log_of, places, say
from sessionlog.compare import Comparison, Part, compare
from sessionlog.facing import facing, shared
from sessionlog.records import Entry, Status
from sessionlog.shown import json_line, of_record
from sessionlog.sides import SideLog, summary
from sessionlog.text import clip, one_line, pad, took, visible

_PROGRESS = 0.2
_FIELD = 9
Logs = tuple[SideLog, SideLog]
Entries = tuple[Entry, Entry]


def arguments(sub: argparse.ArgumentParser) -> None:
    """What it takes."""
    help = "an id, its head, a path, or `last`"
    sub.add_argument("left", metavar="REF", help=help)
    sub.add_argument("right", metavar="REF", help=f"the other one: {help}")
    places(sub)


def run(options: argparse.Namespace) -> int:
    """Do it."""
    entries = (log_of(options, options.left), log_of(options, options.right))
    logs = (SideLog(entries[0].path), SideLog(entries[1].path))
    progress = _Progress(sum(entry.bytes for entry in entries))
    logs[0].read(progress.tick)
    logs[1].read(lambda done: progress.tick(entries[0].bytes + done))
    comparison = compare(logs[0].side, logs[1].side)
    progress.clear()
    if options.json:
        say(map(json_line, _objects(comparison, entries, logs)))
    else:
        say(_text(comparison, entries, logs, min(columns(), 200)))
    return DONE


def _objects(comparison: Comparison, entries: Entries, logs: Logs) -> Iterator[dict[str, Any]]:
    """The whole in numbers, then each message that differs, in order, with its side."""
    yield {
        "common": comparison.common, "first_difference": comparison.first_difference,
        "left": entries[0].id, "right": entries[1].id,
        "sides": [_of_side(*side) for side in zip(entries, logs, strict=True)],
    }  # fmt: skip
    for part in comparison.differing:
        for side, n, other in _turns(part):
            log = logs[side == "right"]
            step = log.numbered(n)
            if step is None:
                continue
            item = of_record(step.record, step)
            if not log.knows_context(n):
                item["in_context"] = None
            yield {"side": side, "change": part.kind, "other": other, **item}


def _of_side(entry: Entry, log: SideLog) -> dict[str, Any]:
    side = log.side
    return {
        "id": entry.id, "path": entry.path, "format": entry.format, "status": entry.status,
        "ok": entry.ok, "reason": entry.reason, "stop": entry.stop, "messages": len(side),
        "calls": side.calls, "errors": side.errors, "duration": side.seconds,
    }  # fmt: skip


def _turns(part: Part) -> Iterator[tuple[str, int, int | None]]:
    """(side, message, the message that faces it) of a part; what faces each other stands
    together."""
    if part.kind == "changed":
        for left, right in zip(part.left, part.right, strict=True):
            yield "left", left, right
            yield "right", right, left
    else:
        yield from (("left", n, None) for n in part.left)
        yield from (("right", n, None) for n in part.right)


# -- as text -----------------------------------------------------------------------------------


def _text(comparison: Comparison, entries: Entries, logs: Logs, width: int) -> Iterator[str]:
    for name, entry in zip(("left", "right"), entries, strict=True):
        said = f"{pad(name, _FIELD)} {visible(entry.id)}  {_agent(entry)}  {one_line(entry.title)}"
        yield clip(said, width)
    yield ""
    yield from _table(entries, logs, width)
    yield ""
    yield clip(summary(comparison, logs), width)
    for section in facing(comparison, logs[0].side, logs[1].side):
        if section.part.kind == "common":
            yield clip(f"  = {shared(section.part)}", width)
            continue
        turns = (
            [turn for pair in map(section.pair, range(section.rows)) for turn in enumerate(pair)]
            if section.part.kind == "changed"
            else [*((0, n) for n in section.left), *((1, n) for n in section.right)]
        )
        for which, n in turns:
            yield _row(logs[which], which, n, width)


def _agent(entry: Entry) -> str:
    return visible(entry.agent or entry.format)


def _table(entries: Entries, logs: Logs, width: int) -> Iterator[str]:
    """What is counted, side by side."""
    room = max((width - _FIELD - 4) // 2, 8)
    fields: tuple[tuple[str, Callable[[Entry, SideLog], str]], ...] = (
        ("", lambda entry, log: ""),
        ("ended", lambda entry, log: ended(entry)),
        ("messages", lambda entry, log: f"{len(log.side):,}"),
        ("calls", lambda entry, log: f"{log.side.calls:,}"),
        ("errors", lambda entry, log: f"{log.side.errors:,}"),
        ("time", lambda entry, log: _time(log)),
    )
    for name, tell in fields[1:]:
        left, right = (clip(tell(*side), room) for side in zip(entries, logs, strict=True))
        yield f"{pad(name, _FIELD)} {pad(left, room)} | {right}".rstrip()


def ended(entry: Entry) -> str:
    """How a run stands, in a few words: `failed: context window exceeded`. Of one that ended by
    itself that is all that its ending tells."""
    words = {Status.RUNNING: "running", Status.UNFINISHED: "unfinished",
             Status.TRUNCATED: "truncated"}  # fmt: skip
    state = words.get(entry.status) if entry.status is not None else "no log"
    state = state or {True: "ended by itself", False: "failed", None: "ended"}[entry.ok]
    state = "failed" if entry.failed else state
    said = entry.failure or one_line(entry.stop)
    return f"{state}: {said}" if said and said != state else state


def _time(log: SideLog) -> str:
    seconds = log.side.seconds
    return "not known" if seconds is None else took(max(seconds, 0))


def _row(log: SideLog, which: int, n: int, width: int) -> str:
    """`- left     62 03:31:07 bash    go test -race            exit 1`"""
    words, record = log.words(n), log.record(n)
    clock = record.at[11:19] if record is not None else ""
    side = "+ right" if which else "- left "
    head = f"{side} {n:>5} {visible(clock):8} {pad(words.label, 8)} "
    outcome = f"  {words.outcome}" if words.outcome else ""
    room = max(width - len(head) - len(outcome), 8)
    return f"{head}{clip(words.body, room)}{outcome}"


class _Progress:
    """How far it is, on a terminal's standard error."""

    def __init__(self, whole: int) -> None:
        self._whole = max(whole, 1)
        self._due = time.monotonic() + _PROGRESS
        self._shown = False
        self._wanted = sys.stderr.isatty()

    def tick(self, done: int) -> bool:
        """Say how many bytes are done, now and then. Never stops the work: ctrl+c does."""
        if self._wanted and time.monotonic() >= self._due:
            self._due = time.monotonic() + _PROGRESS
            self._shown = True
            share = min(done * 100 // self._whole, 100)
            print(f"\r{share}% compared", end="", file=sys.stderr, flush=True)
        return True

    def clear(self) -> None:
        """Make room for the answer."""
        if self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            self._shown = False
