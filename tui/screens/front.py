"""The one screen in front: keys that came together must neither open nor close twice.

Keys wait in the queue of the screen they were sent to. Those behind one that opened or closed a
dialog are still that screen's when it has another in front of it, or has left. They are dropped,
unless the screen in front begins with a line to type into: then they were typed for it.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from textual import events
from textual.await_complete import AwaitComplete
from textual.command import CommandPalette
from textual.screen import Screen


def is_in_front(screen: Screen[Any]) -> bool:
    """Is it what the person sees and means? (`is_current` holds for what shines through, too.)"""
    app = screen.app
    return app.return_code is None and app.screen_stack[-1:] == [screen]


@runtime_checkable
class TakesKeys(Protocol):
    """A screen that begins with a line to type into."""

    def take(self, event: events.Key | events.Paste) -> None:
        """Something that was typed for it before it was there."""


def handed_on(screen: Screen[Any], event: events.Key | events.Paste) -> bool:
    """Did it come too late for this screen? The one in front gets it where it was typed for it."""
    if is_in_front(screen):
        return False
    app = screen.app
    front = app.screen_stack[-1] if app.return_code is None else None
    if isinstance(front, TakesKeys):
        event.stop()
        event.prevent_default()
        front.take(event)
    return True


class Palette(CommandPalette):
    """Textual's palette, but esc twice does not close what is below it, too."""

    def dismiss(self, result: None = None) -> AwaitComplete:
        """Leave, if that is not under way already."""
        return super().dismiss(result) if is_in_front(self) else AwaitComplete()
