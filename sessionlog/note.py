"""What an agent that carries on is told: what its log does not say.

Time has passed, files may have changed and have to be read again before they are edited, and which
calls were interrupted, so that nothing is repeated blindly.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime

from sessionlog.plan import Fork, Repair
from sessionlog.records import moment
from sessionlog.secrets import mask
from sessionlog.session import Session
from sessionlog.telling import telling
from sessionlog.text import clip, one_line

_SAID = 120
"""Columns of a call's telling argument in the note."""
_MENTION = re.compile(r"@(?=\S)")
_CALLS = 20
"""Calls that are listed; further ones are counted."""


def note_for(
    session: Session, plan: Fork | Repair | None, now: datetime, *, at: int | None = None,
    files: Sequence[str] = (), other: str = "",
) -> str:  # fmt: skip
    """The note. `at`: the message that a fork was asked for at; None: the whole run goes over.
    `files`: lines about the files that changed. `other`: who held the session, in words, where it
    goes over as plain messages. Masked: it goes into a command line. What a log says cannot name a
    file in it: see `_no_mention`."""
    lines = [_opening(session, plan, at, now)]
    if other:
        lines.append(
            f"It was held with {other}, whose calls and results are told in square brackets: call "
            "your own tools."
        )
    lines += files or ["Files may have changed meanwhile: read them again before you edit them."]
    # without a plan nothing was closed by us: what ran then is what the agent itself will close
    asked = plan.closed if plan else [call for call in session.in_flight if call.n is not None]
    lines += _listed(
        "Interrupted, outcome unknown; check before repeating:",
        (_call(call.tool, call.arguments) for call in asked),
    )
    if at is None:
        lines += _listed(
            "In flight when the run stopped, and not in the conversation; check before repeating:",
            (_call(c.tool, c.arguments) for c in session.in_flight if c.n is None),
        )
    return _no_mention(mask("\n".join(lines)))


def _no_mention(text: str) -> str:
    """Clients read in the file that stands behind an "@" in a prompt (seen with claude 2.1, gemini
    0.61 and qwen 0.24, outside the working directory too): a command or a file name out of a log
    must not do that."""
    return _MENTION.sub("@ ", text)


def _last_time(session: Session, plan: Fork | Repair | None, at: int | None) -> datetime | None:
    """When the agent last knew anything: the time of the fork's last message, else of the last
    record that has one."""
    if at is not None and isinstance(plan, Fork):
        record = next((s.record for s in session.history if s.n == plan.at), None)
        return moment(record.at) if record else None
    return next((time for r in reversed(session.records) if (time := r.time) is not None), None)


def _opening(session: Session, plan: Fork | Repair | None, at: int | None, now: datetime) -> str:
    told = "You go on with an earlier session"
    if at is not None and isinstance(plan, Fork):
        told = f"You go on from message {plan.at} of an earlier session"
    last = _last_time(session, plan, at)
    if last is None:
        return f"{told}; time has passed since."
    return f"{told}, after {_words((now - last).total_seconds())}."


def _words(seconds: float) -> str:
    """A length of time in words: "3 days", "1 hour", "a moment"."""
    for unit, size in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {unit}{'s' if count > 1 else ''}"
    return "a moment"


def _listed(head: str, calls: Iterable[str]) -> list[str]:
    items = list(calls)
    if not items:
        return []
    more = [f"- and {len(items) - _CALLS} more"] if len(items) > _CALLS else []
    return [head, *(f"- {item}" for item in items[:_CALLS]), *more]


def _call(tool: str, arguments: str) -> str:
    said = clip(one_line(telling(arguments)), _SAID)
    name = clip(one_line(tool), 40)
    return f"{name}: {said}" if said else name
