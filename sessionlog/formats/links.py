"""Logs whose records name the one before them: the links of a new log made from such a one. Pure.

A client goes from the last record back to the root, so a link that leads nowhere costs it all that
stands before. In the new log, lines were left out, moved and added, so

- what followed a record that was left out follows what that one followed,
- an added or moved line follows the line in front of it, and what followed that one follows it,
- a record whose parent comes within the next lines goes behind that one,
- a record whose parent is nowhere (its line was lost) follows the record in front of it, and so
  does one whose own link is damaged; where its id is, or is another's, it gets a new one.

All other bytes of a line stay, and so does a link that still holds.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, deque
from collections.abc import Callable, Container, Iterable, Iterator
from typing import ClassVar, Generic, NamedTuple, Protocol, TypeVar, runtime_checkable

from sessionlog import codec, splice
from sessionlog.formats.base import Fate, Part, text_of
from sessionlog.framing import Line
from sessionlog.pairing import AHEAD

T = TypeVar("T")
Link = Callable[[bytes], tuple[str, str] | None]
"""As `Tree.link`."""

_GLUED = re.compile(rb'\}[ \t\r\0]*\{[ \t]*"')


@runtime_checkable
class ByLine(Protocol):
    """An actor whose client takes a line for one record; its `renew` gives each one its own."""

    by_line: ClassVar[bool]


class Links:
    """Parts of a new log in, in their order; their lines with the right links out.

    Keeps some 100 bytes for each record, as any may be the parent of a later one.
    """

    def __init__(
        self, key: str, parent: str, link: Link, name: Callable[[bytes], str],
        strays: Container[str] = (), joins: bool = False,
    ) -> None:  # fmt: skip
        """`key` and `parent`: the members that hold a record's id and its parent's. `name`: an id
        in the client's shape, from 32 bytes of a hash. `strays`: types of records that always have
        both; one that has not is damaged. `joins`: does the client join records of one id and
        parent to one?"""
        self._joins = joins
        self._key, self._parent, self._link, self._name = key, parent, link, name
        self.strays = strays
        self._seen: dict[int, int] = {}
        """Of each id the hash, and that of its parent."""
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
        order = Order[Part](self._seen)
        window: deque[Group[Part]] = deque()
        for part in (one for glued in parts for one in whole(glued)):
            if part.fate in (Fate.ADDED, Fate.MOVED) and window:
                window[-1].parts.append(part)
                continue
            window.append(Group([part], *(self._link(part.data) or ("", ""))))
            order.expect(window[-1])
            if len(window) > AHEAD:
                yield from (part for free in order.take(window.popleft()) for part in free.parts)
        for group in window:
            yield from (part for free in order.take(group) for part in free.parts)

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
            return self._stray(data)
        if fate in (Fate.ADDED, Fate.MOVED):
            return self._placed(data)
        id, parent = found
        up = self._up(parent)
        if not id or hash(id) in self._seen:
            same = bool(id) and self._seen[hash(id)] == hash(parent)
            if not (same and self._joins):
                data = self._renamed(data, None if same else up)
                self._heirs |= {id: self.last} if id else {}
                return data
        self._reached(id, parent)
        broken = up != parent or (not up and splice.value(data, (self._parent,)) != b"null")
        return splice.put(data, 0, {self._parent: _text(up)}) if broken else data

    def made(self, seed: bytes) -> tuple[str, str]:
        """(id, parent) of a line that goes behind the last. The same seeds in the same order give
        the same ids."""
        while True:
            self._made += 1
            id = self._name(hashlib.sha256(b"%d\0" % self._made + seed).digest())
            if hash(id) not in self._seen:
                break
        parent = self.last
        self._reached(id, parent)
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

    def _renamed(self, data: bytes, up: str | None) -> bytes:
        """A record with an id of its own, behind `up` or, where that is not known, the last."""
        id, last = self.made(data)
        parent = last if up is None else up
        return splice.put(data, 0, {self._key: _text(id), self._parent: _text(parent)})

    def _stray(self, data: bytes) -> bytes:
        """A line without a link: one that has lost it follows the last."""
        value = splice.object_of(data) if self.strays else {}
        if value.get("type") not in self.strays:
            return data
        id = text_of(value.get(self._key))
        if not id or hash(id) in self._seen:
            return self._renamed(data, None)
        parent = self.last
        self._reached(id, parent)
        return splice.put(data, 0, {self._parent: _text(parent)})

    def _up(self, parent: str) -> str:
        if parent == self.last:
            return parent
        parent = _end(parent, self._gone)
        if parent and hash(parent) not in self._seen:
            parent = self.last
        return _end(parent, self._heirs)

    def _reached(self, id: str, parent: str) -> None:
        self._seen.setdefault(hash(id), hash(parent))
        self.last = id
        for gone in self._waiting:
            self._behind[gone] = id
        self._waiting.clear()


class Group(NamedTuple, Generic[T]):
    """A record, and what goes with it."""

    parts: list[T]
    id: str
    parent: str


class Order(Generic[T]):
    """Holds records back until the one that they follow was there."""

    def __init__(self, seen: Container[int]) -> None:
        """`seen`: hashes of the ids that were there."""
        self._seen = seen
        self._coming: Counter[str] = Counter()
        self._parents: dict[str, str] = {}
        """Of those that come."""
        self._held: dict[str, list[Group[T]]] = {}
        """By the id that they wait for."""
        self._waits: dict[str, str] = {}
        """What a record that is held back waits for."""

    def expect(self, group: Group[T]) -> None:
        """A record that is among the next lines."""
        if group.id:
            self._coming[group.id] += 1
            self._parents[group.id] = group.parent

    def take(self, group: Group[T]) -> Iterator[Group[T]]:
        """The next record, and those that waited for it; or nothing yet."""
        if group.id:
            self._coming[group.id] -= 1
            if not self._coming[group.id]:
                del self._coming[group.id], self._parents[group.id]
        if group.id and self._is_early(group):
            self._held.setdefault(group.parent, []).append(group)
            self._waits[group.id] = group.parent
            return
        todo = [group]
        while todo:
            group = todo.pop()
            yield group
            self._waits.pop(group.id, None)
            todo += reversed(self._held.pop(group.id, []))

    def _is_early(self, group: Group[T]) -> bool:
        parent = group.parent
        if hash(parent) in self._seen or not (parent in self._coming or parent in self._waits):
            return False
        walked = {group.id}
        while parent in self._parents or parent in self._waits:
            if parent in walked:  # a circle, which begins at the link that leads ahead
                return False
            walked.add(parent)
            parent = self._parents.get(parent, self._waits.get(parent, ""))
        return parent not in walked


def in_order(groups: Iterable[Group[T]]) -> Iterator[T]:
    """The parts of groups, in the order that they have in a new log."""
    seen: set[int] = set()
    order, window = Order[T](seen), deque[Group[T]]()

    def taken(group: Group[T]) -> Iterator[T]:
        for free in order.take(group):
            yield from free.parts
            seen.add(hash(free.id))

    for group in groups:
        window.append(group)
        order.expect(group)
        if len(window) > AHEAD:
            yield from taken(window.popleft())
    for group in window:
        yield from taken(group)


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
