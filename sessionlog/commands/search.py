"""`sessionlog search`: a text in all logs."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from sessionlog import shown
from sessionlog.commands.common import (
    CANNOT,
    DONE,
    FOUND,
    INTERRUPTED,
    agents,
    alike,
    columns,
    complain,
    counted,
    say,
)
from sessionlog.errors import SessionNotFound
from sessionlog.hit import Hit, Progress
from sessionlog.listing import FEW, glance, logs_in, ordered
from sessionlog.logfile import there
from sessionlog.paths import default_folders
from sessionlog.query import KINDS, STATUSES, Query, compiled, parse_time
from sessionlog.records import Entry
from sessionlog.search import by_change
from sessionlog.text import clip, one_line, pad, size, visible
from sessionlog.tools import label_of
from sessionlog.wide import search_wide

NEAR = 64 << 20
"""Bytes of a log in which text lines have message numbers; counting further costs more than the
search did. JSON lines always have them."""
_SOON, _OFTEN = 0.5, 0.1
"""Seconds before progress is told, and between two words of it."""
_MARK, _PLAIN = "\x1b[1;4m", "\x1b[0m"


def arguments(sub: argparse.ArgumentParser) -> None:
    """What it takes."""
    sub.add_argument("pattern", metavar="PATTERN", help='a text as it stands; "" for everything')
    sub.add_argument("paths", nargs="*", metavar="PATH")
    sub.add_argument("-i", "--ignore-case", action="store_true")
    sub.add_argument("--regex", action="store_true", help="PATTERN is a regex of Python's")
    sub.add_argument("--errors", action="store_true", help="only failed calls, errors, damages")
    for name, of in (("tool", "calls of this tool"), ("kind", f"these: {', '.join(KINDS)}")):
        sub.add_argument(f"--{name}", action="append", default=[], help=f"only {of} (repeatable)")
    sub.add_argument("--agent", action="extend", default=[], type=agents,
                     help="only sessions of this agent (repeatable)")  # fmt: skip
    sub.add_argument("--status", action="append", default=[], choices=STATUSES,
                     help="only sessions that stand so (repeatable)")  # fmt: skip
    sub.add_argument("--after", metavar="T", help="only from then on: fri, 2026-11-27, 03:00, 2h")
    sub.add_argument("--before", metavar="T", help="only earlier than this")
    sub.add_argument("--limit", type=counted, metavar="N",
                     help=f"at most N hits, of the newest sessions (of more than {FEW} logs: of "
                     "those whose files changed last)")  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Do it."""
    query = _query(options)
    for path in options.paths:
        if not there(path):
            raise SessionNotFound(f"{path}: no such file or folder")
    paths = list(dict.fromkeys(logs_in(options.paths or default_folders())))
    known: dict[str, Entry] = {}
    if len(paths) <= FEW:
        known = {e.path: e for e in ordered(glance(path, closely=False) for path in paths)}
    told = _Telling(options.json, sys.stdout.isatty(), options.limit, known, _case(query))
    found = search_wide([*known] or by_change(paths), query, within=None if options.json else NEAR)
    try:
        told.all(found)
    except KeyboardInterrupt:
        sys.stdout.flush()
        told.done()
        return INTERRUPTED
    finally:
        found.close()  # type: ignore[attr-defined]
    if not told.count:
        return _nothing(paths, known, query, told)
    told.done()
    return DONE


def _nothing(paths: Sequence[str], known: dict[str, Entry], query: Query, told: _Telling) -> int:
    """Say in how many logs nothing was found, and what was none."""
    for entry in known.values():
        if entry.status is None:
            told.leave_out(entry.path, f"{entry.path}: {entry.reason}")
    told.done()
    read = len(paths) - told.left_out
    if paths and not read:
        return CANNOT
    noun = "log" if len(paths) <= FEW else "file"
    words = f"nothing found in {read:,} {noun}{'s' * (read != 1)}, all read{_case(query)}"
    strange = [kind for kind in query.kinds if kind not in KINDS]
    if strange:
        words += f"; no kind is called {', '.join(strange)}: say one of {', '.join(KINDS)}"
    complain(words)
    return FOUND


def _query(options: argparse.Namespace) -> Query:
    now = datetime.now().astimezone()
    if options.regex:
        compiled(options.pattern, options.ignore_case)
    return Query(
        options.pattern, options.ignore_case, options.regex, _words(options.tool), options.errors,
        _words(options.kind), _words(options.status), tuple(options.agent),
        parse_time(options.after, now) if options.after else None,
        parse_time(options.before, now) if options.before else None,
    )  # fmt: skip


def _case(query: Query) -> str:
    """Whether capitals counted, for the end of a count; "" where there is no letter in question."""
    if query.text.lower() == query.text.upper():
        return ""
    return "; any case" if query.ignore_case else "; case counts (-i: any case)"


def _words(said: Iterable[str]) -> tuple[str, ...]:
    return tuple(word for text in said for word in text.lower().split(",") if word)


class _Telling:
    """Prints what is found, and on standard error how far it is and what was left out."""

    def __init__(
        self, as_json: bool, marked: bool, limit: int | None, known: dict[str, Entry], case: str
    ) -> None:
        self._json, self._marked, self._limit, self._known = as_json, marked, limit, known
        self._case, self._alike = case, alike(known.values())
        self._watched = sys.stderr.isatty()
        self._due = time.monotonic() + _SOON
        self._line = ""
        self._entry: Entry | None = None
        self._left_out: dict[str, str] = {}
        self._notes: dict[str, None] = {}
        self.count = 0

    def all(self, found: Iterable[Hit | Progress]) -> None:
        """Print until there is no more, or enough."""
        for item in found:
            if isinstance(item, Progress):
                self._progress(item)
                continue
            self._clear()
            say(self._said(item))
            self.count += 1
            if self.count == self._limit:
                self._notes[f"{self._hits} shown, the limit; there may be more{self._case}"] = None
                return
        if self._watched and self.count:
            self._notes[f"{self._hits}{self._case}"] = None

    @property
    def _hits(self) -> str:
        return f"{self.count:,} hit{'s' * (self.count != 1)}"

    def _said(self, hit: Hit) -> Iterator[str]:
        entry = self._entry
        if entry is None or entry.path != hit.path:
            if entry is not None and not self._json:
                yield ""
            entry = self._entry = self._known.get(hit.path) or glance(hit.path, closely=False)
            if not self._json:
                yield _head(entry, self._marked)
                if entry.id in self._alike:
                    yield f"  {visible(entry.path)}"
        yield shown.json_line(of_hit(hit, entry)) if self._json else _row(hit, self._marked)

    def _progress(self, progress: Progress) -> None:
        if progress.note.startswith("the pattern"):
            self._notes[progress.note] = None
        elif progress.note:
            self.leave_out(progress.path, progress.note)
        if self._watched and time.monotonic() >= self._due:
            self._due = time.monotonic() + _OFTEN
            part = f", {size(progress.read)} of {size(progress.of)}" if progress.of else ""
            self._clear()
            self._line = f"{progress.logs_read} of {progress.logs} logs read{part}"
            print(self._line, end="\r", file=sys.stderr, flush=True)

    def leave_out(self, path: str, note: str) -> None:
        """Remember why a log was not read."""
        self._left_out.setdefault(path, note)

    @property
    def left_out(self) -> int:
        """Logs that were not read."""
        return len(self._left_out)

    def _clear(self) -> None:
        if self._line:
            print(" " * len(self._line), end="\r", file=sys.stderr, flush=True)
            self._line = ""

    def done(self) -> None:
        """Say what was left out."""
        self._clear()
        for note in self._notes:
            complain(note)
        if self._left_out:
            first, *others = self._left_out.values()
            more = f"{len(others):,} other file{'s' * (len(others) != 1)}"
            complain(first + (f" (and {more} left out)" if others else ""))


def of_hit(hit: Hit, entry: Entry) -> dict[str, object]:
    """What `search` prints of a hit."""
    return {
        "id": entry.id, "path": hit.path, "n": hit.n, "kind": hit.kind, "line": hit.line,
        "offset": hit.offset, "text": hit.text, "spans": [list(span) for span in hit.spans],
        "tool": hit.tool or None, "at": shown.time_of(hit.at), "ok": hit.ok,
    }  # fmt: skip


def _head(entry: Entry, marked: bool) -> str:
    words = (entry.title or entry.task or "-", entry.id, entry.agent or entry.format)
    title, *rest = map(one_line, words)
    return "  ".join((f"\x1b[1m{title}{_PLAIN}" if marked else title, *rest))


def _row(hit: Hit, marked: bool) -> str:
    """`n  clock  kind or tool  text`; on a terminal one line, the hits underlined."""
    n = "" if hit.n is None else str(hit.n)
    name = label_of(hit.tool) if hit.tool and hit.kind in ("call", "response") else hit.kind
    sign = {True: "✓", False: "✗", None: " "}[hit.ok]
    front = f"{n:>7} {visible(hit.at[11:19]):8} {sign} {pad(name, 10)} "
    if not marked:
        return front + hit.text
    room = columns() - len(front)
    return front + _underlined(clip(hit.text, room), hit.spans)


def _underlined(text: str, spans: Iterable[tuple[int, int]]) -> str:
    pieces, at = [], 0
    for start, end in spans:
        if start < len(text):
            pieces += [text[at:start], _MARK, text[start:end], _PLAIN]
            at = end
    return "".join((*pieces, text[at:]))
