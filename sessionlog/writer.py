"""The only door that appends: one record, one write, synced by policy.

A crash loses at most the line being written. The descriptor is append-only, an exclusive lock is
held while the writer lives (that is what makes *running* evidence), a short write is rolled back,
and a torn tail is sealed with a line feed before anything follows it. After a sync has failed the
kernel may forget what it could not write, so nothing more is acknowledged on that descriptor.
"""

from __future__ import annotations

import base64
import fcntl
import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from types import TracebackType
from typing import Any, Self

from sessionlog import blobs
from sessionlog.errors import LogInUse, NotPossible, SessionExists, Unreadable, WriterClosed
from sessionlog.formats.native_encode import encode, meta_of, stamp
from sessionlog.paths import new_id, valid_id
from sessionlog.records import Event, Message, Meta, Payload, Reset, Result
from sessionlog.secrets import mask_value

SYNCS = ("state", "record", "turn", "none")
"""When a record is synced: `state` all but events, `record` every one, `turn` at a person's
prompt, a reset and the result, `none` never (a write alone survives the process, not a power cut)."""
_TRIES = 100
_PATIENCE = 1.0
"""Seconds that a writer waits for a lock: where looking has to take it, it is held for a moment."""


@dataclass(frozen=True, slots=True)
class Disk:
    """The system calls of a writer, so that their failures can be tried out."""

    write: Callable[[int, bytes], int] = os.write
    sync: Callable[[int], None] = getattr(os, "fdatasync", os.fsync)
    truncate: Callable[[int, int], None] = os.ftruncate


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
    unknown `sync`, a meta that cannot be written or a folder that cannot be used.
    """
    if sync not in SYNCS:
        raise NotPossible(f"sync {sync!r}: one of {', '.join(SYNCS)}")
    folder = os.path.abspath(os.fspath(dir))
    path = os.path.join(folder, valid_id(id) + ".jsonl")
    line = encode(_masked(meta_of(meta, id)), stamp(now))
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        _make_folder(folder)
        fd = os.open(path, flags, 0o600)
    except FileExistsError:
        raise SessionExists(f"{path}: there is a session of that id; nothing was written") from None
    except OSError as error:
        raise NotPossible(f"{folder}: cannot keep sessions here: {error.strerror}") from error
    writer = Writer(fd, path, 0, sync, disk or Disk())
    try:
        os.fchmod(fd, 0o600)
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        writer._put(line, True)
        _sync_folder(folder)
    except BaseException:
        os.unlink(path)  # nobody can have relied on a log without its meta
        writer.close()
        raise
    return writer


def start(
    dir: str | os.PathLike[str],
    meta: Meta | Mapping[str, Any],
    now: datetime | None = None,
    *,
    sync: str = "state",
) -> Writer:
    """A new log under the first free id of this second: base, base-2, base-3, ... up to 100."""
    base = new_id(now)
    for count in range(1, _TRIES + 1):
        try:
            id = base if count == 1 else f"{base}-{count}"
            return create(dir, id, meta, sync=sync, now=now)
        except SessionExists:
            continue
    raise SessionExists(f"{os.fspath(dir)}: {_TRIES} sessions of {base} are there already")


def reopen(path: str | os.PathLike[str], *, sync: str = "state", disk: Disk | None = None) -> Writer:
    """Go on appending to a log; a torn tail is sealed first, and an event says so.

    Raises LogInUse when another writer has it, Unreadable when it cannot be opened.
    """
    name = os.fspath(path)
    try:
        fd = os.open(name, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise Unreadable(f"{name}: cannot be appended to: {error.strerror}") from error
    try:
        _lock(fd, name)
        size = os.fstat(fd).st_size
        torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
    except BaseException:
        os.close(fd)
        raise
    writer = Writer(fd, name, size, sync, disk or Disk())
    if torn:
        writer._needs_seal = True
        writer.event(Event("sealed", text="the last line had no line feed; one was added"))
    return writer


def _lock(fd: int, path: str) -> None:
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > until:
                raise LogInUse(f"{path}: another writer has it; end that one first") from None
            time.sleep(0.02)


def _make_folder(folder: str) -> None:
    if not os.path.isdir(folder):
        os.makedirs(folder, mode=0o700)
        os.chmod(folder, 0o700)


def _sync_folder(folder: str) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _masked(meta: Meta) -> Meta:
    names = ("task", "model", "provider", "driver", "workdir", "extra")
    return replace(meta, **{name: mask_value(getattr(meta, name)) for name in names})


class Writer:
    """Appends the records of one run. Safe to use from several threads.

    A method returns when the record is written (and synced, where the policy says so). It raises
    OSError when the disk refused: the log is then as it was before, and the next record may go
    through. WriterClosed after `close`, after the result, or when a sync failed for good.
    """

    def __init__(self, fd: int, path: str, size: int, sync: str, disk: Disk) -> None:
        self.path = path
        self.id = os.path.basename(path).removesuffix(".jsonl")
        self._fd = fd
        self._size = size
        self._sync = sync
        self._disk = disk
        self._lock = threading.Lock()
        self._needs_seal = False
        self._closed = ""
        """Why nothing more is taken; "" while records are."""

    def message(self, message: Message) -> None:
        """Write a message; the bytes of its pictures go to the blob folder first."""
        if any(image.data is not None for image in message.images):
            message = replace(message, images=tuple(map(self._kept, message.images)))
        self._write(message, message.type == "user" or self._sync == "state")

    def event(self, event: Event) -> None:
        """Write an event."""
        self._write(event, False)

    def reset(self) -> None:
        """Write a reset: the conversation starts anew."""
        self._write(Reset(), True)

    def result(self, result: Result) -> None:
        """Write how the run ended, once; nothing follows it."""
        self._write(result, True)
        self._closed = self._closed or "the result is written"

    def close(self) -> None:
        """Let go of the log and its lock; a second time does nothing."""
        with self._lock:
            if self._fd >= 0:
                os.close(self._fd)
                self._fd = -1
                self._closed = self._closed or "closed"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _kept(self, image: Any) -> Any:
        if not self.path.endswith(".jsonl"):
            data = image.data and base64.b64encode(image.data)
            return replace(image, source="inline") if data else image
        return blobs.store(self.path, image)

    def _write(self, payload: Payload, matters: bool) -> None:
        line = encode(payload, stamp())
        synced = self._sync == "record" or (matters and self._sync in ("state", "turn"))
        with self._lock:
            self._put(line, synced)

    def _put(self, line: bytes, synced: bool) -> None:
        """One write on the append-only descriptor: all of it, or none of it."""
        if self._closed:
            raise WriterClosed(f"{self.path}: {self._closed}; start another log")
        data = b"\n" + line if self._needs_seal else line
        try:
            written = self._disk.write(self._fd, data)
            while written < len(data):  # a full disk writes short before it refuses
                more = self._disk.write(self._fd, data[written:])
                written += more
        except OSError:
            self._roll_back()
            raise
        if synced:
            try:
                self._disk.sync(self._fd)
            except OSError as error:
                self._closed = f"the disk failed to sync ({error.strerror})"
                raise
        self._needs_seal = False
        self._size += len(data)

    def _roll_back(self) -> None:
        """Take back what a failed write left; where that fails too, seal before the next one."""
        try:
            self._disk.truncate(self._fd, self._size)
        except OSError:
            self._needs_seal = True
            self._size = os.fstat(self._fd).st_size
