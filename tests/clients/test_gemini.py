"""What Gemini CLI alone does: prompts that it leaves out when it resumes, folders behind links."""

from __future__ import annotations

from pathlib import Path

import pytest
from clients.arena import play
from clients.programs import PROGRAMS
from clients.proof import prove
from clients.sources import GO_ON, REPLY, Source, sessions, source
from clients.wire import Turn

from sessionlog.forks import apply_fork, plan_fork
from sessionlog.handover import prepare
from sessionlog.resume import plan_resume

pytestmark = pytest.mark.clients
GEMINI = PROGRAMS["gemini"]


def test_a_prompt_that_begins_as_a_command_is_told_again(shared: Path, tmp_path: Path) -> None:
    """A person's prompt that is a path: the client leaves it out of what it resumes."""
    home, work = tmp_path / "home", tmp_path / "work"
    GEMINI.furnish(home, work)
    work.mkdir()
    prompt = f"{work}/a.py fails: fix it."
    begun = play((*GEMINI.begin, prompt), work, GEMINI.environ(home), (Turn("It is done."),),
                 tag="path")  # fmt: skip
    assert begun.how == "exit"
    (log,) = sessions(GEMINI, home)
    there = Source(GEMINI, home, work, log)
    session = there.session
    at = next(step.n for step in session.history if step.message.text == prompt)
    for cut in (at, len(session.history)):
        plan = plan_fork(session, cut)
        outcome = there.resume(str(apply_fork(plan)), plan.id, GO_ON, REPLY, f"cut{cut}")
        prove(outcome, session.history[:cut], GO_ON, REPLY)


def test_another_agents_session_is_found_in_a_folder_behind_a_link(
    shared: Path, tmp_path: Path
) -> None:
    other = source(PROGRAMS["pi"], "normal", shared)
    work, home = tmp_path / "link", tmp_path / "home"
    (tmp_path / "real").mkdir()
    work.symlink_to("real")
    GEMINI.furnish(home, work)
    environ = GEMINI.environ(home)
    plan = plan_resume(other.session, agent="gemini", prompt=GO_ON, screen=False, cwd=str(work),
                       environ=environ)  # fmt: skip
    assert plan.plain is not None
    order = prepare(other.session, plan, environ=environ).order
    outcome = Source(GEMINI, home, work, plan.log).run(order.argv, REPLY, "link", order.before)
    prove(outcome, (), GO_ON, REPLY, said=[message.text for message in plan.plain.said])
