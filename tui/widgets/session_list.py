"""The pane that lists the sessions: a cursor, a filter, and thousands of rows at no cost.

Only the lines on the screen are made; where each row stands is looked up in an array. The cursor
is on a path, not on a number, so rows that come and go do not move it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from textual import events
from textual.message import Message

from sessionlog.family import Forest
from sessionlog.records import Entry
from sessionlog.text import visible
from tui import entries, kinship
from tui.entries import Rows
from tui.lines import Line
from tui.list_filter import Filter, hidden
from tui.orders import NEWEST, ORDERS, PROJECT, Order, arranged
from tui.signs import WORDS, is_troubled
from tui.widgets.line_widget import LineWidget
from tui.widgets.timeline_told import Told


class SessionList(LineWidget, can_focus=True):
    """The sessions, newest first, by family (forks and resumed logs below their parents) or by
    project."""

    @dataclass(eq=False, repr=False)
    class Moved(Message):
        """The cursor is on another session (None: there is none)."""

        entry: Entry | None

    @dataclass(eq=False, repr=False)
    class Opened(Message):
        """A session was clicked twice."""

        entry: Entry

    def __init__(
        self, *, id: str, clock: Callable[[], float] = time.time, order: str = NEWEST
    ) -> None:
        super().__init__(id=id)
        self._clock = clock
        self._entries: tuple[Entry, ...] = ()
        self._rows = Rows(Order(()), table=False, now=0)
        self._index: dict[str, int] = {}
        self._cursor = ""
        self._chosen = False
        """Somebody put the cursor where it is; until then it goes to the first trouble."""
        self._top = 0
        self._made = (0, "")
        self._mixed = False
        """Are the sessions of several agents?"""
        self._forest: Forest | None = None
        """Of all sessions; made when it is asked for."""
        self.filter = Filter()
        self.order = order
        """One of `orders.ORDERS`."""
        self.looked: tuple[tuple[str, str], ...] | None = None
        """Where nothing was found, with the finding; None while still looking."""
        self.progress = ""

    # -- what it holds -------------------------------------------------------------------------

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All sessions, filtered or not, newest first."""
        return self._entries

    @property
    def selected(self) -> Entry | None:
        """The session under the cursor."""
        rows = self._rows.entries
        return rows[self._at] if rows else None

    @property
    def _at(self) -> int:
        return self._index.get(self._cursor, 0)

    @property
    def place(self) -> str:
        """`6 of 14 · only failed`, for the status line."""
        shown, total = len(self._rows.entries), len(self._entries)
        if not total:
            return ""
        said = f"{self._at + 1 if shown else 0} of {shown:,}"
        if shown != total:
            said += f" · {total:,} in all"
        entry = self.selected
        kin = kinship.told(self.forest, entry) if entry is not None else []
        return " · ".join((said, *self._filtered(), *kin))

    @property
    def forest(self) -> Forest:
        """Which of the sessions came from which."""
        if self._forest is None:
            self._forest = Forest(self._entries)
        return self._forest

    def update(self, found: Sequence[Entry]) -> None:
        """Take the sessions, newest first; the cursor stays on its session."""
        self._entries, self._forest = tuple(found), None
        self._mixed = len({entry.agent for entry in found if entry.status}) > 1
        self._arrange(keep=True)

    def set_filter(self, *, state: str | None = None, text: str | None = None) -> None:
        """Show only some; None leaves that half of the filter as it is."""
        self.filter = replace(
            self.filter,
            state=self.filter.state if state is None else state,
            text=self.filter.text if text is None else text,
        )
        self._arrange(keep=False)

    def widen(self) -> None:
        """Take one half of the filter away, the last that is told of; the other stays."""
        if self.filter.text:
            self.set_filter(text="")
        else:
            self.set_filter(state="")

    def reveal(self, entry: Entry) -> None:
        """Select a session; of the filter stays what lets it through."""
        state, text = self.filter.state, self.filter.text
        self.set_filter(
            state=state if Filter(state=state)(entry) else "",
            text=text if Filter(text=text)(entry) else "",
        )
        self.select(entry.path)

    def choose(self) -> None:
        """While nobody moved the cursor: to the newest session that did not end well, which is
        what one opens the list for; where all did, to the newest."""
        if not self._chosen:
            rows = self._rows.entries
            self._go(next((i for i, entry in enumerate(rows) if is_troubled(entry)), 0))
            self._chosen = False

    def select(self, path: str) -> bool:
        """Put the cursor on the session at `path`; False when it is not shown."""
        if path not in self._index:
            return False
        self._go(self._index[path])
        return True

    # -- moving --------------------------------------------------------------------------------

    def cursor_down(self, n: int = 1) -> None:
        """n sessions down."""
        self._go(self._at + n)

    def cursor_up(self, n: int = 1) -> None:
        """n sessions up."""
        self._go(self._at - n)

    def page_down(self) -> None:
        """A page down."""
        self._by_lines(self._room - 1)

    def page_up(self) -> None:
        """A page up."""
        self._by_lines(1 - self._room)

    def half_page_down(self) -> None:
        """Half a page down."""
        self._by_lines(self._room // 2)

    def half_page_up(self) -> None:
        """Half a page up."""
        self._by_lines(-(self._room // 2))

    def home(self) -> None:
        """To the newest."""
        self._go(0)

    def end(self) -> None:
        """To the oldest."""
        self._go(len(self._rows.entries) - 1)

    def next_session(self) -> None:
        """To the next that did not end well."""
        self._to_trouble(range(self._at + 1, len(self._rows.entries)), "below")

    def prev_session(self) -> None:
        """To the one before that did not end well."""
        self._to_trouble(range(self._at - 1, -1, -1), "above")

    # -- the family ----------------------------------------------------------------------------

    def next_order(self) -> None:
        """Forks and resumed logs below their parents; by project; newest first again."""
        self.order = ORDERS[(ORDERS.index(self.order) + 1) % len(ORDERS)]
        self._arrange(keep=True)

    def to_parent(self) -> None:
        """To the session that this one was made from."""
        self._to(self.selected and self.forest.parent(self.selected))

    def to_kin(self) -> None:
        """To the first session made from this one, else to the next made from its parent."""
        self._to(self.selected and self.forest.onward(self.selected))

    def _to(self, kin: Entry | None) -> None:
        if kin is not None:
            self.select(kin.path)

    def refused(self, id: str) -> str:
        """Why a command cannot act now; "" when it can."""
        if id not in ("to_parent", "to_kin"):
            return ""
        entry = self.selected
        if entry is None:
            return "no session is selected"
        kin = self.forest.parent(entry) if id == "to_parent" else self.forest.onward(entry)
        if kin is None:
            return kinship.alone(entry) if id == "to_parent" else "nothing more was made from it"
        return "" if kin.path in self._index else "the filter hides that session; o a shows all"

    def _to_trouble(self, there: range, where: str) -> None:
        found = next((i for i in there if is_troubled(self._rows.entries[i])), None)
        if found is None:
            self.post_message(Told(f"no trouble {where}"))
        else:
            self._go(found)

    def _by_lines(self, lines: int) -> None:
        if not self._rows.entries:
            return
        y = self._rows.span(self._at)[0] + lines
        self._top = max(0, self._top + lines)
        self._go(self._rows.at(min(max(y, 0), self._rows.height - 1))[0])

    def _go(self, index: int) -> None:
        if not self._rows.entries:
            return
        entry = self._rows.entries[min(max(index, 0), len(self._rows.entries) - 1)]
        moved = entry.path != self._cursor
        self._cursor, self._chosen = entry.path, True
        self._reveal()
        self.refresh()
        if moved:
            self.post_message(self.Moved(entry))

    @property
    def _room(self) -> int:
        return max(self.size.height - 1, 1)

    def _reveal(self) -> None:
        """Scroll as little as shows the row under the cursor."""
        first, after = self._rows.span(self._at)
        if self._at == 0 or first < self._top:
            self._top = first
        elif after > self._top + self._room:
            self._top = after - self._room
        self._top = max(0, min(self._top, self._rows.height - self._room))

    # -- laying out ----------------------------------------------------------------------------

    def _arrange(self, *, keep: bool) -> None:
        """Lay the rows out anew; with `keep` the cursor's row stays where it is on the screen."""
        before, was, old = self.selected, self._rows, self._at
        at_top = self._top == 0
        height = was.span(old)[0] - self._top if was.entries else 0
        now = self._clock()
        self._made = (int(now // 60), self._form())
        order = arranged(filter(self.filter, self._entries), self.order)
        self._rows = Rows(order, table=self._form() == "table", now=now)
        self._index = {entry.path: i for i, entry in enumerate(self._rows.entries)}
        if self._cursor not in self._index:
            gone = min(old if keep else 0, len(self._rows.entries) - 1)
            self._cursor = self._rows.entries[gone].path if gone >= 0 else ""
        if self._rows.entries:
            if keep and not at_top:
                self._top = self._rows.span(self._at)[0] - height
            self._reveal()
        if self.selected is not before:
            self.post_message(self.Moved(self.selected))
        self.refresh()

    def _form(self) -> str:
        return "table" if self.size.width >= entries.TABLE else "list"

    def on_resize(self) -> None:
        """A table or a list, by the width."""
        self._arrange(keep=True)

    def _filtered(self) -> list[str]:
        words = [f"only {WORDS.get(self.filter.state, '')}"] if self.filter.state else []
        return [*words, *([f"“{visible(self.filter.text)}”"] if self.filter.text else [])]

    def lines(self, width: int, height: int) -> list[Line]:
        """Title, then the rows from the top one on."""
        now = self._clock()
        if self._made != (int(now // 60), self._form()):
            self._arrange(keep=True)
        if not self._entries and self.looked is not None:
            return entries.empty(self.looked, width)
        right = " · ".join(self._filtered()) or self._order_words()
        if self.progress:
            right = self.progress
        made = [entries.title(width, self.has_focus, right)]
        if self._entries and not self._rows.entries:
            return made + hidden(len(self._entries), self.filter, width)
        return made + self._row_lines(width, height - 1, now)

    def _order_words(self) -> str:
        """The order; by project, that of the sessions at the top where its rule is out of sight."""
        rows = self._rows
        if self.order != PROJECT or not rows.entries:
            return self.order
        index, part = rows.at(min(self._top, rows.height - 1))
        return self.order if part < 0 else entries.project_of(rows.entries[index])

    def _row_lines(self, width: int, height: int, now: float) -> list[Line]:
        rows = self._rows
        made: list[Line] = []
        if not rows.entries:
            return [Line([(" looking …", "fg-3")])]
        index, part = rows.at(min(self._top, rows.height - 1))
        while len(made) < height + 2 and index < len(rows.entries):
            block = [entries.rule(rows.rules[index], width)] if rows.rules[index] else []
            skip = part + len(block) if not made else 0
            block += entries.lines_of(
                rows.entries[index], width, now, index == self._at, self.has_focus,
                rows.guides[index], self._mixed,
            )  # fmt: skip
            made += block[skip:]
            index += 1
        return made[:height]

    # -- mouse ---------------------------------------------------------------------------------

    def on_click(self, event: events.Click) -> None:
        """Select; twice: open."""
        y = event.y - 1 + self._top
        if event.y < 1 or y >= self._rows.height:
            return
        self._go(self._rows.at(y)[0])
        if event.chain > 1 and self.selected:
            self.post_message(self.Opened(self.selected))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel moves the cursor."""
        event.stop()
        self.cursor_down()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel moves the cursor."""
        event.stop()
        self.cursor_up()
