"""`sessionlog fork`: a new log that holds the first part of a session."""

from __future__ import annotations

import argparse

from sessionlog import shown
from sessionlog.commands.common import (
    DONE,
    applied,
    closed,
    counted,
    found,
    id_of,
    made,
    ref,
    say,
    writes,
)
from sessionlog.forks import apply_fork, plan_fork
from sessionlog.reader import load


def arguments(sub: argparse.ArgumentParser) -> None:
    """What it takes."""
    ref(sub)
    sub.add_argument("--at", type=counted, required=True, metavar="N", help="message of the cut")
    sub.add_argument("--no-repair", action="store_true", help="leave calls open at the cut")
    writes(sub)


def run(options: argparse.Namespace) -> int:
    """Do it."""
    source = found(options, options.ref).path
    plan = plan_fork(load(source), options.at, repair=not options.no_repair)
    path = applied(plan, apply_fork, options)
    answer = {
        "source": source, "at": plan.at, "path": path, "id": id_of(path, plan),
        "messages": plan.messages, "closed": closed(plan.closed),
        "dropped": [shown.of_damage(damage) for damage in plan.dropped],
        "orphans": [{"n": o.n, "call_id": o.call_id} for o in plan.orphans],
    }  # fmt: skip
    if options.json:
        say([shown.json_line(answer)])
        return DONE
    noun = f"message{'s' * (plan.messages != 1)}"
    say(made(answer, f"would write {plan.path}: {plan.messages} {noun}"))
    if plan.at != options.at:
        say([f"  holds message {plan.at}, too: it stands on one line with message {options.at}"])
    return DONE
