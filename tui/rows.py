"""A row of the timeline, as a plain value. No Textual here.

`timeline` makes rows from records, `widgets.timeline_view` draws them, `detail` shows one at
length, screens act on one. A call and its response are one row.
"""

from __future__ import annotations

from typing import NamedTuple

from sessionlog.records import Damage, Record


class Row(NamedTuple):
    """One shown unit. All texts are visible (safe), one line each."""

    place: tuple[int, int]
    """Byte offset and part of its first record: the row's identity while the file grows."""
    sort: str
    """user, agent, think, call, system, event, retries, summary, reset, gap, damage, fold, other,
    end, writing."""
    label: str = ""
    body: str = ""
    sign: str = ""
    """State to show: ok, fail, open, run, bytes, user, summary, fold, event or ""."""
    n: int | None = None
    """Message number; None where the row has none, or it is not known yet."""
    at: str = ""
    """RFC 3339."""
    outcome: str = ""
    outcome_bad: bool = False
    took: str = ""
    second: str = ""
    """A second line: the first telling line of a failure, the last output of a live call."""
    trouble: bool = False
    """An error, a damage or an open call: where `e` stops."""
    quiet: bool = False
    """Folded away unless asked for."""
    in_context: bool = True
    line: int = 0
    """Number of the line of its first record, from 1; 0 when it is not known yet."""
    side: str = ""
    """The subagent whose run the row is of; such rows fold into one."""
    records: tuple[Record, ...] = ()
    """The record, and for a call its response; for folded rows what they hold."""
    answer: int | None = None
    """Number of the message that answers the call, where that is what is looked at."""
    damage: Damage | None = None
