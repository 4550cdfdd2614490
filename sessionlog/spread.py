"""One job over many files on all processors, for commands that then end.

Starting a pool would cost more than a listing of ten thousand logs takes. Where forking is not to
be had, or a child comes to an unexpected end, the work is done here instead, so that nothing is
lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import BinaryIO, TypeVar

from sessionlog import children

Result = TypeVar("Result")

FEWEST = 1000
"""Items that make a process of their own worth its start."""


def spread(
    items: Sequence[str],
    work: Callable[[Sequence[str]], list[Result]],
    processes: int | None = None,
) -> list[Result]:
    """`work` over slices of the items, in order. Results are what `marshal` can carry:
    tuples, strings, numbers, None.
    """
    count = processes or min(children.processes(), len(items) // FEWEST)
    if count < 2:
        return work(items)
    size = -(-len(items) // count)
    parts = [items[start : start + size] for start in range(0, len(items), size)]
    with children.Children() as started:
        pipes = [started.start(_given(part, work)).pipe for part in parts[1:]]
        results = work(parts[0])
        for part, pipe in zip(parts[1:], pipes, strict=True):
            found: list[Result] | None = children.take(pipe)
            results += work(part) if found is None else found
    return results


def _given(
    part: Sequence[str], work: Callable[[Sequence[str]], list[Result]]
) -> Callable[[BinaryIO], None]:
    return lambda pipe: children.give(pipe, work(part))
