"""Our themes: one table of colours each, from which Textual's Theme and our own paint are made.

One colour has one meaning (red: wrong in the run, amber: left open, violet: wrong in the bytes,
cyan: now, blue: you). `mono` is for NO_COLOR: Textual's own filter would turn red into a middle
grey that recedes behind ordinary text. `ansi` leaves every colour to the terminal.
"""

from __future__ import annotations

from collections.abc import Mapping

from textual.theme import BUILTIN_THEMES, Theme

_NIGHT = {
    "background": "#14161a", "surface": "#1c1f25", "panel": "#1a1d23",
    "line": "#30353f", "line-2": "#4a515e",
    "fg-3": "#79818f", "fg-2": "#9098a6", "fg": "#d3d7de", "fg-1": "#f4f6fa",
    "accent": "#86b3f5", "ok": "#7fb58a", "fail": "#f2757b", "run": "#5cc8d6",
    "open": "#e3b464", "bytes": "#cb97ee",
    "sel": "#263345", "sel-off": "#20252d",
    "tint-fail": "#2b1b1e", "tint-open": "#29241a", "tint-bytes": "#251d2c",
    "tint-run": "#16272b",
    "diff-add": "#8fc79a", "diff-del": "#ee8f8f", "tint-add": "#1b2a20", "tint-del": "#2e1c1f",
    "faded": "#363b45",
}  # fmt: skip

_DAY = {
    "background": "#fbfaf8", "surface": "#f0eeea", "panel": "#ffffff",
    "line": "#d2cec6", "line-2": "#b3afa7",
    "fg-3": "#74716a", "fg-2": "#625f59", "fg": "#2a2c31", "fg-1": "#08090b",
    "accent": "#1d5fc0", "ok": "#27703c", "fail": "#bd2430", "run": "#0b7182",
    "open": "#8f5f00", "bytes": "#8436a6",
    "sel": "#d6e4f7", "sel-off": "#e8e6e1",
    "tint-fail": "#fbe9e9", "tint-open": "#f8f0dc", "tint-bytes": "#f4eaf9",
    "tint-run": "#e2f2f4",
    "diff-add": "#226b38", "diff-del": "#a8232d", "tint-add": "#e3f2e6", "tint-del": "#fae4e4",
    "faded": "#c3bfb7",
}  # fmt: skip

_MONO = _NIGHT | {
    "background": "#121212", "surface": "#1d1d1d", "panel": "#1a1a1a",
    "line": "#353535", "line-2": "#505050",
    "fg-3": "#828282", "fg-2": "#9a9a9a", "fg": "#d6d6d6", "fg-1": "#f6f6f6",
    "accent": "#f6f6f6", "ok": "#9a9a9a", "fail": "#f6f6f6", "run": "#f6f6f6",
    "open": "#f6f6f6", "bytes": "#f6f6f6",
    "sel": "#333333", "sel-off": "#262626",
    "tint-fail": "#222222", "tint-open": "#222222", "tint-bytes": "#222222",
    "tint-run": "#222222",
    "diff-add": "#d6d6d6", "diff-del": "#9a9a9a", "tint-add": "#1f1f1f", "tint-del": "#1f1f1f",
    "faded": "#3a3a3a",
}  # fmt: skip

# The terminal's own colours. What recedes is dim, what is selected is reversed: grey and blue
# backgrounds of sixteen colours cannot be trusted to stand apart from the text on them.
_ANSI = {
    "background": "default", "surface": "default", "panel": "default",
    "line": "dim", "line-2": "dim",
    "fg-3": "dim", "fg-2": "default", "fg": "default", "fg-1": "default",
    "accent": "blue", "ok": "green", "fail": "red", "run": "cyan", "open": "yellow",
    "bytes": "magenta",
    "sel": "reverse", "sel-off": "default",
    "tint-fail": "default", "tint-open": "default", "tint-bytes": "default",
    "tint-run": "default",
    "diff-add": "green", "diff-del": "red", "tint-add": "default", "tint-del": "default",
    "faded": "dim",
}  # fmt: skip

PALETTES: Mapping[str, Mapping[str, str]] = {
    "night": _NIGHT,
    "day": _DAY,
    "mono": _MONO,
    "ansi": _ANSI,
}
NAMES = tuple(PALETTES)
DEFAULT = "night"

_STATES = ("ok", "fail", "run", "open", "bytes")


def colours(theme: str) -> Mapping[str, str]:
    """The colours of a theme by the names that Lines use; the default's for any other theme."""
    return PALETTES.get(theme, _NIGHT)


def theme(name: str) -> Theme:
    """Textual's Theme of one of ours: for stock widgets and CSS."""
    table = {key: _css(value) for key, value in PALETTES[name].items()}
    states = {f"st-{key}": table[key] for key in _STATES}
    rest = {key: table[key] for key in table if key not in _STATES and key != "fg"}
    for key in ("background", "surface", "panel", "accent"):
        rest.pop(key)
    return Theme(
        name=name,
        dark=name != "day",
        ansi=name == "ansi",
        primary=table["accent"],
        secondary=table["accent"],
        accent=table["accent"],
        warning=table["open"],
        error=table["fail"],
        success=table["ok"],
        foreground=table["fg"],
        background=table["background"],
        surface=table["surface"],
        panel=table["panel"],
        variables={
            **(BUILTIN_THEMES["ansi-dark"].variables if name == "ansi" else {}),
            **states,
            **rest,
            "row-sel": table["sel"],
            "row-sel-off": table["sel-off"],
        },
    )


def _css(value: str) -> str:
    """A colour of the table as CSS writes it."""
    if value.startswith("#"):
        return value
    return "ansi_default" if value in ("default", "dim", "reverse") else f"ansi_{value}"
