"""A whole log to a Session, tolerantly or strictly. The file is only ever opened for reading.

Tolerant: every line gives records or a Damage, nothing raises on content. Strict: damage before
the last line raises, because that is not what a crash leaves; acting on a log reads strictly.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from sessionlog import codec
from sessionlog.errors import DamagedLog
from sessionlog.evidence import Evidence, may_live
from sessionlog.formats.base import Format
from sessionlog.framing import Line
from sessionlog.logfile import open_log, written
from sessionlog.records import Damage, Record, Span
from sessionlog.session import Session, fold
from sessionlog.source import decode, format_of, lines_of


def load(
    path: str | os.PathLike[str], strict: bool = False, *,
    tell: Callable[[int, int], None] | None = None,
) -> Session:  # fmt: skip
    """Read a log back.

    `tell` hears how far it is before each line (bytes done, bytes in all); what it raises ends
    the reading. Raises NotALog when no format recognises it, Unreadable when it is no regular file
    or cannot be opened, and with `strict` DamagedLog when a line before the last is damaged.
    """
    name = os.fspath(path)
    fd = open_log(name)
    try:
        size = os.fstat(fd).st_size
        form = format_of(name, fd)
        lines = lines_of(fd, empty=False)
        if tell is not None:
            lines = _told(lines, size, tell)
        records, damages = _collect(form, lines, name, strict)
        alive = living(name, fd, form, records)
    finally:
        os.close(fd)
    return fold(records, damages, form=form, path=name, size=size, alive=alive)


def _told(lines: Iterator[Line], size: int, tell: Callable[[int, int], None]) -> Iterator[Line]:
    for line in lines:
        tell(line.offset, size)
        yield line


def living(path: str, fd: int, form: Format, records: list[Record]) -> str | None:
    """Evidence that the writer of a log lives which does not show an end; None when there is
    none."""
    ending = form.ending(reversed(records))
    if not may_live(form, ending.ended, ending.ok):
        return None
    meta = form.describe(path, iter(records), reversed(records)).meta
    return Evidence([path]).of(form, path, meta.id, meta.workdir, written(path, fd))


def raw(path: str | os.PathLike[str], span: Span) -> bytes:
    """The bytes of a record as they stand in the file (fewer when the file was cut since)."""
    fd = open_log(os.fspath(path))
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
        "look at it, then use --force to go on without it"
    )
