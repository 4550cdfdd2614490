"""`sessionlog resume`: hand a session over to its agent, or say what would run."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from sessionlog import ended, shown
from sessionlog.commands.common import DONE, FOUND, INTERRUPTED, counted, found, ref, say
from sessionlog.commands.rows import items_of, row_line
from sessionlog.follower import Follower
from sessionlog.handover import Handed, accepted, finish, prepare
from sessionlog.intake import Start
from sessionlog.lend import lend
from sessionlog.onward import Onward, nothing_of
from sessionlog.reader import load
from sessionlog.resume import Resume, plan_resume
from sessionlog.secrets import mask
from sessionlog.stale import stale
from sessionlog.status import UNSURE
from sessionlog.supervise.handle import Handle, start
from sessionlog.supervise.order import Outcome
from sessionlog.text import visible

_LOOK = 0.1
"""Seconds between two looks at a run without a terminal."""


def arguments(sub: argparse.ArgumentParser) -> None:
    """What it takes."""
    ref(sub)
    sub.add_argument("--at", type=counted, metavar="N", help="go on from message N")
    sub.add_argument("--agent", help="another agent than the log's own")
    sub.add_argument("--prompt", help="what the agent is told, instead of the note")
    sub.add_argument("--cwd", metavar="DIR", help="another working directory than the session's")
    sub.add_argument("--headless", action="store_true", help="without a terminal")
    sub.add_argument("--dry-run", action="store_true", help="only say what would run")
    sub.add_argument("--force", action="store_true", help="go on without the damaged lines")


def run(options: argparse.Namespace) -> int:
    """Do it."""
    session = load(found(options, options.ref).path)
    plan = plan_resume(
        session, options.at, agent=options.agent, prompt=options.prompt,
        staleness=stale(session, at=options.at), screen=_has_screen(options), cwd=options.cwd,
    )  # fmt: skip
    accepted(session, plan, options.force)
    if options.dry_run:
        _tell(plan, options.json)
        return DONE
    handed = prepare(session, plan, force=options.force)
    try:
        outcome = _carried_out(handed, options.json)
    finally:
        finish(handed)
    return _told(handed, outcome, options.json)


def _has_screen(options: argparse.Namespace) -> bool:
    return not options.headless and sys.stdin.isatty() and sys.stdout.isatty()


def _tell(plan: Resume, as_json: bool) -> None:
    if as_json:
        say([shown.json_line(_answer(plan))])
        return
    # newlines as they are: the line is there to be pasted
    say([visible(shlex.join(plan.argv), newlines=True), f"  in {visible(plan.cwd)}"])
    if plan.plan is not None or plan.carried:
        say([f"  after writing {_what(plan)}: {visible(plan.log)}"])
    if plan.before:
        say([f"  and after: {visible(shlex.join(plan.before))}"])
    say(map(visible, _carried(plan)))
    say(["  on this terminal" if plan.screen and not plan.agent.output else "  headless"])
    if plan.unsure:
        say([f"  {UNSURE}"])
    say([f"  missing: {visible(what)}" for what in plan.missing])
    for file in plan.changed_files:
        say([f"  {file.how}: {visible(file.shown)}"])
    if plan.untold:
        say(["  the command has no place for what it should know; tell it yourself:"])
    if plan.note not in plan.argv:
        say([visible(plan.note, newlines=True)])


def _what(plan: Resume) -> str:
    if plan.carried:
        until = f" up to message {plan.at}" if plan.at is not None else ""
        return f"the conversation{until} to a new {plan.format} log"
    return f"a fork at {plan.at}" if plan.at is not None else "the repaired log"


def _carried(plan: Resume) -> Iterator[str]:
    if plan.behind.before:
        yield f"  {plan.behind.words}"
    if plan.plain is not None:
        yield f"  carried as plain messages: {plan.plain.counts}"
    if plan.left:
        yield f"  not carried: {', '.join(plan.left)}"


def _answer(plan: Resume) -> dict[str, Any]:
    changed = [{"path": f.path, "how": f.how, "since": f.since} for f in plan.changed_files]
    return {
        "argv": list(plan.argv), "before": list(plan.before), "cwd": plan.cwd, "log": plan.log,
        "note": plan.note,
        "changed_files": changed, "missing": list(plan.missing),
        "carried": _how(plan) if plan.carried else None,
        "left": list(plan.left),
    }  # fmt: skip


def _how(plan: Resume) -> dict[str, Any]:
    return {"format": plan.format, "as": plan.way, "from": plan.behind.before + 1}


def _carried_out(handed: Handed, as_json: bool) -> Outcome:
    order = handed.order
    what = visible(shlex.join(mask(word) for word in order.argv))
    print(f"{what}\n  in {visible(order.cwd)}, log {visible(order.log)}", file=sys.stderr)
    if order.before:
        first = visible(shlex.join(mask(word) for word in order.before))
        print(f"  first: {first}", file=sys.stderr)
    if order.screen:
        return lend(order, order.agent)
    print(f"  ctrl+c or `sessionlog stop {order.session}` stops it", file=sys.stderr, flush=True)
    onward = Onward(order.log, order.session, handed.made)
    with closing(start(order)) as handle:
        return _watched(handle, onward, quiet=as_json)


def _watched(handle: Handle, onward: Onward, *, quiet: bool) -> Outcome:
    """Print the rows of its log as they come, until it has ended; ctrl+c stops it."""
    with _rows(onward, quiet) as look:
        try:
            while (outcome := handle.wait(_LOOK)) is None:
                look()
        except KeyboardInterrupt:
            handle.stop()
            outcome = handle.wait()
            assert outcome is not None
        look()
        return outcome


@contextmanager
def _rows(onward: Onward, quiet: bool) -> Iterator[Any]:
    """A function that prints what is new in the log that the run writes."""
    follower: Follower | None = None
    before = at = 0
    printed: list[str] = []

    def look() -> None:
        nonlocal follower, before, at
        nonlocal quiet
        if quiet:
            return
        if follower is None and (path := onward.where()) is not None:
            follower, before = Follower(path, Start()), onward.before(path)
        while follower is not None:
            batch = follower.look()
            at = 0 if batch.event in ("replaced", "cut") else at
            for item in items_of(batch.records, batch.steps, batch.damages):
                if (item["line"] or 0) > before:
                    line = row_line(item, comes=True)
                    if printed[at : at + 1] != [line]:  # an agent may rewrite what it wrote last
                        del printed[at:]
                        printed.append(line)
                        quiet = quiet or not _said(line)
                    at += 1
            if not batch.behind:
                break

    try:
        yield look
    finally:
        if follower is not None:
            follower.close()


def _said(line: str) -> bool:
    """Print it; False when nobody reads it any more (`| head`): the agent goes on all the same."""
    try:
        say([line])
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    return True


def _told(handed: Handed, outcome: Outcome, as_json: bool) -> int:
    order = handed.order
    nothing = nothing_of(order)
    if as_json:
        how = {
            "exit": outcome.code, "signal": outcome.signal, "stopped": outcome.stopped,
            "killed": outcome.killed, "began": outcome.began, "ended": outcome.ended,
        }  # fmt: skip
        say([shown.json_line(_answer(handed.resume) | how)])
    else:
        print(ended.said(order.agent, outcome), file=sys.stderr)
        for line in ended.last_words(outcome) or filter(None, [nothing]):
            print(f"  {line}", file=sys.stderr)
    if outcome.stopped == "person":
        return INTERRUPTED
    return DONE if outcome.code == 0 and not outcome.stopped and not nothing else FOUND
