"""What every full screen has: threads whose errors show, and a line between its parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip
from textual.worker import get_current_worker

from tui import workers
from tui.lines import Line
from tui.paint import painter

Answer = TypeVar("Answer")


class Frame(Screen[Answer], inherit_bindings=False):
    """Its parts cover it, but for the column between two of them."""

    AUTO_FOCUS = ""
    ALLOW_SELECT = False

    def render_lines(self, crop: Region) -> list[Strip]:
        """What no part covers."""
        palette = painter(self.app.theme, faded=not self.is_current)
        return [palette.strip(Line([("│" * crop.width, "line")]), crop.width)] * crop.height

    def work(
        self, what: str, work: Callable[[workers.Post, workers.Stopped], None], group: str = "work"
    ) -> None:
        """Run a function in a thread; a newer one of its group stops it, and so does leaving.

        Its errors show on the screen. It gets `post` (send a message to the screen) and `stopped`.
        """

        app = self.app

        def run() -> None:
            worker = get_current_worker()

            def stopped() -> bool:
                # one that began while the program was being left is cancelled by nobody
                return worker.is_cancelled or not (self.is_running and app.is_running)

            workers.guarded(what, lambda: work(self.post_message, stopped), self.post_message)

        self.run_worker(run, thread=True, group=group, exclusive=True, exit_on_error=False)
