"""The proof: what the library makes of a session's log, the client that wrote it goes on with.

    python tests/clients/install.py DIR
    SESSIONLOG_CLIENTS=DIR python -m pytest -m clients

Six real programs run against a scripted model (`model`) that refuses what the real services
refuse, each in a network of its own that is nothing but loopback (`arena`), with a HOME of its
own. They write the logs (`sources`); the library acts on them; they go on by the library's own
command; what they then ask the model is compared with the session (`proof`). At the end stands a
matrix of acts and clients.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from clients.programs import PROGRAMS, Program
from clients.proof import prove
from clients.sources import GO_ON, PROMPT, REPLY, Source, kept, source, untouched

from sessionlog import load
from sessionlog.forks import apply_fork, plan_fork
from sessionlog.formats.base import Keeper
from sessionlog.handover import prepare
from sessionlog.plan import Fork, Repair
from sessionlog.records import shown_type
from sessionlog.repairs import apply_repair, plan_repair
from sessionlog.resume import plan_resume
from sessionlog.session import Session
from sessionlog.survey import form_named

pytestmark = pytest.mark.clients
Tell = Callable[..., None]
OPEN = {"killed": 1, "two": 2, "later": 1, "garbage": 1}
"""Open calls of a source, where its client logs those that run."""


@pytest.mark.parametrize("name", ["killed", "two", "answering", "later", "torn", "garbage"])
def test_goes_on_with_a_repaired_log(
    program: Program, name: str, shared: Path, tmp_path: Path, cell: Tell
) -> None:
    cell(name)
    if not program.lines and name in ("torn", "garbage"):
        pytest.skip("its database has no lines to tear")
    there = source(program, name, shared).copy(tmp_path)
    session, rows, home = there.session, untouched(there), kept(there)
    closed = {call.call_id for call in session.open_calls}
    if name in OPEN:
        assert len(closed) == (OPEN[name] if program.sees_running else 0)
    plan, log = _whole(session)
    assert {call.call_id for call in plan.closed} == closed
    assert {path: held for path, held in kept(there).items() if path in home} == home
    outcome = there.resume(str(log), plan.id, GO_ON, REPLY, "again")
    prove(outcome, session.history, GO_ON, REPLY, closed=closed)
    assert untouched(there) == rows or (program.spoils and name == "later")
    if name == "torn":  # a client that glues its lines to a torn one loses them the second time
        if program.spoils:
            plan, log = _whole(load(log))
        outcome = there.resume(str(log), plan.id, "And once more.", "Once more.", "twice")
        prove(outcome, session.history, "And once more.", "Once more.", closed=closed,
              said=(GO_ON, REPLY))  # fmt: skip
        assert untouched(there) == rows


def test_goes_on_from_every_message(
    program: Program, shared: Path, tmp_path: Path, cell: Tell
) -> None:
    cell("every")
    there = source(program, "normal", shared).copy(tmp_path)
    session, rows = there.session, untouched(there)
    cuts: dict[int, str] = {}
    first = next(step.n for step in session.history if shown_type(step.message) == "user")
    for n in range(first, len(session.history) + 1):
        plan = plan_fork(session, n)
        if plan.at not in cuts:  # messages of one line are not torn apart
            cuts[plan.at] = _cut(there, session, plan)
    cell("every", f"{len(cuts)} cuts")
    failed = [f"cut at {at}: {why}" for at, why in cuts.items() if why]
    assert not failed, "\n".join(failed)
    assert untouched(there) == rows


def test_goes_on_in_every_generation(
    program: Program, shared: Path, tmp_path: Path, cell: Tell
) -> None:
    """A fork is gone on with, of that a fork is gone on with, and so on."""
    cell("again")
    there = source(program, "normal", shared).copy(tmp_path)
    session = there.session
    actor = form_named(session.format).actor
    for n in range(1, 4):
        plan = plan_fork(session, len(session.history))
        log, prompt, reply = str(apply_fork(plan)), f"Go on, part {n}.", f"Part {n} is done."
        outcome = there.resume(log, plan.id, prompt, reply, f"again{n}")
        prove(outcome, session.history, prompt, reply)
        kept = isinstance(actor, Keeper)
        session = load(actor.kept(plan.id, program.environ(there.home)) if kept else log)
        assert [step.message.text for step in session.history].count(reply) == 1


def test_is_handed_over_by_its_command(
    program: Program, shared: Path, tmp_path: Path, cell: Tell
) -> None:
    cell("handed")
    there = source(program, "killed", shared).copy(tmp_path)
    session, rows = there.session, untouched(there)
    environ = program.environ(there.home)
    plan = plan_resume(session, prompt=GO_ON, screen=False, environ=environ)
    order = prepare(session, plan, environ=environ).order
    outcome = there.run(order.argv, REPLY, "handed", order.before)
    closed = {call.call_id for call in session.open_calls}
    prove(outcome, session.history, GO_ON, REPLY, closed=closed)
    assert untouched(there) == rows


def test_goes_on_with_the_session_of_another_agent(
    program: Program, shared: Path, tmp_path: Path, cell: Tell
) -> None:
    others = [other for other in PROGRAMS.values() if other is not program]
    cell("across", f"{len(others)} agents")
    work = source(program, "normal", shared).work
    failed = [f"from {other.name}: {why}" for other in others
              if (why := _across(program, source(other, "killed", shared), work,
                                 tmp_path / other.name))]  # fmt: skip
    assert not failed, "\n".join(failed)


def _across(program: Program, other: Source, work: Path, home: Path) -> str:
    """Hand another agent's session to a client that never ran; what is wrong, "" for nothing."""
    program.furnish(home, work)
    there, environ = other._replace(program=program, home=home, work=work), program.environ(home)
    session, rows = other.session, untouched(other)
    plan = plan_resume(session, agent=program.name, prompt=GO_ON, screen=False, cwd=str(work),
                       environ=environ)  # fmt: skip
    assert plan.plain is not None
    said = [message.text for message in plan.plain.said]
    assert PROMPT in said[0]
    order = prepare(session, plan, environ=environ).order
    outcome = there.run(order.argv, REPLY, other.program.name, order.before)
    try:
        prove(outcome, (), GO_ON, REPLY, said=said)
        assert untouched(other) == rows
    except AssertionError as error:
        return str(error)
    return ""


def _cut(there: Source, session: Session, plan: Fork) -> str:
    """Go on with the fork; what is wrong with that, "" for nothing."""
    log, closed = apply_fork(plan), {call.call_id for call in plan.closed}
    outcome = there.resume(str(log), plan.id, GO_ON, REPLY, f"cut{plan.at}")
    try:
        prove(outcome, session.history[: plan.at], GO_ON, REPLY, closed=closed)
    except AssertionError as error:
        return str(error)
    return ""


def _whole(session: Session) -> tuple[Repair | Fork, Path]:
    """A new log with all of the session: its repair, or a copy where there is nothing to repair,
    because clients write on in the log that they are given."""
    repair = plan_repair(session)
    if repair.needed:
        return repair, apply_repair(repair, force=True)
    fork = plan_fork(session, len(session.history))
    return fork, apply_fork(fork)
