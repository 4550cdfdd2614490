"""What the agent would know now: messages come into the context, resets take them out. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from sessionlog.records import Message, Record, Reset, shown_type

Held = tuple[Record, Message]


class Context:
    """The messages in the context, in the order in which the agent knows them.

    They are told by index among those of the log; a reset may bring others. A message costs one
    step, a reset what it takes out.
    """

    def __init__(self, records: Sequence[Record], held: Sequence[Held]) -> None:
        self.items: list[int | Message] = []
        self._held = held
        self._places = _Places(records)
        self._front = 0
        """So many at the front are out of the log's order."""
        # a summary on a reset's own line, or right behind it, stands before what the reset keeps
        self._line, self._lead, self._fresh = -1, 0, False
        self._behind: frozenset[str] = frozenset()

    def add(self, index: int) -> None:
        """The next message."""
        record, message = self._held[index]
        self._fresh = self._fresh and message.type == "summary"
        own = record.span.offset == self._line and record.key not in self._behind
        if self._fresh or own:
            self.items.insert(self._lead, index)
            self._lead += 1
            self._front = max(self._front + 1, min(self._lead, len(self.items)))
        else:
            self.items.append(index)

    def reset(self, reset: Reset, record: Record, at: int) -> None:
        """A reset, the record with this index."""
        if reset.turns is not None:
            self._take_back(reset.turns)
        else:
            self._keep(reset, *self._places.kept(reset, at))
        self._front = min(self._front, len(self.items))
        self._line, self._lead, self._fresh = record.span.offset, len(reset.context), True
        self._behind = reset.behind

    def _take_back(self, turns: int) -> None:
        left = turns
        for i in range(len(self.items) - 1, -1, -1):
            item = self.items[i]
            message = self._held[item][1] if isinstance(item, int) else item
            if shown_type(message) == "user":
                left -= 1
                if left <= 0:
                    del self.items[i:]
                    return
        if turns > 0:
            self.items.clear()

    def _keep(self, reset: Reset, start: int, end: int) -> None:
        front = [i for i in self.items[: self._front] if isinstance(i, int)]
        front = [i for i in front if start <= self._offset(i) < end]
        del self.items[bisect_left(self.items, end, self._front, key=self._offset) :]
        first = bisect_left(self.items, start, self._front, key=self._offset)
        self.items[:first] = [*reset.context, *front]
        self._front = len(reset.context) + len(front)
        if reset.drop:
            gone = [i for i, item in enumerate(self.items) if self._is_of(item, reset.drop)]
            self._front -= bisect_left(gone, self._front)
            for i in reversed(gone):
                del self.items[i]

    def _is_of(self, item: int | Message, keys: frozenset[str]) -> bool:
        return isinstance(item, int) and self._held[item][0].key in keys

    def _offset(self, item: int | Message) -> int:
        return self._held[item][0].span.offset if isinstance(item, int) else 0


class _Places:
    """Where the records stand that resets name."""

    def __init__(self, records: Sequence[Record]) -> None:
        self._records = records
        self._by_key: dict[str, list[int]] = {}
        self._by_line: dict[int | None, list[int]] = {}

    def kept(self, reset: Reset, at: int) -> tuple[int, int]:
        """The byte offsets between which earlier lines stay in context, by what the reset at index
        `at` names; nothing stays where that is not there."""
        if reset.keep is None and reset.keep_line is None:
            return 0, 0
        self._look()
        first, last = reset.keep or ("", "")
        end = self._records[at].span.offset
        if last:
            found = _before(self._by_key.get(last, ()), at)
            if found < 0:
                return 0, 0
            end, at = self._records[found].span.end, found + 1
        places = self._by_key.get(first) if first else self._by_line.get(reset.keep_line)
        found = _before(places or (), at)
        return (self._records[found].span.offset, end) if found >= 0 else (0, 0)

    def _look(self) -> None:
        """Once, when the first reset asks."""
        if self._by_line:
            return
        for i, record in enumerate(self._records):
            self._by_line.setdefault(record.span.line, []).append(i)
            if record.key:
                self._by_key.setdefault(record.key, []).append(i)


def _before(places: Sequence[int], at: int) -> int:
    """The last of these before `at`; -1 where there is none."""
    found = bisect_left(places, at)
    return places[found - 1] if found else -1
