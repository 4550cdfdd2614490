"""Waiting until something happens to one file: told by the kernel, or found by looking.

On Linux inotify watches the file and its folder (for another file under its name). What it says
is a hint: where it is not to be had, or a change is found that it did not tell of (network and
container mounts), the file is looked at every 25 ms instead. The only user of inotify.
"""

from __future__ import annotations

import ctypes
import os
import select
import struct
import sys
import time
from collections.abc import Callable, Iterator

POLL = 0.025
"""Seconds between two looks where nothing tells of changes."""
SURE = 0.5
"""Seconds between two looks that make sure that what tells of changes does."""
RATE = 60
"""Most wakes a second in a storm of changes."""
BURST = 8
"""So many wakes may come at once before that."""

_MODIFY, _ATTRIB, _MOVED_FROM, _MOVED_TO = 0x2, 0x4, 0x40, 0x80
_CREATE, _DELETE, _DELETE_SELF, _MOVE_SELF = 0x100, 0x200, 0x400, 0x800
_FILE = _MODIFY | _ATTRIB | _DELETE_SELF | _MOVE_SELF
_FOLDER = _CREATE | _DELETE | _MOVED_FROM | _MOVED_TO
_OVERFLOW, _IGNORED = 0x4000, 0x8000
_EVENT = struct.Struct("iIII")
_ROOM = 64 * 1024

_Print = tuple[int, ...]


class Notice:
    """Tells when a file may have changed. Look at the file after it was made, and after each wake:
    nothing that happens in between is lost. Not for two threads at once."""

    def __init__(
        self, path: str, events: bool = True, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Never fails. `events`: ask the kernel, where it can be asked."""
        folder, self._name = os.path.split(os.fsencode(path))
        self._path = os.fsencode(path)
        self._credit = float(BURST)
        self._clock = clock
        self._last = clock()
        self._watch = _Watch(self._path, folder or b".") if events and _LIBC else None
        if self._watch is not None and not self._watch.ready:
            self._give_up()
        self._seen = _print(self._path)

    @property
    def polling(self) -> bool:
        """Is the file looked at by the clock, since nothing tells of changes?"""
        return self._watch is None

    def fileno(self) -> int:
        """The descriptor that is readable when something happened; -1 when polling."""
        return self._watch.fd if self._watch else -1

    def close(self) -> None:
        self._give_up()

    def wait(self, seconds: float) -> bool:
        """Wait for a change, so long at most; True: look now.

        Returns at once for what happened since the last wait, but wakes RATE times a second at
        most when changes do not stop.
        """
        end = self._clock() + seconds
        if not self._rested(end):
            return False
        left = seconds
        while not self._happened(max(left, 0)):
            left = end - self._clock()
            if left <= 0:
                return False
        self._credit -= 1
        return True

    def _rested(self, end: float) -> bool:
        """Wait until another wake may be, at most until `end`."""
        now = self._clock()
        self._credit = min(BURST, self._credit + (now - self._last) * RATE)
        self._last = now
        if self._credit >= 1:
            return True
        pause = (1 - self._credit) / RATE
        time.sleep(max(0.0, min(pause, end - now)))
        return now + pause <= end

    def _happened(self, left: float) -> bool:
        told = False
        if self._watch is None:
            time.sleep(min(POLL, left))
        elif self._watch.readable(min(SURE, left)):
            told = self._watch.told(self._name)
            if not told:
                return False  # something else in the folder
        before, self._seen = self._seen, _print(self._path)
        if told:
            return True
        if self._seen != before and self._watch is not None and not self._watch.readable(POLL):
            self._give_up()  # it should have told by now
        return self._seen != before

    def _give_up(self) -> None:
        if self._watch is not None:
            self._watch.close()
            self._watch = None


class _Watch:
    """inotify on a file and its folder."""

    def __init__(self, path: bytes, folder: bytes) -> None:
        self._path = path
        self._file = -1
        self.fd = _LIBC.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK) if _LIBC else -1
        self.ready = self.fd >= 0 and self._add(folder, _FOLDER) >= 0
        self._poll = select.poll()
        if self.ready:
            self._poll.register(self.fd, select.POLLIN)
            self._file = self._add(path, _FILE)
            self.ready = self._file >= 0 or not os.path.exists(path)

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def readable(self, seconds: float) -> bool:
        return bool(self._poll.poll(seconds * 1000))

    def told(self, name: bytes) -> bool:
        """Read what there is; was any of it about the file?"""
        ours = False
        for watch, mask, about in self._events():
            if mask & _OVERFLOW or (watch == self._file and not mask & _IGNORED):
                ours = True
            elif about == name or mask & _IGNORED:
                ours = True
                self._follow()
        return ours

    def _follow(self) -> None:
        """Another file may have the name: watch that one."""
        old, self._file = self._file, self._add(self._path, _FILE)
        if old >= 0 and old != self._file and _LIBC:
            _LIBC.inotify_rm_watch(self.fd, old)

    def _add(self, path: bytes, mask: int) -> int:
        return int(_LIBC.inotify_add_watch(self.fd, path, mask)) if _LIBC else -1

    def _events(self) -> Iterator[tuple[int, int, bytes]]:
        """(watch, mask, name) of each event that waits."""
        try:
            data = os.read(self.fd, _ROOM)
        except BlockingIOError:
            return
        at = 0
        while at < len(data):
            watch, mask, _, length = _EVENT.unpack_from(data, at)
            at += _EVENT.size
            yield watch, mask, data[at : at + length].rstrip(b"\0")
            at += length


def _print(path: bytes) -> _Print:
    try:
        seen = os.stat(path)
    except (OSError, ValueError):
        return ()
    return seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns


def _libc() -> ctypes.CDLL | None:
    if not sys.platform.startswith("linux"):
        return None
    try:
        libc = ctypes.CDLL(None)
        libc.inotify_add_watch.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_uint32)
        libc.inotify_rm_watch.argtypes = (ctypes.c_int, ctypes.c_int)
        libc.inotify_init1.argtypes = (ctypes.c_int,)
    except (OSError, AttributeError):
        return None
    return libc


_LIBC = _libc()
