"""What a search across logs found, as lines to walk along. Pure.

Hits stream in, grouped by their log; a log shows its first few until it is asked for all. What is
kept has a bound, what is counted has none. A line is found by where its log begins, so a key
costs the same whatever was found, and only what stands behind a log that grew is placed anew.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple

from sessionlog.records import Entry
from sessionlog.tools import label_of

if TYPE_CHECKING:
    from sessionlog.hit import Hit

SHOWN = 5
"""Hits of a log that stand there before it is unfolded."""
KEPT = 500
"""Most hits of one log that can be shown; the rest is counted."""
MOST = 20_000
"""Hits kept in all; from there on a log keeps what it shows folded."""
_TWICE = 2
"""Times that one line is shown in a run of the same."""

NONE: Mapping[str, int] = MappingProxyType({})

Fold = Literal["some", "all", "head"]
"""The first few hits, all that are kept, or the name of the log alone."""


class Spot(NamedTuple):
    """One line of a log's hits."""

    kind: Literal["head", "hit", "same", "more"]
    """The log's name; a hit; so many times the same line again; so many more."""
    number: int = 0
    """Of the hit, from 0; of "same": of the first of its run."""


HEAD, MORE = Spot("head"), Spot("more")


class Group:
    """The hits of one log."""

    __slots__ = ("_rows", "_runs", "entry", "fold", "given", "hits", "more", "rank")

    def __init__(self, entry: Entry, rank: int) -> None:
        self.entry = entry
        self.rank = rank
        """Its place among the logs, newest first."""
        self.hits: list[Hit] = []
        """Those that are kept, in file order."""
        self.given = 0
        """Hits that came, kept or not."""
        self.more = 0
        """Hits that the search only counted."""
        self.fold: Fold = "some"
        self._runs: list[list[int]] = []
        """[first, length] of neighbours that read alike."""
        self._rows: tuple[Spot, ...] = ()

    def add(self, hit: Hit, keep: int = KEPT) -> bool:
        """Take one more; False when it is only counted, because `keep` are kept."""
        self.given += 1
        self._rows = ()
        if len(self.hits) >= keep:
            return False
        last = self.hits[-1] if self.hits else None
        if last and (last.text, last.tool, last.kind) == (hit.text, hit.tool, hit.kind):
            self._runs[-1][1] += 1
        else:
            self._runs.append([len(self.hits), 1])
        self.hits.append(hit)
        return True

    @property
    def count(self) -> int:
        """All hits of the log."""
        return self.given + self.more

    def counted(self, more: int) -> None:
        """So many hits are only counted, by now."""
        self.more = more
        self._rows = ()

    @property
    def rows(self) -> tuple[Spot, ...]:
        """Its lines: a line that stands there stays where it is when more hits come."""
        if not self._rows:
            self._rows = tuple(self._laid())
        return self._rows

    def _laid(self) -> list[Spot]:
        if self.fold == "head":
            return [HEAD]
        if self.fold == "all":
            hits = [Spot("hit", index) for index in range(len(self.hits))]
            return [HEAD, *hits, MORE] if self.count > len(hits) else [HEAD, *hits]
        rows, shown, told = [HEAD], 0, 0
        for first, length in self._runs:
            seen = min(length, _TWICE, SHOWN - shown)
            rows += [Spot("hit", first + index) for index in range(seen)]
            shown += seen
            told += seen
            if seen == _TWICE < length:
                rows.append(Spot("same", first))
                told += length - seen
            if shown == SHOWN:
                break
        return [*rows, MORE] if told < self.count else rows

    def told(self, spot: Spot) -> int:
        """How many hits a line that folds some of them stands for."""
        if spot.kind == "same":
            return next(length for first, length in self._runs if first == spot.number) - _TWICE
        shown = [row for row in self.rows if row.kind == "hit"]
        folded = [self.told(row) for row in self.rows if row.kind == "same"]
        return self.count - len(shown) - sum(folded)

    def hit(self, spot: Spot) -> Hit:
        """The hit that a line stands for: of the name the first, of a fold its first hidden one."""
        if spot.kind == "hit":
            return self.hits[spot.number]
        if spot.kind == "same":
            return self.hits[spot.number + _TWICE]
        if spot.kind == "head":
            return self.hits[0]
        shown = [row.number for row in self.rows if row.kind == "hit"]
        return self.hits[min(shown[-1] + 1, len(self.hits) - 1)]

    def set_fold(self, fold: Fold) -> None:
        """Show more or fewer of its hits."""
        self.fold = fold
        self._rows = ()

    def near(self, spot: Spot) -> Spot:
        """The line itself, or where it is folded the one that stands for it."""
        if spot in self.rows:
            return spot
        if spot.kind == "hit":
            for first, length in self._runs:
                same = Spot("same", first)
                if first <= spot.number < first + length and same in self.rows:
                    return same
        if spot.kind == "same":  # unfolded: the first that it stood for
            return self.near(Spot("hit", spot.number + _TWICE))
        return self.rows[-1] if spot.kind != "head" else HEAD


class Hits:
    """The logs with hits, newest first, laid out under each other."""

    def __init__(self, entries: Sequence[Entry] = ()) -> None:
        """`entries`: the logs that are searched, in the order in which they are shown."""
        self.entries = tuple(entries)
        self._ranks = {entry.path: rank for rank, entry in enumerate(self.entries)}
        self.groups: list[Group] = []
        self.count = 0
        """All hits, kept or not."""
        self.tools: Counter[str] = Counter()
        """How often each tool is hit."""
        self._kept = 0
        self._by_path: dict[str, Group] = {}
        self._tops: list[int] = []
        """First line of each group, as far as they are known."""

    def add(self, hits: Iterable[Hit]) -> None:
        """Take in what was found. O(hits) and the groups behind the ones that grew."""
        for hit in hits:
            group = self._by_path.get(hit.path) or self._new(hit.path)
            keep = KEPT if self._kept < MOST else SHOWN
            self._kept += group.add(hit, keep)
            self.count += 1
            if hit.tool:
                self.tools[label_of(hit.tool)] += 1
            if self.groups[-1] is not group:
                self._moved(self.index(group) + 1)

    def counted(self, more: Mapping[str, int]) -> None:
        """So many hits of these logs are only counted, by now."""
        for path, count in more.items():
            group = self._by_path.get(path)
            if group is not None:
                self.count += count - group.more
                group.counted(count)
                self._moved(self.index(group) + 1)

    def _new(self, path: str) -> Group:
        entry = self.entry(path) or Entry(path, path, "unknown")
        rank = self._ranks.setdefault(path, len(self._ranks))
        group = self._by_path[path] = Group(entry, rank)
        insort(self.groups, group, key=lambda one: one.rank)
        self._moved(self.index(group))
        return group

    def _moved(self, first: int) -> None:
        """The groups from `first` on begin elsewhere."""
        del self._tops[first:]

    def _top(self, index: int) -> int:
        """First line of a group."""
        tops = self._tops
        for number in range(len(tops), index + 1):
            tops.append(tops[-1] + len(self.groups[number - 1].rows) if number else 0)
        return tops[index]

    @property
    def height(self) -> int:
        """Lines in all."""
        return self._top(len(self.groups) - 1) + len(self.groups[-1].rows) if self.groups else 0

    def numbered(self, path: str, hits: Sequence[Hit]) -> None:
        """The first hits of a log have their numbers by now."""
        self._by_path[path].hits[: len(hits)] = hits

    def group(self, path: str) -> Group | None:
        """The hits of a log; None where it has none."""
        return self._by_path.get(path)

    def entry(self, path: str) -> Entry | None:
        """One of the logs that are searched."""
        rank = self._ranks.get(path, len(self.entries))
        return self.entries[rank] if rank < len(self.entries) else None

    def index(self, group: Group) -> int:
        """Which group it is, from 0."""
        return bisect_right(self.groups, group.rank, key=lambda one: one.rank) - 1

    def at(self, y: int) -> tuple[Group, Spot]:
        """What stands at a line, 0 <= y < height."""
        self._top(len(self.groups) - 1)
        index = bisect_right(self._tops, y) - 1
        group = self.groups[index]
        return group, group.rows[y - self._tops[index]]

    def y(self, group: Group, spot: Spot) -> int:
        """The line of one that is shown."""
        return self._top(self.index(group)) + group.rows.index(spot)

    def set_fold(self, group: Group, fold: Fold) -> None:
        """Show more or fewer of a log's hits."""
        group.set_fold(fold)
        self._moved(self.index(group) + 1)


class HitView:
    """A cursor on one line of the hits, and the part of them that a pane shows."""

    def __init__(self, hits: Hits) -> None:
        self.hits = hits
        self.group: Group | None = None
        """The log that the cursor is in; None while there is no hit."""
        self.spot = HEAD
        self.top = 0
        """First line of the pane."""
        self.room = 1
        """Lines of the pane."""

    @property
    def hit(self) -> Hit | None:
        """The hit under the cursor."""
        return self.group.hit(self.spot) if self.group else None

    @property
    def y(self) -> int:
        """Line of the cursor."""
        return self.hits.y(self.group, self.spot) if self.group else 0

    def add(self, hits: Iterable[Hit], more: Mapping[str, int] = NONE) -> None:
        """Take in hits, and how many of which log are only counted; the line under the cursor
        stays where it is on the screen."""
        before = self.y
        self.hits.add(hits)
        self.hits.counted(more)
        if self.group is None:
            if self.hits.groups:
                self.group, self.spot = self.hits.at(1)
            return
        self.spot = self.group.near(self.spot)
        self.top += self.y - before

    def move(self, lines: int) -> None:
        """So many lines down, or up where negative."""
        self._to(self.y + lines)

    def scroll(self, lines: int) -> None:
        """The pane and the cursor so many lines down, or up."""
        if self.group is not None:
            self.top += lines
            self._to(self.y + lines)

    def home(self) -> None:
        """To the first hit."""
        self._to(0)
        self._to(1)

    def end(self) -> None:
        """To the last line."""
        self._to(self.hits.height - 1)

    def put(self, y: int) -> None:
        """To a line, where there is one."""
        if 0 <= y < self.hits.height:
            self._to(y)

    def next_log(self, step: int) -> bool:
        """To the first hit of the next log (-1: of the one before); False when there is none."""
        if self.group is None:
            return False
        index = self.hits.index(self.group) + step
        if not 0 <= index < len(self.hits.groups):
            return False
        self.group = self.hits.groups[index]
        self.spot = self.group.rows[min(1, len(self.group.rows) - 1)]
        self.reveal()
        return True

    def toggle(self) -> None:
        """On a hit: all of its log's hits, or the first few (few as they are: the name alone).
        On the name: the name alone, or the hits."""
        group = self.group
        if group is None:
            return
        if group.fold == "head":
            fold: Fold = "some"
        elif self.spot == HEAD:
            fold = "head"
        elif group.fold == "all":
            fold = "some"
        else:
            fold = "all" if any(row.kind in ("same", "more") for row in group.rows) else "head"
        if self.spot == MORE and fold == "all":  # what it hid begins right there
            shown = [row.number for row in group.rows if row.kind == "hit"]
            self.spot = Spot("hit", min(shown[-1] + 1, len(group.hits) - 1))
        self.hits.set_fold(group, fold)
        self.spot = group.near(self.spot) if fold != "head" else HEAD
        self.reveal()

    def reveal(self) -> None:
        """Scroll as little as shows the cursor, and the name of its log right above it."""
        y = self.y
        first = y - 1 if self.group and self.group.rows.index(self.spot) == 1 else y
        self.top = min(self.top, first)
        self.top = max(self.top, y - self.room + 1)
        self.top = max(0, min(self.top, self.hits.height - self.room))

    def _to(self, y: int) -> None:
        if self.group is not None:
            self.group, self.spot = self.hits.at(min(max(y, 0), self.hits.height - 1))
            self.reveal()
