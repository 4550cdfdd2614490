"""Logs whose records name the one before them: the links of a new log made from such a one. Pure.

A client goes from the last record back to the root, so a link that leads nowhere costs it all that
stands before. In the new log, lines were left out, moved and added, so

- what followed a record that was left out follows what that one followed,
- an added or moved line follows the line in front of it, and what followed that one follows it,
- a record whose parent comes within the next lines goes behind that one,
- a record whose parent is nowhere (its line was lost) follows the record in front of it.

All other bytes of a line stay, and so does a link that still holds.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, deque
from collections.abc import Callable, Container, Iterable, Iterator
from typing import NamedTuple

from sessionlog import codec, splice
from sessionlog.formats.base import Fate, Part
from sessionlog.framing import Line
from sessionlog.pairing import AHEAD

Link = Callable[[bytes], tuple[str, str] | None]
"""As `Tree.link`."""

_GLUED = re.compile(rb'\}[ \t\r\0]*\{[ \t]*"')


class Links:
    """Parts of a new log in, in their order; their lines with the right links out.

    Keeps some 100 bytes for each record, as any may be the parent of a later one.
    """

    def __init__(
        self, key: str, parent: str, link: Link, name: Callable[[bytes], str]
    ) -> None:  # fmt: skip
        """`key` and `parent`: the members that hold a record's id and its parent's. `name`: an id
        in the client's shape, from 32 bytes of a hash."""
        self._key, self._parent, self._link, self._name = key, parent, link, name
        self._seen: set[int] = set()
        self._gone: dict[str, str] = {}
        """Parent of each record that was left out."""
        self._behind: dict[str, str] = {}
        """The record that came after each of those."""
        self._waiting: list[str] = []
        """Those of them that nothing came after yet."""
        self._heirs: dict[str, str] = {}
        """What follows now in the place of those that followed a record."""
        self._made = 0
        self.last = ""
        """Id of the last record; "" before the first."""

    def in_order(self, parts: Iterable[Part]) -> Iterator[Part]:
        """The parts, one record a line, each behind the one that it follows where that is among
        the next lines; what was added or moved behind a record stays behind it."""
        order = _Order(self._seen)
        window: deque[_Group] = deque()
        for part in (one for glued in parts for one in whole(glued)):
            if part.fate in (Fate.ADDED, Fate.MOVED) and window:
                window[-1].parts.append(part)
                continue
            window.append(_Group([part], *(self._link(part.data) or ("", ""))))
            order.expect(window[-1])
            if len(window) > AHEAD:
                yield from order.take(window.popleft())
        for group in window:
            yield from order.take(group)

    def take(self, part: Part) -> bytes | None:
        """The line of a part; None when it was left out."""
        data, fate = part
        found = self._link(data)
        if fate is Fate.DROPPED:
            if found is not None and found[0] and hash(found[0]) not in self._seen:
                self._gone[found[0]] = found[1]
                self._waiting.append(found[0])
            return None
        if found is None:
            return data
        if fate in (Fate.ADDED, Fate.MOVED):
            return self._placed(data)
        id, parent = found
        up = self._up(parent)
        self._reached(id)
        return data if up == parent else splice.put(data, 0, {self._parent: _text(up)})

    def made(self, seed: bytes) -> tuple[str, str]:
        """(id, parent) of a line that goes behind the last. The same seeds in the same order give
        the same ids."""
        while True:
            self._made += 1
            id = self._name(hashlib.sha256(b"%d\0" % self._made + seed).digest())
            if hash(id) not in self._seen:
                break
        parent = self.last
        self._reached(id)
        return id, parent

    def stands_for(self, id: str) -> str:
        """The record that a mention of this one means: itself, or the first behind it that is
        not left out."""
        return self._behind.get(id, id)

    def _placed(self, data: bytes) -> bytes:
        id, parent = self.made(data)
        if parent:
            self._heirs[parent] = id
        return splice.put(data, 0, {self._key: _text(id), self._parent: _text(parent)})

    def _up(self, parent: str) -> str:
        if parent == self.last:
            return parent
        parent = _end(parent, self._gone)
        if parent and hash(parent) not in self._seen:
            parent = self.last
        return _end(parent, self._heirs)

    def _reached(self, id: str) -> None:
        self._seen.add(hash(id))
        self.last = id
        for gone in self._waiting:
            self._behind[gone] = id
        self._waiting.clear()


class _Group(NamedTuple):
    """A record, and what goes with it."""

    parts: list[Part]
    id: str
    parent: str


class _Order:
    """Holds records back until the one that they follow was there."""

    def __init__(self, seen: Container[int]) -> None:
        """`seen`: hashes of the ids that were there."""
        self._seen = seen
        self._coming: Counter[str] = Counter()
        self._held: dict[str, list[_Group]] = {}
        """By the id that they wait for."""
        self._waits: dict[str, str] = {}
        """What a record that is held back waits for."""

    def expect(self, group: _Group) -> None:
        """A record that is among the next lines."""
        if group.id:
            self._coming[group.id] += 1

    def take(self, group: _Group) -> Iterator[Part]:
        """The next record: its parts, and of those that waited for it, or nothing yet."""
        if group.id:
            self._coming[group.id] -= 1
            if not self._coming[group.id]:
                del self._coming[group.id]
        if group.id and self._is_early(group):
            self._held.setdefault(group.parent, []).append(group)
            self._waits[group.id] = group.parent
            return
        todo = [group]
        while todo:
            group = todo.pop()
            yield from group.parts
            self._waits.pop(group.id, None)
            todo += reversed(self._held.pop(group.id, []))

    def _is_early(self, group: _Group) -> bool:
        parent = group.parent
        if hash(parent) in self._seen:
            return False
        return parent in self._coming or (
            parent in self._waits and _end(parent, self._waits) != group.id
        )


def whole(part: Part) -> Iterator[Part]:
    """A part with one record a line. Two that a writer glued together are lost on a client that
    takes a line for a record."""
    data, fate = part
    if fate is not Fate.DROPPED and _GLUED.search(data):
        objects = codec.parse(Line(0, 0, data, True)).objects
        if len(objects) > 1:
            yield from (Part(data[s.offset : s.end], fate) for _, s in objects)
            return
    yield part


def _end(id: str, steps: dict[str, str]) -> str:
    """Where the steps lead to; a circle ends anywhere."""
    walked = set()
    while id in steps and id not in walked:
        walked.add(id)
        id = steps[id]
    return id


def _text(id: str) -> bytes:
    return codec.dumps(id) if id else b"null"
