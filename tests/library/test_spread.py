"""Work on many items by several processes: same results, same order, nothing lost."""

from __future__ import annotations

import os
from collections.abc import Sequence

import pytest

from sessionlog.spread import spread

ITEMS = [str(number) for number in range(101)]


@pytest.mark.parametrize("processes", [1, 2, 3, 7])
def test_results_come_in_the_order_of_the_items(processes: int) -> None:
    assert spread(ITEMS, lambda part: [(item, 1) for item in part], processes) == [
        (item, 1) for item in ITEMS
    ]


def test_the_work_of_a_child_that_dies_is_done_after_all() -> None:
    parent = os.getpid()

    def work(part: Sequence[str]) -> list[str]:
        if os.getpid() != parent:
            os._exit(3)
        return list(part)

    assert spread(ITEMS, work, 4) == ITEMS


def test_a_few_items_are_not_worth_a_process() -> None:
    assert set(spread(ITEMS, lambda part: [os.getpid()] * len(part))) == {os.getpid()}
