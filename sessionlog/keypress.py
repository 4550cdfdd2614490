"""Keys on their way from a terminal to a program, and the few that are ours.

A program may have asked for other ways to tell keys: the same key then comes as one byte, as
``CSI 93;5 u`` (kitty keyboard protocol, "CSI u"; also xterm's formatOtherKeys) or as
``CSI 27;5;93 ~`` (xterm's modifyOtherKeys). Here each becomes one name. What a terminal sends by
itself (answers, mouse, pastes) is told apart, for it may hold the same letters. No I/O.
"""

from __future__ import annotations

import re
from typing import NamedTuple

RESERVED = "ctrl+]"
_LONGEST = 4096
_PASTE, _PASTED = b"\x1b[200~", b"\x1b[201~"
_SINGLE = {b"\x1d": RESERVED, b"\x1b": "esc"}
_TOKEN = re.compile(
    rb"\x1b\[M[\s\S]{3}"  # the mouse, in X10's encoding
    rb"|\x1b\[[0-?]*[ -/]*[@-~]"
    rb"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)"  # a string: an answer
    rb"|\x1bO[\s\S]|\x1b[^\[\]OPX^_\x1b\x1d]"
    rb"|[^\x1b\x1d]+|\x1b|\x1d"
)
_PARTIAL = re.compile(rb"\x1b(?:\[(?:M[\s\S]{0,2}|[0-?]*[ -/]*)|[\]PX^_][^\x07\x1b]*\x1b?|O)")
_CODED = re.compile(
    rb"\x1b\[(?:(?P<code>\d+)(?::\d*)*(?:;(?P<mods>\d*)(?::(?P<kind>\d))?)?(?:;[\d:]*)?u"
    rb"|27;(?P<xmods>\d+);(?P<xcode>\d+)~)"
)
_ANSWER = re.compile(rb"\x1b(?:\[(?:[?>=][0-?]*[ -/]*[@-~]|[0-?]*[ -/]*[Rncty])|[\]PX^_])")
_LOCKS = 64 + 128
"""Bits of caps lock and num lock among kitty's modifiers."""
_CTRL, _SHIFT, _RELEASED = 4, 1, b"3"


class Press(NamedTuple):
    """A piece of what the terminal sent."""

    data: bytes
    key: str
    """"ctrl+]", "esc", "S", "i"; "" for anything else."""
    answer: bool = False
    """Does it belong to the program whatever we show: an answer of the terminal, or a paste?"""


class Keys:
    """What a terminal sends, cut where one thing ends and the next begins."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._pasting = False

    def feed(self, data: bytes) -> None:
        """More from the terminal.

        A paste whose end got lost must not disarm the reserved key: alone in a read it is a key.
        """
        if self._pasting and _key(data) == RESERVED:
            self._pasting = False
        self._held += data

    @property
    def waiting(self) -> bool:
        """Has something begun that is not whole yet?"""
        return bool(self._held)

    def take(self, *, letters: bool = False, waited: bool = False) -> Press | None:
        """The next piece, or None: no more is there, or it has to be waited for.

        With `letters` text comes letter by letter, else as long as it is. When nothing came for
        a while (`waited`) what has begun is taken as it stands.
        """
        if not self._held:
            return None
        if self._pasting:
            return self._pasted(waited)
        match = _TOKEN.match(self._held)
        partial = len(self._held) < _LONGEST and _PARTIAL.fullmatch(self._held)
        if partial:
            return self._cut(len(self._held)) if waited else None
        size = match.end() if match else 1
        if letters and self._held[0] not in b"\x1b\x1d":
            size = 1
        self._pasting = self._held.startswith(_PASTE)
        return self._cut(size)

    def _pasted(self, waited: bool) -> Press | None:
        at = self._held.find(_PASTED)
        if at >= 0:
            self._pasting = False
            return self._cut(at + len(_PASTED), answer=True)
        size = len(self._held)
        if not waited:  # the last bytes may be the first of the end
            size -= len(_PASTED) - 1
        return self._cut(size, answer=True) if size > 0 else None

    def _cut(self, size: int, *, answer: bool = False) -> Press:
        data = bytes(self._held[:size])
        del self._held[:size]
        if answer or data == _PASTE:
            return Press(data, "", True)
        return Press(data, _key(data), bool(_ANSWER.match(data)))


def _key(data: bytes) -> str:
    """The name of a key of ours, in whatever form it came."""
    if data in (b"S", b"i"):
        return data.decode()
    if data in _SINGLE:
        return _SINGLE[data]
    match = _CODED.fullmatch(data)
    if not match or match["kind"] == _RELEASED:
        return ""
    code = int(match["code"] or match["xcode"])
    held = (int(match["mods"] or match["xmods"] or 1) - 1) & ~_LOCKS
    return {
        (ord("]"), _CTRL): RESERVED, (27, 0): "esc", (ord("i"), 0): "i",
        (ord("s"), _SHIFT): "S", (ord("S"), _SHIFT): "S", (ord("S"), 0): "S",
    }.get((code, held), "")  # fmt: skip
