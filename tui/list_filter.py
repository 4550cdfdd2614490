"""Which sessions the list shows: by state, and by the words that its rows say. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from sessionlog.query import STATUSES
from sessionlog.records import Entry, Status
from sessionlog.text import visible
from tui.entries import reason_of
from tui.flow import words
from tui.lines import Line, Piece
from tui.signs import SIGNS, WORDS, state_of

_ASKED = re.compile(r'(?<!\S)(is|status|agent|tool|kind|after|before):((?:"[^"]*"?|[^\s"])*)')
"""The search's filters; of these a list of sessions can tell by status and agent."""
_STATES = {SIGNS[state][0]: state for state in WORDS}


@dataclass(frozen=True, slots=True)
class Filter:
    """Which sessions are shown."""

    state: str = ""
    """Name of a sign ("fail", "open", ...); "" for all."""
    text: str = ""
    """Words in any order, signs, `status:failed`, `agent:codex`."""

    def __call__(self, entry: Entry) -> bool:
        state = state_of(entry)
        if self.state not in ("", state) and not (self.state == "fail" and entry.failed):
            return False
        if not self.text:
            return True
        asked, others = _parts(self.text)
        if not all(_meets(entry, key, values) for key, values in asked):
            return False
        said = _said(entry)
        return all(_STATES[word] == state if word in _STATES else word in said for word in others)


@lru_cache(maxsize=16)
def _parts(text: str) -> tuple[list[tuple[str, list[str]]], list[str]]:
    """The search's filters that a text asks for, and its other words."""
    text = text.casefold()
    asked = [
        (match[1], [value for value in match[2].replace('"', "").split(",") if value])
        for match in _ASKED.finditer(text)
    ]
    return asked, _ASKED.sub(" ", text).split()


def _meets(entry: Entry, key: str, values: list[str]) -> bool:
    """Does a session meet one of the values of a filter, as far as that is typed?"""
    if not values:
        return True
    names = {"agent": [entry.agent, entry.format], "status": _standing(entry)}.get(key, [])
    return any(name.casefold().startswith(value) for name in names for value in values)


def _standing(entry: Entry) -> list[str]:
    """The words for how it stands: what `o f` shows has failed."""
    state = state_of(entry)
    return [entry.status or "", WORDS[state], WORDS["fail"] if entry.failed else ""]


def _said(entry: Entry) -> str:
    """All that the row of a session, and the head of its log, say of it."""
    cut = entry.status in (Status.UNFINISHED, Status.TRUNCATED)
    told = (
        entry.title, entry.id, entry.agent, entry.format, entry.workdir, entry.stop, entry.model,
        entry.reason or "", entry.failure, entry.path, reason_of(entry), *_standing(entry),
        "killed" if cut else "",
    )  # fmt: skip
    return "\n".join(told).casefold()


def hidden(of: int, why: Filter, columns: int) -> list[Line]:
    """What is shown where the filter hides every session."""
    told = [f"only {WORDS[why.state]}"] if why.state else []
    told += [f"“{visible(why.text)}”"] if why.text else []
    said = f" 0 of {of} · {' · '.join(told)} "
    shows_all = Line([(" o a", "fg-1 bold"), (" shows all", "fg-2")])
    return [Line([]), Line([(said, "fg")]), shows_all, *hints(why.text, columns)]


def hints(text: str, columns: int) -> list[Line]:
    """What could be typed in the place of filters that let no session through."""
    made = []
    for key in dict.fromkeys(key for key, _ in _parts(text)[0]):
        said: list[Piece] = [(f"{key}: ", "accent")]
        if key == "status":
            said.append((" ".join(reversed(STATUSES)), "fg-2"))
        elif key == "agent":
            said.append(("an agent that a row names", "fg-2"))
        else:
            said += [("is for the rows of logs: ", "fg-2"), ("s", "fg-1 bold"),
                     (" searches them", "fg-2")]  # fmt: skip
        made += [Line([(" ", ""), *pieces]) for pieces in words(said, columns - 2)]
    return made
