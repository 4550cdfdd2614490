"""The end of the program: its terminal is gone, or the screen was left.

Textual's writer ends at the first write that fails, and what is painted after that fills a queue
that nobody empties: the program would wait in it for good, signals included, while its reader
spins on the end of the input. So a thread waits for the hang-up, asks the program to leave, and
ends it when it does not. And a thread that reads or plans may go on for long when the screen was
left already: nobody waits for that either. (What writes leaves all or nothing.)
"""

from __future__ import annotations

import os
import select
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress

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


def after_leaving(code: int) -> None:
    """The screen is gone: the program ends with this exit code, whatever its threads are at."""
    threading.Thread(target=_end, args=(code,), name="leaving", daemon=True).start()


def _wait(leave: Callable[[], object], fd: int) -> None:
    poll = select.poll()
    poll.register(fd, 0)  # hang-ups and errors are told in any case
    poll.poll()
    with suppress(RuntimeError):  # it was being left already, and its loop is closed
        leave()
    _end(CODE)


def _end(code: int) -> None:
    time.sleep(PATIENCE)
    try:
        for act in _last:
            act()
    finally:
        os._exit(code)
