"""Keys as they are pressed: a command, the head of a sequence, or nothing."""

from __future__ import annotations

from typing import NamedTuple

from textual import events

from tui import commands
from tui.commands import Command


class Pressed(NamedTuple):
    """What a key came to."""

    command: Command | None
    head: str
    """The keys of a sequence pressed so far: "g", "o", or ""."""
    turned: bool
    """Did a sequence begin, go on or end? Then the key line is another one."""
    missed: str
    """What to say of keys that mean nothing here; "" where they mean something, or nothing
    anywhere."""


class Keys:
    """Remembers the head of a sequence until its next key."""

    def __init__(self) -> None:
        self._head = ""

    def press(self, event: events.Key, where: str) -> Pressed:
        """What the key means in that pane. The event of a key that means something ends here."""
        key = event.character if event.character and event.is_printable else event.key
        key = "space" if key == " " else key
        head, self._head = self._head, ""
        keys = f"{head} {key}" if head else key
        found = commands.find(keys, where)
        self._head = keys if found.open else ""
        missed = ""
        if not found.command and not found.open and key != "escape":
            missed = _missed(keys, where)
        if found.command or found.open or head:
            event.stop()
            event.prevent_default()
        return Pressed(found.command, self._head, bool(found.open or head), missed)


def _missed(keys: str, where: str) -> str:
    panes = commands.elsewhere(keys) if where in commands.PANES else ()
    if panes:
        return f"{commands.shown(keys)} is a key of the {' and the '.join(panes)}"
    known = " " in keys or commands.is_known(keys)
    back = "; esc goes back" if where not in commands.PANES else ""
    return f"{commands.shown(keys)} does nothing here{back}" if known else ""
