"""The Textual application: themes, palette, and the one screen that everything starts from."""

from __future__ import annotations

import asyncio
import gc
import signal
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import Screen

from sessionlog.text import visible
from tui import commands, hangup, messages, themes
from tui.orders import NEWEST
from tui.screens.browser import Browser
from tui.screens.front import Palette, is_in_front
from tui.widgets.status_line import StatusLine
from tui.workers import Catalogue

if TYPE_CHECKING:
    from sessionlog.pace import Pace

INTERRUPTED = 130
"""Exit code of a program that the person interrupted."""
_ENDINGS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Signals that end us; left alone they would leave the terminal as the screen has it."""


class InspectorApp(App[None]):
    """Inspect, follow, fork and repair session logs."""

    TITLE = "sessionlog"
    CSS = """
    Screen { background: $background; }
    CommandPalette > Vertical { width: 70%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "interrupt", show=False, system=True)
    ]
    ENABLE_SELECT_AUTO_SCROLL = False
    ALLOW_SELECT = False

    def __init__(
        self,
        catalogue: Catalogue,
        *,
        theme: str = "",
        plain: bool = False,
        clock: Callable[[], float] = time.time,
        pace: Pace | None = None,
        order: str = NEWEST,
    ) -> None:
        """`plain` shows ASCII in the place of our signs; "" is the theme for the terminal. With a
        `pace` it begins by playing the log that is open. `order` is the list's, at first."""
        super().__init__()
        self._pace = pace
        self.plain = plain
        self._catalogue = catalogue
        self._clock = clock
        self._order = order
        self._begin_with(theme or ("mono" if self.no_color else themes.DEFAULT))

    def action_interrupt(self) -> None:
        """ctrl+c leaves, as it does everywhere else in a terminal."""
        self.exit(return_code=INTERRUPTED)

    def on_mount(self) -> None:
        """From here on a signal leaves as q does, so that the terminal is as it was."""
        if self.is_headless:
            return  # no terminal is at stake, and the signals are those of whoever runs us
        # where the loop cannot (Windows, not the main thread) the signals stay as they are
        with suppress(NotImplementedError, RuntimeError, ValueError):
            loop = asyncio.get_running_loop()
            for number in _ENDINGS:
                leave = partial(self.exit, return_code=128 + number)
                loop.add_signal_handler(number, leave)
            gone = partial(self.exit, return_code=hangup.CODE)
            hangup.watch(lambda: loop.call_soon_threadsafe(gone))

    def on_ready(self) -> None:
        """The first screen is there: what was loaded for it will stay, and is not looked at again
        when garbage is collected."""
        if not gc.isenabled():
            gc.freeze()
            gc.enable()
        if self._pace is not None and isinstance(self.screen, Browser):
            self.screen.sheets.play(self._pace)

    def get_default_screen(self) -> Screen[None]:
        """The browser is the first screen, not one above an empty one."""
        return Browser(self._catalogue, clock=self._clock, order=self._order)

    def action_command_palette(self) -> None:
        """Open the palette; its commands are the browser's, so it opens in front of that only."""
        if isinstance(self.screen, Browser) and is_in_front(self.screen):
            self.push_screen(Palette(id="--command-palette"))

    def _begin_with(self, name: str) -> None:
        """Have the theme before anything is styled; set later, all would be styled twice."""
        self.register_theme(themes.theme(name))
        if name == "ansi":  # this one changes how colours are written, too
            self.theme = name
            return
        self.set_reactive(App.theme, name)
        self.stylesheet.set_variables(self.get_css_variables())

    def _use(self, name: str) -> None:
        if name not in self.available_themes:
            self.register_theme(themes.theme(name))
        self.theme = name

    @on(messages.NextTheme)
    def _next_theme(self) -> None:
        """The next of our themes, around."""
        at = themes.NAMES.index(self.theme) if self.theme in themes.NAMES else -1
        self._use(themes.NAMES[(at + 1) % len(themes.NAMES)])
        if isinstance(status := getattr(self.screen, "status", None), StatusLine):
            status.answer(f"theme: {self.theme}")

    @on(messages.DesktopNotice)
    def _tell_desktop(self, message: messages.DesktopNotice) -> None:
        """A desktop notice, by the terminal (OSC 9; those that have none ignore it)."""
        if self._driver is not None:
            self._driver.write(f"\x1b]9;sessionlog: {visible(message.words)}\x07")

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """The palette: every command that means something in the focused pane."""
        if not isinstance(screen, Browser):
            return
        for command in commands.COMMANDS:
            if screen.view.focus in command.where and command.id != "palette":
                keys = " or ".join(map(commands.shown, command.keys))
                act = partial(screen.actions.run, command)
                title = f"{command.title}: {command.help}"
                yield SystemCommand(title, f"{command.group} · {keys}", act)
