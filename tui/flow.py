"""Styled text to lines of a given width. Pure.

Prose breaks between words; code and output break where the line is full, behind a blank where one
is near, and say so with a mark: the blanks mean something there, and none is left out. Everything
that comes in is visible already, so columns are what `sessionlog.text.width` counts. The cost
follows the lines that are taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from sessionlog.text import clip, width
from tui.lines import Piece

MORE = "┊ "
"""In front of what a long line of code or output goes on with."""

_PARTS = re.compile(r" +|[^ ]+")


def words(pieces: Iterable[Piece], columns: int) -> Iterator[list[Piece]]:
    """Lines of at most `columns`, broken between words; blanks at a break are left out."""
    columns = max(columns, 2)
    line: list[Piece] = []
    taken, blank = 0, ("", "")
    for word in _words(pieces):
        if word[0][0].isspace():
            blank = word[0]
            continue
        size = sum(width(text) for text, _ in word)
        if line and taken + len(blank[0]) + size > columns:
            yield joined(line)
            line, taken, blank = [], 0, ("", "")
        if blank[0]:
            blank = (blank[0][: columns // 2], blank[1])
            line.append(blank)
            taken += len(blank[0])
        if taken + size > columns:
            *full, line = chopped([*line, *word], columns)
            yield from map(joined, full)
            taken = sum(width(text) for text, _ in line)
        else:
            line += word
            taken += size
        blank = ("", "")
    if line:
        yield joined(line)


def joined(pieces: list[Piece]) -> list[Piece]:
    """The same pieces, neighbours of one style made one."""
    made: list[Piece] = []
    for text, style in pieces:
        if made and made[-1][1] == style:
            made[-1] = (made[-1][0] + text, style)
        else:
            made.append((text, style))
    return made


def _words(pieces: Iterable[Piece]) -> Iterator[list[Piece]]:
    """Runs of blanks, and words: a word may be of several styles ("**bold**," is one)."""
    word: list[Piece] = []
    for text, style in pieces:
        for match in _PARTS.finditer(text):
            part = match[0]
            if part[0] != " ":
                word.append((part, style))
                continue
            if word:
                yield word
                word = []
            yield [(part, style)]
    if word:
        yield word


def chopped(pieces: Iterable[Piece], columns: int, mark: str = "") -> Iterator[list[Piece]]:
    """Lines of at most `columns`, broken where a line is full; with a `mark`, which later ones
    start with, behind a blank where there is one near."""
    columns = max(columns, len(mark) + 2)
    line: list[Piece] = []
    room = columns
    for text, style in pieces:
        at = 0
        while at < len(text):
            part = head(text[at : at + 10 * columns], room)
            if mark and at + len(part) < len(text):
                part = part[: part.rfind(" ", len(part) * 2 // 3) + 1] or part
            if part:
                line.append((part, style))
                at += len(part)
                room -= width(part)
            if at < len(text):
                yield line
                line = [(mark, "fg-3")] if mark else []
                room = columns - len(mark)
    yield line


def head(text: str, columns: int) -> str:
    """As much of `text` as fits, blanks at its end included."""
    if text.isascii():
        return text[: max(columns, 0)]
    kept = clip(text, columns, "")
    room = columns - width(kept)
    while room > 0 and len(kept) < len(text) and text[len(kept)] == " ":
        kept += " "
        room -= 1
    return kept
