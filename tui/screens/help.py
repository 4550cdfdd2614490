"""Signs and keys on a page that scrolls, made from the table of commands."""

from __future__ import annotations

from sessionlog.text import pad, wrap
from sessionlog.text import width as columns_of
from tui import commands
from tui.entries import legend, marks
from tui.lines import Line
from tui.screens.dialog import Dialog

_KEYS = 13
"""Columns of the keys."""
_LONGEST = 12
"""Lines that the words for one key may take."""


class Help(Dialog):
    """Scrolls; esc or ? leaves."""

    @property
    def heading(self) -> str:
        """What it is."""
        return "Signs and keys"

    def body(self, width: int) -> list[Line]:
        """The signs, then groups of keys."""
        lines = [Line([("Signs", "accent bold")]), *legend("  ", width), *marks("  ", width)]
        lines.append(Line([]))
        for group, found in commands.groups().items():
            lines.append(Line([(group, "accent bold")]))
            for command in found:
                lines += _rows(command, width)
            lines.append(Line([]))
        return lines

    def hints(self) -> list[tuple[str, str]]:
        """Its own."""
        return [("j k", "scroll"), ("esc", "leave")]

    def pressed(self, key: str) -> None:
        """Scroll or leave."""
        page = max(self.box.size.height - 6, 1)
        steps = {"j": 1, "down": 1, "k": -1, "up": -1, "pagedown": page, "pageup": -page,
                 "ctrl+d": page // 2, "ctrl+u": -(page // 2), "space": page, "end": 1 << 20,
                 "G": 1 << 20, "home": -(1 << 20), "g": -(1 << 20), " ": page}  # fmt: skip
        if key in ("?", "q"):
            self.dismiss(None)
        elif key in steps:
            self.scroll_box(steps[key])


def _rows(command: commands.Command, width: int) -> list[Line]:
    """Keys, what they do, and at the right where: nothing where they do so anywhere."""
    keys = "  ".join(commands.shown(key) for key in command.keys)
    where = commands.places(command, "panes", "log").removesuffix("anywhere")
    room = max(width - _KEYS - 3, 8)
    beside = where and room - columns_of(where) - 2 >= columns_of(command.help)
    if where and not beside:  # more of it than there is room for stands in words below
        first, *rest = wrap(f"{command.help} ({where})", room, _LONGEST)
        where = ""
    else:
        first, *rest = wrap(command.help, room, _LONGEST)
    head = [(f"  {pad(keys, _KEYS)} ", "fg-1 bold"), (first, "fg")]
    below = [Line([(f"{'':{_KEYS + 3}}{text}", "fg")]) for text in rest]
    return [Line(head, [(where, "fg-3")]), *below]
