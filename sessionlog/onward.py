"""Where a run that was handed over is written.

Most agents append to the log that they are given; the native engine starts another one, which
names the first as its origin (observed: clients.md, zot 0777c1b).
"""

from __future__ import annotations

import os

from sessionlog.listing import glance
from sessionlog.logfile import has_log, open_log, stat_log
from sessionlog.supervise.order import Order
from sessionlog.text import one_line

_BLOCK = 1 << 20


class Onward:
    """Looks for the log of a run. Made just before the run is started; costs a folder's names."""

    def __init__(self, log: str, id: str, made: str | None = None) -> None:
        """`made`: the new log, where the agent takes a copy of it into its own keeping."""
        self._log, self._id, self._made = log, id, made
        self._folder = os.path.dirname(log) or "."
        self._size = _size(log)
        self._changed = 0
        """When the folder was listed last, in its own time of change."""
        self._new: set[str] = set()
        self._there = self._names()

    def before(self, path: str) -> int:
        """Lines that stood in that log before the run. O(bytes)."""
        first = self._log if self._size >= 0 else self._made
        if path != self._log or first is None:
            return 0
        size = self._size if first == self._log else _size(first)
        fd, lines, at = open_log(first), 0, 0
        try:
            while data := os.pread(fd, min(_BLOCK, size - at), at):
                lines += data.count(b"\n")
                at += len(data)
        finally:
            os.close(fd)
        return lines

    def where(self) -> str | None:
        """The log that is written to, once that can be seen."""
        if _size(self._log) != self._size:
            return self._log
        self._new |= self._names() - self._there
        paths = (os.path.join(self._folder, name) for name in sorted(self._new))
        return next((path for path in paths if glance(path).resumed_from == self._id), None)

    def _names(self) -> set[str]:
        """The logs beside it; none when nothing came or went since they were listed."""
        try:
            changed = os.stat(self._folder).st_mtime_ns
            if changed == self._changed:
                return set()
            self._changed = changed
            return {name for name in os.listdir(self._folder) if name.endswith(".jsonl")}
        except OSError:
            return set()


def nothing_of(order: Order) -> str:
    """What to say of a run whose log is not there, whatever its exit status says; "" where it is.
    One line, safe to print."""
    if has_log(order.log):
        return ""
    log = one_line(order.log)
    if order.before:
        return f"nothing was brought to {one_line(order.agent)}: {log} is not there"
    return f"its log is not there: {log}"


def _size(path: str) -> int:
    try:
        return stat_log(path).st_size
    except OSError:
        return -1
