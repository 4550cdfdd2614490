"""Signs and keys on a page that scrolls, made from the table of commands."""

from __future__ import annotations

from sessionlog.text import pad
from tui import commands
from tui.entries import legend, marks
from tui.lines import Line
from tui.screens.dialog import Dialog


class Help(Dialog):
    """Scrolls; esc or ? leaves."""

    @property
    def heading(self) -> str:
        """What it is."""
        return "Signs and keys"

    def body(self, width: int) -> list[Line]:
        """The signs, then groups of keys."""
        lines = [Line([("Signs", "accent bold")]), *legend("  "), *marks("  "), Line([])]
        for group, found in commands.groups().items():
            lines.append(Line([(group, "accent bold")]))
            lines += [_row(command) for command in found]
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


def _row(command: commands.Command) -> Line:
    keys = "  ".join(commands.shown(key) for key in command.keys)
    panes = set(command.where) & set(commands.PANES)
    sheets = [name for name in command.where if name in commands.SHEETS]
    where = ", ".join(sheets)
    if panes:
        where = {True: "", False: "log"}["list" in panes] if len(panes) > 1 else "list"
    return Line([(f"  {pad(keys, 14)}", "fg-1 bold"), (command.help, "fg")], [(where, "fg-3")])
