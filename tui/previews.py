"""What a fork or a repair would do, as lines, before anything is written. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from sessionlog.outcome import went_well
from sessionlog.plan import Fork, Repair
from sessionlog.records import Damage, OpenCall, moment, shown_type
from sessionlog.session import Numbered, Session
from sessionlog.telling import telling
from sessionlog.text import clip, one_line, pad, visible
from sessionlog.tools import label_of
from tui.entries import home
from tui.lines import Line, Piece
from tui.rows import Row
from tui.signs import SIGNS

_SEEN = 300
"""Characters of a text that a preview looks at."""
_NAMED = 3
"""Calls or damages that are named one by one."""


Plan = Fork | Repair


def cut_at(session: Session, row: Row | None) -> int:
    """The message a fork at this row ends with: a call's result; what is before an open call.

    Of a row that is no message: the last message before it. None: the last of all.
    """
    if row is None:
        return len(session.history)
    last = 0
    for step in session.history:
        place = (step.record.span.offset, step.record.part)
        if place == row.place:
            if shown_type(step.message) == "call":
                return step.pair or step.n - 1
            return step.n
        if place > row.place:
            break
        last = step.n
    return last


def cuts(session: Session) -> list[int]:
    """Where `j` and `k` stop: behind every text and result, not between a call and its result."""
    calls = {s.n for s in session.history if shown_type(s.message) == "call" and s.pair}
    return [step.n for step in session.history if step.n not in calls]


def turns(session: Session) -> list[int]:
    """Just before each user turn: a fork there waits for another prompt."""
    return [s.n - 1 for s in session.history if shown_type(s.message) == "user" and s.n > 1]


def around(session: Session, at: int, before: int, after: int, columns: int) -> list[Line]:
    """The rows on either side of the cut, and the cut between them."""
    rows = [s for s in session.history if shown_type(s.message) != "response"]
    taken = [s for s in rows if s.n <= at][-before:]
    left = [s for s in rows if s.n > at]
    lines = [_row(session, step, stays=False) for step in taken]
    said = f"the fork ends here, at {at} "
    rest = max(columns - len(said) - 6, 0)
    lines.append(Line([("═════ ", "accent"), (said, "accent bold"), ("═" * rest, "accent")]))
    lines += [_row(session, step, stays=True) for step in left[:after]]
    count = len(session.history) - at
    if count > len(left[:after]):
        lines.append(Line([(f"{'':24}{count:,} messages stay behind", "fg-3")]))
    running = [call for call in session.in_flight if call.n is None]
    for call in running:  # it stands in events alone: no message of it can be taken
        said = one_line(f"{label_of(call.tool)} {telling(call.arguments)}")
        lines.append(Line([(f"{'':24}in flight, stays behind: ", "open"), (said, "fg-2")]))
    if not count and not running:
        lines.append(Line([(f"{'':24}nothing stays behind", "fg-3")]))
    return lines


def _row(session: Session, step: Numbered, *, stays: bool) -> Line:
    message = step.message
    activity = message.activity
    kind = shown_type(message)
    time = moment(step.record.at)
    clock = time.astimezone().strftime("%H:%M:%S") if time else ""
    sign, label, body = SIGNS[""], kind, message.text
    if activity is not None:
        label, body = label_of(activity.name), telling(activity.arguments[: 64 * _SEEN])
        sign = SIGNS[_outcome(session, step)] if kind == "call" else sign
    elif kind == "user":
        sign = SIGNS["user"]
    names = {"assistant": "agent", "reasoning": "think"}
    label = pad(visible(names.get(label, label)), 7)
    styles = ("fg-3", "fg-3") if stays else ("fg-2", "fg")
    head = f"{step.n:>5} {clock:8} "
    return Line([(head, "fg-3"), (sign[0], "fg-3") if stays else sign, (f" {label} ", styles[0]),
                 (one_line(body[:_SEEN]), styles[1])])  # fmt: skip


def _outcome(session: Session, call: Numbered) -> str:
    if call.pair is None:
        return "open"
    well = went_well(session.history[call.pair - 1].message)
    return "open" if well is None else "ok" if well else "fail"


def field(name: str, *pieces: Piece) -> Line:
    """`name      value`"""
    return Line([(f"{name:10} ", "fg-2"), *pieces])


def closed(calls: Sequence[OpenCall]) -> list[Line]:
    """Which calls get a result that says they were interrupted."""
    if not calls:
        answered = (" all answered, ", "fg")
        return [field("calls", SIGNS["ok"], answered, ("nothing to close", "fg-2"))]
    lines = [field("calls", SIGNS["open"], (f" {len(calls)} closed ", "fg"),
                   ('with "Interrupted by the user." as an error', "fg-2"))]  # fmt: skip
    for call in calls[:_NAMED]:
        said = clip(one_line(telling(call.arguments[: 64 * _SEEN])), 60)
        lines.append(field("", (f"{call.n} {label_of(call.tool)} ", "fg"), (said, "fg-2")))
    if len(calls) > _NAMED:
        lines.append(field("", (f"and {len(calls) - _NAMED} more", "fg-3")))
    return lines


def moved(plan: Plan) -> list[Line]:
    """Results that go to their calls, and those whose call is nowhere."""
    lines = []
    for name, numbers, what in (
        ("moved", plan.moved, "to where its call waits for it"),
        ("left out", [orphan.n for orphan in plan.orphans], "its call is nowhere before it"),
    ):
        for n in numbers[:_NAMED]:
            lines.append(field(name, (f"the result in message {n}, ", "fg"), (what, "fg-2")))
        if len(numbers) > _NAMED:
            lines.append(field("", (f"and {len(numbers) - _NAMED} more", "fg-3")))
    return lines


def left_out(damages: Sequence[Damage]) -> list[Line]:
    """Which bytes are not taken along."""
    lines: list[Line] = []
    for damage in damages[:_NAMED]:
        span = damage.span
        said = f" line {span.line} · byte {span.offset:,} · {span.length:,} bytes: "
        lines.append(field("left out" if not lines else "", SIGNS["bytes"], (said, "fg"),
                           (one_line(damage.why), "fg-2")))  # fmt: skip
    if len(damages) > _NAMED:
        lines.append(field("", (f"and {len(damages) - _NAMED} more", "fg-3")))
    return lines


def new_log(path: str) -> Line:
    """Where the new log will be."""
    return field("new log", (home(visible(path)), "fg-1"))


def parent() -> Line:
    """The promise."""
    return field("parent", ("untouched: ", "fg"), ("same bytes, same times", "fg-2"))


def shown_id(id: str) -> str:
    """A session's id, safe and not too long."""
    return clip(visible(id), 40)


def count(number: int, noun: str) -> str:
    """`1 message`, `1,240 messages`"""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
