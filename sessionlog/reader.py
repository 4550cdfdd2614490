"""A whole log to a Session, tolerantly or strictly. The file is only ever opened for reading.

Tolerant: every line gives records or a Damage, nothing raises on content. Strict: damage before
the last line raises, because that is not what a crash leaves; acting on a log reads strictly.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from sessionlog import codec
from sessionlog.errors import DamagedLog, NotALog
from sessionlog.formats.base import Format
from sessionlog.formats.table import recognise
from sessionlog.framing import Line
from sessionlog.life import Witness
from sessionlog.paths import open_regular
from sessionlog.records import Damage, Record, Span
from sessionlog.session import Session, fold

HEAD_BYTES = 64 * 1024
"""What recognising a format may look at first; a longer first line is read to its end."""
_BLOCK = 1 << 20


def load(path: str | os.PathLike[str], strict: bool = False) -> Session:
    """Read a log back.

    Raises NotALog when no format recognises it, Unreadable when it is no regular file or cannot
    be opened, and with `strict` DamagedLog when a line before the last is damaged.
    """
    name = os.fspath(path)
    fd = open_regular(name)
    try:
        size = os.fstat(fd).st_size
        form = format_of(name, fd)
        records, damages = _collect(form, lines_of(fd), name, strict)
        alive = living(name, fd, form, records)
    finally:
        os.close(fd)
    return fold(records, damages, form=form, path=name, size=size, alive=alive)


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
        return "empty: nothing was written to it"
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


def lines_of(fd: int) -> Iterator[Line]:
    """Every line of an open file, from its first byte. O(bytes), one line in memory at a time."""
    offset = 0
    with os.fdopen(os.dup(fd), "rb", buffering=_BLOCK) as file:
        file.seek(0)
        for number, data in enumerate(file, 1):
            ended = data.endswith(b"\n")
            yield Line(number, offset, data[:-1] if ended else data, ended)
            offset += len(data)


def decode(form: Format, line: Line) -> tuple[list[Record], list[Damage]]:
    """The records and the damages of one line; a blank line gives neither."""
    parsed = codec.parse(line, form.plausible)
    records = [r for value, span in parsed.objects for r in form.decode(value, span)]
    return records, parsed.damages


def living(path: str, fd: int, form: Format, records: list[Record]) -> str | None:
    """Evidence that the writer of a log without an ending lives; None when there is none."""
    if form.ending(reversed(records)).ended:
        return None
    described = form.describe(path, iter(records), reversed(records))
    witness = Witness([path])
    return witness.writer(path, os.fstat(fd)) or form.alive(path, described.meta.id)


def raw(path: str | os.PathLike[str], span: Span) -> bytes:
    """The bytes of a record as they stand in the file (fewer when the file was cut since)."""
    fd = open_regular(os.fspath(path))
    try:
        return os.pread(fd, span.length, span.offset)
    finally:
        os.close(fd)


def load_lines(lines: Iterable[str | bytes], strict: bool = True) -> list[Any]:
    """JSON lines to values: a damaged last line is left out, it is what a crash leaves.

    Raises DamagedLog for a damaged line before it, or leaves those out too when not `strict`.
    """
    values: list[Any] = []
    damaged: tuple[int, str] | None = None
    for number, text in enumerate(lines, 1):
        data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
        if not data.strip():
            continue
        if damaged and strict:
            raise DamagedLog(f"line {damaged[0]} is damaged and is not the last: {damaged[1]}")
        try:
            values.append(codec.loads(data))
        except ValueError as error:
            damaged = (number, str(error))
    return values


def _collect(
    form: Format, lines: Iterable[Line], path: str, strict: bool
) -> tuple[list[Record], list[Damage]]:
    records: list[Record] = []
    damages: list[Damage] = []
    refused: Damage | None = None
    for line in lines:
        if refused is not None and line.data.strip():
            raise refusal(path, refused)
        found, lost = decode(form, line)
        records += found
        damages += lost
        if strict:
            refused = refused or next((d for d in lost if not d.mild), None)
    return records, damages


def refusal(path: str, damage: Damage) -> DamagedLog:
    """The error that strict reading raises at a damage."""
    span = damage.span
    return DamagedLog(
        f"{path}: damaged at line {span.line}, byte {span.offset}: {damage.why}; "
        "look at it, then use --force (force=True) to go on without it"
    )
