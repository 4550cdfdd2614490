"""Where hits stand in lines one below the other: one may go over the end of a line that was broken
because it was full. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from sessionlog.text import width
from tui.flow import MORE
from tui.lines import Line
from tui.marking import Marker

Places = list[tuple[int, int]]


class _Joint(NamedTuple):
    """Two lines that were one before it was broken."""

    kept: int
    """Characters of the first."""
    skipped: int
    """Characters of the second that were put in front of it."""
    between: str


def places_in(lines: Sequence[Line], marker: Marker, columns: int) -> list[Places]:
    """The places of hits in the lines of a pane, for each line."""
    texts = ["".join(text for text, _ in line.left) for line in lines]
    found = [list(marker.places(text)) for text in texts]
    for number, (first, second) in enumerate(pairwise(texts)):
        joint = _joint(first, second, columns)
        if joint is None:
            continue
        whole = first[: joint.kept] + joint.between + second[joint.skipped :]
        behind = joint.kept + len(joint.between)
        for start, end in marker.places(whole):
            if start < joint.kept and end > behind:
                found[number].append((start, joint.kept))
                found[number + 1].append((joint.skipped, joint.skipped + end - behind))
    return found


def _joint(first: str, second: str, columns: int) -> _Joint | None:
    """How two lines hang together; None where the first one ended by itself."""
    bare = second.lstrip(" ")
    indent = len(second) - len(bare)
    if bare.startswith(MORE):
        return _Joint(len(first), indent + len(MORE), "")
    kept = first.rstrip(" ")
    word = bare.partition(" ")[0]
    if not word or not kept or width(kept) + 1 + width(word) <= columns - 2:
        return None
    return _Joint(len(kept), indent, " ")
