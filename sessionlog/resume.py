"""Hand a session over to its agent: which log, which command, and what the agent is told.

Planning only; nothing is started here. A session goes over with every call closed: as its repair,
as its fork, or as it stands when nothing needs closing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from sessionlog import agents
from sessionlog.errors import LogInUse, NotPossible
from sessionlog.forks import plan_fork
from sessionlog.plan import Fork, Repair
from sessionlog.records import moment
from sessionlog.repairs import plan_repair
from sessionlog.secrets import mask
from sessionlog.session import Session
from sessionlog.survey import form_named
from sessionlog.telling import telling
from sessionlog.text import clip, one_line

_SAID = 120
"""Columns of a call's telling argument in the note."""
_CALLS = 20
"""Calls that are listed; further ones are counted."""


@dataclass(frozen=True, slots=True)
class Resume:
    """A handing over that was thought through."""

    argv: tuple[str, ...]
    cwd: str
    log: str
    """The log the agent goes on with; it is not there yet when `plan` says that it has to be
    made."""
    note: str
    """What the agent is told."""
    changed_files: tuple[str, ...] = ()
    plan: Fork | Repair | None = None
    """What has to be written first; None: the log goes over as it stands."""


def plan_resume(
    session: Session, at: int | None = None, *, agent: str | None = None,
    prompt: str | None = None, now: datetime | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Resume:  # fmt: skip
    """Think the handing over through. Touches nothing.

    `at`: go on from this message (a fork); `agent`: another than the log's own; `prompt`: what is
    said instead of the note. Raises LogInUse when the session's writer lives, NotPossible when
    the agent is not known, cannot take the log, or cannot be told the prompt.
    """
    if session.alive is not None:
        raise LogInUse(f"{session.path}: its writer is alive ({session.alive}); stop it first")
    now = now or datetime.now(UTC)
    chosen = _agent(session, agent, environ)
    if prompt and not chosen.uses("prompt"):
        raise NotPossible(f"{chosen.name} takes no prompt when it resumes; leave it out")
    plan = _plan(session, at, now)
    log, id = (plan.path, plan.id) if plan else (session.path, session.id)
    log = os.path.abspath(log)
    cwd = session.meta.workdir or os.path.dirname(log)
    note = note_for(session, plan, now)
    values = {"log": log, "id": id, "workdir": cwd, "prompt": prompt or note}
    return Resume(agents.fill(chosen, values), cwd, log, note, plan=plan)


def note_for(session: Session, plan: Fork | Repair | None, now: datetime) -> str:
    """What an agent has to know that its log does not say. Masked: it goes into a command line."""
    lines = [_opening(session, plan, now)]
    lines.append("Files may have changed meanwhile: read them again before you edit them.")
    # without a plan nothing was closed by us: what ran then is what the agent itself will close
    asked = plan.closed if plan else [call for call in session.in_flight if call.n is not None]
    lines += _listed(
        "Interrupted, outcome unknown; check before repeating:",
        (_call(call.tool, call.arguments) for call in asked),
    )
    if not isinstance(plan, Fork):
        lines += _listed(
            "In flight when the run stopped, and not in the conversation; check before repeating:",
            (_call(c.tool, c.arguments) for c in session.in_flight if c.n is None),
        )
    return mask("\n".join(lines))


def _agent(session: Session, name: str | None, environ: Mapping[str, str]) -> agents.Agent:
    own = form_named(session.format).agent
    wanted = name or own
    if not wanted:
        raise NotPossible(
            f"{session.path}: many programs write {session.format} logs; name one with --agent"
        )
    known = agents.known(environ)
    if wanted not in known:
        there = ", ".join(sorted(known))
        raise NotPossible(
            f"no agent {wanted!r}; there are {there}; "
            f"{agents.config_path(environ)} can describe more"
        )
    chosen = known[wanted]
    if chosen.built_in and chosen.uses("id") and wanted != own:
        raise NotPossible(f"{wanted} resumes its own sessions only; this is a {session.format} log")
    return chosen


def _plan(session: Session, at: int | None, now: datetime) -> Fork | Repair | None:
    if at is not None:
        return plan_fork(session, at, now=now)
    if form_named(session.format).actor is None:
        return None  # such agents close their open calls themselves when they resume
    plan = plan_repair(session, now=now)
    return plan if plan.needed else None


def _opening(session: Session, plan: Fork | Repair | None, now: datetime) -> str:
    last = next((time for r in reversed(session.records) if (time := r.time) is not None), None)
    if isinstance(plan, Fork):
        record = next((s.record for s in session.history if s.n == plan.at), None)
        last = moment(record.at) if record else last
        told = f"You go on from message {plan.at} of an earlier session"
    else:
        told = "You go on with an earlier session"
    if last is None:
        return f"{told}; time has passed since."
    return f"{told}, after {_words((now - last).total_seconds())}."


def _words(seconds: float) -> str:
    """A length of time in words: "3 days", "1 hour", "a moment"."""
    for unit, size in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {unit}{'s' if count > 1 else ''}"
    return "a moment"


def _listed(head: str, calls: Iterable[str]) -> list[str]:
    items = list(calls)
    if not items:
        return []
    more = [f"- and {len(items) - _CALLS} more"] if len(items) > _CALLS else []
    return [head, *(f"- {item}" for item in items[:_CALLS]), *more]


def _call(tool: str, arguments: str) -> str:
    said = clip(one_line(telling(arguments)), _SAID)
    name = clip(one_line(tool), 40)
    return f"{name}: {said}" if said else name
