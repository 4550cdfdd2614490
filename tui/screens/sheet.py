"""The base of every full screen in front of the browser: search, replay, compare, ...

Top bar, body, status line and key line as in the browser. A subclass names the pane under which
its keys stand in `tui.commands`, gives the parts of its body and where each of them is, and has a
method for each of its commands (or its main part has).
"""

from __future__ import annotations

from collections.abc import Iterable

from textual import events, on
from textual.await_complete import AwaitComplete
from textual.geometry import NULL_OFFSET, NULL_SPACING, Region, Size
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.widget import Widget

from sessionlog.text import visible
from tui import messages
from tui.commands import Command
from tui.keys import Keys
from tui.layout import SMALLEST
from tui.screens.frame import Answer, Frame
from tui.screens.front import is_in_front
from tui.widgets.key_line import KeyLine
from tui.widgets.prompt import Prompt
from tui.widgets.status_line import StatusLine
from tui.widgets.timeline_told import Told
from tui.widgets.top_bar import TopBar


class _Places(Layout):
    """Bar on top, status and keys below, the body between them as the sheet says."""

    name = "sheet"

    def __init__(self, sheet: Sheet[object]) -> None:
        self._sheet = sheet

    def arrange(
        self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True
    ) -> ArrangeResult:
        """One placement for each part that is seen."""
        shown = self._sheet.placed(size)
        return [
            WidgetPlacement(shown[child.id], NULL_OFFSET, NULL_SPACING, child)
            for child in children
            if child.id in shown
        ]


class Sheet(Frame[Answer]):
    """Answers what its `dismiss` was given, None when it was left."""

    where = ""
    """The name of its keys' place in the table of commands."""

    def __init__(self, bar: TopBar) -> None:
        super().__init__()
        self.bar = bar
        self.status = StatusLine(id="status")
        self.keys = KeyLine(self.refused, id="keys")
        self.prompt = Prompt(self, self._close_prompt, id="prompt")
        self._pressed = Keys()
        self._places = _Places(self)  # type: ignore[arg-type]

    # -- a subclass says -----------------------------------------------------------------------

    def parts(self) -> Iterable[Widget]:
        """The widgets of the body; each has an id. The first is the main one: keys go to it."""
        raise NotImplementedError

    def regions(self, body: Region) -> dict[str, Region]:
        """Where in `body` each part is, by id; what is not named is not shown."""
        raise NotImplementedError

    def refused(self, id: str) -> str:
        """Why a command cannot act now; "" when it can."""
        return ""

    def typed(self, purpose: str, text: str) -> None:
        """The prompt's text is another one."""

    def given(self, purpose: str, text: str) -> None:
        """The prompt was answered."""

    def undone(self, purpose: str) -> None:
        """The prompt was left."""

    def resumed(self) -> None:
        """It was come back to, and is as it was left."""

    def leave(self) -> None:
        """One step back."""
        self.dismiss(None)

    # -- the parts -----------------------------------------------------------------------------

    @property
    def layout(self) -> Layout:
        """Textual's styles know their own layouts only, so it is given here."""
        return self._places

    def compose(self) -> Iterable[Widget]:
        """The parts and what frames them."""
        self._body = list(self.parts())
        return [self.bar, *self._body, self.status, self.prompt, self.keys]

    @property
    def main(self) -> Widget:
        """The part that keys go to."""
        return self._body[0]

    @property
    def begins(self) -> Widget:
        """The part that has the focus first."""
        return self.main

    def on_mount(self) -> None:
        """The keys are those of the sheet."""
        self.keys.tell(self.where)
        self.set_focus(self.begins)

    def placed(self, size: Size) -> dict[str, Region]:
        """Name of each visible part and where it is."""
        width, height = size
        if width < SMALLEST.width or height < SMALLEST.height:
            return {"bar": Region(0, 0, width, height)}
        return {
            "bar": Region(0, 0, width, 1),
            "prompt" if self.prompt.purpose else "status": Region(0, height - 2, width, 1),
            "keys": Region(0, height - 1, width, 1),
            **self.regions(Region(0, 1, width, height - 3)),
        }

    def place(self) -> None:
        """Lay the parts out anew."""
        self.bar.refresh(layout=True)  # a child's: the screen forgets where all of them are

    def dismiss(self, result: Answer | None = None) -> AwaitComplete:
        """Leave, if that is not under way already. One with an answer stays as it is, for the way
        back to it; whoever opened it ends it."""
        if not is_in_front(self):
            return AwaitComplete()
        if result is not None:
            self.app.install_screen(self, f"left-{id(self)}")
        return super().dismiss(result)

    # -- workers -------------------------------------------------------------------------------

    @on(messages.Failed)
    def _failed(self, message: messages.Failed) -> None:
        self.status.warn(f"{message.what} ended: {message.error}")

    @on(Told)
    def _told(self, message: Told) -> None:
        self.status.answer(message.text)

    # -- keys ----------------------------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        """Find what the keys pressed so far mean here, and do it."""
        if event.key in ("ctrl+q", "ctrl+c") or not is_in_front(self):
            return
        if self.prompt.purpose:
            self.prompt.press(event)
            return
        pressed = self._pressed.press(event, self.where)
        self.status.answer(pressed.missed)
        if pressed.turned:
            self.keys.tell(self.where, pressed.head)
        if pressed.command is not None:
            self.run_command(pressed.command)

    def run_command(self, command: Command) -> None:
        """Do it, or say why not."""
        refused = self.refused(command.id)
        if refused:
            self.status.answer(refused)
            return
        act = getattr(self, command.id, None) or getattr(self.main, command.id, None)
        if act is None:
            self.status.answer(f"{command.title} does nothing here")
        else:
            act()

    def theme(self) -> None:
        """The next theme."""
        self.app.post_message(messages.NextTheme())

    def help(self) -> None:
        """Keys and signs."""
        from tui.screens.help import Help

        self.app.push_screen(Help())

    def copied(self, what: str, text: str) -> None:
        """Copy masked text, and say so."""
        if not text:
            self.status.answer(f"{what} is empty here")
            return
        self.app.copy_to_clipboard(text)
        masked = ", secrets masked" if "…masked" in text else ""
        self.status.answer(f"copied {visible(what)}{masked}")

    # -- the prompt ----------------------------------------------------------------------------

    def ask(self, purpose: str, label: str, text: str = "") -> None:
        """Open the prompt; `given` gets the answer."""
        self.prompt.ask(purpose, label, text)
        self.place()
        self.keys.tell(self.where, fixed=(("enter", "go"), ("esc", "leave")))

    def _close_prompt(self) -> None:
        self.prompt.close()
        self.place()
        self.set_focus(self.main)
        self.keys.tell(self.where)

    def on_paste(self, event: events.Paste) -> None:
        """Pasted text is the prompt's."""
        if self.prompt.purpose and is_in_front(self):
            self.prompt.paste(event)


def side_by_side(body: Region, left: int) -> tuple[Region, Region]:
    """Two parts with a column between them."""
    return (
        Region(body.x, body.y, left, body.height),
        Region(body.x + left + 1, body.y, body.width - left - 1, body.height),
    )
