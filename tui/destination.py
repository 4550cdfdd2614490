"""What a person types to go somewhere in a log: a number, a time, a share. Pure."""

from __future__ import annotations

import re
from datetime import UTC, timedelta

from sessionlog.records import moment
from tui.row_lines import Clock
from tui.rows import Row
from tui.timeline import END_PLACE, Pos, Timeline
from tui.words import seconds_of

_STEP = re.compile(r"([+-])(\d{1,6})([smhd])$")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def destination(text: str, timeline: Timeline, row: Row | None, clock: Clock) -> Pos | str:
    """Where "143", "50%", "03:31" or "+5m" leads, seen from `row`; or why it leads nowhere."""
    if not timeline.chunks:
        return "nothing to go to"
    missing = f"no place like {text}: give 143, 50%, 03:31 or +5m"
    if text.isdecimal():
        return _message(int(text[:18]), timeline)
    if text.endswith("%") and text[:-1].isdecimal():
        share = int(text[:-1][:4])
        place = (timeline.log.size * share // 100, 0) if share < 100 else END_PLACE
        return timeline.find_place(place) or missing
    near = row.at if row else ""
    moved = _STEP.match(text)
    when = seconds_of(near) if moved else time_of_day(text, near, clock)
    if when is None:
        return missing
    if moved:
        when += float(moved[1] + moved[2]) * _UNITS[moved[3]]
    return timeline.at_time(when) or missing


def _message(n: int, timeline: Timeline) -> Pos | str:
    found = timeline.message(n)
    if found is not None:
        return found
    if not timeline.marks.complete(timeline.log.size):
        return f"message {n} is not counted yet"
    return f"no message {n}: the last is {timeline.marks.messages}"


def time_of_day(text: str, near: str, clock: Clock) -> float | None:
    """POSIX seconds of the end of a minute or second ("03:31", "03:31:05") on the day of `near`,
    as the clock tells it; None when `text` is no time."""
    parts = text.split(":")
    if len(parts) not in (2, 3) or not all(p.isdecimal() and len(p) <= 2 for p in parts):
        return None
    hours, minutes, seconds = (*map(int, parts), 0)[:3]
    if minutes > 59 or seconds > 59:
        return None
    passed = timedelta(hours=hours, minutes=minutes, seconds=seconds + 0.999)
    if clock.mode == "start":
        start = moment(clock.started)
        return (start + passed).timestamp() if start else None
    day = moment(near)
    if day is None or hours > 23:
        return None
    local = day.astimezone(UTC if clock.mode == "utc" else clock.zone)
    return (local.replace(hour=0, minute=0, second=0, microsecond=0) + passed).timestamp()
