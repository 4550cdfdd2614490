"""Work on many items by several processes: same results, same order, nothing lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from sessionlog.children import Children
from sessionlog.crew import in_order
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


PARENT = """
import os, signal, sys, time
from sessionlog.children import Children

with Children() as children:
    for work in (lambda pipe: pipe.write(bytes(1 << 20)), lambda pipe: time.sleep(60)):
        children.start(work)
    sys.stdout.write("started")
    sys.stdout.flush()
    signal.pause()
"""
"""One child waits for its pipe to be read, the other is at work."""


def test_children_end_when_their_parent_is_killed() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]
    ) as parent:
        assert parent.stdout
        assert parent.stdout.read(7) == b"started"
        parent.send_signal(signal.SIGKILL)
        assert parent.communicate(timeout=30) == (b"", None)  # the children have that pipe, too


def test_children_end_with_a_job_that_breaks_off() -> None:
    reader, writer = os.pipe()

    def job() -> None:
        with Children() as children:
            children.start(lambda pipe: signal.pause())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        job()
    os.close(writer)
    assert os.read(reader, 1) == b""  # no child holds it
    os.close(reader)


def test_tasks_come_in_their_order_from_several_processes() -> None:
    assert list(in_order(ITEMS, lambda item: [item], 3)) == [[item] for item in ITEMS]
