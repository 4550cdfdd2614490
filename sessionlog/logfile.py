"""The door to a log's bytes, whatever keeps it: opened, looked at and read as a file of lines.

A log of JSON lines is its file. What another store keeps (a document, a database, a compressed
log) is written out as lines to a file without a name, in memory where the system has such, and
that one is given: `os.fstat`, `os.pread` and all that is built on them work as ever. While a
session only grows, its lines stay in the same file and the file grows; when what was there changes,
there is a new one, as when a log is replaced.
"""

from __future__ import annotations

import errno
import os
import re
import threading

from sessionlog.errors import Unreadable
from sessionlog.paths import open_regular
from sessionlog.rolls import Kept, Rolls
from sessionlog.stores.base import Mark
from sessionlog.stores.table import keeper

_HEAD = 4096
_SIGNS = (b'"history_base"', b'"projectHash"', b'{"$set"', b'{"$rewindTo"', b'"type":"gemini"')
"""Of a log that goes on from another (Codex), and of lines that tell the same thing again and
again, as far as it is known by then (Gemini CLI)."""
_PLAIN = re.compile(rb'\{"(?:kind|parentUuid|uuid)":|\{"type":"(?!gemini|user|info|warning|error)')
"""First bytes of logs that have no such signs: most; looking for signs costs more than this."""
_MAGIC = (
    b"SQLite format 3\0",
    b"\x28\xb5\x2f\xfd",
    *(bytes([0x50 + n]) + b"\x2a\x4d\x18" for n in range(16)),
)
"""Of a database; of Zstandard's frames, and of those that it skips."""
_NOBODYS = os.stat_result((0,) * 10)
"""Of a file that no process has open."""


def open_log(path: str, *, stays: bool = False) -> int:
    """A descriptor to read a log's lines with; the caller closes it.

    `stays`: it will be looked at again, and what `stat_log` tells then is to be of this very file.
    Raises Unreadable, with the reason in plain words, for what cannot be opened.
    """
    fd, kept = enter(path)
    return fd if kept is None else _opened(path, kept, stays)


def enter(path: str) -> tuple[int, Kept | None]:
    """A plain log's descriptor, or what keeps the log (then the descriptor is -1). Raises
    Unreadable."""
    try:
        fd = open_regular(path)
    except Unreadable:
        kept = _within(path)
        if kept is None:
            raise
        return -1, kept
    try:
        kept = _kept_by(path, fd)
    except BaseException:
        os.close(fd)
        raise
    if kept is None:
        return fd, None
    os.close(fd)
    return -1, kept


def stat_log(path: str) -> os.stat_result:
    """What `os.fstat` tells of the log's lines. Raises OSError when there is no such log."""
    try:
        found = os.stat(path)
    except NotADirectoryError:
        if (kept := _within(path)) is None:
            raise
    else:
        if (kept := kept_in(path)) is None:
            return found
    try:
        with _lock:
            return os.fstat(_rolls.fresh(path, kept))
    except Unreadable as error:
        raise OSError(errno.EIO, str(error), path) from None


def has_log(path: str) -> bool:
    """Are there lines under this path? Not where a database does not hold the session."""
    try:
        stat_log(path)
    except OSError:
        return False
    return True


def stat_file(path: str) -> os.stat_result:
    """What `os.stat` tells of the file that the log's own writer has open; of a session in a
    database, which has many writers, what no process has open. Raises OSError."""
    try:
        return os.stat(path)
    except NotADirectoryError:
        if _within(path) is None:
            raise
        return _NOBODYS


def written(path: str, fd: int) -> os.stat_result:
    """The file that the open log's own writer has open, as far as it is still there."""
    try:
        return stat_file(path)
    except OSError:
        return os.fstat(fd)


def there(path: str) -> bool:
    """Is there anything under this path: a file, a folder, a place in a database?"""
    return os.path.lexists(path) or _within(path) is not None


def file_of(path: str) -> str:
    """The file on disk that holds the log: itself, or the database that it is in."""
    kept = None if os.path.lexists(path) else _within(path)
    return kept.file if kept else path


def watched(path: str) -> str:
    """The file to watch for news of a log: itself, or the journal that a database's come in."""
    file = file_of(path)
    return path if file == path else f"{file}-wal"


def print_of(path: str) -> Mark | None:
    """Differs when a log grew, was replaced, was written over with its time set back, or may be
    read now and could not before; None when it is not there. Costs a stat for a plain log."""
    try:
        if not path.endswith(".jsonl") and (kept := kept_in(path)) is not None:
            return kept.store.mark(kept.file, kept.id)
        seen = os.stat(path)
    except (OSError, ValueError):
        return None
    return seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns


def kept_in(path: str) -> Kept | None:
    """The store that keeps a log; None for a plain log of lines, and for what cannot be read."""
    try:
        fd, kept = enter(path)
    except Unreadable:
        return None
    if fd >= 0:
        os.close(fd)
    return kept


def sessions_in(path: str) -> list[str]:
    """The paths of the sessions in a file: its own, or one for each session that it holds."""
    found = stored_in(path)
    return [path] if found is None else found


def stored_in(path: str) -> list[str] | None:
    """The same for what a store keeps; None for all else."""
    kept = kept_in(path)
    if kept is None or not kept.store.many or kept.id:
        return None if kept is None else [path]
    return [f"{path}/{id}" if id else path for id in kept.store.sessions(path)]


def _within(path: str) -> Kept | None:
    """The store that a path leads into: ``…/opencode.db/ses_1``."""
    file, _, id = path.rpartition("/")
    if not id or not os.path.isfile(file):
        return None
    kept = kept_in(file)
    return Kept(kept.store, file, id) if kept is not None and kept.store.many else None


def _kept_by(path: str, fd: int) -> Kept | None:
    """Most logs are told by their first bytes: whole objects on the first lines."""
    head = os.pread(fd, _HEAD, 0)
    signed = not _PLAIN.match(head) and any(sign in head for sign in _SIGNS)
    if not signed and not head.startswith(_MAGIC):
        first, _, rest = head.lstrip().partition(b"\n")
        if not first or (first.rstrip() not in (b"{", b"[") and rest.lstrip()[:1] == b"{"):
            return None
    store = keeper(path, head)
    return Kept(store, path, "") if store is not None else None


def _opened(path: str, kept: Kept, stays: bool) -> int:
    with _lock:
        try:
            if not stays and path not in _rolls:  # many are looked at once: a listing, a search
                return _rolls.once(kept)
            fd = _rolls.fresh(path, kept)
        except OSError as error:
            raise Unreadable(f"{path}: cannot be read: {error.strerror or error}") from None
        try:  # one of its own: a descriptor that is only copied shares its place in the file
            return os.open(f"/proc/self/fd/{fd}", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return os.open(_rolls.name_of(path), os.O_RDONLY | os.O_CLOEXEC)


_rolls = Rolls()
_lock = threading.Lock()
