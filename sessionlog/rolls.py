"""The lines of sessions that are kept otherwise, each session's in a file without a name.

In memory where the system has such files. They are written as they come, so a long session costs
its lines once. While a session only grows, its lines stay in the same file and the file grows;
when what was there changes, there is a new one, as when a log is replaced.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import tempfile
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sessionlog.stores.base import Mark, Store, Unended

_BLOCK = 1 << 20
_MOST = 32
"""Sessions whose lines are kept at hand."""
_ROOM = 256 << 20
"""Bytes that they may have together; the last one is kept however long it is."""


class Kept(NamedTuple):
    """A session in a store."""

    store: Store
    file: str
    """The file that holds it."""
    id: str
    """Which of the sessions in it; "" where the file holds one."""


class _Roll(NamedTuple):
    fd: int
    name: str
    """Of the file, where the system has none without a name."""
    size: int
    mark: Mark


class Rolls:
    """The lines of some sessions."""

    def __init__(self) -> None:
        self._rolls: OrderedDict[str, _Roll] = OrderedDict()

    def fresh(self, path: str, kept: Kept) -> int:
        """The file with a session's lines as they are now. Raises Unreadable, OSError."""
        old = self._rolls.get(path)
        mark = kept.store.mark(kept.file, kept.id)
        if old is None or old.mark != mark:
            new = _written(old, kept, mark)
            if old is not None and new.fd != old.fd:
                _drop(old)
            self._rolls[path] = new
            _date(new.fd, kept.file)
        self._rolls.move_to_end(path)
        self._make_room()
        return self._rolls[path].fd

    def __contains__(self, path: str) -> bool:
        return path in self._rolls

    def once(self, kept: Kept) -> int:
        """A file of its own with a session's lines, gone when it is closed. Raises as `fresh`."""
        roll = _written(None, kept, ())
        _date(roll.fd, kept.file)
        if roll.name:
            _unlink(roll.name)
        return roll.fd

    def name_of(self, path: str) -> str:
        return self._rolls[path].name

    def _make_room(self) -> None:
        size = sum(roll.size for roll in self._rolls.values())
        while len(self._rolls) > 1 and (len(self._rolls) > _MOST or size > _ROOM):
            _, last = self._rolls.popitem(last=False)
            size -= last.size
            _drop(last)


def _written(old: _Roll | None, kept: Kept, mark: Mark) -> _Roll:
    pen = _Pen(old)
    try:
        for block in _blocks(kept.store.lines(kept.file, kept.id)):
            pen.write(block)
        pen.end()
    except BaseException:
        pen.drop()
        raise
    return _Roll(pen.fd, pen.name, pen.at, mark)


class _Pen:
    """Writes lines: nothing where the old file has the same, behind its end where it has no more,
    and to a new file from where the two differ."""

    def __init__(self, old: _Roll | None) -> None:
        self._old = old
        self.fd, self.name = (old.fd, old.name) if old is not None else _nameless()
        self.at = 0

    def write(self, data: bytes) -> None:
        known = b""
        if self._old is not None:
            known = os.pread(self._old.fd, len(data), self.at)
            if not data.startswith(known):
                self._begin_anew(self._old)
                known = b""
        _put(self.fd, memoryview(data)[len(known) :], self.at + len(known))
        self.at += len(data)

    def end(self) -> None:
        if self._old is not None and self.at < os.fstat(self._old.fd).st_size:
            self._begin_anew(self._old)

    def drop(self) -> None:
        """Leave no new file behind."""
        if self._old is None:
            _drop(_Roll(self.fd, self.name, 0, ()))

    def _begin_anew(self, old: _Roll) -> None:
        """Go on in a new file, with what is the same so far."""
        self.fd, self.name = _nameless()
        self._old = None
        for at in range(0, self.at, _BLOCK):
            same = os.pread(old.fd, min(_BLOCK, self.at - at), at)
            _put(self.fd, memoryview(same), at)


def _blocks(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Lines as they stand in a file: short ones many at once, long ones without another copy."""
    pieces: list[bytes] = []
    size = 0
    for line in lines:
        if size + len(line) > _BLOCK:
            yield b"".join(pieces)
            yield line
            pieces, size = [], 0
        else:
            pieces.append(line)
            size += len(line) + 1
        if not isinstance(line, Unended):
            pieces.append(b"\n")
    yield b"".join(pieces)


def _put(fd: int, data: memoryview, at: int) -> None:
    while data:
        done = os.pwrite(fd, data, at)
        data, at = data[done:], at + done


def _date(fd: int, file: str) -> None:
    """The lines are as old as what they were made from."""
    with contextlib.suppress(OSError, NotImplementedError):
        latest = os.stat(file).st_mtime_ns
        with contextlib.suppress(OSError):
            latest = max(latest, os.stat(f"{file}-wal").st_mtime_ns)
        os.utime(fd, ns=(latest, latest))


def _nameless() -> tuple[int, str]:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("session", os.MFD_CLOEXEC), ""
    fd, name = tempfile.mkstemp(prefix="sessionlog-")  # mode 0600
    atexit.register(_unlink, name)
    return fd, name


def _drop(roll: _Roll) -> None:
    os.close(roll.fd)
    if roll.name:
        _unlink(roll.name)


def _unlink(name: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name)
