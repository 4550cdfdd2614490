"""A box in front of the browser, which stands behind it in one faint tone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import events
from textual.await_complete import AwaitComplete
from textual.geometry import NULL_OFFSET, NULL_SPACING, Region, Size
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widget import Widget

from sessionlog.text import width as columns_of
from tui.lines import Line, Piece, fitted
from tui.screens.front import is_in_front
from tui.widgets.line_widget import LineWidget

WIDEST = 96
_KEYS_ROOM = 4
"""Lines of a box that are not its body: frame, keys, and the air above them."""


class Box(LineWidget):
    """The frame with the body's lines, scrolled where they do not fit, and the keys below."""

    def __init__(self, dialog: Dialog) -> None:
        super().__init__(id="box")
        self._dialog = dialog
        self.top = 0

    def lines(self, width: int, height: int) -> list[Line]:
        """Title, body, keys."""
        body = self._dialog.body(width - 4)
        room = max(height - _KEYS_ROOM, 1)
        self.top = max(0, min(self.top, len(body) - room))
        inner = body[self.top : self.top + room]
        part = f"{self.top + 1} to {self.top + len(inner)} of {len(body)}"
        inner += [Line([])] * (room - len(inner))
        keys = self._keys(part if len(body) > room else "", width - 4)
        return framed(self._dialog.heading, [*inner, Line([]), keys], width)

    def _keys(self, part: str, width: int) -> Line:
        """As many as fit, close together where that helps, and always the last: how to leave."""
        hints, room = self._dialog.hints(), width - columns_of(part)
        for air in ("   ", "  "):
            if sum(columns_of(f"{key} {title}{air}") for key, title in hints) <= room:
                break
        while len(hints) > 1 and sum(columns_of(f"{k} {t}{air}") for k, t in hints) > room:
            hints.pop(-2)
        pieces: list[Piece] = []
        for key, title in hints:
            pieces += [(key, "fg-1 bold"), (f" {title}{air}", "fg-2")]
        return Line(pieces, [(part, "fg-3")] if part else [])


class _Middle(Layout):
    """The box in the middle, as high as its body needs."""

    name = "middle"

    def __init__(self, height: Callable[[int], int]) -> None:
        self._height = height

    def arrange(
        self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True
    ) -> ArrangeResult:
        """One placement."""
        width = min(WIDEST, size.width - 4)
        height = min(self._height(width - 4) + _KEYS_ROOM, size.height - 2)
        region = Region((size.width - width) // 2, (size.height - height) // 2, width, height)
        return [WidgetPlacement(region, NULL_OFFSET, NULL_SPACING, child) for child in children]


class Dialog(ModalScreen[str | None], inherit_bindings=False):
    """Answers with the path of a new log, or None. A subclass gives title, body, keys."""

    DEFAULT_CSS = "Dialog { background: transparent; }"
    AUTO_FOCUS = ""
    ALLOW_SELECT = False

    def __init__(self) -> None:
        super().__init__()
        self.box = Box(self)
        self._middle = _Middle(lambda width: len(self.body(width)))

    @property
    def layout(self) -> Layout:
        """The box in the middle."""
        return self._middle

    def compose(self) -> Sequence[Widget]:
        """The box alone."""
        return [self.box]

    @property
    def heading(self) -> str:
        """Stands in the frame."""
        return ""

    def render_lines(self, crop: Region) -> list[Strip]:
        """What stands behind, whose panes paint themselves faint now."""
        stack = self.app.screen_stack
        at = stack.index(self) if self in stack else 0
        if at == 0:  # it has left, and is asked once more
            return [Strip.blank(crop.width)] * crop.height
        behind = stack[at - 1]
        # Textual has no public way to it. It is as large as it was when it was laid out last: a
        # terminal that grew since leaves it smaller than this
        painted = behind._compositor
        strips = painted.render_strips(painted.size)[crop.y : crop.bottom]
        shown = [strip.adjust_cell_length(crop.right).crop(crop.x, crop.right) for strip in strips]
        return shown + [Strip.blank(crop.width)] * (crop.height - len(shown))

    def body(self, width: int) -> list[Line]:
        """What the box says."""
        raise NotImplementedError

    def hints(self) -> list[tuple[str, str]]:
        """Keys and what they do, for the last line."""
        return [("esc", "leave")]

    def pressed(self, key: str) -> None:
        """A key that the dialog itself does not know."""

    def takes(self, key: str) -> bool:
        """Is the key the dialog's, not that of a part with the focus?"""
        return True

    def leave(self) -> None:
        """esc was pressed."""
        self.dismiss(None)

    def on_key(self, event: events.Key) -> None:
        """Every key that it takes is the dialog's."""
        if event.key in ("ctrl+q", "ctrl+c") or not self.takes(event.key):
            return
        event.stop()
        event.prevent_default()
        if not is_in_front(self):
            return
        if event.key == "escape":
            self.leave()
        else:
            printable = event.character if event.is_printable else None
            self.pressed(printable or event.key)

    def dismiss(self, result: str | None = None) -> AwaitComplete:
        """Leave, if that is not under way already."""
        return super().dismiss(result) if is_in_front(self) else AwaitComplete()

    def scroll_box(self, lines: int) -> None:
        """Scroll the body."""
        self.box.top = max(0, self.box.top + lines)
        self.box.refresh()

    def renew(self) -> None:
        """The body is another one: its height may be, too."""
        self.box.refresh(layout=True)


def framed(title: str, lines: list[Line], width: int) -> list[Line]:
    """Lines in a frame of `width` columns."""
    rest = max(width - columns_of(title) - 5, 0)
    top: list[Piece] = [("┌─ ", "accent"), (title, "accent bold"), (f" {'─' * rest}┐", "accent")]
    made = [Line(top, tint="panel")]
    for line in lines:
        tint = line.tint if line.tint.startswith(("tint", "sel")) else "panel"
        inner = [("│ ", "accent"), *fitted(line, width - 4), (" │", "accent")]
        made.append(Line(inner, tint=tint))
    made.append(Line([("└" + "─" * (width - 2) + "┘", "accent")], tint="panel"))
    return made
