"""Hand a session over to an agent: which log, which command, and what the agent is told.

Planning only; nothing is written or started here (`handover` does that). A session goes over with
every call closed: as its repair, as its fork, or as it stands when nothing needs closing and the
agent does not write into the log that it is given. To an agent of another format its conversation
is carried: with its calls into a native log, to all others as plain messages.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import NamedTuple

from sessionlog import agents
from sessionlog.agents import Agent, Way
from sessionlog.carry import composer_of
from sessionlog.carry import place as native_place
from sessionlog.earlier import until
from sessionlog.errors import LogInUse, NotPossible
from sessionlog.evidence import may_live
from sessionlog.forks import plan_copy, plan_fork
from sessionlog.formats.base import Composer, Nested, ReadOnly, Traceless
from sessionlog.life import Witness
from sessionlog.logfile import stat_log
from sessionlog.note import note_for
from sessionlog.paths import agent_folders, name_too_long, native_folder, real, runs_folder
from sessionlog.plain import Plain, plain
from sessionlog.plan import Fork, Repair
from sessionlog.records import moment
from sessionlog.repairs import plan_repair
from sessionlog.session import Session
from sessionlog.stale import FileNow, Staleness, note_of
from sessionlog.supervise.beside import journal
from sessionlog.supervise.order import new_run
from sessionlog.survey import form_named


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


class Behind(NamedTuple):
    """What a conversation that is carried leaves in its own logs."""

    before: int = 0
    """Number of the last message before the ones that go over: a reset took it out of context."""
    subagents: int = 0
    """Logs of the subagents' own."""

    @property
    def words(self) -> str:
        """What stays before a reset; "" for nothing."""
        if not self.before:
            return ""
        return f"1 to {self.before:,} stay in the log; not sent since the reset"


_ALL_GOES = Behind()


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
    way: Way = Way.LOG
    """How the agent gets the session."""
    plain: Plain | None = None
    """Way.PLAIN: the messages that it gets."""
    behind: Behind = _ALL_GOES
    """Where it is carried: what stays in its own logs."""
    told: bool = False
    """Is the note the last user message of the new log?"""
    at: int | None = None
    """The message it goes on from; None: from the end."""
    screen: bool = True
    """Does the agent get the terminal?"""
    missing: tuple[str, ...] = ()
    """What is not there, each with what to do: nothing can be started before it is."""

    unsure: bool = False
    """Does the log not show its run's end, and nothing whether its agent still runs?"""

    @property
    def carried(self) -> bool:
        """Is the conversation written anew, into a log of another format?"""
        return self.way is not Way.LOG

    @property
    def format(self) -> str:
        """The format that it is carried into; "" when the log goes over as what it is."""
        return {Way.LOG: "", Way.CALLS: "native", Way.PLAIN: self.agent.format}[self.way]

    @property
    def left(self) -> tuple[str, ...]:
        """What could not be carried, in plain words."""
        own = self.plain.left if self.plain else ()
        if not self.behind.subagents:
            return own
        logs = self.behind.subagents
        return (*own, "1 subagent's log" if logs == 1 else f"{logs:,} subagents' logs")

    @property
    def untold(self) -> bool:
        """Neither the command nor the log has a place for the note: the person has to tell it."""
        return not self.told and not self.agent.uses("prompt", self.screen)

    @property
    def before(self) -> tuple[str, ...]:
        """The command that has to run first, to bring the log to the agent; empty for none."""
        values = {"log": self.log, "id": self.id, "workdir": self.cwd, "prompt": self.note}
        return agents.fill_before(self.agent, values)

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
    alive = session.alive or Witness([]).handed_over(session.path)  # its turn may be over already
    if alive is not None:
        raise LogInUse(f"{session.path}: its writer is alive ({alive}); stop it first")
    seen = seen_of(session.path)
    if seen.size != session.size:
        raise NotPossible(f"{session.path}: it changed while it was read; look again")
    now = now or datetime.now(UTC)
    chosen, way = _agent(session, agent, screen, environ)
    told = _told(session, chosen, way, screen)
    there = real(cwd or session.meta.workdir or os.path.dirname(session.path))
    place = _Place(session, chosen, there, now, screen, environ)
    id, log, plan, messages = _going(place, way, at, appended=told or chosen.appends)
    files = note_of(staleness) if staleness else ()
    # a fork at the last message is the whole run: what was in flight behind it is told, too
    part = at if at != len(session.history) else None
    other = _other(session) if messages else ""
    note = prompt or note_for(session, plan, now, at=part, files=files, other=other)
    behind = _behind(session, at) if way is not Way.LOG else _ALL_GOES
    run = new_run(now.timestamp())
    values = {"log": log, "id": id, "workdir": there, "prompt": note}
    argv = agents.fill(chosen, values | files_of(chosen, screen, run, environ), screen)
    return Resume(
        chosen, now, seen, run, argv, there, log, id, note, staleness, plan, way, messages,
        behind, told, at, screen,
        (*_missing(chosen, screen, there, environ), *_unkept(log, there)),
        unsure=_is_unsure(session, environ),
    )  # fmt: skip


def _behind(session: Session, at: int | None) -> Behind:
    """O(messages)."""
    form = form_named(session.format)
    logs = form.subagents(session.path) if isinstance(form, Nested) else []
    first = next((step.n for step in until(session, at).history if step.in_context), 1)
    return Behind(first - 1, len(logs))


def _is_unsure(session: Session, environ: Mapping[str, str]) -> bool:
    """No writer is in sight; of an agent that leaves no trace of itself, one may be out of sight,
    where the journal has no end of the run. Others hold their log, or note their pid."""
    form = form_named(session.format)
    if form.agent and not isinstance(form, Traceless):
        return False
    if not may_live(form, session.ending.ended, session.ending.ok):
        return False
    last = moment(session.records[-1].at) if session.records else None
    return journal(environ).beside(session.path, session.meta.resumed_from, last) is None


def _told(session: Session, chosen: Agent, way: Way, screen: bool) -> bool:
    """Has the new log to tell the note, because the command has no place for it?"""
    silent = not chosen.uses("prompt", screen) or bool(chosen.output)
    can = way is not Way.LOG or form_named(session.format).actor is not None
    return silent and can


def _other(session: Session) -> str:
    own = form_named(session.format).agent
    return f"another agent ({own})" if own else "another agent"


class _Place(NamedTuple):
    """For whom and for where it is thought through."""

    session: Session
    agent: Agent
    cwd: str
    now: datetime
    screen: bool
    environ: Mapping[str, str]


class _Going(NamedTuple):
    """What goes over, and where it will be."""

    id: str
    log: str
    plan: Fork | Repair | None = None
    plain: Plain | None = None


def _going(place: _Place, way: Way, at: int | None, *, appended: bool) -> _Going:
    session = place.session
    if way is Way.PLAIN:
        return _plainly(place, at)
    if way is Way.CALLS:
        id, log = native_place(_folder_for(session, place.environ), place.now)
        return _Going(id, os.path.abspath(log))
    plan = _plan(session, at, place.now, appended=appended)
    if plan is None:
        return _Going(session.id, os.path.abspath(session.path))
    plan = _where_it_looks(plan, place)
    return _Going(plan.id, os.path.abspath(plan.path), plan)


def _plainly(place: _Place, at: int | None) -> _Going:
    """Raises NotPossible when there is nothing to carry."""
    session = place.session
    found = plain(session, at)
    if not found.said:
        raise NotPossible(f"{session.path}: nothing was said in it; nothing to go on with")
    composer = composer_of(form_named(place.agent.format))
    id, log = composer.home(place.cwd, place.now, place.environ, os.path.lexists)
    return _Going(id, os.path.abspath(log), plain=found)


def _where_it_looks(plan: Fork | Repair, place: _Place) -> Fork | Repair:
    """The plan, its new log where the agent looks for it: one that is given an id alone looks in
    its own folders, and most keep a folder for each working directory. The native engine does
    neither."""
    session, agent, cwd, now, screen, environ = place
    actor, own = form_named(session.format).actor, agent_folders(environ).get(agent.name, ())
    if session.format == "native" or not own or not isinstance(actor, Composer):
        return plan
    by_path = agent.uses("log", screen) or not agent.uses("id", screen)
    moved = cwd != real(session.meta.workdir or cwd)
    if not moved and (by_path or any(_is_below(session.path, folder) for folder in own)):
        return plan
    id, path = actor.home(cwd, now, environ, os.path.lexists)
    return replace(plan, id=id, path=path, workdir=cwd if moved else "")


def _is_below(path: str, folder: str) -> bool:
    path, folder = os.path.realpath(path), os.path.realpath(folder)
    return path.startswith(os.path.join(folder, ""))


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


def _agent(
    session: Session, name: str | None, screen: bool, environ: Mapping[str, str]
) -> tuple[Agent, Way]:
    form = form_named(session.format)
    own = form.agent
    if name is None and isinstance(form, ReadOnly):
        raise NotPossible(f"{session.path}: {form.instead}")
    # of the names that a log may give, this one alone is taken: its agent does no harm, and a
    # log from elsewhere must not choose among the person's own
    wanted = name or (agents.DEMO if session.meta.driver == agents.DEMO else own)
    if not wanted or (name is None and wanted not in agents.at_hand(environ)[0]):
        logs = f"{session.format} logs"
        who = f"no agent goes on with {logs}" if wanted else f"many programs write {logs}"
        raise NotPossible(
            f"{session.path}: {who}; choose an agent (--agent); "
            + agents.others(environ, session.format, screen)
        )
    chosen = agents.named(wanted, environ)
    way = agents.way(chosen, session.format, own)
    if way is None:
        raise NotPossible(
            f"{wanted} goes on with {chosen.format} logs only, not with {session.format} logs; "
            + agents.others(environ, session.format, screen)
        )
    return chosen, way


def _plan(
    session: Session, at: int | None, now: datetime, *, appended: bool
) -> Fork | Repair | None:
    if at is not None:
        return plan_fork(session, at, now=now)
    if form_named(session.format).actor is None:
        return None  # such agents close their open calls themselves when they resume
    if appended:  # a copy, without the ending that a run to go on with cannot have
        last = _last_told(session)
        return plan_fork(session, last, now=now) if last else plan_copy(session, now=now)
    plan = plan_repair(session, now=now)
    return plan if plan.needed else None


def _last_told(session: Session) -> int:
    """Number of the last message that the agent is told of, where the log ends with others, which
    were taken back; else 0."""
    told = (step.n for step in reversed(session.history) if not step.message.unsent)
    last = next(told, 0)
    return last if last != len(session.history) else 0


def _unkept(log: str, cwd: str) -> tuple[str, ...]:
    """An agent that keeps a folder for each working directory has no name for one with a long
    path: pi 0.73.1 does not start there, Qwen Code 0.24.4 keeps no session."""
    if not name_too_long(log):
        return ()
    return (f"{os.path.dirname(log)}: too long a name to keep sessions under; "
            f"give {cwd} a shorter path, or choose another agent",)  # fmt: skip


def _missing(agent: Agent, screen: bool, cwd: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    missing = []
    if not agents.found(agent, environ, screen):
        program = agent.argv_for(screen)[0]
        missing.append(f"{program}: no such program on PATH; install it, or choose another agent")
    if not os.path.isdir(cwd):
        missing.append(f"{cwd}: no such folder to work in; make it, or choose another")
    return tuple(missing)
