"""The person's terminal, lent to another program and made whole again.

A program that is killed leaves what it had turned on: raw mode, the alternate screen, the mouse,
another keyboard. Nobody can ask a terminal for all of it, so everything is turned off that a
program may have turned on; turning off what is not on does nothing. Sequences are those of
xterm's "XTerm Control Sequences" (ctlseqs) where nothing else is said.

Left alone: the palette (OSC 4, 10 to 12 and 104 to 112: resetting it would undo what the person's
own shell had set), 132 columns (DECCOLM clears the screen), and whatever has no certain default.
"""

from __future__ import annotations

import contextlib
import os
import select
import termios
import time
import tty
from types import TracebackType
from typing import Any, Self

PATIENCE = 2.0
"""Seconds that a terminal may take no byte before it is left as it is."""

_ABORT = b"\x18\x1b\\"
"""CAN ends a sequence that was cut short; ST ends a string where CAN does not."""
_KEYBOARD = b"\x1b[<99u\x1b[=0u\x1b[>4m"
"""Kitty keyboard protocol: drop every entry of this screen's stack, and its flags; then xterm's
modifyOtherKeys at its first value. Each screen has a stack of its own: sent on both."""
_OFF = (
    1,  # cursor keys as an application's (DECCKM)
    5,  # reverse video (DECSCNM)
    9, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1015, 1016,  # mouse, focus, how they are told
    2004,  # bracketed paste
    2031,  # reports of dark and light (Contour, kitty)
    2048,  # size told in the input (kitty, foot)
)  # fmt: skip
_SAVE, _RESTORE = b"\x1b7", b"\x1b8"
_TITLE_KEPT, _TITLE_BACK = b"\x1b[22;0t", b"\x1b[23;0t"


def reset(columns: int, *, alternate: bool = False, origin: bool = False) -> bytes:
    """What makes a terminal of so many columns whole, whatever a program left.

    `alternate`: the program is on the alternate screen; leaving by 1049 brings back the main
    screen's cursor. It moves the cursor even when there is nothing to leave (in tmux to wherever
    a program before stood), so it is sent only then; 1047 and 47 move nothing, and are sent
    always. `origin`: it is in origin mode, which cannot be left without moving the cursor: then
    it goes to the last row. What follows is printed on a row of its own.
    """
    leave = b"\x1b[?1049l" if alternate else b""
    return b"".join((
        _ABORT,
        b"\x1b[?2026l",  # synchronized output: show what was begun
        _KEYBOARD, leave, b"\x1b[?1047l\x1b[?47l", _KEYBOARD,
        b"\x1b]8;;\x1b\\",  # no hyperlink (OSC 8)
        b"\x1b[0m\x1b(B\x0f",  # plain, ASCII as G0, G0 in use
        *(b"\x1b[?%dl" % mode for mode in _OFF),
        b"\x1b[2l\x1b[4l\x1b[20l\x1b[12h",  # keyboard unlocked, no insert, no LNM, no local echo
        b"\x1b[?7h\x1b[?25h\x1b[0 q\x1b>",  # wraps, cursor seen and of its own shape, keypad
        _region(origin),
        _TITLE_BACK,
        _fresh_line(columns),
    ))  # fmt: skip


def _region(origin: bool) -> bytes:
    """No margins. Leaving them moves the cursor home, so its place is saved around that."""
    if origin:
        return b"\x1b[?6l\x1b[?69l\x1b[r\x1b[9999;1H"
    return _SAVE + b"\x1b[?69l\x1b[r" + _RESTORE


def _fresh_line(columns: int) -> bytes:
    """To the start of a row, and to the next one only when something stands before the cursor.

    As zsh does for its prompt: so many spaces fill one row from its start, and reach into the
    next from anywhere else. What stands below was drawn by the program that is gone.
    """
    return b" " * columns + b"\r\x1b[J"


class Terminal:
    """A real terminal in raw mode, for as long as the block lasts.

    Its two descriptors are blocking and stay so: a flag set on them would be set for everybody
    who shares them (the shell, after a kill). What reads and writes here is the same terminal
    opened once more; where that is refused, a copy, and a stuck terminal can hold us up.
    Keys pressed before or after, and late answers to a program's questions, are dropped.
    """

    def __init__(self, tty_in: int, tty_out: int) -> None:
        self.alternate = False
        """Did the program leave the alternate screen on? For whoever knows; see `reset`."""
        self.origin = False
        """Did it leave origin mode on?"""
        self._tty_in, self._tty_out = tty_in, tty_out
        self.keys = -1
        """To read from."""
        self.screen = -1
        """To write to."""

    def __enter__(self) -> Self:
        """Raises OSError or termios.error when this is no terminal."""
        self._before: list[Any] = termios.tcgetattr(self._tty_in)
        self.keys = _opened_again(self._tty_in)
        self.screen = _opened_again(self._tty_out)
        tty.setraw(self._tty_in)
        # the cursor for a program that goes to the alternate screen without saving it (47, 1047)
        write_all(self.screen, _TITLE_KEPT + _SAVE)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        data = reset(self.size()[1] or 80, alternate=self.alternate, origin=self.origin)
        write_all(self.screen, data)
        # a terminal that is gone cannot be set any more
        with contextlib.suppress(termios.error):
            termios.tcsetattr(self._tty_in, termios.TCSAFLUSH, self._before)
        os.close(self.keys)
        os.close(self.screen)

    def size(self) -> tuple[int, int]:
        """Rows and columns; zeros when they are not known."""
        try:
            columns, rows = os.get_terminal_size(self._tty_out)
        except OSError:
            return 0, 0
        return rows, columns


def write_all(fd: int, data: bytes, patience: float = PATIENCE) -> bool:
    """Write everything, or give up: the terminal is gone, or took nothing for so many seconds."""
    end = time.monotonic() + patience
    while data:
        try:
            if select.select([], [fd], [], max(end - time.monotonic(), 0))[1]:
                data = data[os.write(fd, data[:4096]) :]
                end = time.monotonic() + patience
            elif time.monotonic() >= end:
                return False
        except BlockingIOError:
            continue
        except OSError:
            return False
    return True


def _opened_again(fd: int) -> int:
    try:
        return os.open(os.ttyname(fd), os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return os.dup(fd)
