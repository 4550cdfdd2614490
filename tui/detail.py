"""One row at length: the head, the body by what the row is, and where its bytes stand. Pure.

Lines are made as they are taken: the pane asks for what it shows, so a line of megabytes costs
what is looked at of it. `read` gives the bytes of a span; it is called only where a body needs
bytes that the row's records do not hold (the raw view, damage, a client's structured result).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from sessionlog.diffs import counts
from sessionlog.records import (
    Damage,
    Event,
    Message,
    Meta,
    Other,
    Record,
    Reset,
    Result,
    shown_type,
)
from sessionlog.text import one_line, size, visible, width
from tui import blocks
from tui.calls import Read, call, diffs_of
from tui.flow import MORE, chopped
from tui.highlight import json_lines
from tui.lines import Line, Piece
from tui.markdown import markdown
from tui.row_lines import Clock
from tui.rows import Row
from tui.signs import SIGNS

RAW = 1 << 20
"""Bytes of one record that the raw view lays out; the rest is said."""
_FOOT = 10
"""Columns of what a foot has beside its facts."""
_WIDE = 76
"""Columns from which the head has room for when a call came back."""
DAMAGED = 64 * 1024
"""Bytes of a damage that are shown."""


class Look(NamedTuple):
    """How a row is to be looked at."""

    columns: int
    raw: bool = False
    expanded: bool = False
    """Nothing folded; in the raw view the bytes as they stand instead of laid out."""
    clock: Callable[[str], str] = Clock().full


def body(row: Row, read: Read, look: Look) -> Iterator[Line]:
    """Everything between head and foot."""
    if look.raw:
        return _raw(row, read, look)
    if row.damage is not None:
        return _damage(row.damage, read, look)
    if row.sort == "call":
        return call(row, read, look.columns, look.expanded)
    if row.sort in ("fold", "retries") and len(row.records) > 1:
        return _several(row, look)
    if row.records:
        return _record(row.records[0], look)
    return blocks.prose("\n".join(filter(None, (row.body, row.second))), look.columns, "fg-2")


def title(row: Row, views: Sequence[str], view: int, *, focused: bool) -> Line:
    """The pane's title: which row, and the views there are, the one that is shown in bold."""
    what = f"Message {row.n}" if row.n is not None else row.label.capitalize() or "Detail"
    if row.answer is not None:
        what += f", answered by {row.answer}"
    gutter = SIGNS["cursor"] if focused else (" ", "")
    left = [gutter, (what, "fg-1 bold" if focused else "fg-2")]
    right = [(f"{word}  ", "fg-1 bold" if i == view else "fg-3") for i, word in enumerate(views)]
    return Line(left, right, "surface")


def head(row: Row, read: Read, look: Look) -> Line:
    """Sign, tool or label, outcome; took, from and to."""
    sign, style = SIGNS.get(row.sign, ("", ""))
    label = "fg italic" if row.sort == "think" else "fg-1 bold"
    left: list[Piece] = [(" ", "")]
    left += [(f"{sign} ", style)] if sign.strip() else []
    left.append((visible(row.label or row.sort), label))
    if (own := _own_name(row)) not in ("", row.label):
        left.append((f" {own}", "fg-3"))
    right: list[Piece] = []
    diffs = diffs_of(row, read) if row.sort == "call" else []
    if diffs:
        left.append((f"  {visible(diffs[0].path)}", "fg"))
        right += [(" ", ""), *blocks.plus_minus(*counts(diffs))]
    if row.outcome and (row.outcome_bad or not diffs):
        bad = {"open": "open bold", "run": "run bold"}.get(row.sign, "fail bold")
        left.append((f"  {visible(row.outcome)}", bad if row.outcome_bad else "fg-2"))
    if row.took:
        right.append((f"  {visible(row.took)}", "fg-2"))
    if times := _times(row, look):
        right.append((f"  {times}", "fg-3"))
    return Line(left, [*right, (" ", "")], "surface")


def _own_name(row: Row) -> str:
    """The name that the log has for the tool of a call."""
    payload = row.records[0].payload if row.sort == "call" and row.records else None
    half = payload.activity if isinstance(payload, Message) else None
    return one_line(half.name if half else payload.tool if isinstance(payload, Event) else "")


def _times(row: Row, look: Look) -> str:
    first = look.clock(row.at if row.answer is None else row.records[-1].at)
    if look.columns < _WIDE:
        return first
    last = look.clock(row.records[-1].at) if len(row.records) > 1 else ""
    return f"{first} to {last}" if last and last != first else first


def foot(row: Row, columns: int) -> Line:
    """Where the row's bytes stand, and whether the agent would know it now."""
    span = row.damage.span if row.damage else row.records[0].span if row.records else None
    if span is None:
        return Line([])
    number = row.line or span.line
    parts = [f"line {number:,}"] if number else []
    parts += [f"byte {span.offset:,}", f"{span.length:,} bytes"]
    if any(isinstance(record.payload, Message) for record in row.records):
        parts.append("in context" if row.in_context else "not in context")
    while len(parts) > 1 and width(" · ".join(parts)) > columns - _FOOT:
        parts.pop(1 if len(parts) > 2 else 0)
    return Line([(" " + " · ".join(parts), "fg-3")], [("  x", "fg-1 bold"), (" raw ", "fg-3")])


# -- what is no call -------------------------------------------------------------------------


def _record(record: Record, look: Look) -> Iterator[Line]:
    payload = record.payload
    if isinstance(payload, Message):
        return _message(payload, look)
    if isinstance(payload, Reset):
        return _reset(payload, look)
    if isinstance(payload, Other):
        return blocks.structure(payload.data, look.columns, look.expanded)
    if isinstance(payload, Event):
        return _event(payload, look)
    return _named(payload, look)


def _message(message: Message, look: Look) -> Iterator[Line]:
    """Text: the model's as Markdown, a person's and a client's as it stands."""
    columns = look.columns
    if message.sidechain:
        yield from blocks.fields([("subagent", message.sidechain, "fg-2")], columns)
    kind = shown_type(message)
    if message.activity is not None:
        yield from blocks.structure(_plain(message.activity), columns, look.expanded)
    elif kind in ("assistant", "summary"):
        yield from map(blocks.indented, markdown(message.text, columns - 2))
    elif kind == "reasoning":
        yield from map(blocks.indented, markdown(message.text, columns - 2, "fg-2 italic"))
        if not message.text.strip():
            yield blocks.indented([("its text is not in the log", "fg-3 italic")])
    else:
        style = "fg-1" if kind == "user" else "fg-2"
        yield from blocks.prose(message.text, columns, style)
    yield from blocks.fields([blocks.image_field(image) for image in message.images], columns)


def _plain(value: Any) -> dict[str, Any]:
    """The fields of a value that say something."""
    names = [name for name in value._fields if name not in ("extra", "failure")]
    return {name: item for name in names if (item := getattr(value, name)) not in ("", 0, None)}


def _event(event: Event, look: Look) -> Iterator[Line]:
    style = "fail" if event.ok is False else "fg"
    named = [("tool", event.tool, "fg"), ("call", event.call_id, "fg-2")]
    if event.iteration:
        named.append(("iteration", str(event.iteration), "fg-2"))
    if event.text:
        yield from blocks.prose(event.text, look.columns, style)
    told = [("event", event.kind, "fg-1"), *(f for f in named if f[1])]
    yield from blocks.structure(event.extra, look.columns, look.expanded, told)


def _named(payload: Meta | Result, look: Look) -> Iterator[Line]:
    """Meta and result: their fields by name, the words first."""
    values, told = _plain(payload), []
    if isinstance(payload, Meta):
        if origin := values.pop("forked_from", None):
            at = "" if origin.at is None else f" at {origin.at}"
            values["forked_from"] = f"{origin.id}{at}"
    else:
        values["code"] = payload.code
        error = values.pop("error", "")
        values.pop("message", None)
        said = [("error", error, "fail"), ("message", payload.message, "fg")]
        told = [field for field in said if field[1]]
        if payload.failure:
            values["failure"] = payload.failure
    extra = {key: item for key, item in payload.extra.items() if key not in values}
    yield from blocks.structure({**values, **extra}, look.columns, look.expanded, told)


def _reset(reset: Reset, look: Look) -> Iterator[Line]:
    """What fell out of the context, and what the conversation goes on with."""
    if reset.turns is not None:
        fell = f"the last {blocks.counted(reset.turns, 'turn')}, back to before their prompt"
    elif reset.keep:
        fell = "everything before it, but for a part that is kept"
    else:
        fell = "everything before it; the log and the timeline keep it"
    pairs = [("why", reset.why, "fg"), ("fell out", fell, "fg"),
             ("goes on with", f"{blocks.counted(len(reset.context), 'message')} of its own"
              if reset.context else "", "fg")]  # fmt: skip
    yield from blocks.fields([pair for pair in pairs if pair[1]], look.columns)
    for message in reset.context if look.expanded else reset.context[:8]:
        yield blocks.indented([])
        yield blocks.indented([(visible(shown_type(message)), "fg-3")])
        yield from _message(message, look)
    if len(reset.context) > 8 and not look.expanded:
        yield blocks.folded(blocks.counted(len(reset.context) - 8, "message"))


def _several(row: Row, look: Look) -> Iterator[Line]:
    """What a fold holds: a line for each record."""
    for record in row.records:
        payload = record.payload
        name, text = str(record.kind), ""
        if isinstance(payload, Message):
            name = shown_type(payload)
            activity = payload.activity
            text = payload.text or (f"{activity.name} {activity.arguments}" if activity else "")
        elif isinstance(payload, Event):
            name, text = payload.kind, " ".join(filter(None, (payload.tool, payload.text)))
        elif isinstance(payload, Other):
            name = payload.name
        clock = (f"{look.clock(record.at)} ", "fg-3")
        yield blocks.indented([clock, (f"{visible(name)} ", "fg-2"), (one_line(text), "fg")])


def _damage(damage: Damage, read: Read, look: Look) -> Iterator[Line]:
    """Why, where, how much was saved, and the lost bytes themselves."""
    span = damage.span
    where = f"line {span.line:,}, " if span.line else ""
    saved = f"{damage.salvaged:,} bytes of the line gave records" if damage.salvaged else "nothing"
    lost = "shown with marks for what is no text" if damage.mild else f"{span.length:,} bytes"
    yield from blocks.fields([
        ("why", damage.why, "bytes"), ("where", f"{where}byte {span.offset:,}", "fg"),
        ("lost", lost, "fg"), ("saved", saved, "fg"),
    ], look.columns)  # fmt: skip
    data = read(span._replace(length=min(span.length, DAMAGED)))
    if data[:1] == b"{":
        yield blocks.indented([("as far as it goes", "fg-3")])
        text = data.decode("utf-8", "replace")
        yield from blocks.json_block(text, look.columns, look.expanded)
    yield blocks.indented([("bytes", "fg-3")])
    yield from blocks.hexdump(data, span.offset, look.columns, look.expanded)
    if span.length > DAMAGED:
        yield blocks.indented([(f"{size(span.length - DAMAGED)} more are not shown", "fg-2")])


# -- raw -------------------------------------------------------------------------------------


def _raw(row: Row, read: Read, look: Look) -> Iterator[Line]:
    """The row's bytes: laid out as JSON, or, expanded, exactly as they stand."""
    spans = dict.fromkeys(record.span for record in row.records)
    if row.damage is not None:
        spans[row.damage.span] = None
    for number, span in enumerate(spans):
        if number:
            yield blocks.indented([])
        if len(spans) > 1:
            place = f"line {span.line:,} · " if span.line else ""
            yield blocks.indented([(f"{place}byte {span.offset:,}", "fg-3")])
        data = read(span._replace(length=min(span.length, RAW)))
        if look.expanded:
            lines = chopped(_slices(data), look.columns - 2, MORE)
        else:
            laid_out = json_lines(data.decode("utf-8", "surrogateescape"))
            lines = (part for line in laid_out for part in chopped(line, look.columns - 2, MORE))
        yield from map(blocks.indented, lines)
        if span.length > RAW:
            rest = f"the first {size(RAW)} of {size(span.length)} are laid out"
            yield blocks.indented([(rest, "open")])
    if spans and not look.expanded:
        yield blocks.indented([("space", "fg-1 bold"), (" the bytes as they stand", "fg-2")])


def _slices(data: bytes) -> Iterator[Piece]:
    """Bytes as visible text, a part at a time; what is no UTF-8 is a mark."""
    step = 1 << 14
    text = data.decode("utf-8", "surrogateescape")
    for at in range(0, len(text), step):
        yield visible(text[at : at + step]), "fg"
