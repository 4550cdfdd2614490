"""Which agent carries on: those that are known, found or not, able or not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sessionlog.text import pad, visible, width
from tui.lines import Line, Piece
from tui.screens.dialog import Dialog

if TYPE_CHECKING:
    from sessionlog.agents import Choice


class AgentDialog(Dialog):
    """Answers with the agent's name."""

    def __init__(self, choices: Sequence[Choice], current: str, *, screen: bool) -> None:
        super().__init__()
        self._choices = choices
        self._screen = screen
        names = [choice.agent.name for choice in choices]
        at = names.index(current) if current in names else 0
        usable = bool(choices) and choices[at].ready
        self._at = at if usable else 0  # those that can be chosen stand first
        self._said = ""

    @property
    def heading(self) -> str:
        """What is chosen."""
        return "Hand over to"

    def body(self, width_: int) -> list[Line]:
        """A line for each agent: its name, how it would go on, the command."""
        longest = max((width(visible(c.agent.name)) for c in self._choices), default=4)
        lines = [Line([])]
        for index, choice in enumerate(self._choices):
            lines.append(self._line(choice, min(longest, 20), index == self._at))
        if not self._choices:
            lines.append(Line([("no agent is known", "fg-2")]))
        return [*lines, Line([(self._said, "open")])]

    def _line(self, choice: Choice, longest: int, selected: bool) -> Line:
        name = pad(visible(choice.agent.name), longest)
        command = " ".join(map(visible, choice.agent.argv_for(self._screen)))
        sign: Piece = ("✓", "ok") if choice.ready else ("✗", "fail") if choice.takes else (" ", "")
        why = visible(choice.why).removeprefix(f"{visible(choice.agent.name)}: ")
        how = pad(choice.how, max(len(other.how) for other in self._choices))
        pieces: list[Piece] = [
            ("▌" if selected else " ", "accent"), sign,
            (f" {name}  ", "fg-1 bold" if choice.ready else "fg-2"),
            (f"{how}  " if choice.takes else "", "fg-1" if choice.ready else "fg-2"),
            (why or command, "fg-2"),
        ]  # fmt: skip
        return Line(pieces, tint="sel" if selected else "")

    def hints(self) -> list[tuple[str, str]]:
        """What can be done."""
        return [("enter", "this one"), ("j k", "move"), ("esc", "leave")]

    def pressed(self, key: str) -> None:
        """Move, or take one."""
        steps = {"j": 1, "down": 1, "k": -1, "up": -1, "home": -999, "g": -999, "end": 999,
                 "G": 999}  # fmt: skip
        if key in steps and self._choices:
            self._at = max(0, min(self._at + steps[key], len(self._choices) - 1))
            self._said = ""
        elif key == "enter" and self._choices:
            choice = self._choices[self._at]
            if choice.takes:
                self.dismiss(choice.agent.name)
                return
            self._said = visible(choice.why)
        self.renew()
