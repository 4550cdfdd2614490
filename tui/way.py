"""The way back: from a log to what led to it (a call, a hit, a page), as that was left. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tui.folds import Filter

_DEEP = 16
"""Steps that are remembered."""


class Step(NamedTuple):
    """What led to a log."""

    path: str
    """The log."""
    back: Callable[[], None]
    """Goes there again."""
    caller: str = ""
    """Of a subagent's log: the title of the session whose call started it."""
    filter: Filter = Filter()
    """The rows that were asked for: leaving them is leaving the log."""


class Way:
    """Steps, the last one on top. Another log that is opened by hand ends it."""

    def __init__(self) -> None:
        self._steps: list[Step] = []

    def came(self, step: Step) -> None:
        """Something leads to the log that is opened next."""
        self._steps = [*self._steps, step][-_DEEP:]

    def opened(self, path: str) -> None:
        """A log is opened: what did not lead to it is forgotten."""
        while self._steps and self._steps[-1].path != path:
            self._steps.pop()

    @property
    def last(self) -> Step | None:
        """What led to the log that is open."""
        return self._steps[-1] if self._steps else None

    def back(self) -> None:
        """One step back."""
        if self._steps:
            self._steps.pop().back()
