"""Hand a session over to an agent: which log, which command, and what the agent is told.

Planning only; nothing is written or started here (`handover` does that). A session goes over with
every call closed: as its repair, as its fork, or as it stands when nothing needs closing and the
agent does not write into the log that it is given.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from sessionlog import agents
from sessionlog.agents import Agent
from sessionlog.carry import place
from sessionlog.errors import LogInUse, NotPossible
from sessionlog.forks import plan_fork
from sessionlog.logfile import stat_log
from sessionlog.note import note_for
from sessionlog.paths import native_folder, runs_folder
from sessionlog.plan import Fork, Repair
from sessionlog.repairs import plan_repair
from sessionlog.session import Session
from sessionlog.stale import FileNow, Staleness, note_of
from sessionlog.supervise.order import new_run
from sessionlog.survey import form_named

DEMO = "demo"
"""The driver that the demo's logs name, and the scripted agent that goes on with them."""


class Seen(NamedTuple):
    """Tells a log from another that stands under its name, and from itself after a change."""

    device: int
    inode: int
    size: int
    changed: int
    """Nanoseconds since the epoch."""


def seen_of(path: str) -> Seen:
    """The log as it is now. Raises NotPossible when it is gone."""
    try:
        found = stat_log(path)
    except OSError as error:
        raise NotPossible(f"{path}: {error.strerror}") from None
    return Seen(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


@dataclass(frozen=True, slots=True)
class Resume:
    """A handing over that was thought through."""

    agent: Agent
    now: datetime
    """When it was thought through; a new log takes its id from it."""
    seen: Seen
    """The log as it was then."""
    run: str
    """The token of the run that it will be."""
    argv: tuple[str, ...]
    """The exact command, the program first."""
    cwd: str
    log: str
    """The log the agent goes on with; it is not there yet when `plan` or `carried` says that it
    has to be made."""
    id: str
    note: str
    """What the agent is told."""
    staleness: Staleness | None = None
    plan: Fork | Repair | None = None
    """What has to be written first; None: the log goes over as it stands."""
    carried: bool = False
    """The agent writes no log and the source's is another's: its conversation is carried into a
    new native log, in which what the agent prints is recorded."""
    told: bool = False
    """Is the note the last user message of the new log?"""
    at: int | None = None
    """The message it goes on from; None: from the end."""
    screen: bool = True
    """Does the agent get the terminal?"""
    missing: tuple[str, ...] = ()
    """What is not there, each with what to do: nothing can be started before it is."""

    @property
    def untold(self) -> bool:
        """Neither the command nor the log has a place for the note: the person has to tell it."""
        return not self.told and not self.agent.uses("prompt", self.screen)

    @property
    def changed_files(self) -> tuple[FileNow, ...]:
        """Files that are not as the agent last knew them."""
        return self.staleness.changed if self.staleness else ()


def plan_resume(
    session: Session, at: int | None = None, *, agent: str | None = None,
    prompt: str | None = None, staleness: Staleness | None = None, screen: bool = True,
    cwd: str | None = None, now: datetime | None = None, environ: Mapping[str, str] = os.environ,
) -> Resume:  # fmt: skip
    """Think the handing over through. Writes and starts nothing.

    `at`: go on from this message (a fork); `agent`: another than the log's own; `prompt`: what is
    said instead of the note; `staleness`: how the files stand, as `stale` found it; `cwd`: another
    working directory than the session's. Raises LogInUse when the session's writer lives,
    NotPossible when the agent is not known or cannot take the log.
    """
    if session.alive is not None:
        raise LogInUse(f"{session.path}: its writer is alive ({session.alive}); stop it first")
    seen = seen_of(session.path)
    if seen.size != session.size:
        raise NotPossible(f"{session.path}: it changed while it was read; look again")
    now = now or datetime.now(UTC)
    chosen = _agent(session, agent, environ)
    silent = not chosen.uses("prompt", screen) or bool(chosen.output)
    carried = bool(chosen.output) and session.format != "native"
    told = silent and (carried or form_named(session.format).actor is not None)
    plan = _plan(session, at, now, appended=told or chosen.appends, carried=carried)
    log, id = (plan.path, plan.id) if plan else (session.path, session.id)
    if carried:
        id, log = place(_folder_for(session, environ), now)
    log = os.path.abspath(log)
    cwd = os.path.abspath(cwd or session.meta.workdir or os.path.dirname(log))
    files = note_of(staleness) if staleness else ()
    # a fork at the last message is the whole run: what was in flight behind it is told, too
    part = at if at != len(session.history) else None
    note = prompt or note_for(session, plan, now, at=part, files=files)
    run = new_run(now.timestamp())
    values = {"log": log, "id": id, "workdir": cwd, "prompt": note}
    argv = agents.fill(chosen, values | files_of(chosen, screen, run, environ), screen)
    return Resume(
        chosen, now, seen, run, argv, cwd, log, id, note, staleness, plan, carried, told, at,
        screen, _missing(chosen, screen, cwd, environ),
    )  # fmt: skip


def _folder_for(session: Session, environ: Mapping[str, str]) -> str:
    """Where a conversation is carried to: the native folder; beside a log that no agent's own
    folder holds."""
    if form_named(session.format).agent:
        return native_folder(environ)
    return os.path.dirname(os.path.abspath(session.path))


def files_of(agent: Agent, screen: bool, run: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Places of the files of messages that the command of this run names, by their holes."""
    return {
        name: os.path.join(runs_folder(environ), f"{run}.{name}")
        for name in agents.FILES
        if agent.uses(name, screen)
    }


def _agent(session: Session, name: str | None, environ: Mapping[str, str]) -> Agent:
    own = form_named(session.format).agent
    # of the names that a log may give, this one alone is taken: its agent does no harm, and a
    # log from elsewhere must not choose among the person's own
    wanted = name or (DEMO if session.meta.driver == DEMO else own)
    if not wanted:
        raise NotPossible(
            f"{session.path}: many programs write {session.format} logs; choose an agent (--agent)"
        )
    chosen = agents.named(wanted, environ)
    if not agents.takes(chosen, session.format, own):
        raise NotPossible(
            f"{wanted} goes on with {chosen.format} logs only; this is a {session.format} log"
        )
    return chosen


def _plan(
    session: Session, at: int | None, now: datetime, *, appended: bool, carried: bool
) -> Fork | Repair | None:
    if carried:
        return None
    if at is not None:
        return plan_fork(session, at, now=now)
    if form_named(session.format).actor is None:
        return None  # such agents close their open calls themselves when they resume
    if appended:  # a copy, without the ending that a run to go on with cannot have
        if not session.history:
            raise NotPossible(f"{session.path}: nothing was said in it; nothing to go on with")
        return plan_fork(session, len(session.history), now=now)
    plan = plan_repair(session, now=now)
    return plan if plan.needed else None


def _missing(agent: Agent, screen: bool, cwd: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    missing = []
    if not agents.found(agent, environ, screen):
        program = agent.argv_for(screen)[0]
        missing.append(f"{program}: no such program on PATH; install it, or choose another agent")
    if not os.path.isdir(cwd):
        missing.append(f"{cwd}: no such folder to work in; make it, or choose another")
    return tuple(missing)
