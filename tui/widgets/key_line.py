"""The last line: the most useful keys of the focus that fit, or what may follow a first key."""

from __future__ import annotations

from collections.abc import Callable, Set

from sessionlog.text import width as columns_of
from tui import commands
from tui.lines import Line, Piece
from tui.widgets.line_widget import LineWidget


class KeyLine(LineWidget):
    """Keys that cannot act now are grey; pressed, they say why."""

    def __init__(self, refused: Callable[[str], str], *, id: str) -> None:
        super().__init__(id=id)
        self._refused = refused
        self._where = commands.LIST
        self._head = ""
        self._fixed: tuple[tuple[str, str], ...] = ()
        self._out: frozenset[str] = frozenset()

    def leave_out(self, names: Set[str]) -> None:
        """Commands that are not worth their room now."""
        self._out = frozenset(names)
        self.refresh()

    def tell(self, where: str, head: str = "", fixed: tuple[tuple[str, str], ...] = ()) -> None:
        """The pane with the focus, the keys of a sequence pressed so far, or keys of a prompt."""
        self._where, self._head, self._fixed = where, head, fixed
        self.refresh()

    def lines(self, width: int, height: int) -> list[Line]:
        """One line; whole keys drop from its end."""
        help_key: list[Piece] = [("? ", "fg-1 bold"), ("help ", "fg-2")]
        if self._fixed:
            return [_fitted(self._fixed_pieces(), width, [])]
        if self._head:
            return [_fitted(self._choices(), width, [("esc ", "fg-1 bold"), ("leave ", "fg-2")])]
        return [_fitted(self._useful(), width, help_key)]

    def _useful(self) -> list[list[Piece]]:
        found = []
        for name in commands.KEY_LINE[self._where]:
            if name in self._out:
                continue
            key, title = commands.hint(name, self._where)
            grey = bool(self._refused(name))
            styles = ("fg-3", "fg-3") if grey else ("fg-1 bold", "fg-2")
            found.append([(key, styles[0]), (f" {title}", styles[1])])
        return found

    def _choices(self) -> list[list[Piece]]:
        name = commands.HEADS.get(self._head, self._head)
        found: list[list[Piece]] = [[(f"{name}:", "accent bold")]]
        for key, command in commands.following(self._head, self._where):
            found.append([(key, "fg-1 bold"), (f" {command.title}", "fg-2")])
        return found

    def _fixed_pieces(self) -> list[list[Piece]]:
        return [[(key, "fg-1 bold"), (f" {title}", "fg-2")] for key, title in self._fixed]


def _fitted(parts: list[list[Piece]], columns: int, right: list[Piece]) -> Line:
    room = columns - sum(columns_of(text) for text, _ in right) - 2
    left: list[Piece] = [(" ", "")]
    for part in parts:
        size = sum(columns_of(text) for text, _ in part) + 2
        if size > room:
            break
        left += [*part, ("  ", "")]
        room -= size
    return Line(left, right, "surface")
