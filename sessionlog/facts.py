"""What filters and hits have to know of a record: its kind, its tool, how it went. Pure but for
the other half of a call, which is looked up in the log when it is asked for."""

from __future__ import annotations

import re
from typing import NamedTuple

from sessionlog.halves import Halves, went_well
from sessionlog.query import Query
from sessionlog.records import Activity, Damage, Event, Message, Record, Result, moment, shown_type
from sessionlog.tools import label_of

_PARTS = re.compile(r"[\W_]+")


class Facts(NamedTuple):
    """What is known of a record."""

    kind: str
    """Shown type; "damage" for what gave no record."""
    tool: str = ""
    ok: bool | None = None
    at: str = ""
    """RFC 3339, as in the log."""
    trouble: bool = False
    """It is what the timeline stops at when errors are looked for."""
    half: Activity | None = None
    """The half of a call that it is."""


def facts_of(what: Record | Damage) -> Facts:
    """What a record or a damage tells by itself."""
    if isinstance(what, Damage):
        return Facts("damage", ok=False, trouble=True)
    payload = what.payload
    if isinstance(payload, Message):
        half, kind = payload.activity, shown_type(payload)
        if half is None or half.kind != "response":
            return Facts(kind, half.name if half else "", at=what.at, half=half)
        well = went_well(payload)
        return Facts(kind, half.name, well, what.at, well is False, half)
    if isinstance(payload, Event):
        bad = payload.ok is False
        return Facts("event", payload.tool, payload.ok, what.at, bad and not what.quiet)
    if isinstance(payload, Result):
        bad = bool(payload.code or payload.error)
        return Facts("result", ok=not bad, at=what.at, trouble=bad)
    return Facts(what.kind.value, at=what.at)


def passes(query: Query, facts: Facts) -> bool:
    """Do the kind and the time of a record pass? What has no time passes no filter on times."""
    if query.kinds and facts.kind.lower() not in query.kinds:
        return False
    if query.after is None and query.before is None:
        return True
    when = moment(facts.at)
    return (
        when is not None
        and (query.after is None or when >= query.after)
        and (query.before is None or when < query.before)
    )


def completed(
    facts: Facts, query: Query, halves: Halves, offset: int, counted: bool = False
) -> Facts | None:
    """The facts with what the other half of a call tells; None when tool or errors do not pass.

    `offset` is that of its line. A record that is only `counted` is looked up for filters alone.
    """
    half = facts.half
    if half is not None and half.kind == "response" and (query.tools or not counted):
        facts = facts._replace(tool=halves.tool(half, offset))
    if query.tools and not any(answers_to(facts.tool, name) for name in query.tools):
        return None
    if half is not None and half.kind == "request" and (query.errors or not counted):
        answer = halves.answer(half, offset)
        facts = facts._replace(ok=answer.ok, trouble=answer.ok is False or answer.open)
    return None if query.errors and not facts.trouble else facts


def answers_to(tool: str, name: str) -> bool:
    """Is a tool meant by a lower-case name: the one that is shown, its own, or a part of that?"""
    low = tool.lower()
    return name in (low, label_of(tool).lower()) or name in _PARTS.split(low)
