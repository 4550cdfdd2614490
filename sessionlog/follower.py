"""A log's growth to records, whatever happens to its file.

Each look costs the same on a log of any size: a stat, a compare of the first and the last known
bytes, and a read of what is new. What the file is now is the truth; nothing depends on being told
of a change. A file that was cut, replaced or rewritten is read anew from its start, so that
all records since the last such event are those of a fresh reading: none missing, none twice.
`seal` says what cannot be seen. The log is only read; its content never raises.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from typing import Literal, NamedTuple

from sessionlog.errors import Unreadable
from sessionlog.formats.base import Format
from sessionlog.formats.table import recognise
from sessionlog.intake import Given, Intake, Start
from sessionlog.logfile import open_log, stat_log
from sessionlog.marks import Marks
from sessionlog.records import Damage, Record
from sessionlog.seal import HEAD, TAIL, Seal, Sums
from sessionlog.session import Numbered
from sessionlog.source import format_of, read_head, why_not
from sessionlog.window import CHUNK, Log

_TELLING = 50
"""Lines at the start that may tell the format."""
_CHECKED = 64
"""Blocks that a look compares when something was rewritten: 4 MB."""

What = Literal["", "replaced", "cut", "gone", "back"]


class Batch(NamedTuple):
    """What a look found. The event came first, then the records."""

    records: tuple[Record, ...] = ()
    steps: tuple[Numbered | None, ...] = ()
    """For each record: number, pair, context, as far as known when it came; None: no message."""
    damages: tuple[Damage, ...] = ()
    writing: bool = False
    """Is half a line there? It is no damage while its writer lives."""
    event: What = ""
    """replaced, cut: the file is another, or was rewritten or cut short; everything that was given
    before is void, and the records begin anew. gone, back: no file is there to read, and there it
    is again, as it was. A file that was not there at first is gone, then back."""
    behind: bool = False
    """More is there already: look again at once."""


def near_end(path: str, records: int) -> Start:
    """Where the last so many records begin, at least, counted from there: `counted` tells later
    what is in front. Reads the last chunks only. Raises Unreadable and NotALog."""
    with closing(_log(path)) as log:
        number, there = log.chunks, 0
        while number > 1 and there < records:
            number -= 1
            there += len(log.chunk(number).records)
        chunk = log.chunk(number) if 0 < number < log.chunks else None
        return Start(chunk.start) if chunk and chunk.starts else Start()


def counted(path: str, offset: int, stop: Callable[[], bool] = lambda: False) -> Start | None:
    """The start at the line that begins at `offset`, with the lines and messages in front of it;
    None when stopped, or when the file was cut short meanwhile. O(bytes), in bounded memory."""
    with closing(_log(path)) as log:
        chunk, marks = offset // CHUNK, Marks(log.form)
        marks.scan(log.strip, lambda: stop() or len(marks) >= chunk)
        lines, messages = marks.lines_before(chunk), marks.messages_before(chunk)
        if lines is None or messages is None:
            return None
        return Start(offset, lines + 1, messages)


def _log(path: str) -> Log:
    fd = open_log(path, stays=True)
    try:
        return Log(path, format_of(path, fd))
    finally:
        os.close(fd)


class Follower:
    """Follows one log. Not for two threads at once.

    `start` begins in the middle (an event still begins anew at the start); `read` is os.pread, or
    what stands in for it.
    """

    MOST = 4 << 20
    """Bytes that one look reads at most: a big log comes in many batches."""

    def __init__(
        self, path: str, start: Start = Start(),  # noqa: B008 - frozen
        read: Callable[[int, int, int], bytes] = os.pread,
    ) -> None:  # fmt: skip
        """Touches nothing: the first look opens the file, or says that there is none."""
        self.path = path
        self.gone = False
        self.problem = ""
        """Why there are no records: no such file, no permission, no log; "" when all is well."""
        self._read_at = read
        self._fd = -1
        self._identity = (0, 0)
        self._drained = False
        self._intake: Intake | None = None
        self._seal = Seal()
        self._begin(start)

    @property
    def form(self) -> Format | None:
        """The log's format; None while it does not tell."""
        return self._intake.form if self._intake else None

    @property
    def offset(self) -> int:
        """Bytes of the file that were taken in."""
        return self._seal.end

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def look(self) -> Batch:
        """Look at the file, and give what is new."""
        found = self._found()
        if found is None:
            return self._missing()
        if self._fd < 0:
            return self._opened("back" if self.gone else "")
        if (found.st_dev, found.st_ino) != self._identity:
            return self._exchanged()
        if self.gone:
            self.gone, self.problem = False, ""
            return self._batch(event="back", behind=True)
        return self._grown()

    def finish(self) -> Batch:
        """What stands behind the last line feed, for good: to be asked when nothing more comes."""
        return self._batch(self._intake.finish() if self._intake else Given())

    # -- the file ---------------------------------------------------------------------------

    def _found(self) -> os.stat_result | None:
        """What stands under the path; None, and why in `problem`, when that is nothing."""
        try:
            return stat_log(self.path)
        except OSError as error:
            self.problem = f"{self.path}: {error.strerror or error}"
        except ValueError as error:
            self.problem = f"{self.path!r}: {error}"
        return None

    def _missing(self) -> Batch:
        """Nothing to be opened there. What was open is read on: its writer may not know."""
        if not self.gone:
            self.gone = True
            return self._batch(event="gone", behind=self._fd >= 0)
        return self._grown() if self._fd >= 0 else self._batch()

    def _exchanged(self) -> Batch:
        """Another file has the name. What the old one got last is given before it is let go."""
        if not self._drained:
            self._drained = True
            last = self._grown()
            if last.records or last.damages:
                return last._replace(behind=True)
        return self._opened("replaced")

    def _opened(self, event: What) -> Batch:
        try:
            fd = open_log(self.path, stays=True)
        except Unreadable as error:
            self.problem = str(error)
            return self._missing()
        if event == "replaced":
            self._begin(Start())
        self.close()
        self._fd = fd
        seen = os.fstat(fd)
        self._identity = (seen.st_dev, seen.st_ino)
        if start := self._seal.end:  # in the middle: what is before counts as known
            tail = self._read(max(start - TAIL, 0), min(start, TAIL))
            self._seal = Seal(self._read(0, HEAD), tail, start)
        self.gone, self.problem, self._drained = False, "", False
        return self._grown(event)

    def _grown(self, event: What = "") -> Batch:
        """What is new in the open file, unless it is no longer the one that was read."""
        seen = os.fstat(self._fd)
        end = self._seal.end
        if seen.st_size < end:
            return self._anew("cut")
        if self._intake is None and not self._recognised(seen):
            return self._batch(event=event)
        data = self._read(end, min(seen.st_size - end, self.MOST))
        if data and not self._recognised(seen):
            return self._anew("replaced")
        # asked last: a change while the rest was read would else go unnoticed
        if not self._seal.holds(self._read) or self._rewritten(seen.st_mtime_ns, bool(data)):
            return self._anew("replaced")
        given = self._taken(data)
        if self._intake is not None and self._intake.broken:
            return self._anew("replaced")
        behind = self._checking or (bool(data) and self._seal.end < seen.st_size)
        return self._batch(given, event, behind)

    def _anew(self, event: What) -> Batch:
        self._begin(Start())
        return self._grown(event)

    def _begin(self, start: Start) -> None:
        self._start = start
        self._intake = None
        self._tried = (0, 0)
        """Size and time of change with which the file told no format."""
        self._seal = Seal(end=start.offset)
        self._sums = Sums(start.offset)
        self._mtime = 0
        self._checking, self._checked = False, 0

    def _recognised(self, seen: os.stat_result) -> bool:
        """Is the format known, and still the same? The first lines may not tell it at once."""
        if self._intake is not None and self._intake.lines >= _TELLING:
            return True
        looks = seen.st_size, seen.st_mtime_ns
        if self._intake is None and looks == self._tried:
            return False
        self._tried = looks
        folder, _, name = self.path.rpartition("/")
        head = read_head(self._fd)
        form = recognise(name, folder, head)
        if form is None:
            self.problem = f"{self.path}: {why_not(head)}"
        if self._intake is not None:
            return form is self._intake.form
        if form is not None:
            self._intake = Intake(form, self._start)
            self.problem = ""
        return form is not None

    def _rewritten(self, mtime: int, grew: bool) -> bool:
        """Was something in the middle changed? A change without growth has it looked through,
        some blocks a look."""
        if mtime != self._mtime and not grew:
            self._checking, self._checked = True, 0
        self._mtime = mtime
        if not self._checking:
            return False
        same = self._sums.match(self._read, self._checked, _CHECKED)
        self._checked += _CHECKED
        self._checking = self._checked < self._sums.blocks
        return not same

    def _taken(self, data: bytes) -> Given:
        if not data or self._intake is None:
            return Given()
        self._seal = self._seal.grown(data)
        self._sums.add(data)
        return self._intake.feed(data)

    def _read(self, offset: int, length: int) -> bytes:
        return self._read_at(self._fd, length, offset)

    def _batch(self, given: Given = Given(), event: What = "", behind: bool = False) -> Batch:  # noqa: B008
        writing = self._intake is not None and self._intake.writing
        return Batch(*given, writing, event, behind)
