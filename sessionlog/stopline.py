"""The line at the bottom of the terminal that the reserved key brings up. Pure: text to bytes.

On the main screen a program's last line may stand on the last row, with the cursor in it. IND
(index) makes room: it scrolls one line only when the cursor is on the last row, and the cursor is
back on its own line after one step up. On the alternate screen nothing scrolls; there the
program paints again what was covered.
"""

from __future__ import annotations

from sessionlog.text import ago, clip, pad, took, visible, width

_CHOICES = "stop (S)  gentle stop (i)  go on (esc)"
_MORE = "  to the program (ctrl+])"
_ROOM = b"\x1bD\x1b[A"
_SAVE, _RESTORE = b"\x1b7", b"\x1b8"
_HOLD = b"\x1b[?2026l\x1b[?6l\x1b(B\x0f\x1b[0m"
"""Show the frame that was begun; rows count from the top; ASCII; plain. The restored cursor
brings back origin, characters and colours."""


def raised(text: str, rows: int, *, alternate: bool) -> bytes:
    """Bring the line up on the last row, the program's cursor kept."""
    return (b"" if alternate else _ROOM) + _SAVE + _HOLD + again(text, rows)


def again(text: str, rows: int) -> bytes:
    """The same line, with another text."""
    return b"\x1b[%d;1H\x1b[2K\x1b[7m%s\x1b[0m" % (rows, text.encode())


def cleared(rows: int) -> bytes:
    """An empty row where the line was."""
    return b"\x1b[%d;1H\x1b[2K" % rows


def lowered(rows: int) -> bytes:
    """Take the line away; the cursor is where the program left it."""
    return cleared(rows) + _RESTORE


def said(title: str, seconds: float, columns: int) -> str:
    """What runs and for how long, and the keys; the keys stay when room is short.

    `title` may come from a log. One column stays free, so that no terminal wraps.
    """
    room = columns - 1
    keys = _CHOICES + _MORE if room >= 100 else _CHOICES
    since = f" {ago(seconds) if seconds < 60 else took(seconds)}  "
    rest = room - width(keys) - 2
    if rest - width(since) < 8:
        return clip(f" {_CHOICES} ", room)
    name = clip(f" {visible(title)}", rest - width(since)) + since
    return pad(name, rest) + f" {keys} "
