"""The detail pane: one row at length, laid out only as far as it is scrolled.

The lines of a row are an iterator; the pane takes from it what it shows and keeps what it took
for as long as row, width, view and folds are the same. Its head and its last line stand still.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from math import inf
from types import ModuleType
from typing import TYPE_CHECKING, Protocol

from sessionlog.records import Span
from tui.lines import Line
from tui.marking import Marker, marked
from tui.row_lines import Clock
from tui.rows import Row
from tui.signs import SIGNS
from tui.widgets.line_widget import LineWidget

if TYPE_CHECKING:
    from tui import detail

_TITLED = 14
"""Lines a pane must have to spend one on a title."""
_LOOKED = 2000
"""Lines that are looked through for the first hit of a row before it is shown from its start."""


@cache
def _detail() -> ModuleType:
    """Diffs, Markdown and JSON are loaded after the first paint, which does without them."""
    from tui import detail

    return detail


class Bytes(Protocol):
    """What the pane needs of an open log."""

    def raw(self, span: Span) -> bytes:
        """The bytes of a record as they stand in the file."""


class DetailPane(LineWidget, can_focus=True):
    """Shows one row; keys call its methods."""

    views: Sequence[str] = ("1 shown", "2 raw")

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.row: Row | None = None
        self.is_raw = False
        self.is_expanded = False
        self.clock = Clock()
        """How times are shown: as where the row was chosen, so the screen sets it with each."""
        self._log: Bytes | None = None
        self._top = 0
        self._head = Line([])
        self._laid: list[Line] = []
        self._rest: Iterator[Line] = iter(())
        self._laid_for: tuple[object, ...] = ()
        self._marker: Marker | None = None
        self._hit = -1
        """The line of the hit that was gone to; -1 before the first."""
        self._is_unsought = False
        """The row's first hit is to be gone to."""
        self._is_warm = False

    def on_mount(self) -> None:
        """Stay empty for the first paint of all."""
        self.call_after_refresh(self._warm_up)

    def _warm_up(self) -> None:
        _detail()
        self._is_warm = True
        self.refresh()

    # -- what is shown ---------------------------------------------------------------------

    def show(self, row: Row | None, log: Bytes | None) -> None:
        """Show a row of a log; the same row again (a live call got its result) stays in place."""
        if row == self.row and log is self._log:
            return
        if row is None or self.row is None or row.place != self.row.place or log is not self._log:
            self._top, self.is_raw, self.is_expanded = 0, False, False
            self._seek()
        self.row, self._log = row, log
        self._changed()

    @property
    def view(self) -> int:
        """Which of `views` is shown."""
        return int(self.is_raw)

    def toggle_raw(self) -> None:
        """Between what a record says and how it stands in the file."""
        self.set_view(raw=not self.is_raw)

    def set_view(self, *, raw: bool) -> None:
        """View 1 (shown) or 2 (raw)."""
        if raw != self.is_raw:
            self.is_raw, self._top, self.is_expanded = raw, 0, False
            self._seek()
            self._changed()

    def toggle_fold(self) -> None:
        """Everything, or what tells most; in the raw view the bytes as they stand."""
        self.is_expanded = not self.is_expanded
        if self.is_raw:
            self._top = 0
        self._changed()

    def set_clock(self, clock: Clock) -> None:
        """Show times so."""
        if clock != self.clock:
            self.clock = clock
            self._changed()

    # -- scrolling -------------------------------------------------------------------------

    def scroll_lines(self, count: int) -> None:
        """So many lines down, or up where negative."""
        self._go(self._top + count)

    def scroll_pages(self, count: float) -> None:
        """So many pages down or up; half a page is 0.5."""
        self._go(self._top + round(count * max(self._room - 1, 1)))

    def scroll_to_start(self) -> None:
        self._go(0)

    def scroll_to_end(self) -> None:
        """Lays out the whole body: the end of a line of megabytes takes its time, once."""
        self._take(None)
        self._go(len(self._laid))

    @property
    def position(self) -> tuple[int, int, bool]:
        """First line shown, lines laid out so far, and whether that is all of them."""
        return self._top, len(self._laid), self._take(len(self._laid) + 1)

    # -- hits ------------------------------------------------------------------------------

    def mark(self, marker: Marker | None) -> None:
        """Mark every hit in what is shown, and go to the first one of this row and of later
        ones, unfolding a row that hides it; None ends that."""
        if marker is not self._marker:
            self._marker = marker
            self._seek()
            self.refresh()

    def find_next(self) -> bool:
        """To the next hit of the row; False when there is none further on."""
        return self._found(1)

    def find_prev(self) -> bool:
        """To the hit of the row before; False when there is none."""
        return self._found(-1)

    def _found(self, step: int) -> bool:
        found = self._find(step)
        self.refresh()
        return found

    def _seek(self) -> None:
        self._hit, self._is_unsought = -1, self._marker is not None

    def _find(self, step: int, most: float = inf) -> bool:
        """To the next line with a hit, looking through at most so many."""
        at = self._hit if self._hit >= 0 else self._top - (step > 0)
        while 0 <= (at := at + step) < most:
            self._take(at + 2)
            if at >= len(self._laid):
                break
            if self._places(at, 1)[0]:
                self._hit = at
                self._reveal(at)
                return True
        return False

    def _sought(self) -> None:
        """Go to the row's first hit; where it is folded away, unfold."""
        self._is_unsought = False
        row, marker = self.row, self._marker
        if row is None or marker is None or self._find(1, _LOOKED) or self.is_expanded:
            return
        if any(map(marker.in_record, row.records)):
            self.is_expanded = True
            if not self._find(1, _LOOKED):
                self.is_expanded = False

    def _reveal(self, at: int) -> None:
        """Have a line in the pane: at a third of it, where it was not."""
        if self._top <= at < self._top + self._room:
            return
        top = max(at - self._room // 3, 0)
        self._take(top + self._room)
        self._top = min(top, max(len(self._laid) - self._room, 0))

    def _places(self, first: int, count: int) -> list[list[tuple[int, int]]]:
        """Places of the hits in so many of the lines that are laid out."""
        from tui.joints import places_in

        if self._marker is None:
            return [[]] * count
        before = min(first, 1)
        lines = self._laid[first - before : first + count + 1]
        return places_in(lines, self._marker, self.size.width)[before : before + count]

    def _marked(self, body: list[Line]) -> list[Line]:
        """The lines of the body that are shown, hits marked, the one gone to on a ground."""
        made = []
        places = self._places(self._top, len(body))
        for at, (line, found) in enumerate(zip(body, places, strict=False), self._top):
            tint = "sel" if at == self._hit and self.has_focus else line.tint
            made.append(Line(marked(line.left, found), line.right, tint) if found else line)
        return made

    # -- drawing ---------------------------------------------------------------------------

    def lines(self, width: int, height: int) -> list[Line]:
        row = self.row
        if row is None or not self._is_warm:
            return []
        look = self._look(width)
        self._lay_out(look)
        top = [self._head]
        if height >= _TITLED:
            top.insert(0, _detail().title(row, self.views, self.view, focused=self.has_focus))
        elif self.has_focus:
            top = [self._head._replace(left=[SIGNS["cursor"], *self._head.left[1:]])]
        room = max(height - len(top) - 1, 0)
        if self._is_unsought:
            self._sought()
        self._take(self._top + room + 1)
        body = self._laid[self._top : self._top + room]
        if self._marker is not None:
            body = self._marked(body)
        body += [Line([])] * (room - len(body))
        return [*top, *body, _detail().foot(row, width)][:height]

    @property
    def _room(self) -> int:
        """Lines of the body that fit."""
        height = self.size.height
        return max(height - (3 if height >= _TITLED else 2), 1)

    def _look(self, width: int) -> detail.Look:
        made: detail.Look
        made = _detail().Look(max(width, 20), self.is_raw, self.is_expanded, self.clock.full)
        return made

    def _read(self, span: Span) -> bytes:
        return b"" if self._log is None else self._log.raw(span)

    def _lay_out(self, look: detail.Look) -> None:
        """Begin anew where anything that the lines depend on has changed."""
        key = (self.row, self._log, look)
        if key != self._laid_for and self.row is not None:
            self._laid_for, self._hit = key, -1
            self._head = _detail().head(self.row, self._read, look)
            self._laid, self._rest = [], _detail().body(self.row, self._read, look)

    def _take(self, count: int | None) -> bool:
        """Have at least `count` lines (None: all); True where there are no more."""
        if self.row is not None:
            self._lay_out(self._look(self.size.width))
        want = None if count is None else max(count - len(self._laid), 0)
        before = len(self._laid)
        self._laid += islice(self._rest, want)
        return want is None or len(self._laid) - before < want

    def _go(self, top: int) -> None:
        """Scroll so that `top` is the first line, as far as there are lines."""
        top = max(top, 0)
        self._take(top + self._room)
        top = min(top, max(len(self._laid) - self._room, 0))
        if top != self._top:
            self._top = top
            self.refresh()

    def _changed(self) -> None:
        self._laid_for = ()
        self.refresh()
