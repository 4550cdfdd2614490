"""The end of a terminal: its window was closed, or its connection dropped.

Textual's writer ends at the first write that fails, and what is painted after that fills a queue
that nobody empties: the program would wait in it for good, signals included, while its reader
spins on the end of the input. So a thread waits for the hang-up, asks the program to leave, and
ends it when it does not.
"""

from __future__ import annotations

import os
import select
import sys
import threading
import time
from collections.abc import Callable

PATIENCE = 1.0
"""Seconds in which the program may leave by itself."""
CODE = 129
"""Exit code of a program whose terminal hung up, as shells have it."""

_last: list[Callable[[], object]] = []


def before_the_end(act: Callable[[], object]) -> None:
    """What must be done even when the program is ended: stop a process of ours, say."""
    _last.append(act)


def watch(leave: Callable[[], object], fd: int = 0) -> None:
    """Watch the terminal at `fd` in a thread of its own, which costs nothing until it is gone."""
    if sys.platform == "linux":  # elsewhere poll does not tell of terminals
        threading.Thread(target=_wait, args=(leave, fd), name="hangup", daemon=True).start()


def _wait(leave: Callable[[], object], fd: int) -> None:
    poll = select.poll()
    poll.register(fd, 0)  # hang-ups and errors are told in any case
    poll.poll()
    leave()
    time.sleep(PATIENCE)
    for act in _last:
        act()
    os._exit(CODE)
