"""`sessionlog repair`: a new log in which every open call is closed."""

from __future__ import annotations

import argparse

from sessionlog import shown
from sessionlog.commands.common import DONE, applied, closed, found, id_of, made, ref, say, writes
from sessionlog.errors import LogInUse
from sessionlog.reader import load
from sessionlog.repairs import apply_repair, plan_repair


def arguments(sub: argparse.ArgumentParser) -> None:
    """What it takes."""
    ref(sub)
    writes(sub)


def run(options: argparse.Namespace) -> int:
    """Do it."""
    source = found(options, options.ref).path
    plan = plan_repair(load(source))
    if plan.alive is not None:
        raise LogInUse(f"{source}: its writer is alive ({plan.alive}); stop it first, or fork")
    path = applied(plan, apply_repair, options) if plan.needed or options.out is not None else None
    answer = {
        "source": source, "path": path, "id": id_of(path, plan) if plan.needed else None,
        "closed": closed(plan.closed), "moved": list(plan.moved),
        "dropped": [shown.of_damage(damage) for damage in plan.dropped],
        "orphans": [{"n": o.n, "call_id": o.call_id} for o in plan.orphans],
        "unreached": plan.changes.unreached,
    }  # fmt: skip
    nothing = f"would write {plan.path}" if plan.needed else "nothing to repair; nothing written"
    say([shown.json_line(answer)] if options.json else made(answer, nothing))
    return DONE
