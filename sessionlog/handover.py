"""Carry a planned handing over out: write the new log and what the agent is given, then the order
for the supervisor. `prepare` writes, `sessionlog.supervise` starts, `finish` tidies up.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from sessionlog import agents
from sessionlog.agent import Agent
from sessionlog.carry import carry, carry_to, composer_of
from sessionlog.earlier import until
from sessionlog.errors import DamagedLog, NotPossible
from sessionlog.forks import apply_fork
from sessionlog.formats.base import Birth, Keeper, Modelled
from sessionlog.formats.table import named
from sessionlog.listing import glance
from sessionlog.paths import private_folder, runs_folder
from sessionlog.plain import Plain
from sessionlog.plan import Fork
from sessionlog.reader import load, refusal
from sessionlog.records import stamp
from sessionlog.repairs import apply_repair
from sessionlog.resume import Resume, files_of, seen_of
from sessionlog.session import Session
from sessionlog.supervise.order import Order
from sessionlog.survey import form_named
from sessionlog.transcript import anthropic_messages, openai_messages, write_messages

_MESSAGES = {"messages": anthropic_messages, "messages_openai": openai_messages}


@dataclass(frozen=True, slots=True)
class Handed:
    """A session that is ready to go over: everything it needs is written."""

    resume: Resume
    """The plan, with the places and the command as they came to be."""
    order: Order
    made: str | None
    """Path of the new log; None when the log goes over as it stands."""
    files: tuple[str, ...] = ()
    """Made for the agent alone; `finish` removes them."""


def prepare(
    session: Session, plan: Resume, *, force: bool = False,
    environ: Mapping[str, str] = os.environ,
) -> Handed:  # fmt: skip
    """Write what was planned.

    `force`: leave the damaged lines out. Raises NotPossible when the program or the working
    directory is missing or the log is not the one that was looked at (before anything is written),
    or when something cannot be written, DamagedLog as `accepted` does.
    """
    if plan.missing:
        raise NotPossible("; ".join(plan.missing))
    if seen_of(session.path) != plan.seen:
        raise NotPossible(f"{session.path}: it changed since it was looked at; look again")
    accepted(session, plan, force)
    made = write_log(session, plan, force=force, environ=environ)
    log = os.path.abspath(made or plan.log)
    id = _id_of(log, plan)
    files = _messages(plan, log, environ)
    values = {"log": log, "id": id, "workdir": plan.cwd, "prompt": plan.note, **files}
    argv = agents.fill(plan.agent, values, plan.screen)
    order = Order(
        argv=argv, before=agents.fill_before(plan.agent, values), cwd=plan.cwd, run=plan.run,
        session=id, log=_written_to(log, id, plan.agent, environ), source=session.path,
        agent=plan.agent.name, screen=plan.screen and not plan.agent.output,
        output=plan.agent.output, namespace=plan.agent.namespace,
        closes=made is not None and plan.agent.appends and _new(session, plan) == "native",
    )  # fmt: skip
    done = replace(plan, argv=argv, log=log, id=id)
    return Handed(done, order, made, tuple(files.values()))


def _written_to(log: str, id: str, agent: Agent, environ: Mapping[str, str]) -> str:
    """The log that the agent goes on in."""
    form = named(agent.format) if agent.before else None
    actor = form.actor if form is not None else None
    return actor.kept(id, environ) if isinstance(actor, Keeper) else log


def accepted(session: Session, plan: Resume, force: bool) -> None:
    """Raises DamagedLog when what goes over is damaged before its end, unless that was seen
    (`force`)."""
    if force:
        return
    damage = plan.plan.refused if plan.plan is not None else None
    if plan.plan is None:  # as it stands, or carried
        last = session.records[-1].span.line if session.records else 0
        lost = (d for d in session.damages if not d.mild and d.span.line < last)
        damage = next(lost, None)
    if damage is None:
        return
    if plan.plan is None and not plan.carried:
        raise DamagedLog(
            f"{session.path}: damaged at line {damage.span.line}: {damage.why}; it goes over as it "
            "stands: look at it, then --force"
        )
    raise refusal(session.path, damage)


def write_log(
    session: Session, plan: Resume, *, force: bool = False,
    environ: Mapping[str, str] = os.environ,
) -> str | None:  # fmt: skip
    """Write the new log alone; gives its path, None when the log goes over as it stands."""
    told = plan.note if plan.told else ""
    if plan.plain is not None:
        return str(_plain_log(session, plan, plan.plain, told, environ))
    if plan.carried:
        folder, driver = os.path.dirname(plan.log), plan.agent.name
        made = carry(session, folder, driver, plan.now, at=plan.at, told=told, workdir=plan.cwd)
        return str(made)
    if plan.plan is None:
        return None
    if isinstance(plan.plan, Fork):
        return str(apply_fork(plan.plan, force=force, told=told, environ=environ))
    return str(apply_repair(plan.plan, force=force, environ=environ))


def _plain_log(
    session: Session, plan: Resume, conversation: Plain, told: str, environ: Mapping[str, str]
) -> Path:
    form = form_named(plan.format)
    model = form.actor.model(environ) if isinstance(form.actor, Modelled) else ""
    birth = Birth(
        plan.id, session.id, plan.at, stamp(plan.now.timestamp()), told, plan.cwd, session.title,
        session.path, model,
    )  # fmt: skip

    def again() -> tuple[str, str]:
        return composer_of(form).home(plan.cwd, plan.now, environ, os.path.lexists)

    return carry_to(form, conversation, birth, plan.log, again)


def _new(session: Session, plan: Resume) -> str:
    """Format of the new log."""
    return plan.format or session.format


def finish(handed: Handed) -> None:
    """Remove what was made for the agent alone."""
    _remove(handed.files)


def _id_of(log: str, plan: Resume) -> str:
    """The id as planned; where the new log went to another place, the one that it has there."""
    return plan.id if log == plan.log else glance(log).id


def _messages(plan: Resume, log: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Write the files of messages that the command names; gives them by their holes."""
    files = files_of(plan.agent, plan.screen, plan.run, environ)
    if not files:
        return {}
    session = load(log)
    if plan.told and plan.agent.uses("prompt", plan.screen):  # it is not said twice
        session = until(session, len(session.history) - 1)
    folder = runs_folder(environ)
    private_folder(folder)
    _forget(folder)
    try:
        for name, path in files.items():
            write_messages(path, _MESSAGES[name](session))
    except BaseException:  # a conversation does not stay behind, whatever happened
        _remove(files.values())
        raise
    return files


def _forget(folder: str) -> None:
    """Remove the conversations that a viewer left which was killed: their runs have ended."""
    names = set(os.listdir(folder))
    left = [name for name in names if name.rpartition(".")[2] in _MESSAGES]
    runs = {name: name.rpartition(".")[0] for name in left}
    ended = [n for n, run in runs.items() if f"{run}.json" in names and f"{run}.live" not in names]
    _remove(os.path.join(folder, name) for name in ended)


def _remove(paths: Iterable[str]) -> None:
    for path in paths:
        with contextlib.suppress(OSError):
            os.unlink(path)
