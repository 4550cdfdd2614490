"""Where every line of a log begins: eight bytes a line, and not a byte decoded.

Buffered reads, because they let go of the interpreter's lock at every block and cannot crash on
a file that is cut short, as a memory map does. ``python -m sessionlog.index FILE`` counts lines.
"""

from __future__ import annotations

import os
import sys
from array import array
from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate, islice

_BUFFER = 512 * 1024
_STEP = 50_000
"""Lines between two looks at `stop`."""


class Index:
    """Byte offsets of the lines of one file, as far as it was read.

    Line n (from 1) starts at `offset(n)`. A last line without LF counts as a line.
    """

    def __init__(self) -> None:
        self._ends = array("Q")
        self._open = False  # the last line has no LF yet

    @classmethod
    def scan(
        cls,
        path: str,
        stop: Callable[[], bool] = lambda: False,
        progress: Callable[[int], None] = lambda offset: None,
    ) -> Index:
        """Read the file from its start. O(bytes), about twice the time of ``wc -l``.

        `stop` is asked and `progress` told (bytes read) every 50,000 lines. A stopped index is
        whole as far as it goes; `grow` carries on. Raises OSError.
        """
        index = cls()
        index.grow(path, stop, progress)
        return index

    def grow(
        self,
        path: str,
        stop: Callable[[], bool] = lambda: False,
        progress: Callable[[int], None] = lambda offset: None,
    ) -> int:
        """Take in what was appended since; gives the number of new lines. Raises OSError."""
        before = len(self._ends)
        if self._open:  # it may have got longer: read it again
            self._ends.pop()
        end = self.end
        with open(path, "rb", buffering=_BUFFER) as file:
            file.seek(end)
            ends = accumulate(map(len, file), initial=end)
            next(ends)
            while not stop():
                count = len(self._ends)
                self._ends.extend(islice(ends, _STEP))
                if len(self._ends) == count:
                    break
                progress(self.end)
            if len(self._ends):
                self._open = os.pread(file.fileno(), 1, self.end - 1) != b"\n"
        return len(self._ends) - before

    @property
    def end(self) -> int:
        """Bytes that were read."""
        return self._ends[-1] if self._ends else 0

    def __len__(self) -> int:
        return len(self._ends)

    def offset(self, number: int) -> int:
        """Byte offset of line `number`, from 1. Raises IndexError for a line that is not there."""
        if not 1 <= number <= len(self._ends):
            raise IndexError(f"line {number} of {len(self._ends)}")
        return self._ends[number - 2] if number > 1 else 0

    def line_at(self, offset: int) -> int:
        """Number of the line that holds a byte (of the last line, for one past the end)."""
        return min(bisect_right(self._ends, offset) + 1, max(len(self._ends), 1))


if __name__ == "__main__":
    print(len(Index.scan(sys.argv[1])))
