"""Repair a session: a new log in which every call is answered in its turn.

What was open is closed as interrupted, late results go to their calls, results of no call and
damaged bytes are left out; all other lines are copied as they stand, an ending too. Repairing a
repaired log finds nothing to do.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from sessionlog import newlog, survey
from sessionlog.errors import LogInUse
from sessionlog.logfile import kept_in
from sessionlog.mend import Mend
from sessionlog.plan import Repair
from sessionlog.reader import refusal
from sessionlog.session import Session


def plan_repair(
    session: Session, *, now: datetime | None = None, taken: survey.Taken = os.path.lexists
) -> Repair:
    """Think a repair through. Touches nothing; `Repair.needed` says whether there is any.

    `taken` says whether a path is in use. Raises NotPossible when the log's format cannot be
    repaired.
    """
    survey.actor_of(survey.form_named(session.format), session.path, "repaired")
    return _plan(survey.of_session(session, None, Mend()), now, taken)


def repair(
    path: str | os.PathLike[str], out: str | os.PathLike[str] | None = None, *,
    force: bool = False, now: datetime | None = None,
) -> Path:  # fmt: skip
    """Make the repair, at `out` or beside its parent. O(bytes), bounded memory.

    Gives the path of the log to go on with: the new one, or `path` itself when there is nothing
    to repair (then nothing is written; with `out`, a byte copy, or what the client takes where the
    log is no file of lines). Raises as `plan_repair` and `apply_repair` do.
    """
    found = survey.of_file(path, None, Mend())
    return apply_repair(_plan(found, now, os.path.lexists), out, force=force)


def apply_repair(
    plan: Repair, out: str | os.PathLike[str] | None = None, *, force: bool = False,
    environ: Mapping[str, str] = os.environ,
) -> Path:  # fmt: skip
    """Write a planned repair; see `repair` for the path it gives. `environ` is the agent's.

    Raises LogInUse when the log's writer lives, DamagedLog when a line before the last is damaged
    and not `force`, SessionExists when `out` is taken, NotPossible when it cannot be written.
    """
    if plan.alive is not None:
        raise LogInUse(f"{plan.source}: its writer is alive ({plan.alive}); stop it first, or fork")
    if plan.refused is not None and not force:
        raise refusal(plan.source, plan.refused)
    if plan.needed or (out is not None and kept_in(plan.source) is not None):
        actor = survey.actor_of(survey.form_named(plan.format), plan.source, "repaired")
        return newlog.make(plan, actor, out, environ=environ)
    if out is None:
        return Path(plan.source)
    return newlog.copy(plan.source, plan.changes.end, out)


def _plan(found: survey.Survey, now: datetime | None, taken: survey.Taken) -> Repair:
    actor = survey.actor_of(found.format, found.source, "repaired")
    now = survey.moment_now(now)
    id, path = actor.place(found.source, None, now, taken)
    return Repair(
        found.source, found.format.name, found.parent, id, path, now, found.changes,
        found.refused, found.alive,
    )  # fmt: skip
