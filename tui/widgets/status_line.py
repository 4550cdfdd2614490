"""The line above the keys: place and state of what has the focus, and what must not be missed."""

from __future__ import annotations

from sessionlog.text import visible
from tui.lines import Line, Piece
from tui.widgets.line_widget import LineWidget


class StatusLine(LineWidget):
    """Warnings are amber and bold (a sign would be that of a session) and stay until they are
    dealt with; an answer to a key goes with the next key, or with a warning that comes after it:
    it may be what has become of it."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._place = ""
        self._state: list[Piece] = []
        self._answer = ""
        self._warnings: list[str] = []

    @property
    def warnings(self) -> tuple[str, ...]:
        """What nobody has dealt with yet, oldest first."""
        return tuple(self._warnings)

    def tell(self, place: str, state: list[Piece]) -> None:
        """Where the cursor is, and at the right edge how things stand. Visible text."""
        if (place, state) != (self._place, self._state):
            self._place, self._state = place, state
            self.refresh()

    def answer(self, text: str) -> None:
        """Say why a key did nothing, or what it did; "" takes it away."""
        if text != self._answer:
            self._answer = visible(text)
            self.refresh()

    def warn(self, text: str) -> None:
        """Something that must be seen. The same words are said once."""
        self.answer("")
        text = visible(text)
        if text not in self._warnings:
            self._warnings.append(text)
            self.refresh()

    def unwarn(self, text: str) -> None:
        """What was warned of is over."""
        text = visible(text)
        if text in self._warnings:
            self._warnings.remove(text)
            self.refresh()

    def dealt_with(self) -> bool:
        """Take the oldest warning away; False when there is none."""
        if not self._warnings:
            return False
        self._warnings.pop(0)
        self.refresh()
        return True

    def lines(self, width: int, height: int) -> list[Line]:
        """An answer first, then warnings, else the place."""
        right = [("  ", ""), *self._state, (" ", "")]
        if self._answer:
            return [Line([(f" {self._answer}", "fg-1")], right)]
        if self._warnings:
            more = f" (+{len(self._warnings) - 1})" if len(self._warnings) > 1 else ""
            seen = [(more, "open"), ("  esc", "fg-1 bold"), (" seen ", "fg-2")]
            return [Line([(f" {self._warnings[0]}", "open bold")], [*seen, *right])]
        return [Line([(f" {self._place}", "fg-2")], right)]
