"""A line of text that is typed: what a key makes of it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sessionlog.text import width
from tui.lines import Piece


class TypedLine(NamedTuple):
    """A text, where the caret is, and whether all of it is selected."""

    text: str = ""
    caret: int = 0
    """Characters in front of it."""
    selected: bool = False
    """The next character takes the place of all."""

    def inserted(self, text: str) -> TypedLine:
        """With a text at the caret, or in the place of what is selected."""
        if self.selected:
            return TypedLine(text, len(text))
        made = self.text[: self.caret] + text + self.text[self.caret :]
        return TypedLine(made, self.caret + len(text))

    def pressed(self, key: str) -> TypedLine | None:
        """What a key that types nothing does; None when it means nothing in a line of text."""
        text, caret, _ = self
        if key in ("left", "right", "home", "ctrl+a", "end", "ctrl+e"):
            steps = {"left": caret - 1, "right": caret + 1, "home": 0, "ctrl+a": 0}
            return TypedLine(text, min(max(steps.get(key, len(text)), 0), len(text)))
        if key in ("backspace", "delete", "ctrl+w", "ctrl+u", "ctrl+k") and self.selected:
            return TypedLine()
        if key == "backspace":
            return TypedLine(text[: max(caret - 1, 0)] + text[caret:], max(caret - 1, 0))
        if key == "delete":
            return TypedLine(text[:caret] + text[caret + 1 :], caret)
        if key == "ctrl+u":
            return TypedLine(text[caret:], 0)
        if key == "ctrl+k":
            return TypedLine(text[:caret], caret)
        if key == "ctrl+w":
            kept = text[:caret].rstrip()
            kept = kept[: kept.rfind(" ") + 1]
            return TypedLine(kept + text[caret:], len(kept))
        return None


def drawn(typed: TypedLine, pieces: Sequence[Piece], room: int) -> list[Piece]:
    """The text, which comes in pieces, with its caret; of a long one the part around that."""
    text, caret, selected = typed
    if selected and text:
        return [(text, "fg-1 reverse"), (" ", "reverse")]
    first, used = caret, 0
    while first and (used := used + width(text[first - 1])) < room:
        first -= 1
    end: list[Piece] = [(" ", "reverse")] if caret >= len(text) else []
    return [*_with_caret(_from(pieces, first), caret - first), *end]


def _from(pieces: Sequence[Piece], first: int) -> list[Piece]:
    """The pieces without their first characters."""
    kept: list[Piece] = []
    for text, style in pieces:
        if first < len(text):
            kept.append((text[first:], style))
        first = max(first - len(text), 0)
    return kept


def _with_caret(pieces: list[Piece], at: int) -> list[Piece]:
    """The pieces, one character reversed."""
    made: list[Piece] = []
    for text, style in pieces:
        if 0 <= at < len(text):
            made += [(text[:at], style), (text[at], f"{style} reverse"), (text[at + 1 :], style)]
        else:
            made.append((text, style))
        at -= len(text)
    return [piece for piece in made if piece[0]]
