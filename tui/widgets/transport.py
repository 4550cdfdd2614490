"""The bar of a replay: a rule, how it plays and where it is, and the run as one line."""

from __future__ import annotations

from collections.abc import Callable

from tui.deck_lines import Playing, state_line
from tui.lines import Line
from tui.widgets.line_widget import LineWidget


class TransportBar(LineWidget):
    """Three lines: a rule, the state, the run with the place in it."""

    DEFAULT_CSS = "TransportBar { height: 3; }"

    def __init__(self, run: Callable[[int], Line], *, id: str) -> None:
        """`run` draws the run in so many columns; it is asked again at each `tell`."""
        super().__init__(id=id)
        self._run = run
        self._state = Playing()

    @property
    def state(self) -> Playing:
        """What is told now."""
        return self._state

    def tell(self, state: Playing, *, moved: bool = False) -> None:
        """Say where the replay is; paints where that reads otherwise, or the place `moved`."""
        old, self._state = self._state, state
        if moved or state_line(old, self.size.width) != state_line(state, self.size.width):
            self.refresh()

    def lines(self, width: int, height: int) -> list[Line]:
        rule = Line([("─" * width, "line")])
        return [rule, state_line(self._state, width), self._run(width)][-height:]
