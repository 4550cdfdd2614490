"""`sessionlog resume`: what hands a session over to its agent."""

from __future__ import annotations

import argparse
import shlex

from sessionlog import shown
from sessionlog.commands.common import DONE, counted, found, ref, say
from sessionlog.errors import NotPossible
from sessionlog.reader import load
from sessionlog.resume import plan_resume
from sessionlog.text import visible


def arguments(sub: argparse.ArgumentParser) -> None:
    """What it takes."""
    ref(sub)
    sub.add_argument("--at", type=counted, metavar="N", help="go on from message N")
    sub.add_argument("--agent", help="another agent than the log's own")
    sub.add_argument("--prompt", help="what the agent is told, instead of the note")
    sub.add_argument("--dry-run", action="store_true", help="only say what would run")
    sub.add_argument("--force", action="store_true", help="go on without the damaged lines")


def run(options: argparse.Namespace) -> int:
    """Do it."""
    session = load(found(options, options.ref).path, strict=not options.force)
    plan = plan_resume(session, options.at, agent=options.agent, prompt=options.prompt)
    if not options.dry_run:
        raise NotPossible("starting an agent is not built in yet: --dry-run tells what to run")
    answer = {
        "argv": list(plan.argv), "cwd": plan.cwd, "log": plan.log, "note": plan.note,
        "changed_files": list(plan.changed_files),
    }  # fmt: skip
    if options.json:
        say([shown.json_line(answer)])
    else:
        # newlines as they are: the line is there to be pasted
        say([visible(shlex.join(plan.argv), newlines=True), f"  in {visible(plan.cwd)}"])
        if plan.plan is not None:
            say([f"  after writing {visible(plan.log)}"])
        if plan.note not in plan.argv:
            say([visible(plan.note, newlines=True)])
    return DONE
