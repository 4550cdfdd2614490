"""The detail pane: one row at length, laid out only as far as it is scrolled.

The lines of a row are an iterator; the pane takes from it what it shows and keeps what it took
for as long as row, width, view and folds are the same. Its head and its last line stand still.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from types import ModuleType
from typing import TYPE_CHECKING, Protocol

from sessionlog.records import Span
from tui.lines import Line, Piece
from tui.rows import Row
from tui.signs import SIGNS
from tui.widgets.line_widget import LineWidget

if TYPE_CHECKING:
    from tui import detail

_TITLED = 14
"""Lines a pane must have to spend one on a title."""


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

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.row: Row | None = None
        self.is_raw = False
        self.is_expanded = False
        self.clock: Callable[[str], str] | None = None
        """How times are shown; set by the screen with the timeline's."""
        self._log: Bytes | None = None
        self._top = 0
        self._head = Line([])
        self._laid: list[Line] = []
        self._rest: Iterator[Line] = iter(())
        self._laid_for: tuple[object, ...] = ()
        self._hit = ""
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
            self._top, self.is_raw, self.is_expanded, self._hit = 0, False, False, ""
        self.row, self._log = row, log
        self._changed()

    def toggle_raw(self) -> None:
        """Between what a record says and how it stands in the file."""
        self.set_view(raw=not self.is_raw)

    def set_view(self, *, raw: bool) -> None:
        """View 1 (shown) or 2 (raw)."""
        if raw != self.is_raw:
            self.is_raw, self._top, self.is_expanded = raw, 0, False
            self._changed()

    def toggle_fold(self) -> None:
        """Everything, or what tells most; in the raw view the bytes as they stand."""
        self.is_expanded = not self.is_expanded
        if self.is_raw:
            self._top = 0
        self._changed()

    def set_clock(self, clock: Callable[[str], str]) -> None:
        """Show times in another way."""
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

    def find(self, text: str) -> bool:
        """Go to the next line that holds `text`, case aside, and underline it in every line."""
        self._hit = text.lower()
        self.refresh()
        return bool(text) and self.find_next()

    def find_next(self) -> bool:
        """The next hit below the first line shown, or from the start again."""
        self._take(None)
        count = len(self._laid)
        for step in range(1, count + 1):
            at = (self._top + step) % count
            if self._hit and self._hit in _text(self._laid[at]).lower():
                self._go(at)
                return True
        return False

    # -- drawing ---------------------------------------------------------------------------

    def lines(self, width: int, height: int) -> list[Line]:
        row = self.row
        if row is None or not self._is_warm:
            return []
        look = self._look(width)
        self._lay_out(look)
        top = [self._head]
        if height >= _TITLED:
            top.insert(0, _detail().title(row, look, focused=self.has_focus))
        elif self.has_focus:
            top = [self._head._replace(left=[SIGNS["cursor"], *self._head.left[1:]])]
        room = max(height - len(top) - 1, 0)
        self._take(self._top + room)
        body = self._laid[self._top : self._top + room]
        if self._hit:
            body = [underlined(line, self._hit) for line in body]
        body += [Line([])] * (room - len(body))
        return [*top, *body, _detail().foot(row)][:height]

    @property
    def _room(self) -> int:
        """Lines of the body that fit."""
        height = self.size.height
        return max(height - (3 if height >= _TITLED else 2), 1)

    def _look(self, width: int) -> detail.Look:
        clock = self.clock or _detail().local_clock
        look: detail.Look = _detail().Look(max(width, 20), self.is_raw, self.is_expanded, clock)
        return look

    def _read(self, span: Span) -> bytes:
        return b"" if self._log is None else self._log.raw(span)

    def _lay_out(self, look: detail.Look) -> None:
        """Begin anew where anything that the lines depend on has changed."""
        key = (self.row, self._log, look)
        if key != self._laid_for and self.row is not None:
            self._laid_for = key
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


def _text(line: Line) -> str:
    return "".join(text for text, _ in line.left)


def underlined(line: Line, hit: str) -> Line:
    """The line with every place underlined where `hit` (in lower case) stands in one piece."""
    pieces: list[Piece] = []
    for text, style in line.left:
        low, at = text.lower(), 0
        if len(low) != len(text):  # a letter that grows in lower case: places would not match
            low = text
        while (found := low.find(hit, at)) >= 0:
            end = found + len(hit)
            pieces += [(text[at:found], style), (text[found:end], f"{style} underline")]
            at = end
        pieces.append((text[at:], style))
    return line._replace(left=[piece for piece in pieces if piece[0]])
