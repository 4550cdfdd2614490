"""`sessionlog stop`: kill what was handed over under an id, and all it started."""

from __future__ import annotations

import argparse
import time

from sessionlog import shown
from sessionlog.commands.common import DONE, say
from sessionlog.ended import exit_of
from sessionlog.errors import NotPossible
from sessionlog.supervise import runs
from sessionlog.supervise.order import COMMAND, PERSON, UNWATCHED, VIEWER_GONE, Outcome
from sessionlog.text import visible

_WHO = {
    COMMAND: "stopped by `sessionlog stop`",
    PERSON: "stopped by a person",
    UNWATCHED: "stopped because what watched it was killed",
    VIEWER_GONE: "stopped because its viewer went away",
}
_KILL = 9


def arguments(sub: argparse.ArgumentParser) -> None:
    """What it takes."""
    sub.add_argument("id", metavar="ID", help="of the session, the run or its log, or `last`")
    sub.add_argument(
        "--gentle", action="store_true", help="interrupt it, and kill it after two seconds"
    )


def run(options: argparse.Namespace) -> int:
    """Do it. Raises SessionNotFound, and NotPossible for what had ended already or cannot be seen
    from here."""
    wanted = runs.find(options.id)
    asked = time.monotonic()
    outcome = runs.stop(wanted, options.gentle)
    seconds = time.monotonic() - asked
    if outcome is None:
        now = runs.find(wanted.run)
        raise NotPossible(f"{wanted.run}: {ended(now.ended or now.gone)}; nothing to stop")
    answer = {
        "run": wanted.run, "session": wanted.session, "log": wanted.log,
        "killed": outcome.killed, "seconds": round(seconds, 3), "how": how(outcome),
        "problem": outcome.problem,
    }  # fmt: skip
    if options.json:
        say([shown.json_line(answer)])
        return DONE
    count = "1 process" if outcome.killed == 1 else f"{outcome.killed} processes"
    say([f"{visible(wanted.session)}: {how(outcome)}, {count} killed in {seconds:.2f} s"])
    say(f"  {visible(problem)}" for problem in [outcome.problem] if problem)
    return DONE


def how(outcome: Outcome) -> str:
    """What it took."""
    if not outcome.gentle:
        return "killed"
    return "interrupted, then killed" if outcome.signal == _KILL else "interrupted"


def ended(outcome: Outcome | None) -> str:
    """When and how a run ended."""
    if outcome is None:
        return "it ended, and nobody wrote down how"
    who = _WHO.get(outcome.stopped, "by itself")
    return f"it ended at {outcome.ended}, {who} ({exit_of(outcome)})"
