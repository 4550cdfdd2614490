"""What a command without a terminal prints: its last bytes, and its recording where one is asked
for.

Nothing in here may keep a supervisor from killing: a log that cannot be opened or written is a
problem that is told in the end, and the command runs on.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from sessionlog.supervise.order import TAIL, Order

if TYPE_CHECKING:
    from sessionlog.recording import Recording
    from sessionlog.writer import Writer

_CHUNK = 1 << 16


class Output:
    """The two pipes of a command, read as it prints; `open` comes first."""

    def __init__(self, order: Order, out: int, err: int) -> None:
        self.pipes = {fd for fd in (out, err) if fd >= 0}
        """What is open still."""
        self.tail = b""
        self.problem = ""
        self.recorded = ""
        self._err = err
        self._order = order
        self._recording: Recording | None = None
        self._writer: Writer | None = None
        for fd in self.pipes:
            os.set_blocking(fd, False)

    def open(self) -> None:
        """Begin to record, where the order says so."""
        if not self._order.output:
            return
        from sessionlog.errors import SessionLogError
        from sessionlog.recording import Recording
        from sessionlog.writer import reopen

        try:
            self._writer = reopen(self._order.log, sync="turn")  # a stop never waits for a disk
            self._recording = Recording(self._order.output, self._writer)
            self.recorded = self._order.log
        except (SessionLogError, OSError) as error:
            self.problem = f"not recorded: {error}"

    def read(self, fd: int) -> bool:
        """Take what a pipe holds, once; False when it has nothing now or is at its end."""
        try:
            data = os.read(fd, _CHUNK)
        except BlockingIOError:
            return False
        if not data:
            self.pipes.discard(fd)
            os.close(fd)
            return False
        self.tail = (self.tail + data)[-TAIL:]
        if self._recording is not None:
            self._recording.stderr(data) if fd == self._err else self._recording.feed(data)
        return True

    def close(self, how: str, code: int | None) -> None:
        """Take what is left in the pipes, close them whoever else holds them, end the recording.

        `how`: "" (it ended by itself), "stopped" or "viewer gone".
        """
        for fd in tuple(self.pipes):
            for _ in range(64):  # a pipe holds less; somebody who fills it on is not waited for
                if not self.read(fd):
                    break
            if fd in self.pipes:
                self.pipes.discard(fd)
                os.close(fd)
        if self._recording is None or self._writer is None:
            return
        self._recording.end(how, code)
        self.problem = self._recording.problem or ""
        try:
            self._writer.close()
        except OSError as error:
            self.problem = self.problem or f"the end of the recording is not synced: {error}"
