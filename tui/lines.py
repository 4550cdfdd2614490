"""What a pane shows, as plain values: lines of styled pieces of text. No Textual here.

Pure code (timeline, detail, list) makes Lines; `tui.paint` turns them into what Textual draws.
Text in a Line has already been through `sessionlog.text.visible`: Lines are made by code that
handles log text, and this is the last place where it is only text.

A style is a few words: at most one colour name of the themes (fg-1 fg fg-2 fg-3 accent ok fail run
open bytes line line-2 diff-add diff-del), any of bold, italic, underline, reverse, dim, and a
background of its own: on- and the name of a tint ("fg-3 on-sel").
"""

from __future__ import annotations

from typing import NamedTuple

from sessionlog.text import clip, width

Piece = tuple[str, str]
"""(text, style words); the text is visible and has no line feed."""


class Line(NamedTuple):
    """One terminal line of a pane."""

    left: list[Piece]
    right: list[Piece] = []  # noqa: RUF012 - never mutated; a tuple field has one default value
    """Kept whole at the right edge; the left part is cut to make room."""
    tint: str = ""
    """Background: "" (the pane's), surface, panel, sel, sel-off, tint-fail, tint-open,
    tint-bytes, tint-run, tint-add, tint-del."""


def fitted(line: Line, columns: int) -> list[Piece]:
    """The line's pieces in exactly `columns` columns, with an ellipsis where text was cut."""
    taken = sum(width(text) for text, _ in line.right)
    if taken > columns:
        return cut(line.right, columns)
    room = columns - taken
    left = cut(line.left, room)
    gap = room - sum(width(text) for text, _ in left)
    return [*left, (" " * gap, ""), *line.right] if gap else [*left, *line.right]


def cut(pieces: list[Piece], columns: int) -> list[Piece]:
    """The pieces as far as they fit into `columns`."""
    kept = []
    for text, style in pieces:
        size = width(text)
        if size > columns:
            if columns > 0:
                kept.append((clip(text, columns), style))
            break
        kept.append((text, style))
        columns -= size
    return kept


def end_of(path: str, columns: int) -> str:
    """As much of a path as fits, its end: that tells it from others."""
    if width(path) <= columns:
        return path
    end = path[-(columns - 1) :] if columns > 1 else ""
    while width(end) >= columns and end:
        end = end[1:]
    return f"…{end}"
