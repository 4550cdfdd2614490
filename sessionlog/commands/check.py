"""`sessionlog check`: damage, open calls, orphan results; exit 1 when there are any."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any

from sessionlog import shown
from sessionlog.amiss import failure_of
from sessionlog.commands.common import CANNOT, DONE, FOUND, alike, all_of, complain, places, say
from sessionlog.errors import SessionLogError
from sessionlog.reader import load
from sessionlog.records import Status
from sessionlog.text import visible
from sessionlog.tools import label_of
from sessionlog.why.answer import why


def arguments(sub: argparse.ArgumentParser) -> None:
    """What it takes."""
    sub.add_argument("refs", nargs="+", metavar="REF", help="sessions, logs, folders or databases")
    places(sub)


def run(options: argparse.Namespace) -> int:
    """Do it."""
    code, entries = DONE, list(all_of(options, options.refs))
    shared = alike(entries)
    for entry in entries:
        try:
            session = load(entry.path)
            checked = shown.of_check(session)
        except SessionLogError as error:
            complain(str(error))
            code = CANNOT
            continue
        bad = (
            checked["damages"] or checked["open_calls"] or checked["orphan_results"]
            or checked["status"] in (Status.UNFINISHED, Status.TRUNCATED)
        )  # fmt: skip
        code = max(code, FOUND if bad else DONE)
        if options.json:
            say([shown.json_line(checked)])
        else:
            failure = failure_of(entry, why(session)) if session.ok else ""
            say(_check_lines(checked, failure, entry.path if entry.id in shared else ""))
    return code


def _check_lines(found: dict[str, Any], failure: str, place: str) -> Iterable[str]:
    """`failure`: what failed, though the run ended by itself. `place`: told, as the id is not the
    log's alone."""
    well = f"ended by itself, but {failure}" if failure else "ok"
    ok = {True: well, False: "not ok", None: "not known whether ok"}[found["ok"]]
    reason = f" ({visible(found['reason'])})" if found["reason"] else ""
    ending = f", {ok}" if found["status"] == Status.COMPLETE else ""
    yield f"{visible(found['id'])}: {found['status']}{reason}{ending}"
    if place:
        yield f"  {visible(place)}"
    counts = (("messages", "message"), ("calls", "call"), ("users", "prompt"),
              ("assistants", "answer"), ("events", "event"))  # fmt: skip
    yield "  " + ", ".join(f"{found[k]} {word}{'s' * (found[k] != 1)}" for k, word in counts)
    for call in found["open_calls"]:
        said = f"{label_of(call['tool'])} {visible(call['call_id'])}"
        yield f"  open call: message {call['n']}, {said}"
    for call in found["in_flight"]:
        if call["n"] is None:  # native: it stands in events alone, so no message is open
            yield f"  in flight, not in the conversation: {label_of(call['tool'])}"
    for orphan in found["orphan_results"]:
        yield f"  result without a call: message {orphan['n']}, {visible(orphan['call_id'])}"
    for damage in found["damages"]:
        yield (
            f"  damage: line {damage['line']}, byte {damage['offset']}, {damage['length']} bytes: "
            f"{visible(damage['why'])}"
        )
