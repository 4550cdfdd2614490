"""The page "why did it stop" as lines of a pane: the library's statements, and what to do next.
Pure."""

from __future__ import annotations

from typing import NamedTuple

from sessionlog.text import pad, visible, width, wrap
from sessionlog.tools import label_of
from sessionlog.why.answer import Why
from sessionlog.why.judge import looping
from sessionlog.why.look import Looked
from sessionlog.why.said import Clock, Statement, level_of, place_of, statements
from sessionlog.why.work import row_of
from tui.lines import Line, Piece
from tui.signs import SIGNS
from tui.stop import TINTS

_LABEL = 11
_MOST = 3
"""Lines that a statement may take."""
_STYLES = {"fail": "fail", "amiss": "open", "open": "open", "run": "run",
           "torn": "bytes", "bytes": "bytes", "reset": "accent", "ok": "fg-1"}  # fmt: skip


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
    """The message after which another way can be tried: before the call that was running or that
    failed, and where it came to the same before, before the first of them; 0 where there is no
    such call: then the end it is."""
    return _wrong(looked.why)[0]


def _wrong(why: Why) -> tuple[int, str]:
    """(message, words) of what a fork goes back to before; (0, "") for nothing."""
    facts, error = why.facts, why.last_error
    if why.cause == "loop" and (found := looping(facts, 2)) and found.call.n:
        how = "failed" if found.failed else "gave the same"
        return found.call.n - 1, f"{label_of(found.call.tool)} {how} {found.times} times"
    if why.in_flight:
        flying = why.in_flight[0]
        last = facts.message.n if facts.message else None
        at = flying.n - 1 if flying.n else last or 0  # no message: the conversation ends before it
        return at, label_of(flying.tool)
    if level_of(why) == "ok" or error is None or error.overcome or not error.n:
        return 0, ""
    done = next((done for done in facts.recent if done.call.n == error.n), None)
    row = row_of(facts.recent, done) if done else []
    first = row[0].call.n if row else None
    times = f" {len(row)} times" if first and len(row) > 1 else ""
    return (first or error.n) - 1, f"{label_of(error.tool) or 'it'} failed{times}"


def next_steps(looked: Looked, refused: dict[str, str]) -> list[Step]:
    """The ways on; a key that is `refused` says why instead."""
    at, wrong = _wrong(looked.why)
    calls = [label_of(call.tool) for call in looked.why.in_flight]
    fork = f"fork at {at}, before {wrong}, and try another way" if at else "fork: the whole run"
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
