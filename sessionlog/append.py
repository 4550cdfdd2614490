"""The end of a log: one write a record, and the way back when the disk fails.

A crash loses at most the line being written. What a failed or short write left is taken back, and
where that fails too a line feed seals it off before anything follows. After a failed sync the
kernel may call its pages clean without having written them, so a later sync on that descriptor
proves nothing: the bytes since the last good sync are kept, and written over themselves through a
new descriptor, before anything more is acknowledged.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Callable
from dataclasses import dataclass

sync_data = os.fdatasync if hasattr(os, "fdatasync") else os.fsync


@dataclass(frozen=True, slots=True)
class Disk:
    """The system calls of an appender, so that their failures can be tried out."""

    write: Callable[[int, bytes], int] = os.write
    sync: Callable[[int], None] = sync_data
    truncate: Callable[[int, int], None] = os.ftruncate


class Appender:
    """Appends whole lines to an open log. Not for several threads: its Writer holds the lock.

    `keep`: remember what is written until it is synced; False where nothing ever is.
    """

    def __init__(self, fd: int, path: str, disk: Disk, keep: bool, torn: bool = False) -> None:
        self._holder = fd
        """The descriptor that holds the log's lock, until the end."""
        self._fd = fd
        self._path = path
        self._disk = disk
        self._keep = keep
        self._size = self._synced = os.fstat(fd).st_size
        self._unsynced: list[bytes] = []
        """What was written from `_synced` on."""
        self._torn = torn
        """The last byte may be in the middle of a line."""
        self._distrusted = False
        """A sync failed on this descriptor."""

    def put(self, line: bytes, sync: bool) -> None:
        """Append one line, LF included: all of it, synced if asked, or nothing.

        Raises OSError, naming the log, when the disk refuses; the log is then as it was before,
        and the next line may go through.
        """
        if self._distrusted:
            self._renew()
        data = b"\n" + line if self._torn else line
        written = 0
        try:
            while written < len(data):  # a full disk writes short before it refuses
                written += self._disk.write(self._fd, data[written:] if written else data)
            if sync:
                self._disk.sync(self._fd)
        except BaseException as error:
            self._distrusted = written == len(data)
            self._take_back(written)
            if isinstance(error, OSError):
                raise OSError(error.errno, error.strerror, self._path) from error
            raise
        self._torn = False
        self._size += len(data)
        if sync:
            self._settled()
        elif self._keep:
            self._unsynced.append(data)

    def sync(self) -> None:
        """Sync what is not yet.

        Raises OSError, naming the log; what was written stays, and is written anew before the
        next line.
        """
        if not self._unsynced:
            return
        if self._distrusted:
            self._renew()
            return
        try:
            self._disk.sync(self._fd)
        except OSError as error:
            self._distrusted = True
            raise OSError(error.errno, error.strerror, self._path) from error
        self._settled()

    def close(self) -> None:
        """Sync what is not yet, and let go of the log and its lock; again does nothing.

        Raises OSError when the sync fails; the log is closed all the same.
        """
        if self._holder < 0:
            return
        try:
            if self._unsynced and self._distrusted:
                self._renew()
            elif self._unsynced:
                self._disk.sync(self._fd)
        finally:
            for fd in {self._fd, self._holder}:
                os.close(fd)
            self._fd = self._holder = -1

    def _settled(self) -> None:
        self._synced = self._size
        self._unsynced.clear()

    def _take_back(self, written: int) -> None:
        """Cut off what a failed write left, if it is the end of the file and surely ours."""
        size = os.fstat(self._fd).st_size
        try:
            if size == self._size + written:
                self._disk.truncate(self._fd, self._size)
                return
        except OSError:
            pass
        self._torn = True
        self._size = size

    def _renew(self) -> None:
        """A new descriptor on the same file, with all that was not synced written anew and synced.

        The bytes go over themselves: whatever fails here, none that were acknowledged get lost.
        """
        fd = os.open(self._path, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            if not os.path.samestat(os.fstat(fd), os.fstat(self._holder)):
                raise OSError(errno.ESTALE, "another file stands in the log's place", self._path)
            os.lseek(fd, self._synced, os.SEEK_SET)
            data = b"".join(self._unsynced)
            while data:
                data = data[self._disk.write(fd, data) :]
            self._disk.sync(fd)
            fcntl.fcntl(fd, fcntl.F_SETFL, os.O_APPEND)
        except OSError as error:
            os.close(fd)
            raise OSError(error.errno, error.strerror, self._path) from error
        if self._fd != self._holder:
            os.close(self._fd)
        self._fd = fd
        self._distrusted = False
        self._settled()
