"""Bytes on their way from one descriptor to another, seen by somebody in between.

Three go at their own pace: who reads, who passes on, and the one who looks. What is read is passed
on at once, whatever the looking takes; a reader at the other end who is slow, or gone, keeps nobody
from looking. What waits in between is bounded: then the reading waits, as in any pipe.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections import deque
from collections.abc import Iterator

CHUNK = 64 << 10
"""Bytes that are read at once."""
MOST = 64 << 20
"""Bytes that may wait for one who is slower."""


class Lane:
    """Chunks that wait for one thread, in order."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._chunks: deque[bytes] = deque()
        self._size = 0
        self._closed = False
        self._changed = threading.Condition()
        self.lost = 0
        """Bytes that were not taken, as nobody made room for them in time."""

    def put(self, chunk: bytes, patience: float | None = None) -> None:
        """Add a chunk; waits for room, with patience (seconds) only while there is movement."""
        with self._changed:
            while self._size >= self._most and not self._closed:
                if not self._changed.wait(patience):
                    self.lost += len(chunk)
                    return
            if not self._closed:
                self._chunks.append(chunk)
                self._size += len(chunk)
                self._changed.notify_all()

    def get(self, timeout: float | None = None) -> bytes | None:
        """The next chunk: b"" at the end, None when none came within `timeout` seconds."""
        with self._changed:
            while not self._chunks and not self._closed:
                if not self._changed.wait(timeout):
                    return None
            if not self._chunks:
                return b""
            chunk = self._chunks.popleft()
            self._size -= len(chunk)
            self._changed.notify_all()
            return chunk

    def close(self) -> None:
        """Nothing more comes; what waits may still be taken."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def abandon(self) -> None:
        """Nobody takes anything any more."""
        with self._changed:
            self._closed = True
            self._chunks.clear()
            self._size = 0
            self._changed.notify_all()


class Through:
    """Passes what comes from `source` to `target`, and gives it to whoever iterates.

    A looker who does not take anything for `patience` seconds while too much waits for him (a disk
    that hangs) misses what comes then: `lost` says how many bytes.
    """

    def __init__(self, source: int, target: int, most: int = MOST, patience: float = 10.0) -> None:
        self._source, self._target = source, target
        self._looked, self._passed = Lane(most), Lane(most)
        self._patience = patience
        self._passing = threading.Thread(target=self._pass_on, name="pass on", daemon=True)
        self._reading = threading.Thread(target=self._read, name="read", daemon=True)

    @property
    def lost(self) -> int:
        return self._looked.lost

    def start(self) -> None:
        self._passing.start()
        self._reading.start()

    def get(self, timeout: float | None = None) -> bytes | None:
        """The next bytes: b"" at the end, None when none came within `timeout` seconds."""
        return self._looked.get(timeout)

    def __iter__(self) -> Iterator[bytes]:
        while chunk := self._looked.get():
            yield chunk

    def stop(self) -> None:
        """Take nothing more; what was read already is still given and passed on."""
        self._looked.close()
        self._passed.close()

    def wait(self, timeout: float) -> bool:
        """Is all passed on, or does nobody take it any more? Waits at most `timeout` seconds."""
        self._passing.join(timeout)
        return not self._passing.is_alive()

    def _read(self) -> None:
        with contextlib.suppress(OSError):  # as good as its end
            while chunk := os.read(self._source, CHUNK):
                self._passed.put(chunk)
                self._looked.put(chunk, self._patience)
        self.stop()

    def _pass_on(self) -> None:
        while chunk := self._passed.get():
            try:
                while chunk:
                    chunk = chunk[os.write(self._target, chunk) :]
            except OSError:  # its reader went away; the recording goes on
                self._passed.abandon()
                return
