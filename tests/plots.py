"""Random sessions, told without a client's words: who says what, which calls are answered, when.

The same seed makes the same plot. Each text holds a word of its own, by which it is found again.
"""

from __future__ import annotations

import re
from random import Random
from typing import NamedTuple

WORD = re.compile(r"\bw\d+w\b")
"""A text's own word."""


class Step(NamedTuple):
    """What happens next."""

    what: str
    """prompt, back (a prompt that goes back to an earlier place), answer, results, note, side,
    compact."""
    text: str = ""
    thought: str = ""
    calls: tuple[str, ...] = ()
    """Ids of the calls that an answer makes, or of those that results are of."""
    far: float = 0
    """How far back a prompt goes: 1 is the whole session."""


def plot(seed: int, again: bool = True) -> list[Step]:
    """The steps of a session: two of three are unhealthy. `again`: ids of calls may come again."""
    return _Plot(Random(seed), again).made()


class _Plot:
    def __init__(self, random: Random, again: bool) -> None:
        self._random, self._again = random, again
        self._n = 0
        self._steps: list[Step] = []
        self._waiting: list[str] = []
        """Calls of the last answer."""
        self._left: list[str] = []
        """Calls that later turns passed over, and such as were answered."""
        self._ill = 0.0

    def made(self) -> list[Step]:
        random = self._random
        self._ill = random.choice((0.0, 0.1, 0.3))
        self._add("prompt")
        for _ in range(random.randint(1, 24)):
            self._next()
        if self._waiting and random.random() > self._ill + 0.2:
            self._answer_all()
        return self._steps

    def _next(self) -> None:
        random = self._random
        if random.random() < self._ill:
            self._mischief()
        elif self._waiting:
            if random.random() < 0.15:
                self._answer_all()
            else:
                id = self._waiting.pop(0 if random.random() < 0.7 else -1)
                self._results(id)
        else:
            what = random.choice(("answer",) * 9 + ("prompt",) * 4 + ("note", "side"))
            what = random.choice(("back", "compact")) if random.random() < 0.08 else what
            self._add(what)

    def _mischief(self) -> None:
        random = self._random
        what = random.choice(("open", "open", "late", "again", "nobody", "back", "compact", "side"))
        if what == "open":  # goes on although calls wait
            self._left += self._waiting
            self._waiting.clear()
            self._add(random.choice(("prompt", "answer", "answer")))
        elif what in ("late", "again") and self._left:
            self._results(random.choice(self._left))
        elif what == "nobody":
            self._results(f"call_nobody{self._n}")
        elif what in ("back", "compact", "side"):
            self._add(what)

    def _answer_all(self) -> None:
        self._results(*self._waiting)
        self._waiting.clear()

    def _results(self, *ids: str) -> None:
        self._left += ids
        self._steps.append(Step("results", self._word(), calls=ids))

    def _add(self, what: str) -> None:
        random = self._random
        calls: tuple[str, ...] = ()
        thought = text = ""
        if what == "answer":
            count = random.choice((0, 0, 1, 1, 1, 2, 3))
            calls = tuple(f"call_{len(self._steps)}{letter}" for letter in "abc"[:count])
            if self._again and self._left and random.random() < self._ill / 5:
                calls = (random.choice(self._left),)
            self._left += self._waiting
            self._waiting = list(calls)
            thought = self._word() if random.random() < 0.3 else ""
            text = self._word() if not calls or random.random() < 0.4 else ""
        else:
            text = self._word()
        self._steps.append(Step(what, text, thought, calls, random.random()))

    def _word(self) -> str:
        self._n += 1
        return f"w{self._n}w"


def words(text: str) -> list[str]:
    """The words of a text, in order."""
    return WORD.findall(text)
