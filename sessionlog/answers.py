"""Which messages begin another answer of the model: one rule, kept while records stream by."""

from __future__ import annotations

from sessionlog.records import Message, shown_type

_UNNAMED = ("native", "chat")
"""Formats that do not say which answer a block belongs to."""


class Answers:
    """Messages of one run in, in order. Keeps some 70 bytes for each answer that has a name."""

    def __init__(self, form: str) -> None:
        self._names: set[int] = set()
        self._unnamed = form in _UNNAMED
        self._after = True

    def is_new(self, message: Message) -> bool:
        """Is it the first block of an answer? Where answers have no names, one begins after
        anything that the model did not say."""
        if message.answer:
            name = hash(message.answer)
            if name in self._names:
                return False
            self._names.add(name)
            return True
        if shown_type(message) not in ("assistant", "reasoning", "call"):
            self._after = True
            return False
        begins, self._after = self._after, False
        return begins and self._unnamed
