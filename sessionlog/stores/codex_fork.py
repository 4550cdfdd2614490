"""Codex's forks since 0.149: a file with the new records alone, and its parent's for the rest.

The head names the parent's session and where its part of it ends (`history_base`: `thread_id`,
`end_ordinal_exclusive`). A fork whose forebears are all found is read as one log, in the order in
which older versions wrote a fork: its own head, then the parent's records, head included, then its
own. One whose parent is gone is what its file holds.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sessionlog import codec
from sessionlog.errors import Unreadable
from sessionlog.formats.codex_files import log_of
from sessionlog.formats.codex_lines import ordinal_of
from sessionlog.records import Entry
from sessionlog.stores.base import Mark
from sessionlog.stores.zstd import first_line, is_packed, lines_of, mark_of

_HEAD = re.compile(rb'\s*\{[^{]*"type"\s*:\s*"session_meta"')
_BASE = b'"history_base"'
_FIRST = 64 * 1024
_LONG = 16 << 20
"""Bytes of a head."""
_DEEP = 32
"""Forks of forks that are followed."""
_MOST = 256 << 20
"""Bytes of the files together, above which they are left apart."""
_UNPACKED = 1 << 30
"""Bytes of the lines together."""


class Stretch(NamedTuple):
    """A file, and the records of it that belong to a session."""

    path: str
    end: int | None
    """Ordinal before which they stand; None: all."""


class CodexFork:
    """The store of forks that were found with their forebears."""

    many = False

    def keeps(self, path: str, head: bytes) -> bool:
        if is_packed(head):
            return len(_chain(path)) > 1
        return bool(_HEAD.match(head)) and _names_base(path) and len(_chain(path)) > 1

    def sessions(self, path: str) -> list[str]:
        return []

    def lines(self, path: str, id: str) -> Iterator[bytes]:
        return _bounded(path, _joined(_chain(path) or [Stretch(path, None)]))

    def mark(self, path: str, id: str) -> Mark:
        return tuple(mark_of(stretch.path) for stretch in _chain(path) or [Stretch(path, None)])

    def glimpse(self, path: str, id: str) -> Entry | None:
        return None


def _names_base(path: str) -> bool:
    """Does the first line name a parent? Asked of every log of a listing."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            first, lf, _ = os.pread(fd, _FIRST, 0).partition(b"\n")
        finally:
            os.close(fd)
    except OSError:
        return False
    return _BASE in first or not lf


def _chain(path: str) -> list[Stretch]:
    """The file and those of its forebears, youngest first; [] when one is not found."""
    chain = [Stretch(path, None)]
    try:
        while base := _base_of(chain[-1].path):
            thread, end = base
            end = end if chain[-1].end is None else min(end, chain[-1].end)
            parent = log_of(thread, chain[-1].path)
            if parent is None or len(chain) > _DEEP or any(s.path == parent for s in chain):
                return []
            chain.append(Stretch(parent, end))
        size = sum(os.path.getsize(stretch.path) for stretch in chain)
    except (Unreadable, OSError):
        return []
    return chain if size <= _MOST else []


def _base_of(path: str) -> tuple[str, int] | None:
    """The session that a log goes on from, and the ordinal before which it does."""
    first = first_line(path, _LONG)
    if _BASE not in first:
        return None
    try:
        base = codec.loads(first)["payload"]["history_base"]
        thread, end = base["thread_id"], base["end_ordinal_exclusive"]
    except (ValueError, KeyError, TypeError):
        return None
    return (thread, end) if isinstance(thread, str) and type(end) is int else None


def _joined(chain: list[Stretch]) -> Iterator[bytes]:
    """The lines of the first file with its forebears' between its head and the rest."""
    own = _before(chain[0])
    yield from _first(own)
    if len(chain) > 1:
        yield from _joined(chain[1:])
    yield from own


def _bounded(path: str, lines: Iterable[bytes]) -> Iterator[bytes]:
    done = 0
    for line in lines:
        done += len(line) + 1
        if done > _UNPACKED:
            raise Unreadable(
                f"{path}: more than {_UNPACKED >> 20:,} MB with its forebears; not a log"
            )
        yield line


def _first(lines: Iterator[bytes]) -> Iterator[bytes]:
    head = next(lines, None)
    if head is not None:
        yield head


def _before(stretch: Stretch) -> Iterator[bytes]:
    """The lines of a stretch; damaged ones only where a record of it follows."""
    waiting: list[bytes] = []
    for line in lines_of(stretch.path):
        if stretch.end is None:
            yield line
            continue
        ordinal = _ordinal(line)
        if ordinal is None:
            waiting.append(line)
        elif ordinal >= stretch.end:
            return
        else:
            yield from waiting
            waiting.clear()
            yield line


def _ordinal(line: bytes) -> int | None:
    """The number of a record; None for a damaged line."""
    if not line.endswith(b"}"):
        return None
    try:
        return ordinal_of(line)
    except ValueError:
        return None
