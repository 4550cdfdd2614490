"""Lines to what Textual draws: one Strip of exactly the pane's width for each Line.

This is the hot path of every key: styles are made once for each (style words, tint) and kept,
Segments are built directly, and the Strip is told its width instead of measuring it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from sessionlog.text import width as columns_of
from tui.lines import Line, fitted
from tui.themes import colours

_WORDS = frozenset(("bold", "italic", "underline", "reverse", "dim"))
_RECEDING = {"fg-3": "fg-2"}
"""On a tint: the third grey would fall below 4.5:1."""

PLAIN_SIGNS = str.maketrans("✓✗■►○≈▒»║═│├▌─·…−└▁▂▃▄▅▆▇█◂▸↵┊", "+x=>o~#>==||>-..-\\_.:-=+*#<>$:")
"""What stands in where the locale cannot write our signs; each one column wide."""


class Painter:
    """Turns Lines into Strips in the colours of one theme."""

    def __init__(
        self, palette: Mapping[str, str], *, plain: bool = False, faded: bool = False
    ) -> None:
        self._palette = palette
        self._plain = plain
        self._faded = faded
        self._styles: dict[tuple[str, str], Style] = {}
        self._blanks: dict[tuple[int, str], Strip] = {}

    def strip(self, line: Line, width: int) -> Strip:
        """The line in exactly `width` columns."""
        tint, styles = line.tint, self._styles
        segments = []
        for text, words in fitted(line, width):
            key = (words, tint)
            style = styles.get(key) or self.style(words, tint)
            segments.append(Segment(self._written(text) if self._plain else text, style))
        return Strip(segments, width)

    def blank(self, width: int, tint: str = "") -> Strip:
        """An empty line."""
        strip = self._blanks.get((width, tint))
        if strip is None:
            strip = self.strip(Line([], tint=tint), width)
            self._blanks[width, tint] = strip
        return strip

    def style(self, words: str, tint: str) -> Style:
        """The style of a piece: at most one colour name and any of bold, italic, ..."""
        known = self._styles.get((words, tint))
        if known is None:
            known = self._styles[words, tint] = self._made(words, tint)
        return known

    def _made(self, words: str, tint: str) -> Style:
        given = words.split()
        name = next((word for word in given if word not in _WORDS and word[:3] != "on-"), "fg")
        tint = next((word[3:] for word in given if word[:3] == "on-"), tint)
        if self._faded:
            name, given, tint = "faded", [], "panel" if tint == "panel" else ""
        elif tint:
            name = _RECEDING.get(name, name)
        ground = self._palette.get(tint or "background", "default")
        colour = self._palette.get(name, self._palette["fg"])
        attributes = [word for word in given if word in _WORDS]
        attributes += [value for value in (colour, ground) if value in _WORDS]
        return Style.parse(" ".join(attributes)) + Style(
            color=None if colour in _WORDS else colour,
            bgcolor="default" if ground in _WORDS else ground,
        )

    def _written(self, text: str) -> str:
        """Signs as ASCII, and anything else that is not as question marks of the same width."""
        text = text.translate(PLAIN_SIGNS)
        if text.isascii():
            return text
        return "".join(char if char.isascii() else "?" * columns_of(char) for char in text)


@cache
def painter(theme: str, plain: bool = False, faded: bool = False) -> Painter:
    """The Painter of a theme; `faded` is for what stands behind a dialog."""
    return Painter(colours(theme), plain=plain, faded=faded)
