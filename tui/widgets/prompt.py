"""One line to type into: a text to find, a place to go to, a tool's name."""

from __future__ import annotations

from textual import events

from sessionlog.text import clip, visible, width
from tui import messages
from tui.lines import Line
from tui.widgets.line_widget import LineWidget


class Prompt(LineWidget, can_focus=True):
    """Shown in the status line's place while it is open. Its own keys only: type, backspace,
    ctrl+u, ctrl+w, enter, esc."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.purpose = ""
        """What is asked for ("find", "goto", ...); "" while the prompt is closed."""
        self._label = ""
        self._text = ""

    def ask(self, purpose: str, label: str, text: str = "") -> None:
        """Open it."""
        self.purpose, self._label, self._text = purpose, label, text
        self.refresh()

    def close(self) -> None:
        """Take it away."""
        self.purpose = ""

    def on_key(self, event: events.Key) -> None:
        """Every key is the prompt's while it is open."""
        if event.key in ("ctrl+q", "ctrl+c"):
            return
        event.stop()
        event.prevent_default()
        if event.key == "enter":
            self.post_message(messages.Given(self.purpose, self._text))
        elif event.key == "escape":
            self.post_message(messages.Left(self.purpose))
        else:
            self._type(event)

    def on_paste(self, event: events.Paste) -> None:
        """Text from the clipboard, its first line."""
        event.stop()
        self._set(self._text + event.text.partition("\n")[0])

    def _type(self, event: events.Key) -> None:
        if event.key == "backspace":
            self._set(self._text[:-1])
        elif event.key == "ctrl+u":
            self._set("")
        elif event.key == "ctrl+w":
            self._set(self._text.rstrip().rpartition(" ")[0])
        elif event.character and event.is_printable:
            self._set(self._text + event.character)

    def _set(self, text: str) -> None:
        if text != self._text:
            self._text = text
            self.refresh()
            self.post_message(messages.Typed(self.purpose, text))

    def lines(self, width_: int, height: int) -> list[Line]:
        """Label, text, caret; of a long text its end."""
        label = f" {self._label} "
        text = visible(self._text)
        room = width_ - width(label) - 2
        while width(text) > room:
            text = text[max(1, len(text) - room) :]
        return [Line([(label, "accent bold"), (clip(text, room), "fg-1"), (" ", "reverse")],
                     tint="surface")]  # fmt: skip
