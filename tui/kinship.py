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
    return [words for words in (_from(forest, entry), _made(forest.children(entry))) if words]


def alone(entry: Entry) -> str:
    """Why there is no way to the parent of a session."""
    origin = origin_of(entry)
    if origin is None:
        return "it was not made from another session"
    return f"{_at(origin.at)} of {clip(visible(origin.id), _NAMED)}, not here"


def _from(forest: Forest, entry: Entry) -> str:
    origin = origin_of(entry)
    if origin is None:
        return ""
    parent = forest.parent(entry)
    if parent is None:
        return alone(entry)
    name = clip(one_line(parent.title[:200]) or visible(parent.id), _NAMED)
    return f"fork of {name} at {origin.at}" if origin.at is not None else f"goes on with {name}"


def _made(children: Sequence[Entry]) -> str:
    forks = sum(child.forked_from is not None for child in children)
    later = len(children) - forks
    words = [f"{forks} fork{'s' * (forks != 1)}"] if forks else []
    return ", ".join([*words, f"{later} resumed"] if later else words)


def _at(at: int | None) -> str:
    return "@end" if at is None else f"@{at}"
