"""What the timeline pane tells the screen."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message

from tui.row_lines import Clock
from tui.rows import Row
from tui.timeline import Pos


@dataclass(eq=False, repr=False)
class RowMoved(Message):
    """The cursor is on another row, or its row changed."""

    row: Row | None
    pos: Pos | None


@dataclass(eq=False, repr=False)
class Stood(Message):
    """Where the pane stands, for the map of the run: bytes of the log."""

    cursor: int | None
    seen: tuple[int, int]
    """The first and the last row in the pane."""
    clock: Clock


@dataclass(eq=False, repr=False)
class FollowChanged(Message):
    """The cursor sticks to the last row as the log grows, or not any more."""

    following: bool


@dataclass(eq=False, repr=False)
class FoundCount(Message):
    """How often a text stands in the log, as far as it was looked through."""

    count: int
    done: bool


@dataclass(eq=False, repr=False)
class Told(Message):
    """A few words for the status line: "no error below"."""

    text: str


@dataclass(eq=False, repr=False)
class Looked(Message):
    """A long look went on for a slice: the status line says how far it is."""


@dataclass(eq=False, repr=False)
class Counted(Message):
    """Messages and lines are counted further; `done`: to the end."""

    done: bool
