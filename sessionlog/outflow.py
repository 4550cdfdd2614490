"""What a program writes to its terminal, seen on its way through.

Bytes pass as they are. Two things are learnt from them: where a sequence or a character ends, so
that a line of ours can be put between two of them and never into one; and whether the program
is on the alternate screen or in origin mode, for these decide where the cursor stands after the
terminal is made whole. No I/O.
"""

from __future__ import annotations

import re

_LONGEST = 4096
"""Bytes of an unfinished sequence that are kept back; a longer one (a picture) is let through."""
_SCREENS = (b"47", b"1047", b"1049")
_MODES = re.compile(rb"\x1b(?:\[\?([\d;]+)([hl])|c|\[!p)")
_UNFINISHED = re.compile(
    rb"(?:\x1b(?:[ -/]*|\[[0-?]*[ -/]*|[\]PX^_][^\x07\x18\x1a\x1b]*\x1b?)"  # ESC, CSI, a string
    rb"|[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2})\Z"  # a part of UTF-8
)


class Outflow:
    """The output of one program, in the order it was written."""

    alternate = False
    """Is it on the alternate screen (private modes 47, 1047 and 1049 of xterm)?"""
    origin = False
    """Does its cursor count from the scroll region (DECOM)?"""

    def __init__(self) -> None:
        self._kept = b""

    @property
    def waiting(self) -> bool:
        """Is anything kept back?"""
        return bool(self._kept)

    def feed(self, data: bytes) -> bytes:
        """What may pass now: all but a sequence or a character that is not finished."""
        data = self._kept + data
        cut = _UNFINISHED.search(data, max(len(data) - _LONGEST, 0))
        size = cut.start() if cut else len(data)
        self._kept = data[size:]
        self._learn(data, size)
        return data[:size]

    def rest(self) -> bytes:
        """What was kept back: nothing more comes, or not soon."""
        kept, self._kept = self._kept, b""
        return kept

    def _learn(self, data: bytes, size: int) -> None:
        for match in _MODES.finditer(data, 0, size):
            on = match[2] == b"h"
            modes = match[1].split(b";") if match[1] else ()
            if match[0] == b"\x1bc" or any(mode in _SCREENS for mode in modes):
                self.alternate = on
            if not modes or b"6" in modes:
                self.origin = on
