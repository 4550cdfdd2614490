"""`sessionlog stats`: what runs were made of; for several logs also the sum."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from typing import Any

from sessionlog import stats_page
from sessionlog.commands.common import CANNOT, DONE, columns, found, places, say
from sessionlog.errors import SessionLogError
from sessionlog.figures import Counts, Stats
from sessionlog.listing import logs_in, look
from sessionlog.measure import Unmeasured, measure_all
from sessionlog.paths import default_folders
from sessionlog.records import Entry, Tokens, stamp
from sessionlog.shown import json_line, time_of
from sessionlog.text import clip, pad, took, visible

_FILES = 100
"""Changed files that are named."""
_PROGRESS = 0.2


def arguments(sub: argparse.ArgumentParser) -> None:
    """What it takes."""
    help = "sessions, logs or folders; none: where sessions are looked for"
    sub.add_argument("refs", nargs="*", metavar="REF", help=help)
    places(sub)


def run(options: argparse.Namespace) -> int:
    """Do it."""
    entries, several = _entries(options)
    code, whole = DONE, Stats(sessions=0)
    progress = _Progress(sum(entry.bytes for entry in entries))
    for stats in measure_all(entries, progress.tick):
        progress.clear()
        if isinstance(stats, Unmeasured):
            print(f"sessionlog: {visible(stats.why)}", file=sys.stderr)
            code = CANNOT
            continue
        _tell(stats, options.json, several)
        if several:
            whole.add(stats)
    progress.clear()
    if several:
        _tell_total(whole, options.json)
    return code


def _entries(options: argparse.Namespace) -> tuple[list[Entry], bool]:
    """The logs to count, and whether to add them up. Raises SessionLogError for a single one that
    is none."""
    refs = options.refs or options.places or default_folders()
    entries: dict[str, Entry] = {}
    several = len(refs) != 1
    for ref in refs:
        if os.path.isdir(ref):
            several = True
            here = look(list(logs_in([ref])), False)
        else:
            here = [found(options, ref)]
            if here[0].status is None:
                raise SessionLogError(f"{here[0].path}: {here[0].reason}")
        entries.update((os.path.realpath(e.path), e) for e in here if e.status is not None)
    return list(entries.values()), several


def _tell(stats: Stats, as_json: bool, several: bool) -> None:
    if as_json:
        say([json_line({"id": stats.id, "path": stats.path, **of_stats(stats)})])
    elif several:
        say([_brief(stats)])
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


def _brief(stats: Stats) -> str:
    """One log of several."""
    counts = stats.counts
    said = [stats_page.counted(counts.messages, "message"), _calls(counts)]
    if stats.tokens is not None:
        said.append(f"{stats_page.amount(stats.tokens.total)} tokens")
    return f"{pad(visible(stats.id), 20)} {took(stats.duration):>6}  {', '.join(said)}"


def _calls(counts: Counts) -> str:
    failed = f" ({counts.failed:,} failed)" if counts.failed else ""
    return stats_page.counted(counts.calls, "call") + failed


def of_stats(stats: Stats) -> dict[str, Any]:
    """The numbers as a JSON object; see the contract."""
    counts = stats.counts
    return {
        "messages": counts.messages, "users": counts.users, "assistants": counts.assistants,
        "reasoning": counts.reasoning, "calls": counts.calls,
        "tools": _tools(counts), "duration": round(stats.duration, 3),
        "active": round(stats.active, 3), "started": _moment(stats.start),
        "tokens": _tokens(stats.tokens), "cost": stats.cost, "models": stats.ranked_models,
        "errors": counts.errors, "retries": counts.retries, "resets": counts.resets,
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
        {"tool": t.name, "calls": t.calls, "failed": t.failed, "open": t.open,
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
