"""Where a log that is a tree leaves a branch, found while the log is counted through.

A record whose parent is not the record before it goes back to an earlier place: all between that
place and itself is left behind. `branch` tells the same of records in memory; this looks at raw
lines, and remembers only where the conversation turned.
"""

from __future__ import annotations

from bisect import bisect_left

from sessionlog import window
from sessionlog.branch import Stretch
from sessionlog.formats.base import Tree
from sessionlog.window import CHUNK, Strip

_FAR = 20_000
"""Chunks of a log that are looked through for parents, over all; then turns are not followed."""


def turns_in(form: Tree, fd: int) -> list[Stretch]:
    """What the turns of an open log left. O(bytes)."""
    strip, ways = Strip(fd), Ways(form)
    for number in range(strip.chunks):
        stretch = strip.stretch(number)
        ways.take(strip, stretch, _lines_of(stretch.data))
    return ways.left


def _lines_of(data: bytes) -> list[bytes]:
    lines = data.split(b"\n")
    return lines if lines[-1] else lines[:-1]


class Ways:
    """The stretches that one log's turns left, as far as it was looked through."""

    def __init__(self, form: Tree) -> None:
        self._form = form
        self._keys: list[str | None] = [""]
        """Of the last record before chunk k; None: not known."""
        self.left: list[Stretch] = []
        """(where the older parent ends, where the turn stands) of each turn; from 0 where the
        parent is not there."""
        self._budget = _FAR

    def restart(self, first: int) -> None:
        """Forget the chunks from `first` on."""
        del self._keys[first + 1 :]
        turns = [turn for _, turn in self.left]
        del self.left[bisect_left(turns, first * CHUNK) :]

    def take(self, strip: Strip, found: window.Stretch, lines: list[bytes]) -> None:
        """Look at the lines of the next chunk."""
        key, offset = self._keys[-1], found.offset
        for index, data in enumerate(lines):
            cut = found.cut and index == len(lines) - 1
            linked = self._form.link(data) if cut or data.endswith(b"}") else None
            if linked is not None:
                if key is not None and linked[1] != key and self._budget > 0:
                    end = self._end_of(linked[1], strip, offset)
                    if end < offset and self._is_at(end, linked, strip):
                        offset += len(data) + 1
                        continue  # the same line again: no step back
                    self.left.append((end, offset))
                key = linked[0]
            elif cut:
                key = None  # its links are out of sight
            offset += len(data) + 1
        self._keys.append(key)

    def _end_of(self, key: str, strip: Strip, before: int) -> int:
        """Where the line of the last record of that key before an offset ends; 0: nowhere."""
        if not key:
            return 0
        word = b'"%s"' % key.encode()
        for number in range(before // CHUNK, -1, -1):
            self._budget -= 1
            found = strip.stretch(number)
            if word in found.data:
                end = self._in(found, key, before)
                if end:
                    return end
            if self._budget <= 0:
                break
        return 0

    def _is_at(self, offset: int, link: tuple[str, str], strip: Strip) -> bool:
        """Does a record with that key and parent stand at an offset?"""
        found = strip.stretch(offset // CHUNK)
        data = found.data[offset - found.offset :].partition(b"\n")[0]
        return offset >= found.offset and self._form.link(data) == link

    def _in(self, found: window.Stretch, key: str, before: int) -> int:
        end, offset = 0, found.offset
        lines = found.data.split(b"\n")
        for index, data in enumerate(lines):
            cut = found.cut and index == len(lines) - 1
            after = found.end + 1 if cut else offset + len(data) + 1
            if offset >= before:
                break
            linked = self._form.link(data) if cut or data.endswith(b"}") else None
            if linked is not None and linked[0] == key:
                end = after
            offset = after
        return end
