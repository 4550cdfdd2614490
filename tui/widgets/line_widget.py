"""The base of our panes: a widget that is a list of Lines and nothing else.

It answers `render_lines` with ready Strips and so leaves out Textual's styles cache, which is most
of the cost of a repaint. The price: no borders, padding or scrollbars (Lines draw what they need)
and no line filters (NO_COLOR has a theme of its own).
"""

from __future__ import annotations

from typing import Self

from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from tui.lines import Line
from tui.paint import Painter, painter


class LineWidget(Widget):
    """A pane of Lines. A subclass gives `lines`, or `line` where each stands for itself, and calls
    `refresh` when they are other ones."""

    DEFAULT_CSS = "LineWidget { width: 1fr; height: 1fr; }"

    _strips: tuple[tuple[int, int, Painter], list[Strip]] | None = None
    """What was painted last, and for which size and colours: the screen asks several times."""

    def lines(self, width: int, height: int) -> list[Line]:
        """The lines of the whole pane, from the top; missing ones are blank."""
        return [self.line(y, width) for y in range(height)]

    def line(self, y: int, width: int) -> Line:
        """One line of the pane."""
        raise NotImplementedError

    @property
    def painter(self) -> Painter:
        """Paints in the app's theme; in one faint tone while a dialog stands in front."""
        app = self.app
        return painter(app.theme, getattr(app, "plain", False), self.screen is not app.screen)

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines of `crop`, painted."""
        width = self.size.width
        strips = self._painted()[crop.y : crop.bottom]
        if crop.x or crop.width != width:
            strips = [strip.crop(crop.x, crop.right) for strip in strips]
        return strips

    def _painted(self) -> list[Strip]:
        width, height = self.size
        paint = self.painter
        key = (width, height, paint)
        if self._strips is None or self._strips[0] != key:
            strips = [paint.strip(line, width) for line in self.lines(width, height)[:height]]
            strips += [paint.blank(width)] * (height - len(strips))
            self._strips = (key, strips)
        return self._strips[1]

    def render_line(self, y: int) -> Strip:
        """One painted line: Textual asks for it when it looks for what is under the mouse."""
        return self._painted()[y]

    def refresh(
        self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False
    ) -> Self:
        """Paint anew."""
        self._strips = None
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def notify_style_update(self) -> None:
        """The theme changed."""
        super().notify_style_update()
        self.refresh()

    def watch_has_focus(self, has_focus: bool) -> None:
        """The cursor and the title of the focused pane look different; styles do not."""
        self.refresh()
