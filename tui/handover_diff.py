"""The lines of the new log that differ from the source, as a diff of records. Pure over a reader.

A call's closing line, a result that moves, bytes that are left out, the note, and the log's head
with its new id. Lines that are copied as they stand are not in it.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC
from itertools import islice
from typing import NamedTuple

from sessionlog.errors import SessionLogError
from sessionlog.formats.base import Actor, Birth, Fate, Part
from sessionlog.framing import Line as LogLine
from sessionlog.newlog import parts
from sessionlog.plan import Edit, Edits
from sessionlog.records import Span
from sessionlog.resume import Resume
from sessionlog.secrets import mask
from sessionlog.survey import actor_of, form_named
from sessionlog.text import size, visible, wrap
from tui.highlight import json_lines
from tui.lines import Line, Piece

Read = Callable[[Span], bytes]

_MOST = 400
"""Changed records that are shown."""
_LONGEST = 1 << 16
"""Bytes of a record that are laid out."""
_TALLEST = 200
"""Lines of a record that are laid out."""
_CONTEXT = 2


class Change(NamedTuple):
    """One line of a log that is not in the other."""

    what: str
    new: bytes = b""
    old: bytes = b""


def changes(resume: Resume, first: LogLine | None, read: Read) -> Iterator[Change]:
    """Everything that tells the new log from its source; `first` is the source's first line.

    O(edits). Of formats that write the log's id on every line the rest of the lines differ in
    that alone.
    """
    plan = resume.plan
    if plan is None:
        return
    actor = actor_of(form_named(plan.format), plan.source, "repaired")
    time = plan.now.astimezone(UTC).isoformat().replace("+00:00", "Z")
    birth = Birth(plan.id, plan.parent, plan.at, time, workdir=plan.workdir, source=plan.source)
    if first is not None:
        renewed = next(iter(actor.renew([Part(first.data)], birth)), b"")
        if renewed != first.data:
            yield Change("the head", renewed, first.data)
    yield from _edited(plan.changes, actor, read)
    if resume.told and resume.note:
        *_, said = actor.renew([], birth._replace(told=resume.note))
        yield Change("what the agent is told", said)


def _edited(edits: Edits, actor: Actor, read: Read) -> Iterator[Change]:
    for group in _groups(edits.edits):
        start, end = group[0].offset, max(edit.offset + edit.removed for edit in group)
        data = read(Span(0, start, end - start)) if end > start else b""
        alone = Edits(end + 1, 0, edits=tuple(group))
        for part in parts([LogLine(0, start, data, True)], alone, actor, read):
            if part.fate is Fate.DROPPED:
                yield Change("left out here", old=part.data)
            elif part.fate is Fate.ADDED:
                yield Change("closes a call", new=part.data)
            elif part.fate is Fate.MOVED:
                yield Change("moved here", new=part.data)
            elif part.data.strip():
                yield Change("what stays of it", new=part.data)


def _groups(edits: Iterable[Edit]) -> Iterator[list[Edit]]:
    """Edits that touch each other, together: they are of one line."""
    group: list[Edit] = []
    for edit in edits:
        if group and edit.offset > max(e.offset + e.removed for e in group):
            yield group
            group = []
        group.append(edit)
    if group:
        yield group


# -- lines -----------------------------------------------------------------------------------


def diff_lines(found: Iterable[Change], *, bare: bool) -> list[Line]:
    """The changes one below the other."""
    lines: list[Line] = []
    changed = iter(found)
    try:
        for change in islice(changed, _MOST):
            lines += [_title(change), *_changed(change, bare), Line([])]
    except SessionLogError as error:
        lines.append(Line([(f" {visible(str(error))}", "fail")]))
    left = sum(1 for _ in changed)
    if left:
        lines.append(Line([(f" {left:,} more changed lines are not laid out", "open")]))
    return lines or [Line([(" no line differs", "fg-2")])]


def wrapped(lines: Iterable[Line], width: int) -> list[Line]:
    """The lines in a pane of that width; a long text goes on below."""
    made = []
    for line in lines:
        if len(line.left) != 2:
            made.append(line)
            continue
        sign, (text, style) = line.left
        for i, part in enumerate(wrap(text, width - 6, _TALLEST) or [""]):
            indent = (" ", "") if i == 0 else ("   ", "")
            made.append(
                Line([sign if i == 0 else ("  ", ""), indent, (part, style)], [], line.tint)
            )
    return made


def _title(change: Change) -> Line:
    sizes = size(len(change.new or change.old))
    return Line([(f" {change.what}", "fg-1")], [(f"  {sizes} ", "fg-3")], "surface")


def _changed(change: Change, bare: bool) -> Iterator[Line]:
    new, old = _laid_out(change.new, bare), _laid_out(change.old, bare)
    if not (change.new and change.old):
        sign = "+" if change.new else "-"
        yield from (_signed(sign, text) for text in new or old)
        return
    for text in islice(difflib.unified_diff(old, new, n=_CONTEXT, lineterm=""), 2, None):
        if text.startswith("@@"):
            continue
        yield _signed(text[:1], text[1:])


def _signed(sign: str, text: str) -> Line:
    style, tint = {"+": ("diff-add", "tint-add"), "-": ("diff-del", "tint-del")}.get(
        sign, ("fg-2", "")
    )
    pieces: list[Piece] = [(f" {sign}", f"{style} bold"), (text, style)]
    return Line(pieces, tint=tint)


def _laid_out(data: bytes, bare: bool) -> list[str]:
    """JSON as lines of text, masked, whatever it is."""
    text = data[:_LONGEST].decode("utf-8", "replace")
    text = text if bare else mask(text)
    made = ("".join(piece for piece, _ in pieces) for pieces in json_lines(text))
    lines = [visible(line) for line in islice(made, _TALLEST)]
    if len(lines) == _TALLEST or len(data) > _LONGEST:
        lines.append(f"… of {size(len(data))}")
    return lines
