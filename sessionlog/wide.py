"""The search of the command: over all processors, for ten thousand logs or one very large one.

Gives what `search.search_logs` gives, in the same order. Small logs are searched in bundles, a
large one in parts; numbers in large ones are counted afterwards, and only as far as there are hits.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sessionlog import children, crew
from sessionlog.counting import Count, count_of
from sessionlog.errors import NotALog, Unreadable
from sessionlog.hit import Hit, Progress
from sessionlog.listing import glance, with_life
from sessionlog.logfile import open_log
from sessionlog.numbers import Numbers
from sessionlog.query import Query
from sessionlog.regions import line_from, regions
from sessionlog.search import Part, search_log, search_logs
from sessionlog.source import format_of
from sessionlog.window import Strip

PART = 16 << 20
"""Bytes of a part of a large log, and of a bundle of small ones; twice as much is worth more than
one process."""
_BUNDLE = 256
"""Logs in a bundle."""

Told = tuple[bool, tuple[object, ...]]
"""A hit (True) or a word of progress, as pipes carry it."""


class Task(NamedTuple):
    """Some whole logs, or a part of one."""

    paths: tuple[str, ...]
    part: Part | None = None


def search_wide(
    paths: Sequence[str],
    query: Query,
    *,
    within: int | None = None,
    part: int = PART,
    processes: int | None = None,
) -> Iterator[Hit | Progress]:
    """The hits in these logs, all of them, in this order. See `search.search_logs`."""
    listed = list(paths)
    sizes = [_size(path) for path in listed]
    processes = processes or children.processes()
    if sum(sizes) < 2 * part or processes < 2:
        yield from search_logs(listed, query, most=None, within=within)
        return
    tasks = list(_tasks(listed, sizes, query, part))
    done = 0
    numbers = _Placed(within, part, processes)
    answers = crew.in_order(tasks, lambda task: _work(task, query, within), processes)
    try:
        for task, told in zip(tasks, answers, strict=True):
            whole = task.part is None or task.part.stop is None
            for is_hit, values in told:
                if is_hit:
                    hit = Hit(*values)  # type: ignore[arg-type]
                    yield hit if task.part is None else numbers.placed(hit)
                else:
                    progress = Progress(*values)  # type: ignore[arg-type]
                    done += progress.logs_read if whole else 0
                    yield progress._replace(logs_read=done, logs=len(listed))
    finally:
        numbers.close()
        answers.close()  # type: ignore[attr-defined]


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _tasks(paths: Sequence[str], sizes: Sequence[int], query: Query, most: int) -> Iterator[Task]:
    """Bundles and parts, in order; what the filters on sessions hold back is in none."""
    bundle: list[str] = []
    weight = 0
    for path, size in zip(paths, sizes, strict=True):
        if size > 2 * most:
            if bundle:
                yield Task(tuple(bundle))
                bundle, weight = [], 0
            if _admits(path, query):
                yield from _parts(path, size, most)
            continue
        bundle.append(path)
        weight += size
        if weight >= most or len(bundle) == _BUNDLE:
            yield Task(tuple(bundle))
            bundle, weight = [], 0
    if bundle:
        yield Task(tuple(bundle))


def _parts(path: str, size: int, most: int) -> Iterator[Task]:
    starts = range(0, size, most)
    for start in starts:
        stop = None if start == starts[-1] else start + most
        yield Task((path,), Part(start, stop))


def _admits(path: str, query: Query) -> bool:
    if not (query.status or query.agents or query.after):
        return True
    return query.admits(with_life([glance(path)])[0])


def _work(task: Task, query: Query, within: int | None) -> list[Told]:
    """The hits of a task, and the last word of progress of each log."""
    if task.part is None:
        found = search_logs(task.paths, query, most=None, within=within)
    else:
        found = search_log(task.paths[0], query, most=None, within=0, part=task.part)
    told: list[Told] = []
    read = 0
    for item in found:
        if isinstance(item, Hit):
            told.append((True, tuple(item)))
        elif item.logs_read > read:
            told.append((False, tuple(item._replace(logs_read=item.logs_read - read))))
            read = item.logs_read
    return told


class _Placed:
    """Numbers for the hits of large logs, one log after the other."""

    def __init__(self, within: int | None, part: int, processes: int) -> None:
        self._within, self._part, self._processes = within, part, processes
        self._numbers: Numbers | None = None

    def placed(self, hit: Hit) -> Hit:
        """The hit with its numbers, where they are asked for."""
        if self._within is not None and hit.offset >= self._within:
            return hit
        if self._numbers is None or self._numbers.path != hit.path:
            self.close()
            try:
                self._numbers = Numbers(hit.path)
            except (Unreadable, NotALog):
                return hit  # it went away meanwhile
        self._count_to(self._numbers, hit.offset)
        return self._numbers.numbered(hit)

    def _count_to(self, numbers: Numbers, offset: int) -> None:
        """Count what stands before a place, over all processors where there is much of it."""
        start, count = numbers.counter.last
        stops = list(range(start + self._part, offset, self._part))
        if len(stops) < 2:
            return

        def work(task: tuple[int, int]) -> list[tuple[int, int, int]]:
            return [counted(numbers.path, *task)]

        tasks = list(zip([start, *stops[:-1]], stops, strict=True))
        for [(end, lines, messages)] in crew.in_order(tasks, work, self._processes):
            count = count.plus(Count(lines, messages))
            numbers.counter.note(end, count)

    def close(self) -> None:
        if self._numbers is not None:
            self._numbers.close()
        self._numbers = None


def counted(path: str, start: int, stop: int) -> tuple[int, int, int]:
    """(end, lines, messages) of the lines that begin in [start, stop) of a log; they end there."""
    strip = Strip(open_log(path))
    try:
        form = format_of(path, strip.fd)
        count = Count()
        end = at = line_from(strip, start)
        for region in regions(strip, at, stop):
            count = count.plus(count_of(form, region))
            end = region.offset + (region.long + 1 if region.long else region.end)
    finally:
        strip.close()
    return end, count.lines, count.messages
