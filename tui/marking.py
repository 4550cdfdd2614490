"""Hits marked in lines that are shown: bold and underlined, whatever they stand in. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from sessionlog.records import Record
from tui.lines import Piece

HIT = "fg-1 bold underline"


class Marker(Protocol):
    """What is looked for."""

    def places(self, shown: str) -> Iterator[tuple[int, int]]:
        """(start, end) of each hit in a visible text."""

    def in_record(self, record: Record) -> bool:
        """Does a record say it?"""


def marked(pieces: Sequence[Piece], places: Iterable[tuple[int, int]]) -> list[Piece]:
    """The pieces, with what stands at the places of their joined text marked: a hit may go over
    several of them, for code is coloured in pieces."""
    made: list[Piece] = []
    left = sorted(places)
    begins = 0
    for text, style in pieces:
        at, ends = 0, begins + len(text)
        for start, end in left:
            if start < ends and end > begins:
                first, last = max(start - begins, at), min(end, ends) - begins
                made += [(text[at:first], style), (text[first:last], HIT)]
                at = max(last, at)
        made.append((text[at:], style))
        begins = ends
    return [piece for piece in made if piece[0]]
