"""The one screen in front: keys that came together must neither open nor close twice.

Keys wait in the queue of the screen they were sent to. Those behind one that opened or closed a
dialog are still that screen's when it has another in front of it, or has left.
"""

from __future__ import annotations

from typing import Any

from textual.await_complete import AwaitComplete
from textual.command import CommandPalette
from textual.screen import Screen


def is_in_front(screen: Screen[Any]) -> bool:
    """Is it what the person sees and means? (`is_current` holds for what shines through, too.)"""
    app = screen.app
    return app.return_code is None and app.screen_stack[-1:] == [screen]


class Palette(CommandPalette):
    """Textual's palette, but esc twice does not close what is below it, too."""

    def dismiss(self, result: None = None) -> AwaitComplete:
        """Leave, if that is not under way already."""
        return super().dismiss(result) if is_in_front(self) else AwaitComplete()
