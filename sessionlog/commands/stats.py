"""`sessionlog stats`: what runs were made of; for several logs also the sum."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from typing import Any

from sessionlog import stats_page
from sessionlog.commands.common import (
    CANNOT,
    DONE,
    alike,
    cell,
    columns,
    complain,
    is_place,
    log_of,
    places,
    say,
)
from sessionlog.figures import Counts, Stats
from sessionlog.listing import logs_in, look, ordered
from sessionlog.measure import Unmeasured, measure_all
from sessionlog.paths import default_folders
from sessionlog.records import Entry, Tokens, stamp
from sessionlog.shown import json_line, time_of
from sessionlog.text import clip, took, visible

_FILES = 100
"""Changed files that are named."""
_TITLE = 20
"""Columns that a title takes at least."""
_PROGRESS = 0.2


def arguments(sub: argparse.ArgumentParser) -> None:
    """What it takes."""
    help = "sessions, logs or folders; none: where sessions are looked for"
    sub.add_argument("refs", nargs="*", metavar="REF", help=help)
    places(sub)


def run(options: argparse.Namespace) -> int:
    """Do it."""
    entries, several = _entries(options)
    code, whole, counted = DONE, Stats(sessions=0), dict[str, Stats]()
    progress = _Progress(sum(entry.bytes for entry in entries))
    for stats in measure_all(entries, progress.tick):
        progress.clear()
        if isinstance(stats, Unmeasured):
            complain(stats.why)
            code = CANNOT
            continue
        counted[stats.path] = stats
        whole.add(stats)
    progress.clear()
    shared = alike(entries)
    for entry in entries:
        if entry.path in counted:
            _tell(counted[entry.path], entry, options.json, several)
            if several and entry.id in shared and not options.json:
                say([f"    {visible(entry.path)}"])
    if several:
        _tell_total(whole, options.json)
    return code


def _entries(options: argparse.Namespace) -> tuple[list[Entry], bool]:
    """The logs to count, each once, newest first, and whether to add them up. Raises
    SessionLogError for a single one that is none."""
    refs = options.refs or options.places or default_folders()
    entries: dict[str, Entry] = {}
    places = [ref for ref in refs if not options.refs or is_place(ref)]
    for ref in refs:
        here = look(list(logs_in([ref])), False) if ref in places else [log_of(options, ref)]
        entries.update((os.path.realpath(e.path), e) for e in here if e.status is not None)
    return ordered(entries.values()), len(refs) != 1 or bool(places)


def _tell(stats: Stats, entry: Entry, as_json: bool, several: bool) -> None:
    if as_json:
        say([json_line({"id": stats.id, "path": stats.path, **of_stats(stats)})])
    elif several:
        say(_brief(stats, entry))
    else:
        head = clip(f"{visible(stats.id)}  {stats_page.title(stats)}", _columns())
        say([head, *_page(stats)])


def _tell_total(whole: Stats, as_json: bool) -> None:
    if as_json:
        say([json_line({"total": {"sessions": whole.sessions, **of_stats(whole)}})])
    else:
        say(["", f"total of {whole.sessions} session{'s' * (whole.sessions != 1)}", *_page(whole)])


def _page(stats: Stats) -> Iterator[str]:
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    plain = not (sys.stdout.encoding or "").lower().startswith("utf")
    return stats_page.text(stats_page.page(stats, _columns()), colour=colour, plain=plain)


def _columns() -> int:
    return max(min(columns(), 120) - 1, 60)


def _brief(stats: Stats, entry: Entry) -> Iterator[str]:
    """One log of several: agent and id as the list has them, numbers, title (below, where it has
    no room)."""
    counts, cut = stats.counts, sys.stdout.isatty()
    agent, id = (9, 20) if cut else (14, 36)
    said = [stats_page.counted(counts.messages, "message"), _calls(counts)]
    if stats.tokens is not None:
        said.append(f"{stats_page.amount(stats.tokens.total)} tokens")
    line = (
        f"{cell(entry.agent or entry.format, agent, cut)}  {cell(stats.id, id, cut)}  "
        f"{took(stats.duration) if stats.duration else '':>6}  {', '.join(said):50}  "
    )
    left = columns() - len(line)
    title = cell(entry.title or "-", left if left >= _TITLE else columns() - 4, cut).rstrip()
    if left >= _TITLE or not cut:
        yield line + title
    else:
        yield from (clip(line.rstrip(), columns()), f"    {title}")


def _calls(counts: Counts) -> str:
    failed = f" ({counts.failed:,} failed)" if counts.failed else ""
    return stats_page.counted(counts.calls, "call") + failed


def of_stats(stats: Stats) -> dict[str, Any]:
    """The numbers as a JSON object; see the contract."""
    counts, is_timed = stats.counts, stats.duration > 0
    return {
        "messages": counts.messages, "users": counts.users, "assistants": counts.assistants,
        "reasoning": counts.reasoning, "calls": counts.calls,
        "tools": _tools(counts), "duration": round(stats.duration, 3) if is_timed else None,
        "active": round(stats.active, 3) if is_timed else None, "started": _moment(stats.start),
        "tokens": _tokens(stats.tokens), "cost": stats.cost, "models": stats.ranked_models,
        "errors": counts.errors, "retries": counts.retries, "resets": counts.resets,
        "taken_back": counts.taken_back,
        "damages": counts.damages, "open_calls": counts.open, "orphan_results": counts.orphans,
        "in_flight": [
            {"tool": c.tool, "call_id": c.call_id or None, "since": time_of(c.since)}
            for c in stats.in_flight
        ],
        "longest_gaps": [
            {"seconds": round(gap.seconds, 3), "after": gap.after, "at": _moment(gap.at)}
            for gap in stats.gaps
        ],
        "files_changed": len(counts.files),
        "files": [
            {"path": path, "edits": edits}
            for path, edits in sorted(counts.files.items(), key=lambda f: (-f[1], f[0]))[:_FILES]
        ],
        "subagents": _subagents(stats),
    }  # fmt: skip


def _tools(counts: Counts) -> list[dict[str, Any]]:
    return [
        {"tool": t.name, "calls": t.calls, "failed": t.failed,
         "interrupted": t.interrupted, "open": t.open,
         "seconds": round(t.seconds, 3)}
        for t in counts.ranked()
    ]  # fmt: skip


def _subagents(stats: Stats) -> dict[str, Any] | None:
    side = stats.side
    if not side.messages and stats.side_tokens is None:
        return None
    return {"messages": side.messages, "calls": side.calls, "tools": _tools(side),
            "tokens": _tokens(stats.side_tokens)}  # fmt: skip


def _tokens(tokens: Tokens | None) -> dict[str, int] | None:
    return None if tokens is None else {**tokens._asdict(), "total": tokens.total}


def _moment(seconds: float | None) -> str | None:
    return None if seconds is None else stamp(seconds) or None


class _Progress:
    """How far it is, on a terminal's standard error."""

    def __init__(self, whole: int) -> None:
        self._whole = whole
        self._due = time.monotonic() + _PROGRESS
        self._shown = False
        self._wanted = sys.stderr.isatty() and whole > 0

    def tick(self, done: int) -> bool:
        """Say how many bytes are done, now and then. Never stops the work: ctrl+c does."""
        if self._wanted and time.monotonic() >= self._due:
            self._due = time.monotonic() + _PROGRESS
            self._shown = True
            print(f"\r{done * 100 // self._whole}% counted", end="", file=sys.stderr, flush=True)
        return True

    def clear(self) -> None:
        """Make room for the answer."""
        if self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            self._shown = False
