"""One line to type into: a text to find, a place to go to, a tool's name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from textual import events

from sessionlog.text import visible, width
from tui.lines import Line
from tui.typed_line import TypedLine, drawn
from tui.widgets.line_widget import LineWidget


class Asker(Protocol):
    """Who opened the prompt, and hears what becomes of it. `purpose` is what was asked for."""

    def typed(self, purpose: str, text: str) -> None:
        """The text is another one."""

    def given(self, purpose: str, text: str) -> None:
        """It was answered."""

    def undone(self, purpose: str) -> None:
        """It was left; what its text did is to be undone."""


class Prompt(LineWidget):
    """Shown in the status line's place while it is open. Its own keys only: those of a line
    that is typed, enter, esc.

    It never has the focus. Keys come together (a paste, a macro), and those behind the one that
    opens it are on their way to the focused pane by then: so all of them go that way, and the
    screen, where every one arrives in its turn, gives them to the prompt.
    """

    def __init__(self, asker: Asker, done: Callable[[], object], *, id: str) -> None:
        """`done` takes it away, before the asker hears the answer."""
        super().__init__(id=id)
        self._asker = asker
        self._done = done
        self.purpose = ""
        """What is asked for ("find", "goto", ...); "" while the prompt is closed."""
        self._label = ""
        self._typed = TypedLine()

    def ask(self, purpose: str, label: str, text: str = "") -> None:
        """Open it; what is typed takes the place of `text`."""
        self.purpose, self._label = purpose, label
        self._typed = TypedLine(text, len(text), bool(text))
        self.refresh()

    def close(self) -> None:
        """Take it away."""
        self.purpose = ""

    def press(self, event: events.Key) -> None:
        """Every key is the prompt's while it is open."""
        if event.key in ("ctrl+q", "ctrl+c"):
            return
        event.stop()
        event.prevent_default()
        purpose, text = self.purpose, self._typed.text
        if event.key == "enter":
            self._done()
            self._asker.given(purpose, text)
        elif event.key == "escape":
            self._done()
            self._asker.undone(purpose)
        elif event.is_printable and event.character:
            self._set(self._typed.inserted(event.character))
        else:
            self._set(self._typed.pressed(event.key) or self._typed)

    def paste(self, event: events.Paste) -> None:
        """Text from the clipboard, its first line."""
        event.stop()
        self._set(self._typed.inserted(event.text.strip("\r\n").partition("\n")[0]))

    def _set(self, typed: TypedLine) -> None:
        before, self._typed = self._typed, typed
        self.refresh()
        if typed.text != before.text:
            self._asker.typed(self.purpose, typed.text)

    def lines(self, width_: int, height: int) -> list[Line]:
        """Label, text, caret; of a long text the part around that."""
        label = f" {self._label} "
        text, caret, selected = self._typed
        seen = TypedLine(visible(text), len(visible(text[:caret])), selected)
        pieces = drawn(seen, [(seen.text, "fg-1")], max(width_ - width(label) - 2, 8))
        return [Line([(label, "accent bold"), *pieces], tint="surface")]
