"""Which session came from which: forks and resumed logs under the log they were made from.

Pure over the rows of a listing. Logs may name anything as their parent: themselves, each other
around, a log that is not here. Each session stands in the forest exactly once all the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from sessionlog.records import Entry, Origin

_INDENT = 30
"""Columns that guides may take: a log resumed a thousand times is a chain, not a staircase."""


class Member(NamedTuple):
    """A session in the forest."""

    entry: Entry
    depth: int
    """Steps down from its root, 0 for a root."""
    guides: str
    """What stands in front of it, two columns a step: "│ ", "├ ", "└ " or blanks."""


class Forest:
    """Sessions by descent. O(sessions) to make."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        """Roots stay in the order of `entries`; the children of one stand oldest first."""
        self._entries = {entry.path: entry for entry in entries}
        self._parents = _parents(self._entries)
        self._children: dict[str, list[Entry]] = {}
        for path, parent in self._parents.items():
            self._children.setdefault(parent, []).append(self._entries[path])
        for children in self._children.values():
            children.sort(key=lambda entry: (entry.started or entry.updated, entry.id, entry.path))

    def parent(self, entry: Entry) -> Entry | None:
        """The session it was made from; None for a root, or when that one is not here."""
        path = self._parents.get(entry.path)
        return self._entries[path] if path is not None else None

    def children(self, entry: Entry) -> Sequence[Entry]:
        """What was made from it, oldest first."""
        return self._children.get(entry.path, ())

    def onward(self, entry: Entry) -> Entry | None:
        """Where a walk through the family goes on: to the first child, else to the next sibling
        (of it, or of the nearest of those above that has one); None at the end."""
        children = self.children(entry)
        if children:
            return children[0]
        at: Entry | None = entry
        while at is not None:
            parent = self.parent(at)
            siblings = self.children(parent) if parent is not None else ()
            paths = [sibling.path for sibling in siblings]
            behind = paths.index(at.path) + 1 if parent is not None else 0
            if behind and behind < len(siblings):
                return siblings[behind]
            at = parent
        return None

    def members(self) -> Iterator[Member]:
        """Every session once, each below its parent."""
        roots = [e for path, e in self._entries.items() if path not in self._parents]
        waiting = [Member(entry, 0, "") for entry in reversed(roots)]
        while waiting:
            member = waiting.pop()
            yield member
            children = self.children(member.entry)
            below = member.guides.replace("├", "│").replace("└", " ")[-_INDENT:]
            for child in reversed(children):
                turn = "└ " if child is children[-1] else "├ "
                waiting.append(Member(child, member.depth + 1, below + turn))


def origin_of(entry: Entry) -> Origin | None:
    """What a session says it was made from; `at` is None for one resumed from the end."""
    if entry.forked_from is not None:
        return entry.forked_from
    return Origin(entry.resumed_from) if entry.resumed_from else None


def _parents(entries: dict[str, Entry]) -> dict[str, str]:
    """Path of each session that has a parent here, and the parent's. Without circles."""
    born = [(entry, origin) for entry in entries.values() if (origin := origin_of(entry))]
    by_id: dict[str, list[Entry]] = {origin.id: [] for _, origin in born}
    for entry in entries.values() if born else ():
        if entry.id in by_id:
            by_id[entry.id].append(entry)
    parents: dict[str, str] = {}
    for entry, origin in born:
        parent = _named(by_id[origin.id], entry)
        if parent is not None:
            parents[entry.path] = parent.path
    _cut_circles(parents, entries)
    return parents


def _named(answering: Iterable[Entry], child: Entry) -> Entry | None:
    """Which of the sessions of one id is meant: another log, if it can be of the same agent, the
    nearest to the child, the longest there (a copy may be older)."""
    place = child.path.split("/")[:-1]

    def likely(entry: Entry) -> tuple[bool, int, int]:
        steps = takewhile(
            lambda pair: pair[0] == pair[1], zip(place, entry.path.split("/"), strict=False)
        )
        return entry.format == child.format, len([*steps]), entry.bytes

    others = [entry for entry in answering if entry.path != child.path]
    return max(others, key=likely, default=None)


def _cut_circles(parents: dict[str, str], entries: dict[str, Entry]) -> None:
    """Make the oldest session of each circle a root."""
    done: set[str] = set()
    for start in list(parents):
        walked: dict[str, None] = {}
        at: str | None = start
        while at is not None and at not in done and at not in walked:
            walked[at] = None
            at = parents.get(at)
        if at is not None and at in walked:
            paths = list(walked)
            circle = paths[paths.index(at) :]
            del parents[min(circle, key=lambda path: (entries[path].started, path))]
        done.update(walked)
