"""Which response answers which request: one rule, kept while records stream by.

By id where both have one, else by equal name and arguments (openzot's rule, which also holds for
the agents that always write ids). The latest open request wins, since a log that replays its
conversation after a reset repeats ids. A trigger never pairs.
"""

from __future__ import annotations

from typing import TypeVar

from sessionlog.records import Activity

_K = TypeVar("_K")


class Pairing:
    """Requests in, the answered one out; holds only what is still open."""

    def __init__(self) -> None:
        self._open: dict[int, Activity] = {}
        self._by_id: dict[str, list[int]] = {}
        self._by_text: dict[tuple[str, str], list[int]] = {}

    def request(self, n: int, activity: Activity) -> None:
        """Message `n` asks for a call."""
        self._open[n] = activity
        if activity.id:
            self._by_id.setdefault(activity.id, []).append(n)
        self._by_text.setdefault(_text(activity), []).append(n)

    def response(self, activity: Activity) -> int | None:
        """Number of the request that this answers, which is open no longer; None: an orphan."""
        n = self._waiting(activity)
        if n is not None:
            asked = self._open.pop(n)
            if asked.id:
                _remove(self._by_id, asked.id, n)
            _remove(self._by_text, _text(asked), n)
        return n

    def _waiting(self, activity: Activity) -> int | None:
        named = self._by_id.get(activity.id) if activity.id else None
        if named:
            return named[-1]
        alike = self._by_text.get(_text(activity), [])
        nameless = next((n for n in reversed(alike) if not self._open[n].id), None)
        if nameless is None and alike and not activity.id:
            return alike[-1]
        return nameless


def _text(activity: Activity) -> tuple[str, str]:
    return activity.name, activity.arguments


def _remove(lists: dict[_K, list[int]], key: _K, n: int) -> None:
    lists[key].remove(n)
    if not lists[key]:
        del lists[key]
