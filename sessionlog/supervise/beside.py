"""How a run ended that was handed over, where its log does not tell: an agent's own log is left as
it is, and what is known of the end stands beside it, in the journal of runs."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from sessionlog.ended import exit_of, last_words
from sessionlog.paths import runs_folder
from sessionlog.records import moment
from sessionlog.supervise import runs
from sessionlog.supervise.order import Outcome
from sessionlog.supervise.runs import Run
from sessionlog.text import one_line
from sessionlog.why.facts import Beside

_TICK = 100_000_000
"""Nanoseconds within which a folder may change twice and show one time."""
_SLACK = timedelta(seconds=2)
"""What a clock may differ, and a last record may come late."""


class Journal:
    """The runs that have ended, as they stood in the journal."""

    def __init__(self, ended: Iterable[Run] = ()) -> None:
        self._runs = sorted(ended, key=lambda run: run.ended.ended if run.ended else "")[::-1]

    def beside(self, path: str, resumed_from: str | None, last: datetime | None) -> Beside | None:
        """The end of the run that wrote a log; None when none was written down.

        `resumed_from` is the id that the log names as its origin, `last` its last record's time:
        an end before that is not its end.
        """
        if not self._runs:
            return None
        place = os.path.abspath(path)
        for run in self._runs:
            ended = moment(run.ended.ended) if run.ended is not None else None
            if run.ended is None or ended is None or not _wrote(run, place, resumed_from):
                continue
            return _told(run, run.ended, ended) if not last or ended + _SLACK >= last else None
        return None


def journal(environ: Mapping[str, str] = os.environ) -> Journal:
    """The journal; it is read again only when something began or ended since."""
    global _read
    folder = runs_folder(environ)
    try:
        changed = os.stat(folder).st_mtime_ns
    except OSError:
        return Journal()
    if _read[0] == (folder, changed):
        return _read[1]
    found = Journal(run for run in runs.known(environ) if run.ended is not None)
    if time.time_ns() - changed > _TICK:  # else more may follow at the very same time
        _read = (folder, changed), found
    return found


_read: tuple[tuple[str, int], Journal] = (("", 0), Journal())


def _wrote(run: Run, path: str, resumed_from: str | None) -> bool:
    return path == run.log or (bool(resumed_from) and resumed_from == run.session)


def _told(run: Run, outcome: Outcome, ended: datetime) -> Beside:
    clock, agent = ended.astimezone().strftime("%H:%M:%S"), one_line(run.agent)
    killed = f"{outcome.killed} process{'es' * (outcome.killed != 1)} killed"
    if outcome.stopped == "viewer gone":
        how = f"{agent} was stopped at {clock}, when its viewer went away, {killed}"
        return Beside(how, f"{agent} stopped, its viewer went away", True)
    if outcome.stopped == "unwatched":
        how = f"{agent} was stopped at {clock}, what watched it was killed"
        return Beside(how, f"{agent} stopped, what watched it was killed", True)
    if outcome.stopped:
        how = f"{agent} was stopped from here at {clock}, {killed}"
        return Beside(how, f"{agent} stopped from here", True)
    last = "".join(last_words(outcome)[-1:])
    words = f"{agent} ended with {exit_of(outcome)}"
    return Beside(f"{words} at {clock}{last and ': ' + last}", f"{words}{last and ': ' + last}",
                  False, outcome.code != 0, last)  # fmt: skip
