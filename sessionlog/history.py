"""What of a log on disk is history, told while it is read: what was left behind or taken back, and
what stands there a second time.

The file is looked through once before, in raw lines, and only where its format can go back.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial

from sessionlog.branch import Stretch, within
from sessionlog.formats.base import Format, Rewound, Tree
from sessionlog.records import Record, Span
from sessionlog.repeats import Repeats
from sessionlog.rewinds import turns_of
from sessionlog.ways import turns_in


class History:
    """Records of one log in, in their order, unit by unit (`repeats.units`)."""

    def __init__(
        self, left: Sequence[Stretch] = (), same: Callable[[int, Span], bool] | None = None
    ) -> None:
        """`left`: what was left, by its bytes; `same` as in `Repeats`, None: nothing repeats."""
        self._left = within(left)
        self._repeats = Repeats(same) if same else None

    def is_left(self, unit: Sequence[Record]) -> bool:
        """Did the run go back to before the next unit?"""
        return self._left(unit[0].span.offset)

    def is_again(self, unit: Sequence[Record]) -> bool:
        """Is the next unit one that came before?"""
        return self._repeats is not None and self._repeats.is_again(unit)


def history_of(form: Format, fd: int, *, trees: bool = True) -> History:
    """The history of an open log; `trees`: branches that were left count, too. O(bytes)."""
    left: Sequence[Stretch] = ()
    if isinstance(form, Rewound):
        left = turns_of(form, fd)
    elif trees and isinstance(form, Tree):
        left = turns_in(form, fd)
    return History(left, partial(same_bytes, fd))


def same_bytes(fd: int, offset: int, span: Span) -> bool:
    """Do the bytes of a span stand at an offset, too?"""
    return os.pread(fd, span.length, offset) == os.pread(fd, span.length, span.offset)
