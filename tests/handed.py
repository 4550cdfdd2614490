"""Orders for supervisors, and a viewer that can be lost."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from sessionlog.supervise.handle import Order, new_run

TESTS = Path(__file__).parent
VIEWER = """
import signal, sys
sys.path[:0] = sys.argv[1:3]
from pathlib import Path
import trees
from handed import order
from sessionlog.supervise.handle import start
shape, fifo, log, closes = sys.argv[3], Path(sys.argv[4]), Path(sys.argv[5]), len(sys.argv) > 6
wanted = order(trees.command(shape, fifo), log, screen=shape == "terminal", closes=closes)
handle = start(wanted)
signal.pause()
"""
"""A process that hands a tree over and watches it: it is there to be lost."""


def order(argv: list[str], log: Path, **more: Any) -> Order:
    """To run this; headless unless said otherwise."""
    fields: dict[str, Any] = {
        "cwd": "/", "run": new_run(), "session": "20261127-220000", "log": str(log),
        "source": str(log.with_name("source.jsonl")), "agent": "test", "screen": False,
    }  # fmt: skip
    return Order(argv=tuple(argv), **{**fields, **more})


def environment(place: Path) -> dict[str, str]:
    """With a journal below `place`."""
    return {**os.environ, "XDG_STATE_HOME": str(place / "state")}


def viewer(shape: str, fifo: Path, log: Path, closes: bool = False) -> list[str]:
    """The command of a viewer that hands such a tree (trees.py) over."""
    paths = [str(TESTS.parent), str(TESTS), shape, str(fifo), str(log)]
    return [sys.executable, "-c", VIEWER, *paths, *["closes"][:closes]]
