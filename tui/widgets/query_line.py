"""The line that a query is typed into, with what the search says of itself at its right end."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.message import Message

from sessionlog.text import visible, width
from tui.lines import Line, Piece
from tui.query_words import styled
from tui.typed_line import TypedLine, drawn
from tui.widgets.line_widget import LineWidget

_LABEL = "Search all  "


class QueryLine(LineWidget, can_focus=True):
    """Typing and its keys are the line's own while it has the focus; other keys pass."""

    @dataclass(eq=False, repr=False)
    class Changed(Message):
        """Another text stands in the line."""

        text: str

    class Done(Message):
        """On to the hits."""

    def __init__(self, text: str, *, id: str) -> None:
        super().__init__(id=id)
        self._typed = TypedLine(text, len(text), selected=bool(text))
        self._said: list[Piece] = []

    @property
    def text(self) -> str:
        """What stands in the line."""
        return self._typed.text

    def tell(self, said: list[Piece]) -> None:
        """Show this at the right end."""
        if said != self._said:
            self._said = said
            self.refresh()

    def show(self, text: str) -> None:
        """Have another text in the line."""
        self._typed = TypedLine(text, len(text))
        self.refresh()

    def select(self) -> None:
        """What is typed next takes the place of all."""
        self._typed = TypedLine(self.text, len(self.text), selected=bool(self.text))
        self.refresh()

    def on_key(self, event: events.Key) -> None:
        """Type, edit, or go on to the hits."""
        if event.key in ("enter", "tab", "down"):
            self.post_message(self.Done())
        elif event.character and event.is_printable:
            self._set(self._typed.inserted(visible(event.character)))
        elif (edited := self._typed.pressed(event.key)) is not None:
            self._set(edited)
        else:
            return
        event.stop()
        event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        """Text from the clipboard, its first line."""
        event.stop()
        self._set(self._typed.inserted(visible(event.text.strip("\r\n").partition("\n")[0])))

    def _set(self, typed: TypedLine) -> None:
        before, self._typed = self._typed, typed
        self.refresh()
        if typed.text != before.text:
            self.post_message(self.Changed(typed.text))

    def lines(self, width_: int, height: int) -> list[Line]:
        """Label, text, caret; of a long text the part around the caret."""
        focused = self.has_focus
        gutter: Piece = ("▌", "accent") if focused else (" ", "")
        room = width_ - len(_LABEL) - 3 - sum(width(text) for text, _ in self._said)
        pieces = (
            drawn(self._typed, styled(self.text), max(room, 8)) if focused else styled(self.text)
        )
        right = [("  ", ""), *self._said, (" ", "")]
        return [Line([gutter, (_LABEL, "fg-2"), *pieces], right, "surface")]
