"""The base of our panes: a widget that is a list of Lines and nothing else.

It answers `render_lines` with ready Strips and so leaves out Textual's styles cache, which is most
of the cost of a repaint. The price: no borders, padding or scrollbars (Lines draw what they need)
and no line filters (NO_COLOR has a theme of its own).
"""

from __future__ import annotations

from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from tui.lines import Line
from tui.paint import Painter, painter


class LineWidget(Widget):
    """A pane of Lines. A subclass gives `lines`, or `line` where each stands for itself."""

    DEFAULT_CSS = "LineWidget { width: 1fr; height: 1fr; }"

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
        width, height = self.size
        paint = self.painter
        lines = self.lines(width, height)[: crop.bottom]
        strips = [paint.strip(line, width) for line in lines[crop.y :]]
        if len(strips) < crop.height:
            strips += [paint.blank(width)] * (crop.height - len(strips))
        if crop.x or crop.width != width:
            strips = [strip.crop(crop.x, crop.right) for strip in strips]
        return strips

    def render_line(self, y: int) -> Strip:
        """One painted line: Textual asks for it when it looks for what is under the mouse."""
        return self.render_lines(Region(0, y, self.size.width, 1))[0]

    def notify_style_update(self) -> None:
        """The theme changed."""
        super().notify_style_update()
        self.refresh()

    def watch_has_focus(self, has_focus: bool) -> None:
        """The cursor and the title of the focused pane look different."""
        super().watch_has_focus(has_focus)
        self.refresh()
