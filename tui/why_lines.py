"""The page "why did it stop" as lines of a pane: the library's statements, and what to do next.
Pure."""

from __future__ import annotations

from typing import NamedTuple

from sessionlog.text import pad, visible, width, wrap
from sessionlog.why.look import Looked
from sessionlog.why.said import Clock, Statement, level_of, place_of, statements
from tui.lines import Line, Piece
from tui.signs import SIGNS
from tui.stop import TINTS

_LABEL = 11
_MOST = 3
"""Lines that a statement may take."""
_STYLES = {"fail": "fail", "open": "open", "run": "run", "torn": "bytes", "bytes": "bytes",
           "reset": "accent", "ok": "fg-1"}  # fmt: skip


class Told(NamedTuple):
    """A statement with the lines it takes."""

    statement: Statement
    lines: list[Line]

    @property
    def leads(self) -> bool:
        """Is there a row that it is about?"""
        return self.statement.offset >= 0


class Step(NamedTuple):
    """What a person may do next, with the key that does it."""

    key: str
    words: str


def fork_point(looked: Looked) -> int:
    """The message after which another way can be tried: before the call that was running, or
    that failed; 0 where there is none: then the end it is."""
    why = looked.why
    if why.in_flight:
        flying = why.in_flight[0].n
        last = why.facts.message.n if why.facts.message else None
        return flying - 1 if flying else last or 0  # no message: the conversation ends before it
    error = why.last_error
    if why.cause == "finished" or error is None or error.overcome or not error.n:
        return 0
    return error.n - 1


def next_steps(looked: Looked, refused: dict[str, str]) -> list[Step]:
    """The ways on; a key that is `refused` says why instead."""
    at, error = fork_point(looked), looked.why.last_error
    calls = [visible(call.tool) for call in looked.why.in_flight]
    what = calls[0] if calls else f"{visible(error.tool or 'it')} failed" if error else "it"
    fork = f"fork at {at}, before {what}, and try another way" if at else "fork: the whole run"
    close = f", {' and '.join(calls)} closed as interrupted" if calls else ""
    hand = f"hand over to an agent that goes on{close}"
    steps = [Step("f", refused.get("fork") or fork), Step("r", refused.get("hand_over") or hand),
             Step("p", "replay the last ten minutes")]  # fmt: skip
    return [step for step in steps if step.words]


def told(looked: Looked, columns: int, clock: Clock) -> list[Told]:
    """The statements, wrapped to a width; the head in the colour of the cause."""
    level = level_of(looked.why)
    tint = TINTS.get(level, "surface")
    made: list[Told] = []
    in_head = True
    for statement in statements(looked.why, clock):
        in_head = in_head and bool(statement.words)
        if in_head:
            style = f"{_STYLES[level]} bold" if not made else "fg-1"
            texts = wrap(statement.words, columns - 2, 2)
            lines = [Line([(f" {text}", style)], tint=tint) for text in texts]
        else:
            lines = _lines(statement, columns)
        made.append(Told(statement, lines))
    return made


def _lines(said: Statement, columns: int) -> list[Line]:
    if not said.words:
        return [Line([])]
    place = place_of(said)
    sign: Piece = SIGNS["summary" if said.level == "reset" else said.level or "event"]
    if not said.label:
        sign = (" ", "")
    style = _STYLES.get(said.level, "fg")
    room = max(columns - _LABEL - 4 - width(place) - 2, 10)
    lines = []
    for i, text in enumerate(wrap(said.words, room, _MOST)):
        head: list[Piece] = [(" ", ""), sign, (f" {pad(said.label, _LABEL)} ", "fg-2")]
        if i:
            head = [(" " * (_LABEL + 4), "")]
        right: list[Piece] = [(f"{place} ", "accent")] if place and not i else []
        lines.append(Line([*head, (text, style)], right))
    return lines


def step_lines(steps: list[Step]) -> list[Line]:
    """The ways on."""
    return [Line([(f"  {step.key} ", "fg-1 bold"), (step.words, "fg-2")]) for step in steps]


def as_text(looked: Looked, clock: Clock) -> str:
    """The page to copy: label, words, row."""
    rows = [
        f"{pad(s.label, _LABEL)} {s.words}  {place_of(s)}".rstrip() if s.label or s.words else ""
        for s in statements(looked.why, clock)
    ]
    return "\n".join([f"{looked.title}  {visible(looked.id)}", *rows])
