"""A list row of a long log of Gemini CLI from its two ends, unfolded."""

from __future__ import annotations

import os

from sessionlog import codec
from sessionlog.formats.gemini import Gemini
from sessionlog.framing import Line, split
from sessionlog.paths import open_regular
from sessionlog.records import Entry, Message, Record, Reset
from sessionlog.status import judge

_END = 64 * 1024
_FORM = Gemini()


def from_ends(path: str, size: int) -> Entry | None:
    """The row; None where the ends do not tell it: a document, a last record that takes the
    conversation back, no message near the end. Raises OSError."""
    fd = open_regular(path)
    try:
        first, last = os.pread(fd, _END, 0), os.pread(fd, _END, size - _END)
    finally:
        os.close(fd)
    head, _ = _decoded(split(first)[:-1])
    tail, torn = _decoded(split(last)[1:])
    if not any(isinstance(record.payload, Message) for record in tail):
        return None
    if not head or any(isinstance(record.payload, Reset) for record in tail):
        return None
    described = _FORM.describe(path, head, reversed(tail))
    ending = _FORM.ending(reversed(tail))
    meta = described.meta
    return Entry(
        id=meta.id, path=path, format=_FORM.name, agent=_FORM.agent, title=described.title,
        task=described.title, model=meta.model, workdir=meta.workdir, started=described.started,
        updated=next((record.at for record in reversed(tail) if record.at), ""),
        status=judge(ending, torn=torn, alive=False), reason=ending.reason,
        ok=ending.ok if ending.ended else None, resumed_from=meta.resumed_from,
        forked_from=meta.forked_from, bytes=size, stop=ending.text,
    )  # fmt: skip


def _decoded(lines: list[Line]) -> tuple[list[Record], bool]:
    """The records of lines, and whether the last of them is torn."""
    records: list[Record] = []
    torn = False
    for line in lines:
        parsed = codec.parse(line, _FORM.plausible)
        records += [r for value, span in parsed.objects for r in _FORM.decode(value, span)]
        torn = any(damage.torn for damage in parsed.damages)
    return records, torn
