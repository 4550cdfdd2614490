"""An open log as lines and records: which format it is, its head, and what each line gives."""

from __future__ import annotations

import os
from collections.abc import Iterator

from sessionlog import codec
from sessionlog.errors import NotALog
from sessionlog.formats.base import Format
from sessionlog.formats.table import recognise
from sessionlog.framing import Line
from sessionlog.records import Damage, Record

HEAD_BYTES = 64 * 1024
"""What recognising a format may look at first; a longer first line is read to its end."""
EMPTY = "empty: nothing was written to it"
_BLOCK = 1 << 20


def format_of(path: str, fd: int) -> Format:
    """The format of an open log; NotALog, with the reason, when none recognises it."""
    data = read_head(fd)
    form = recognise(os.path.basename(path), os.path.dirname(path), data)
    if form is None:
        raise NotALog(f"{path}: {why_not(data)}")
    return form


def why_not(data: bytes) -> str:
    """What to say of a file that is no log."""
    if not data:
        return EMPTY
    if data.lstrip()[:1] not in (b"{", b"["):
        return "no session log: it does not hold JSON lines"
    return "no session log of a format that is known here"


def read_head(fd: int) -> bytes:
    """The first bytes of a file, up to the end of its first line where that is longer."""
    data = os.pread(fd, HEAD_BYTES, 0)
    while data and b"\n" not in data and len(data) < 64 * _BLOCK:
        more = os.pread(fd, _BLOCK, len(data))
        if not more:
            break
        data += more
    return data


def lines_of(fd: int, *, empty: bool = True) -> Iterator[Line]:
    """Every line of an open file, from its first byte; those without a byte only if `empty`.
    O(bytes), one line in memory at a time."""
    offset = 0
    with os.fdopen(os.dup(fd), "rb", buffering=_BLOCK) as file:
        file.seek(0)
        for number, data in enumerate(file, 1):
            if data == b"\n" and not empty:
                offset += 1
                continue
            ended = data.endswith(b"\n")
            yield Line(number, offset, data[:-1] if ended else data, ended)
            offset += len(data)


def decode(form: Format, line: Line) -> tuple[list[Record], list[Damage]]:
    """The records and the damages of one line; a blank line gives neither."""
    if not line.data:
        return [], []
    parsed = codec.parse(line, form.plausible)
    records = [r for value, span in parsed.objects for r in form.decode(value, span)]
    return records, parsed.damages
