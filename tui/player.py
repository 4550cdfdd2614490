"""What the keys of a replay do to its transport, by the names of the table of commands. Pure."""

from __future__ import annotations

from collections.abc import Callable

from tui.moments import Moments
from tui.replay import Transport
from tui.rows import Row

SKIP = 10.0
"""Seconds that an arrow goes."""


class Player:
    """Keys over one transport. What goes row by row pauses; times, speeds and jumps do not."""

    def __init__(
        self,
        transport: Transport,
        moments: Moments,
        row: Callable[[], Row | None],
        room: Callable[[], int],
    ) -> None:
        """`row` is the one that the moment is about, `room` how many rows a page has."""
        self.transport = transport
        self._moments, self._row, self._room = moments, row, room

    def play(self) -> None:
        """Play or pause; at the end, from the start again."""
        transport = self.transport
        if not transport.playing and transport.following is None:
            self.home()
        transport.playing = not transport.playing

    def step(self) -> None:
        """To the next line that shows something."""
        self.transport.step()

    def step_back(self) -> None:
        """To the line before."""
        self.transport.step(forward=False)

    def faster(self) -> None:
        """The next speed up."""
        self.transport.set_pace(self.transport.pace.faster())

    def slower(self) -> None:
        """The next speed down."""
        self.transport.set_pace(self.transport.pace.faster(-1))

    def idle(self) -> None:
        """The next longest silence."""
        self.transport.set_pace(self.transport.pace.next_idle())

    def skip(self) -> None:
        """Some seconds on."""
        self.transport.skip(SKIP)

    def skip_back(self) -> None:
        """Some seconds back."""
        self.transport.skip(-SKIP)

    def home(self) -> None:
        """To the first line."""
        first = self.transport.track.first
        if first is not None:
            self.transport.to(first)

    def end(self) -> None:
        """To the last line."""
        last = self.transport.track.last
        if last is not None:
            self.transport.to(last)

    def cursor_down(self) -> None:
        """To where the next row begins."""
        self._rows(1)

    def cursor_up(self) -> None:
        """To where the row before begins."""
        self._rows(-1)

    def page_down(self) -> None:
        """A page of rows on."""
        self._rows(max(self._room() - 1, 1))

    def page_up(self) -> None:
        """A page of rows back."""
        self._rows(-max(self._room() - 1, 1))

    def half_page_down(self) -> None:
        """Half a page of rows on."""
        self._rows(max(self._room() // 2, 1))

    def half_page_up(self) -> None:
        """Half a page of rows back."""
        self._rows(-max(self._room() // 2, 1))

    def _rows(self, delta: int) -> None:
        self.transport.playing = False
        self.transport.to(self._moments.rows_on(self.transport.beat, self._row(), delta))
