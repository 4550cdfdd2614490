"""Fork a session: a new log that holds the conversation as it stood right after a message.

The new log holds all lines up to and with that of message N, as they stand. Where one line holds
several messages it is not torn apart: the fork then holds all of them, and `Fork.at` says so.
Calls open at the cut are closed in place, results that stand later stay behind, and a result
record is never taken: a fork is a run to go on with. A fork may be taken from a live log.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from sessionlog import newlog, survey
from sessionlog.errors import NotPossible
from sessionlog.mend import Mend
from sessionlog.plan import Fork
from sessionlog.reader import refusal
from sessionlog.session import Session


def plan_fork(
    session: Session, at: int, *, repair: bool = True, now: datetime | None = None,
    taken: survey.Taken = os.path.lexists,
) -> Fork:  # fmt: skip
    """Think a fork at message `at` (from 1) through. Touches nothing.

    `repair` False leaves calls open at the cut, and the lines as they are. `taken` says whether a
    path is in use. Raises NotPossible when there is no message `at`, or the log's format cannot be
    forked.
    """
    survey.actor_of(survey.form_named(session.format), session.path, "forked")
    found = survey.of_session(session, at, Mend(repair, endings=False))
    return _plan(found, now, taken)


def plan_copy(
    session: Session, *, now: datetime | None = None, taken: survey.Taken = os.path.lexists
) -> Fork:
    """Think a fork of the whole log through: what stands behind the last message counts, too (a
    reset, a step back to an earlier branch), but for a result record. Raises as `plan_fork`."""
    survey.actor_of(survey.form_named(session.format), session.path, "forked")
    if not session.history:
        raise NotPossible(f"{session.path}: nothing was said in it; nothing to go on with")
    found = survey.of_session(session, None, Mend(endings=False))
    return _plan(replace(found, at=len(session.history)), now, taken)


def fork(
    path: str | os.PathLike[str], at: int, out: str | os.PathLike[str] | None = None, *,
    repair: bool = True, force: bool = False, now: datetime | None = None,
) -> Path:  # fmt: skip
    """Make the fork, at `out` or beside its parent; gives its path. O(bytes), bounded memory.

    Raises as `plan_fork` and `apply_fork` do.
    """
    found = survey.of_file(path, at, Mend(repair, endings=False))
    return apply_fork(_plan(found, now, os.path.lexists), out, force=force)


def apply_fork(
    plan: Fork, out: str | os.PathLike[str] | None = None, *, force: bool = False,
    told: str = "", environ: Mapping[str, str] = os.environ,
) -> Path:  # fmt: skip
    """Write a planned fork; gives its path. The stem of `out` is its id, where that can be one.

    `told` is said to the agent in the user's last message; `environ` is the agent's. Raises
    DamagedLog when a taken line before the log's last is damaged and not `force`, SessionExists
    when `out` is taken, NotPossible when it cannot be written.
    """
    if plan.refused is not None and not force:
        raise refusal(plan.source, plan.refused)
    actor = survey.actor_of(survey.form_named(plan.format), plan.source, "forked")
    return newlog.make(plan, actor, out, told, environ)


def _plan(found: survey.Survey, now: datetime | None, taken: survey.Taken) -> Fork:
    assert found.at is not None
    actor = survey.actor_of(found.format, found.source, "forked")
    now = survey.moment_now(now)
    id, path = actor.place(found.source, found.at, now, taken)
    return Fork(
        found.source, found.format.name, found.parent, id, path, now, found.at, found.changes,
        found.refused,
    )  # fmt: skip
