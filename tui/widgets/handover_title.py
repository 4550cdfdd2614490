"""What is handed over to whom, and below it what stands in the way."""

from __future__ import annotations

from tui.lines import Line
from tui.widgets.line_widget import LineWidget


class HandoverTitle(LineWidget):
    """As high as it has lines."""

    def __init__(self, first: Line, *, id: str) -> None:
        super().__init__(id=id)
        self._lines = [first]

    @property
    def height(self) -> int:
        """Lines that it takes."""
        return len(self._lines)

    def show(self, lines: list[Line]) -> None:
        """Other lines."""
        self._lines = lines
        self.refresh()

    def lines(self, width: int, height: int) -> list[Line]:
        """As they are."""
        return self._lines
