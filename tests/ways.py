"""Ways in which a program may leave a terminal: what it does, and how it ends."""

from __future__ import annotations

from typing import NamedTuple

_ALL_OF_XTERM = "1 5 9 1000 1001 1002 1003 1004 1005 1006 1015 1016 2004 2031 2048"
_ON = "".join(rf"\033[?{mode}h" for mode in _ALL_OF_XTERM.split())
KILL = "kill -9 $$"


class Way(NamedTuple):
    """A program for `sh`, and what its screen shows before it ends."""

    name: str
    script: str
    typed: bytes = b""
    """What the person types when `shown` is on the screen."""
    shown: str = ""


def _way(name: str, output: str, then: str = KILL) -> Way:
    return Way(name, f"stty raw -echo; printf '{output}'; {then}")


WAYS = (
    Way("raw mode, no echo", "stty raw -echo; exit 3"),
    _way("alternate screen, mouse, no cursor", r"\033[?1049h\033[?1000;1003;1006h\033[?25lpainted"),
    _way("older alternate screens", r"\033[?47h\033[?1047hpainted"),
    _way("killed in a CSI", r"half a row\033[38;5;1"),
    _way("killed in an OSC", r"\033]0;a title that never en"),
    _way("killed in a link", r"\033]8;;http://example.org/\033\\here"),
    _way("killed in a DCS", r"\033Pq#0;2;0;0;0#0~~@@"),
    _way("killed in a character", r"caf\303"),
    _way(
        "keyboards and paste",
        r"\033[>1u\033[>31u\033[=15;1u\033[?2004h\033[>4;2m\033=\033[?1h\033[?1004h",
    ),
    _way("keyboard of the alternate screen", r"\033[>1u\033[?1049h\033[>7u\033[>31u"),
    _way("region, origin, line drawing", r"\033[5;10r\033[?6h\033)0\016lqqqk"),
    _way("line drawing as G0", r"\033(0lqqqk"),
    _way("origin in the alternate screen", r"\033[?1049h\033[5;10r\033[?6h\033[3;3H"),
    _way("insert, no wrap, reverse", r"\033[4h\033[?7l\033[?5h\033[20h\033[1;3;4;7;31;44mred"),
    _way("a frame that was begun", r"\033[?2026h\033[31mhalf a frame"),
    _way("cursor shape, titles", r"\033[3 q\033[?25l\033[22;0t\033[23;0t\033]2;busy\033\\"),
    _way("everything of xterm", _ON + r"\033[?1049h" + _ON),
    Way(
        "a flood, stopped",
        r"printf '\033[?1049h\033[31m'; exec yes '\033[?1000h all work'",
        typed=b"\x1dS",
        shown="all work",
    ),
)
