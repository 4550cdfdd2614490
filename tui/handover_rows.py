"""The conversation that goes over, as rows: its end as the timeline shows it, and what is added,
moved and left out. Pure.

Only the last rows are made, however long the log is; what stands above them is said in a line.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from sessionlog.formats.base import Fate, Said
from sessionlog.plan import INTERRUPTED, Edits, Fork, Insert, Repair
from sessionlog.records import Damage, Result
from sessionlog.session import Numbered, Session, fold
from sessionlog.survey import form_named
from sessionlog.window import CHUNK
from tui.chunk_rows import rows_of
from tui.rows import Row
from tui.timeline import END_PLACE, Place, Timeline

if TYPE_CHECKING:
    from sessionlog.plain import Plain
    from sessionlog.resume import Resume

IN_EVENTS = "not sent"
"""Of a call that stands in events alone: the conversation does not have it."""
MOST = 200
"""Rows of the conversation that are shown."""
_LOOKED = 256
"""Chunks that are looked through for them: events and other branches stand between."""
_LEFT = ("fold", "gap", "reset", "event", "retries", "writing")
"""Rows that are no part of a conversation."""


class Strip(NamedTuple):
    """The last rows of a conversation, before anything is done to it."""

    steps: tuple[Numbered, ...]
    """The history as it stands at the cut, with what is in context there."""
    rows: tuple[Row, ...]
    end: int
    """Byte at which the cut is; nothing behind it goes over."""
    first: int
    """Number of the first message in context; 0: there is none."""
    brought: int = 0
    """Messages that the last reset holds itself."""


class Item(NamedTuple):
    """A row of the new log."""

    row: Row
    mark: str = ""
    """"+" added, "-" left out, "" as it stands."""


class Transcript(NamedTuple):
    """The new log's conversation, its last part row by row."""

    items: tuple[Item, ...] = ()
    above: tuple[str, ...] = ()
    """What stands above the first row, in words."""
    closed: int = 0
    moved: int = 0
    left_out: int = 0
    open: int = 0
    """Calls that stay open: the agent answers them itself."""
    next: int | None = None
    """Number of the message that follows; None where the new log counts anew."""
    said: tuple[Said, ...] = ()
    """The last messages of one that goes over as plain messages; it has no rows then."""


def stripped(timeline: Timeline, session: Session, at: int | None) -> Strip:
    """The end of what goes over when it is cut after message `at` (None: not at all). O(log) for
    the cut, else O(rows shown)."""
    end, damages = END_PLACE[0], {d.span.offset: d for d in session.damages}
    if at is not None and 1 <= at <= len(session.history):
        span = session.history[at - 1].record.span
        end = span.end
        taken = [record for record in session.records if record.span.offset < end]
        session = fold(taken, (), form=form_named(session.format), path=session.path,
                       size=session.size)  # fmt: skip
    steps = session.history
    own = {id(step.message) for step in steps if step.in_context}
    first = next((step for step in steps if step.in_context), None)
    begin = first.record.span.offset if first else 0
    rows = _rows(timeline, steps, damages, begin, end)
    brought = sum(id(message) not in own for message in session.context)
    return Strip(steps, rows, end, first.n if first else 0, brought)


def _rows(
    timeline: Timeline, steps: Sequence[Numbered], damages: Mapping[int, Damage], begin: int,
    end: int,
) -> tuple[Row, ...]:  # fmt: skip
    """From the end up, a chunk at a time. What is in context the session knows better than a
    timeline whose log is not counted, and how the log ends nobody asks here."""
    found: list[Row] = []
    last = min(timeline.chunks - 1, end // CHUNK)
    for number in range(last, max(begin // CHUNK, last - _LOOKED) - 1, -1):
        for row in reversed(rows_of(number, timeline)):
            if not begin <= row.place[0] < end:
                continue
            made = _taken(row, steps, end)
            if row.damage is not None:
                made = _damaged(row, damages.get(row.damage.span.offset, row.damage))
            found += [made] if made else []
        if len(found) >= MOST:
            break
    return tuple(reversed(found[:MOST]))


def _taken(row: Row, steps: Sequence[Numbered], end: int) -> Row | None:
    """The row as it stands in what goes over; None when it does not."""
    if row.side or row.sort in _LEFT or row.quiet:
        return None
    if row.sort == "end":
        return row._replace(in_context=True)
    step = _step(steps, row.place)
    if step is None and row.sort == "call" and row.sign == "open":
        return row._replace(in_context=True, second="", outcome=IN_EVENTS)
    if step is None or not step.in_context:
        return None
    row = row._replace(n=step.n, in_context=True)
    if len(row.records) > 1 and row.records[1].span.offset >= end:  # answered behind the cut
        return row._replace(sign="open", outcome="no result", outcome_bad=False, took="",
                            second="", trouble=True, records=row.records[:1])  # fmt: skip
    return row._replace(second="") if row.sign == "open" else row


def _damaged(row: Row, damage: Damage) -> Row:
    """With the line of the damage: the session knows it, a window of the log may not."""
    line = damage.span.line
    body = row.body if row.line or not line else f"line {line:,} · {row.body}"
    return row._replace(damage=damage, line=line, body=body, in_context=True)


def _step(steps: Sequence[Numbered], place: Place) -> Numbered | None:
    at = bisect_left(steps, place, key=lambda step: (step.record.span.offset, step.record.part))
    if at < len(steps) and (steps[at].record.span.offset, steps[at].record.part) == place:
        return steps[at]
    return None


def refused(session: Session, strip: Strip, resume: Resume | None) -> Damage | None:
    """The damage before the end that stops it, unless a person has seen it."""
    if resume is not None and resume.plan is not None:
        return resume.plan.refused
    last = max((record.span.line for record in session.records[-1:]), default=0)
    lost = (damage for damage in session.damages if not damage.mild)
    return next((d for d in lost if d.span.offset < strip.end and d.span.line < last), None)


def transcript(session: Session, strip: Strip, resume: Resume | None) -> Transcript:
    """What the new log will hold. O(edits + rows shown)."""
    above = tuple(_above(strip))
    if resume is None or (resume.plan is None and not resume.carried):
        calls = (s for s in strip.steps if s.in_context and s.open and not s.message.sidechain)
        return Transcript(tuple(map(Item, strip.rows)), above, open=sum(1 for _ in calls))
    if resume.plain is not None:
        return _plainly(resume.plain, resume.behind.words)
    if resume.plan is None:
        return _carried(strip, above)
    plan = resume.plan
    return Transcript(
        tuple(_items(strip, plan)), above, len(plan.closed), len(plan.moved),
        len(plan.orphans) + len(plan.dropped) + _left_out(session, plan.changes),
        next=plan.messages + 1,
    )  # fmt: skip


def _left_out(session: Session, edits: Edits) -> int:
    """Endings that a run to go on with cannot have, and damage behind the last message."""
    removed = {edit.offset for edit in edits.edits if edit.removed}
    ends = (r.span.offset for r in session.records if isinstance(r.payload, Result))
    behind = (d for d in session.damages if d.span.offset >= edits.end and not d.mild)
    return sum(at in removed or at >= edits.end for at in ends) + sum(1 for _ in behind)


def _above(strip: Strip) -> Iterator[str]:
    if strip.first > 1:
        yield f"1 to {strip.first - 1:,} stay in the log; not sent since the reset"
    if strip.brought:
        noun = "message" if strip.brought == 1 else "messages"
        yield f"{strip.brought:,} {noun} that the reset itself holds"
    shown = next((row.n for row in strip.rows if row.n is not None), None)
    if shown is not None and strip.first and shown > strip.first:
        yield f"{strip.first:,} to {shown - 1:,} as they stand"


# -- a plan's edits --------------------------------------------------------------------------


def _items(strip: Strip, plan: Fork | Repair) -> Iterator[Item]:
    """Rows and what is done, by their places in the source."""
    added = [
        (edit.offset, insert)
        for edit in plan.changes.edits
        for insert in edit.lines
        if insert.fate is not Fate.KEPT
    ]
    leaving = {*plan.moved, *(orphan.n for orphan in plan.orphans)}
    numbers = _numbers(strip, plan.messages, [offset for offset, _ in added])
    last = strip.steps[-1].n if strip.steps else 0
    bare = deque(_bare(strip, plan.moved))
    at = 0
    for row in strip.rows:
        while at < len(added) and added[at][0] <= row.place[0]:
            yield _added(added[at][1], numbers[at], last)
            at += 1
        while bare and bare[0].row.place <= row.place:
            yield bare.popleft()
        yield Item(row, "-" if row.n in leaving or _is_lost(row, plan.changes) else "")
    yield from bare
    for (_, insert), n in zip(added[at:], numbers[at:], strict=True):
        yield _added(insert, n, last)


def _numbers(strip: Strip, messages: int, offsets: list[int]) -> list[int | None]:
    """Numbers of added messages in the new log, of those at its end: what is done before them
    changes the others' by more than is worth telling."""
    behind = strip.steps[-1].record.span.end if strip.steps else 0
    first = messages - sum(offset >= behind for offset in offsets)
    return [
        first + i + 1 - (len(offsets) - (messages - first)) if offset >= behind else None
        for i, offset in enumerate(offsets)
    ]


def _is_lost(row: Row, edits: Edits) -> bool:
    """Damaged bytes, a line (an ending) that is left out, or a call that nothing can answer."""
    if row.sort == "call":
        return any(damage.span.offset == row.place[0] for damage in edits.nameless)
    if row.sort != "end" and row.damage is None:
        return False
    if row.place[0] >= edits.end:
        return row.damage is None or not row.damage.mild
    if row.damage is not None:
        return row.damage in edits.dropped
    return any(edit.offset == row.place[0] and edit.removed for edit in edits.edits)


def _added(insert: Insert, n: int | None, last: int) -> Item:
    place = (insert.span.offset, 0)
    if insert.call is None:
        said = f"message {insert.own:,} as it stands, behind its call now"
        return Item(Row(place, "result", "result", said, "ok", n=n, outcome="moved"), "+")
    return Item(_closing(place, insert.call.n, last)._replace(n=n), "+")


def _closing(place: Place, call: int, last: int) -> Row:
    """The result of a call that was interrupted; it names the call where it is not the last."""
    outcome = "" if call == last else f"of {call:,}"
    body = f"{INTERRUPTED}  (error)"
    return Row(place, "result", "result", body, "fail", outcome=outcome)


def _bare(strip: Strip, moved: Iterable[int]) -> Iterator[Item]:
    """Rows for results that leave their place: the timeline shows them at their calls."""
    begin = strip.rows[0].place if strip.rows else (0, 0)
    shown = {row.n for row in strip.rows}
    for n in moved:
        record = strip.steps[n - 1].record
        place = (record.span.offset, record.part)
        if place >= begin and n not in shown:
            body = "goes to where its call waits for it"
            yield Item(Row(place, "result", "result", body, n=n, outcome="moved"), "-")


# -- a conversation that is written anew -----------------------------------------------------


def _plainly(conversation: Plain, stays: str) -> Transcript:
    """As plain messages: these, as they are sent."""
    said = conversation.said[-MOST:]
    left = len(conversation.said) - len(said)
    noun = "message" if left == 1 else "messages"
    above = (stays, f"{left:,} {noun} before these go over, too" if left else "")
    return Transcript(above=tuple(filter(None, above)), said=said)


def _carried(strip: Strip, above: tuple[str, ...]) -> Transcript:
    """With its calls into a log of another format: every open call is closed right behind its
    turn."""
    calls = {s.n for s in strip.steps if s.in_context and s.open and not s.message.sidechain}
    last = strip.steps[-1].n if strip.steps else 0
    items: list[Item] = []
    waiting: list[Item] = []
    for row in strip.rows:
        if row.sort != "call":
            items, waiting = items + waiting, []
        is_lost = row.damage is not None and not row.damage.mild
        items.append(Item(row, "-" if row.sort == "end" or is_lost else ""))
        if row.n in calls:
            waiting.append(Item(_closing(row.place, row.n or 0, last), "+"))
    out = sum(item.mark == "-" for item in items)
    return Transcript((*items, *waiting), above, len(calls), 0, out)
