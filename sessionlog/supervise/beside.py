"""A stop that no log tells of: an agent's own log is left as it is, and the stop stands beside it,
in the journal of runs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime, timedelta

from sessionlog.records import moment
from sessionlog.supervise import runs
from sessionlog.supervise.order import Outcome
from sessionlog.supervise.runs import Run
from sessionlog.text import one_line

_NEWEST = 200
"""Runs that are looked through."""
_SLACK = timedelta(seconds=2)
"""What a clock may differ, and a last record may come late."""


def stop_beside(
    path: str, resumed_from: str | None, last: datetime | None,
    environ: Mapping[str, str] = os.environ,
) -> str:  # fmt: skip
    """The stop of the run that wrote a log, in words; "" when none was written down.

    `resumed_from` is the id that the log names as its origin, `last` its last record's time: a
    stop before that is not its end. Safe to print.
    """
    place = os.path.abspath(path)
    for run in runs.known(environ, _NEWEST):
        if run.ended is not None and run.ended.stopped and _wrote(run, place, resumed_from):
            ended = moment(run.ended.ended)
            if ended is not None and (last is None or ended + _SLACK >= last):
                return _words(run, run.ended, ended)
    return ""


def _wrote(run: Run, path: str, resumed_from: str | None) -> bool:
    return path == run.log or (bool(resumed_from) and resumed_from == run.session)


def _words(run: Run, outcome: Outcome, ended: datetime) -> str:
    clock = ended.astimezone().strftime("%H:%M:%S")
    if outcome.stopped == "viewer gone":
        said = f"{one_line(run.agent)} was stopped at {clock}, when its viewer went away"
    else:
        said = f"{one_line(run.agent)} was stopped from here at {clock}"
    return f"{said}, {outcome.killed} process{'es' * (outcome.killed != 1)} killed"
