"""Tasks done by several processes at once, their results in the order of the tasks, as they come.

Each child takes every so manieth task, and waits when its pipe is full, so nothing piles up. Where
forking is not to be had, or a child comes to an unexpected end, the tasks are done here, so that
nothing is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO, TypeVar

from sessionlog.children import Children, give, processes, take

Task = TypeVar("Task")
Result = TypeVar("Result")


def in_order(
    tasks: Sequence[Task], work: Callable[[Task], list[Result]], count: int | None = None
) -> Iterator[list[Result]]:
    """What `work` gives for each task. Results are what `marshal` can carry: plain tuples,
    strings, numbers, None. Closing the iterator ends the children."""
    count = min(count or processes(), len(tasks))
    if count < 2:
        yield from map(work, tasks)
        return

    def start(own: Sequence[Task]) -> BinaryIO:
        def done(pipe: BinaryIO) -> None:
            for task in own:
                give(pipe, work(task))

        return children.start(done).pipe

    with Children() as children:
        pipes = [start(tasks[first::count]) for first in range(count)]
        for number, task in enumerate(tasks):
            found: list[Result] | None = take(pipes[number % count])
            yield work(task) if found is None else found
