"""What the agent is told, to be edited: a few lines of text in a box."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events, on
from textual.geometry import NULL_OFFSET, NULL_SPACING, Region, Size
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.widget import Widget
from textual.widgets import TextArea

from sessionlog.text import visible
from tui.lines import Line
from tui.screens.dialog import WIDEST, Dialog

_TALLEST = 24
_OWN = ("ctrl+s", "ctrl+enter", "escape")
_AROUND = Region(2, 1, 4, 4)
"""Where the text begins in the box, and how much less of it there is."""


class _Text(TextArea):
    """The editor; what is pasted is made visible, as everything that is shown."""

    DEFAULT_CSS = """
    _Text { border: none; padding: 0; background: $panel; }
    _Text:focus { border: none; }
    _Text .text-area--cursor-line { background: $panel; }
    """

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.insert(visible(event.text, newlines=True))


class _Inside(Layout):
    """The box in the middle, the text inside of it."""

    name = "inside"

    def arrange(
        self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True
    ) -> ArrangeResult:
        """Two placements, the text above."""
        width, height = min(WIDEST, size.width - 4), min(_TALLEST, size.height - 2)
        box = Region((size.width - width) // 2, (size.height - height) // 2, width, height)
        text = Region(box.x + _AROUND.x, box.y + _AROUND.y, width - _AROUND.width,
                      height - _AROUND.height)  # fmt: skip
        regions = (box, text)
        return [
            WidgetPlacement(region, NULL_OFFSET, NULL_SPACING, child, order)
            for order, (region, child) in enumerate(zip(regions, children, strict=True))
        ]


class NoteDialog(Dialog):
    """Answers with the text that is kept; "" means the note that is made from the log."""

    def __init__(self, note: str) -> None:
        super().__init__()
        self._was = visible(note, newlines=True) + "\n"
        self._text = _Text(self._was, id="note", soft_wrap=True, show_line_numbers=False)
        self._asked = False
        self._inside = _Inside()

    @property
    def layout(self) -> Layout:
        """The box and the text."""
        return self._inside

    def compose(self) -> Sequence[Widget]:
        """The box, and the text in front of it."""
        return [self.box, self._text]

    def on_mount(self) -> None:
        """Begin below the last line."""
        self.set_focus(self._text)
        self._text.move_cursor(self._text.document.end)

    @property
    def heading(self) -> str:
        """What it is."""
        return "What the agent is told"

    def body(self, width: int) -> list[Line]:
        """The text stands in front of it."""
        return []

    def hints(self) -> list[tuple[str, str]]:
        """What can be done."""
        if self._asked:
            return [("esc", "leave it as it was"), ("ctrl+s", "keep what you wrote")]
        return [("ctrl+s", "keep"), ("esc", "leave"), ("", "empty: the note made from the log")]

    def takes(self, key: str) -> bool:
        """Keep or leave; all other keys are the text's."""
        return key in _OWN

    def pressed(self, key: str) -> None:
        """Keep it."""
        self.dismiss(self._text.text.strip())

    def leave(self) -> None:
        """Away with it; what was written is thrown away by the second esc only."""
        if self._text.text == self._was or self._asked:
            self.dismiss(None)
        else:
            self._ask(True)

    @on(TextArea.Changed)
    def _changed(self) -> None:
        if self._asked:
            self._ask(False)

    def _ask(self, asked: bool) -> None:
        self._asked = asked
        self.box.refresh()
