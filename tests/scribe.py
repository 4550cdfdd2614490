"""A plot as a log: what the scribes of all clients have in common."""

from __future__ import annotations

from random import Random

from plots import Step


class Scribe:
    """Steps in, lines out."""

    name = "x.jsonl"

    def __init__(self, random: Random) -> None:
        self.random = random
        self.lines: list[bytes] = []
        self.turns: list[str | None] = []
        """What each prompt follows."""

    def write(self, steps: list[Step]) -> list[bytes]:
        for step in steps:
            getattr(self, f"on_{step.what}")(step)
        return self.lines

    def on_prompt(self, step: Step) -> None:
        raise NotImplementedError

    def on_back(self, step: Step) -> None:
        self.on_prompt(step)

    def on_note(self, step: Step) -> None:
        pass

    def on_side(self, step: Step) -> None:
        pass

    def on_compact(self, step: Step) -> None:
        pass

    def origin(self, step: Step) -> str | None:
        """What an earlier prompt followed."""
        return self.turns[int(len(self.turns) * (1 - step.far) * 0.999)] if self.turns else None
