"""What commands share: finding a session, common arguments, exit codes, printing."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from sessionlog.errors import NotALog
from sessionlog.listing import logs_in, look
from sessionlog.logfile import sessions_in
from sessionlog.lookup import find
from sessionlog.paths import default_folders
from sessionlog.records import Entry
from sessionlog.text import one_line, pad, visible, width

DONE, FOUND, CANNOT, REFUSED, INTERRUPTED = 0, 1, 2, 3, 130
"""Exit codes: done; looked and found something; cannot; refused because of damage or a living
writer; interrupted by the person."""


def counted(text: str) -> int:
    """A number from 1, in plain digits; an argparse type."""
    if not (text.isascii() and text.isdigit() and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1")
    return int(text)


def places(sub: argparse.ArgumentParser) -> None:
    """Add --in."""
    sub.add_argument("--in", action="append", dest="places", metavar="PATH", default=[],
                     help="look here for sessions (repeatable)")  # fmt: skip


def ref(sub: argparse.ArgumentParser) -> None:
    """Add REF and --in."""
    sub.add_argument("ref", metavar="REF", help="an id, its head, a path, or `last`")
    places(sub)


def writes(sub: argparse.ArgumentParser) -> None:
    """Add what commands that make a log take."""
    sub.add_argument("-o", "--out", metavar="PATH", help="write the new log here")
    sub.add_argument("--dry-run", action="store_true", help="only say what would be written")
    sub.add_argument("--force", action="store_true", help="go on without the damaged lines")


def found(options: argparse.Namespace, ref: str) -> Entry:
    """The session that REF names. Raises SessionNotFound, and Ambiguous."""
    return find(ref, options.places or default_folders(), complain)


def log_of(options: argparse.Namespace, ref: str) -> Entry:
    """The same; it can be read. Raises NotALog, too."""
    entry = found(options, ref)
    if entry.status is None:
        raise NotALog(f"{entry.path}: {entry.reason}")
    return entry


def all_of(options: argparse.Namespace, refs: Iterable[str]) -> list[Entry]:
    """The sessions that REFs name, each once; a folder or a database stands for all it holds."""
    named: dict[str, Entry] = {}
    for ref in refs:
        here = look(list(logs_in([ref])), False) if is_place(ref) else [found(options, ref)]
        named.update((os.path.realpath(entry.path), entry) for entry in here)
    return list(named.values())


def alike(entries: Iterable[Entry]) -> set[str]:
    """The ids that several of these logs have: only its path tells which one is meant."""
    counts = Counter(entry.id for entry in entries)
    return {id for id, count in counts.items() if count > 1}


def is_place(ref: str) -> bool:
    """Is it a path under which there may be several sessions?"""
    plain = ref.endswith(".jsonl") or not os.path.isfile(ref)
    return os.path.isdir(ref) or not (plain or sessions_in(ref) == [ref])


def agents(text: str) -> tuple[str, ...]:
    """Agents, or formats, with commas between them; an argparse type."""
    from sessionlog.formats.table import formats  # all of them: only where they are asked for

    known = {name for form in formats() for name in (form.agent, form.name) if name}
    asked = tuple(word for word in text.lower().split(",") if word)
    for word in asked:
        if word not in known:
            said = f"{word!r} is no agent: say one of {', '.join(sorted(known))}"
            raise argparse.ArgumentTypeError(said)
    return asked


def complain(words: str) -> None:
    """Say what is wrong, or what to know, beside the answer."""
    print(f"sessionlog: {visible(words)}", file=sys.stderr, flush=True)


def say(lines: Iterable[str]) -> None:
    """Print the answer. The lines are safe to print already."""
    sys.stdout.writelines(line + "\n" for line in lines)
    sys.stdout.flush()


def columns() -> int:
    """Of the terminal; 120 where the answer goes elsewhere."""
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns
    except OSError:
        return 120


def cell(text: str, size: int, cut: bool) -> str:
    """The first line of a text in so many columns, safe to print; in more, if not to be `cut`: off
    a terminal nothing is, since what reads it there wants it whole."""
    if text.isascii() and text.isprintable():  # most, and there are thousands
        return text.ljust(size) if not cut or len(text) <= size else text[: size - 1] + "…"
    said = one_line(text)
    return pad(said, size) if cut else said + " " * (size - width(said))


def applied(plan: Any, apply: Callable[..., Any], options: argparse.Namespace) -> str | None:
    """The path of the new log; None after a dry run, which is refused where the doing would be."""
    if not options.dry_run:
        return str(apply(plan, options.out, force=options.force))
    if plan.refused is not None and not options.force:
        from sessionlog.reader import refusal

        raise refusal(plan.source, plan.refused)
    return None


def id_of(path: str | None, plan: Any) -> str:
    """A log answers to its file's name."""
    return os.path.basename(path).removesuffix(".jsonl") if path else str(plan.id)


def closed(calls: Iterable[Any]) -> list[dict[str, Any]]:
    return [{"n": c.n, "call_id": c.call_id, "tool": c.tool} for c in calls]


def made(answer: dict[str, Any], nothing: str) -> Iterable[str]:
    yield visible(answer["path"] or nothing)
    for call in answer["closed"]:
        yield f"  closed: message {call['n']}, {visible(call['tool'])} {visible(call['call_id'])}"
    for n in answer.get("moved", ()):
        yield f"  moved: the result in message {n}, to its call"
    for orphan in answer.get("orphans", ()):
        yield f"  left out: the result in message {orphan['n']}: its call is nowhere before it"
    if unreached := answer.get("unreached"):
        yield f"  led on: {unreached:,} behind a broken link or a lost line feed"
    for damage in answer.get("dropped", ()):
        yield f"  left out: line {damage['line']}, {damage['length']} bytes: {damage['why']}"
