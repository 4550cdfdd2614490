"""The only door that appends to a log: one record, one write, synced by policy.

The descriptor is append-only and opened exclusively, the file is its owner's alone whatever the
umask, and an exclusive lock is held while the writer lives: that is what makes *running* evidence,
and what keeps a second writer out. `append` does the writing and the ways back from a failure.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import threading
import time
from collections.abc import Mapping
from datetime import datetime
from types import TracebackType
from typing import Any, Self

from sessionlog import blobs
from sessionlog.append import Appender, Disk
from sessionlog.errors import LogInUse, NotPossible, SessionExists, Unreadable, WriterClosed
from sessionlog.formats.native_encode import encode, meta_of, stamp
from sessionlog.life import lock_holder
from sessionlog.paths import new_id, private_folder, sync_folder, valid_id
from sessionlog.records import Event, Image, Message, Meta, Payload, Reset, Result
from sessionlog.secrets import mask_value

SYNCS = ("state", "record", "turn", "none")
"""When a record is synced: `state` all but events, `record` every one, `turn` the meta, a person's
prompt, a reset and the result, `none` never (a mere write outlives the process, no power cut)."""
_TRIES = 100
_PATIENCE = 1.0
"""Seconds to wait for a lock whose holder nobody names: where looking has to take the lock, a
viewer holds it for a moment."""


def create(
    dir: str | os.PathLike[str],
    id: str,
    meta: Meta | Mapping[str, Any],
    *,
    sync: str = "state",
    now: datetime | None = None,
    disk: Disk | None = None,
) -> Writer:
    """A new log `<dir>/<id>.jsonl` with its meta written.

    Known shapes of API keys in the meta are masked before they reach the disk. Raises
    SessionExists when the id is taken, NotPossible for an id that cannot be a file name, an
    unknown `sync`, a meta that cannot be written or a folder that cannot be used; no log is left.
    """
    if sync not in SYNCS:
        raise NotPossible(f"sync {sync!r}: one of {', '.join(SYNCS)}")
    folder = os.path.abspath(os.fspath(dir))
    path = os.path.join(folder, valid_id(id) + ".jsonl")
    first = meta_of(meta, id)
    fd = _new_file(folder, path)
    try:
        os.fchmod(fd, 0o600)
        with contextlib.suppress(OSError):  # a file system without locks: record all the same
            _lock(fd, path)
        writer = Writer(Appender(fd, path, disk or Disk(), keep=sync != "none"), path, sync)
        writer.write(first, stamp(now))
        if sync != "none":
            sync_folder(folder)
    except BaseException as error:
        os.unlink(path)  # nobody can have relied on a log without its meta
        os.close(fd)
        if isinstance(error, OSError):
            raise NotPossible(f"{path}: cannot be written: {error.strerror}") from error
        raise
    return writer


def start(
    dir: str | os.PathLike[str],
    meta: Meta | Mapping[str, Any],
    now: datetime | None = None,
    *,
    sync: str = "state",
) -> Writer:
    """A new log under the first free id of this second: base, base-2, base-3, ... up to 100.

    Raises as `create` does; a folder that cannot be used fails at once.
    """
    base = new_id(now)
    for number in range(1, _TRIES + 1):
        try:
            id = base if number == 1 else f"{base}-{number}"
            return create(dir, id, meta, sync=sync, now=now)
        except SessionExists:
            continue
    raise SessionExists(f"{os.fspath(dir)}: {_TRIES} sessions of {base} are there already")


def reopen(
    path: str | os.PathLike[str], *, sync: str = "state", disk: Disk | None = None
) -> Writer:
    """Go on appending to a log; a last line without line feed is sealed, and an event says so.

    Raises LogInUse when another writer has it, Unreadable when it cannot be opened for writing,
    NotPossible for an unknown `sync` or where the file system has no locks.
    """
    if sync not in SYNCS:
        raise NotPossible(f"sync {sync!r}: one of {', '.join(SYNCS)}")
    name = os.path.abspath(os.fspath(path))
    try:
        fd = os.open(name, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise Unreadable(f"{name}: cannot be appended to: {error.strerror}") from error
    try:
        seen = os.fstat(fd)
        if not stat.S_ISREG(seen.st_mode):
            raise Unreadable(f"{name}: cannot be appended to: no regular file")
        _lock(fd, name)
        size = os.fstat(fd).st_size
        torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
        end = Appender(fd, name, disk or Disk(), keep=sync != "none", torn=torn)
        writer = Writer(end, name, sync)
        if torn:
            writer.event(Event("sealed", text="the last line had no line feed; one was added"))
    except BaseException as error:
        os.close(fd)
        if isinstance(error, OSError):
            raise NotPossible(f"{name}: cannot be appended to: {error.strerror}") from error
        raise
    return writer


def _new_file(folder: str, path: str) -> int:
    """A descriptor on a file that was not there before."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        private_folder(folder)
    except OSError as error:
        raise NotPossible(f"{folder}: cannot keep sessions here: {error.strerror}") from error
    try:
        return os.open(path, flags, 0o600)
    except FileExistsError:
        raise SessionExists(f"{path}: there is a session of that id; nothing was written") from None
    except OSError as error:
        raise NotPossible(f"{folder}: cannot keep sessions here: {error.strerror}") from error


def _lock(fd: int, path: str) -> None:
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            holder = lock_holder(os.fstat(fd))
            if holder or time.monotonic() > until:
                words = holder or "locked by another writer"
                raise LogInUse(f"{path}: {words}; end that one first") from None
            time.sleep(0.02)


def _masked(meta: Meta) -> Meta:
    names = ("task", "model", "provider", "driver", "workdir", "extra")
    return meta._replace(**{name: mask_value(getattr(meta, name)) for name in names})


class Writer:
    """Appends the records of one run. Safe to use from several threads.

    A method returns when the record is written (and synced, where the policy says so). It raises
    OSError when the disk refused: the log is then as it was before, and the next record may go
    through. WriterClosed after `close` and after the result; NotPossible for a value that cannot
    be written as JSON, before anything is.
    """

    def __init__(self, end: Appender, path: str, sync: str) -> None:
        self.path = path
        """Absolute."""
        self.id = os.path.basename(path).removesuffix(".jsonl")
        self._end = end
        self._sync = sync
        self._lock = threading.Lock()
        self._held = False
        """Is the syncing put off for the moment?"""
        self._owed = False
        """Was a record written meanwhile that the policy syncs?"""
        self._closed = ""
        """Why nothing more is taken; "" while records are."""

    def message(self, message: Message) -> None:
        """Write a message; the bytes of its pictures go to the blob folder first."""
        self.write(message)

    def event(self, event: Event) -> None:
        """Write an event."""
        self.write(event)

    def reset(self) -> None:
        """Write a reset: the conversation starts anew."""
        self.write(Reset())

    def result(self, result: Result) -> None:
        """Write how the run ended, once; nothing follows it."""
        self.write(result)

    def write(self, payload: Payload, at: str = "") -> None:
        """Write any record; `at` is its time (RFC 3339), now unless given."""
        with self._lock:
            if self._closed:
                raise WriterClosed(f"{self.path}: {self._closed}; start another log")
            if isinstance(payload, Message) and payload.images:
                payload = payload._replace(images=tuple(map(self._kept, payload.images)))
            elif isinstance(payload, Meta):
                payload = _masked(payload)
            matters = self._matters(payload)
            self._owed = self._owed or (matters and self._held)
            self._end.put(encode(payload, at or stamp()), matters and not self._held)
            if isinstance(payload, Result):
                self._closed = "the result is written"

    def hold(self) -> None:
        """Put the syncing off until `release`, for records that come in one piece: a kill takes
        none of them, a power cut may take them together."""
        with self._lock:
            self._held = True

    def release(self) -> None:
        """Sync once what was written since `hold`, where the policy says so.

        Raises OSError when that fails: it is all tried again with the next record.
        """
        with self._lock:
            owed, self._held, self._owed = self._owed, False, False
            if owed:
                self._end.sync()

    def close(self) -> None:
        """Let go of the log and its lock; a second time does nothing.

        Raises OSError when the last sync failed; the log is closed all the same.
        """
        with self._lock:
            self._closed = self._closed or "closed"
            self._end.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _kept(self, image: Image) -> Image:
        if not self.path.endswith(".jsonl"):
            return blobs.inline(image)  # no name that a folder could go by
        return blobs.store(self.path, image)

    def _matters(self, payload: Payload) -> bool:
        """Does the policy sync this record?"""
        if self._sync == "state":
            return not isinstance(payload, Event)
        if self._sync == "turn" and isinstance(payload, Message):
            return payload.type == "user"
        if self._sync == "turn":
            return not isinstance(payload, Event)
        return self._sync == "record"
