"""`sessionlog replay`: a log as it happened. On a terminal it is a screen; here it is printed line
by line, at the pace at which it was written."""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any

from sessionlog import shown
from sessionlog.commands.common import DONE, found, ref, say
from sessionlog.commands.rows import items_of, row_line
from sessionlog.formats.base import Format
from sessionlog.logfile import open_log
from sessionlog.numbering import Numbering, OwnRun
from sessionlog.pace import SPEEDS, Pace, gap
from sessionlog.records import Message, Record, moment
from sessionlog.source import decode, format_of, lines_of

_FIRST = 64
"""Lines by which a subagent's own log is told from others."""

Sleep = Callable[[float], None]


def arguments(sub: argparse.ArgumentParser) -> None:
    """What it takes."""
    ref(sub)
    sub.add_argument("--speed", type=_speed, default=1.0, metavar="X",
                     help="times as fast, 0.25 to 64 (1)")  # fmt: skip
    sub.add_argument("--idle", type=_seconds, default=2.0, metavar="S",
                     help="longest silence in seconds of the run (2; 0: no limit)")  # fmt: skip


def pace_of(options: argparse.Namespace) -> Pace:
    """The pace that was asked for."""
    return Pace(options.speed, options.idle or None)


def run(options: argparse.Namespace, sleep: Sleep = time.sleep) -> int:
    """Do it. `sleep` waits so many seconds."""
    path = found(options, options.ref).path
    pace = pace_of(options)
    line_of = shown.json_line if options.json else partial(row_line, comes=True)
    for wait, items in played(path):
        if wait:
            sleep(pace.waits(wait))
        say(map(line_of, items))
    return DONE


def played(path: str) -> Iterator[tuple[float, list[dict[str, Any]]]]:
    """For each line of a log the seconds of run since the line before, and its objects as `show`
    prints them, as far as they were known when the line was written. Holds one line and the open
    calls. Raises NotALog and Unreadable."""
    fd = open_log(path)
    try:
        form = format_of(path, fd)
        numbering, known = Numbering(), None
        run = OwnRun(beside=_has_main_run(form, fd))
        for line in lines_of(fd, empty=False):
            found, damages = decode(form, line)
            records = [run.place(record) for record in found]
            items = items_of(records, numbering.take(records), damages)
            at = _time(records)
            loud = bool(damages) or any(not record.quiet for record in records)
            if items:
                yield gap(known, at, loud=loud) if line.offset else 0.0, items
            known = known if at is None else at
    finally:
        os.close(fd)


def _has_main_run(form: Format, fd: int) -> bool:
    """Do the first lines tell that this is no subagent's own log?"""
    first = (decode(form, line)[0] for line in islice(lines_of(fd, empty=False), _FIRST))
    said = (r.payload for records in first for r in records if isinstance(r.payload, Message))
    return any(not message.sidechain for message in said)


def _time(records: list[Record]) -> float | None:
    """POSIX seconds of the first record that has a time."""
    times = (moment(record.at) for record in records if record.at)
    return next((time.timestamp() for time in times if time), None)


def _speed(text: str) -> float:
    speed = _number(text)
    if not SPEEDS[0] <= speed <= SPEEDS[-1]:
        raise argparse.ArgumentTypeError(f"{text!r} is no speed from 0.25 to 64")
    return speed


def _seconds(text: str) -> float:
    seconds = _number(text)
    if seconds < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds")
    return seconds


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError(f"{text!r} is no number")
    return number
