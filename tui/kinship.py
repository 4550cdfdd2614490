"""Where a session came from and what was made of it, in plain words. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from sessionlog.family import Forest, origin_of
from sessionlog.records import Entry
from sessionlog.text import clip, one_line, visible

_NAMED = 30
"""Columns of a title or an id."""


def told(forest: Forest, entry: Entry) -> list[str]:
    """`fork of Migrate billing at 61`, `2 forks, 1 resumed`: nothing for one without family."""
    return [words for words in (came_from(forest, entry), _made(forest.children(entry))) if words]


def alone(entry: Entry) -> str:
    """Why there is no way to the parent of a session."""
    origin = origin_of(entry)
    if origin is None:
        return "it was not made from another session"
    return f"{_made_of(visible(origin.id), origin.at)}, not here"


def came_from(forest: Forest, entry: Entry) -> str:
    """`fork of Migrate billing at 61`; "" for one that was not made from another."""
    origin = origin_of(entry)
    if origin is None:
        return ""
    parent = forest.parent(entry)
    if parent is None:
        return alone(entry)
    return _made_of(one_line(parent.title[:200]) or visible(parent.id), origin.at)


def _made_of(name: str, at: int | None) -> str:
    name = clip(name, _NAMED)
    return f"goes on with {name}" if at is None else f"fork of {name} at {at}"


def _made(children: Sequence[Entry]) -> str:
    forks = sum(child.forked_from is not None for child in children)
    later = len(children) - forks
    words = [f"{forks} fork{'s' * (forks != 1)}"] if forks else []
    return ", ".join([*words, f"{later} resumed"] if later else words)
