"""Which response answers which request: one rule, kept while records stream by.

By id where both have one, else by equal name and arguments (openzot's rule, which also holds for
the agents that always write ids). The latest open request wins, since a log that replays its
conversation after a reset repeats ids. A trigger never pairs. In a log that is a tree the links
tell the order, so there a response may stand a few lines before its request.
"""

from __future__ import annotations

from typing import TypeVar

from sessionlog.records import Activity, Record

_K = TypeVar("_K")

AHEAD = 64
"""Lines that a record of a tree may stand before the one that it follows."""


class Pairing:
    """Requests in, the answered one out; holds only what is still open."""

    def __init__(self) -> None:
        self._open: dict[int, Activity] = {}
        self._by_id: dict[str, list[int]] = {}
        self._by_text: dict[tuple[str, str], list[int]] = {}
        self._early: dict[str, tuple[int, int]] = {}
        """Number and line of the last response with an id that nothing before it asked for."""

    def request(self, n: int, activity: Activity, record: Record | None = None) -> int | None:
        """Message `n` asks for a call. Number of a response to it that stands before it, where
        its `record` is of a tree; None: it waits for one."""
        if record is not None and record.parent is not None and activity.id in self._early:
            early, line = self._early.pop(activity.id)
            if record.span.line - line <= AHEAD:
                return early
        self._open[n] = activity
        if activity.id:
            self._by_id.setdefault(activity.id, []).append(n)
        self._by_text.setdefault(_text(activity), []).append(n)
        return None

    def early(self, n: int, activity: Activity, record: Record) -> bool:
        """Message `n` is a response that nothing asked for yet: may that come?"""
        if not activity.id or record.parent is None:
            return False
        self._early[activity.id] = n, record.span.line
        return True

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
