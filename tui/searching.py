"""What a search screen is opened again with: the last query, its hits, and how far it came."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

from sessionlog.records import Entry
from tui.hit_lines import Standing, counts
from tui.hits import NONE, Hits, HitView
from tui.lines import Piece

if TYPE_CHECKING:
    from sessionlog.hit import Hit, Progress
    from sessionlog.query import Query

BATCH = 0.05
"""Seconds between two batches of hits that a worker hands over."""


@dataclass
class SearchState:
    """Kept by the browser, changed by the search screen alone."""

    text: str = ""
    """The query as it was typed."""
    any_case: bool = True
    regex: bool = False
    problem: str = ""
    """Why the query means nothing, or what of it could not be done."""
    query: Query | None = None
    """What was searched last; None while nothing was."""
    view: HitView = field(default_factory=lambda: HitView(Hits()))
    standing: Standing = field(default_factory=Standing)

    def rest(self) -> tuple[tuple[Entry, ...], dict[str, int]]:
        """The logs that a search which was left has not read to their end, and how many hits of
        the first of them are known already."""
        progress = self.standing.progress
        entries = self.view.hits.entries
        first = next(
            (i for i, entry in enumerate(entries) if progress and entry.path == progress.path), 0
        )
        known = (self.view.hits.group(entry.path) for entry in entries[first:])
        return entries[first:], {group.entry.path: group.given for group in known if group}


class Place(NamedTuple):
    """Where a hit stands: what the search screen answers."""

    entry: Entry
    offset: int
    part: int
    text: str
    """What the find in the log goes on with; "" where only filters were given."""
    ignore_case: bool


def wording(query: Query, hit: Hit) -> tuple[str, bool]:
    """The text to mark around a hit, and whether case is ignored: of a regular expression what it
    matched there, for a pattern may take forever and the screen cannot wait."""
    if not query.regex or not hit.spans:
        return query.text, query.ignore_case
    start, end = hit.spans[0]
    return hit.text[start:end], False


class Search(Protocol):
    """What searches: the library's `search_logs`."""

    def __call__(
        self,
        sessions: Iterable[Entry],
        query: Query,
        stopped: Callable[[], bool],
        /,
        *,
        most: int | None,
    ) -> Iterator[Hit | Progress]: ...


class Batch(NamedTuple):
    """What a search came to since the batch before."""

    hits: tuple[Hit, ...]
    progress: Progress | None
    more: dict[str, int]
    """Hits of a log that are only counted, by its path."""
    notes: dict[str, str]
    """What was left out of a log, and why."""


def batches(
    found: Iterable[Hit | Progress], clock: Callable[[], float], known: Mapping[str, int] = NONE
) -> Iterator[Batch]:
    """Hits in batches, the first one at once, with how far the search is by then.

    `known`: so many first hits of a log are left out.
    """
    from sessionlog.hit import Progress

    left = dict(known)
    batch = Batch((), None, {}, {})
    hits: list[Hit] = []
    due = clock()
    for one in found:
        if isinstance(one, Progress):
            batch = _noted(batch, one)
        elif left.get(one.path):
            left[one.path] -= 1
        else:
            hits.append(one)
        if clock() >= due and (hits or batch.progress):
            yield batch._replace(hits=tuple(hits))
            batch = Batch((), None, {}, {})
            hits.clear()
            due = clock() + BATCH
    yield batch._replace(hits=tuple(hits))


def _noted(batch: Batch, progress: Progress) -> Batch:
    if progress.more:
        batch.more[progress.path] = progress.more
    if progress.note:
        batch.notes[progress.path] = progress.note
    return batch._replace(progress=progress)


def said(state: SearchState, columns: int) -> list[Piece]:
    """How the query is meant, and how its search stands: for the right end of its line."""
    words = ["any case"] * state.any_case + ["regex"] * state.regex
    told = counts(state.view.hits, state.standing, columns)
    between: list[Piece] = [("  ", "")] if words and told else []
    return [("  ".join(words), "accent"), *between, *told]
