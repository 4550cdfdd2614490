"""A terminal as a person's: pyte, and what pyte leaves out.

pyte knows neither the alternate screen nor the keyboard protocols, prints some sequences that it
does not know, and does not abort a string. So sequences are cut here, by the state machine that
terminals share (https://vt100.net/emu/dec_ansi_parser): what pyte knows goes on to it, the rest
is remembered. The saved cursor is one slot for each screen, as in xterm.
"""

from __future__ import annotations

import codecs
import copy
import re

import pyte
from pyte import modes as mo
from pyte.screens import Savepoint

_SEQUENCE = re.compile(r"\x1b\[([<=>?]?)([\d;:]*)([ -/]*)([@-~])")
_STRINGS = "]PX^_"
QUIET = {1, 5, 6, 9, 47, 69, 2004, 2026, 2031, 2048, 1047, 1049} | set(range(1000, 1017))
"""Private modes that are off in a terminal that is whole."""


class _Screen(pyte.Screen):
    """One saved cursor, and origin mode restored with it."""

    def save_cursor(self) -> None:
        self.savepoints.clear()
        super().save_cursor()

    def restore_cursor(self) -> None:
        kept: list[Savepoint] = [
            point._replace(cursor=copy.copy(point.cursor)) for point in self.savepoints
        ]
        if kept and not kept[-1].origin:
            self.mode.discard(mo.DECOM)
        super().restore_cursor()
        if kept:  # past the last column, too: the next character wraps
            self.cursor.x = kept[-1].cursor.x
        self.savepoints[:] = kept


class Emulator:
    """Feed it what a program writes; ask it what a person sees."""

    def __init__(self, columns: int = 80, lines: int = 24) -> None:
        self.screen = _Screen(columns, lines)
        self._stream = pyte.Stream(self.screen)
        self._stream.use_utf8 = False  # line drawing counts in UTF-8, too
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._open = ""
        """The sequence that is not finished."""
        self.modes: set[int] = set()
        self.titles = 0
        """Entries of the title stack."""
        self.keyboards: dict[bool, list[int]] = {False: [0], True: [0]}
        """Kitty's stack of the main and of the alternate screen; the last entry counts."""
        self.other_keys = self.link = self.shape = ""
        self._main: tuple[object, object, object] | None = None

    @property
    def alternate(self) -> bool:
        return self._main is not None

    @property
    def rows(self) -> list[str]:
        """What is seen, without the blanks at the end."""
        return [row.rstrip() for row in self.screen.display]

    def feed(self, data: bytes) -> None:
        """Take what was written."""
        for run in re.findall(r"[^\x18\x1a\x1b\x07]+|[\s\S]", self._decoder.decode(data)):
            if len(run) > 1 and not self._open:
                self._stream.feed(run)
            else:
                for char in run:
                    self._take(char)

    def _take(self, char: str) -> None:
        if char in "\x18\x1a":
            self._open = ""
        elif self._open[1:2] and self._open[1] in _STRINGS:
            self._open += char
            if char == "\x07" or self._open.endswith("\x1b\\"):
                self._string(self._open)
                self._open = ""
            elif self._open[-2:-1] == "\x1b":  # an escape sequence of its own
                self._open = "\x1b"
                self._take(char)
        elif char == "\x1b":
            self._open = char
        elif self._open:
            self._open += char
            if _done(self._open):
                done, self._open = self._open, ""
                self._obey(done)
        else:
            self._stream.feed(char)

    def _string(self, text: str) -> None:
        if text.startswith("\x1b]8;"):
            self.link = text[4:].strip("\x1b\\\x07").partition(";")[2]

    def _obey(self, text: str) -> None:
        match = _SEQUENCE.fullmatch(text)
        if match is None:
            if text != "\x1b\\":
                self._stream.feed(text)
            return
        mark, numbers, between, final = match.groups()
        if mark == "?" and final in "hl":
            for number in numbers.split(";"):
                self._mode(int(number), final == "h")
        elif final == "u" and mark:
            self._keyboard(mark, int(numbers.partition(";")[0] or 1))
        elif mark == ">" and final == "m":
            self.other_keys = numbers.partition(";")[2]
        elif between == " " and final == "q":
            self.shape = numbers.replace("0", "")
        elif final == "t":
            self.titles += {"22": 1, "23": -1}.get(numbers.partition(";")[0], 0)
        elif not mark and not between:
            self._stream.feed(text)

    def _mode(self, number: int, on: bool) -> None:
        (self.modes.add if on else self.modes.discard)(number)
        if number in (47, 1047, 1049):
            self._switch(on, saves=number == 1049)
        else:
            self._stream.feed(f"\x1b[?{number}{'h' if on else 'l'}")

    def _switch(self, on: bool, *, saves: bool) -> None:
        screen = self.screen
        if on and saves:
            screen.save_cursor()
        if on and self._main is None:
            self._main = screen.buffer, screen.savepoints, None
            screen.buffer = copy.copy(screen.buffer)
            screen.buffer.clear()
            screen.savepoints = []
        elif not on and self._main is not None:
            screen.buffer, screen.savepoints, _ = self._main  # type: ignore[assignment]
            self._main = None
            self.modes -= {47, 1047, 1049}
        if not on and saves:
            screen.restore_cursor()

    def _keyboard(self, mark: str, number: int) -> None:
        stack = self.keyboards[self.alternate]
        if mark == ">":
            stack.append(number)
        elif mark == "=":
            stack[-1] = number
        else:
            del stack[-number:]
            stack[:] = stack or [0]

    def faults(self) -> list[str]:
        """Why this terminal is not whole."""
        screen = self.screen
        wrong = {
            "a sequence is not finished": bool(self._open),
            "alternate screen": self.alternate,
            f"private modes {sorted(self.modes & QUIET)}": bool(self.modes & QUIET),
            f"kitty keyboard {self.keyboards}": any(any(s) for s in self.keyboards.values()),
            f"modifyOtherKeys {self.other_keys}": bool(self.other_keys),
            "scroll region": screen.margins is not None,
            "insert mode": mo.IRM in screen.mode,
            "LNM": mo.LNM in screen.mode,
            "no autowrap": mo.DECAWM not in screen.mode,
            "reverse video": mo.DECSCNM in screen.mode,
            "cursor hidden": screen.cursor.hidden,
            "characters": screen.charset != 0 or "a" not in _drawn(screen),
            f"colours {screen.cursor.attrs}": screen.cursor.attrs != screen.default_char,
            f"link {self.link}": bool(self.link),
            f"cursor shape {self.shape}": bool(self.shape),
            f"titles {self.titles}": self.titles != 0,
            "not at the start of a row": screen.cursor.x != 0,
            "not on an empty row": bool(self.rows[screen.cursor.y]),
        }
        return [fault for fault, is_so in wrong.items() if is_so]


def _drawn(screen: pyte.Screen) -> str:
    table = screen.g1_charset if screen.charset else screen.g0_charset
    return "a".translate(table)


def _done(text: str) -> bool:
    """Is a sequence that is no string finished?"""
    if text[1] == "[":
        return len(text) > 2 and "@" <= text[-1] <= "~"
    return text[1] not in _STRINGS and not " " <= text[-1] <= "/"
