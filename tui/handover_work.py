"""What a thread does for a handing over: read the log, look at the files, think it through, write.

Each is a plain function that may take long; none touches the screen.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime

from sessionlog import agents
from sessionlog.errors import SessionLogError
from sessionlog.logfile import open_log as descriptor
from sessionlog.plan import Fork, Repair
from sessionlog.reader import load
from sessionlog.records import Entry
from sessionlog.resume import Resume, plan_resume
from sessionlog.session import Session
from sessionlog.source import lines_of
from sessionlog.stale import stale
from tui.handover import Chosen, Known, Planned
from tui.handover_rows import refused, stripped, transcript
from tui.lines import Line
from tui.opening import is_alive, open_log
from tui.timeline import Timeline

Say = Callable[[str], object]

_OFTEN = 1 << 20
"""Bytes after which it is said how far the reading is."""


class Stopped(Exception):
    """Nobody waits for it any more."""


def read(entry: Entry, at: int | None, say: Say) -> Known:
    """Read the log, look at the files that it speaks of, and make the rows of its end.

    Raises SessionLogError.
    """
    session = load(entry.path, tell=_far(say))
    say("looking at the files it touched …")
    staleness = stale(session, at=at)
    log = open_log(entry)
    try:
        timeline = Timeline(log)
        timeline.judge(is_alive(entry))
        strip = stripped(timeline, session, at)
    finally:
        log.close()
    return Known(session, staleness, strip)


def _far(say: Say) -> Callable[[int, int], None]:
    """Says now and then how far the reading is."""
    told = -_OFTEN

    def tell(done: int, size: int) -> None:
        nonlocal told
        if done >= told + _OFTEN:
            told = done
            say(f"reading the log, {done / max(size, 1):.0%} …")

    return tell


def think(known: Known, at: int | None, chosen: Chosen, now: datetime) -> Planned:
    """The handing over for these choices; a problem is a part of the answer."""
    session, strip = known.session, known.strip
    resume, problem = None, ""
    try:
        resume = plan_resume(
            session, at, agent=chosen.agent, prompt=chosen.note, staleness=known.staleness,
            screen=chosen.screen, cwd=chosen.cwd, now=now,
        )  # fmt: skip
    except SessionLogError as error:
        problem = str(error).removeprefix(f"{session.path}: ")
    is_demo = session.meta.driver == agents.DEMO  # its agent plays a part, and can do no other
    found = tuple(
        choice
        for choice in agents.choices(os.environ, session.format, chosen.screen)
        if is_demo or choice.agent.name != agents.DEMO
    )
    return Planned(
        chosen, resume, transcript(session, strip, resume), refused(session, strip, resume), found,
        problem,
    )  # fmt: skip


def write(
    known: Known, at: int | None, resume: Resume | None, *, force: bool, now: datetime | None
) -> str | None:
    """Write the new log alone; gives its path, None where there is nothing to repair.

    Raises SessionLogError. Without a plan for an agent it is a plain repair or fork.
    """
    now = now or datetime.now(UTC)
    if resume is not None:
        from sessionlog.handover import write_log

        return write_log(known.session, resume, force=force)
    return _write_alone(known.session, at, force, now)


def _write_alone(session: Session, at: int | None, force: bool, now: datetime) -> str | None:
    from sessionlog.forks import apply_fork, plan_fork
    from sessionlog.repairs import apply_repair, plan_repair

    plan: Fork | Repair
    if at is not None:
        plan = plan_fork(session, at, now=now)
        return str(apply_fork(plan, force=force))
    plan = plan_repair(session, now=now)
    return str(apply_repair(plan, force=force)) if plan.needed else None


def compare(resume: Resume, bare: bool) -> list[Line]:
    """The lines that the new log has otherwise. O(edits)."""
    from tui.handover_diff import changes, diff_lines

    assert resume.plan is not None
    fd = descriptor(resume.plan.source)
    try:
        first = next(iter(lines_of(fd, empty=False)), None)
        return diff_lines(
            changes(resume, first, lambda span: os.pread(fd, span.length, span.offset)), bare=bare
        )
    finally:
        os.close(fd)
