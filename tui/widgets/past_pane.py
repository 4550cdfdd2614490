"""The detail of a replay: the row as it was then, and below it what the agent knew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.lines import Line
from tui.widgets.detail_pane import DetailPane

if TYPE_CHECKING:
    from tui.knew import Knew

_WIDE = 100
"""Columns from which what was known is one line."""
_LEAST = 6
"""Lines that the row keeps."""


class PastPane(DetailPane):
    """A detail pane that says what was known, and when the result comes."""

    views = ("1 shown", "2 raw", "3 knew")

    def __init__(self, *, id: str, is_always_told: bool = False) -> None:
        """`is_always_told`: what was known stands below the row in the other views, too."""
        super().__init__(id=id)
        self._is_always_told = is_always_told
        self._knew: Knew | None = None
        self._arrives = ""
        self.only_knew = False
        """View 3: what was known, and nothing of the row."""

    @property
    def view(self) -> int:
        """Which of `views` is shown."""
        return 2 if self.only_knew else super().view

    def tell(self, knew: Knew | None, arrives: str) -> None:
        """What the agent knew, and the clock at which the row's result comes ("": it is there, or
        never comes)."""
        if (knew, arrives) != (self._knew, self._arrives):
            self._knew, self._arrives = knew, arrives
            self.refresh()

    def set_knew(self, only: bool) -> None:
        """View 3, or back to the row."""
        self.only_knew = only
        self.refresh()

    def lines(self, width: int, height: int) -> list[Line]:
        below = self._below(width) if self.only_knew or self._is_always_told else []
        if self.only_knew:
            head = super().lines(width, height)[:1]
            return [*head, Line([]), *below][:height]
        if not below:
            return super().lines(width, height)
        made = super().lines(width, max(height - len(below), _LEAST))
        if height - len(below) < _LEAST or not made:
            return made[:height]
        *body, foot = made
        while len(body) > 1 and not body[-1].left:
            body.pop()
        blank = [Line([])] * (height - len(body) - len(below) - 1)
        return [*body, *below, *blank, foot]

    def _below(self, width: int) -> list[Line]:
        lines = []
        if self._arrives:
            lines.append(Line([(" its result arrives at ", "fg-2"), (self._arrives, "fg-1")]))
        if self._knew is not None:
            from tui.knew import said  # the first paint does without

            lines += said(self._knew, self.clock.full, wide=width >= _WIDE)
        return [Line([]), *lines] if lines else []
