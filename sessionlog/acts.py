"""What a call did to one file, as a value; and what a display shows of a file. Pure.

`shellfiles` and `filecalls` make acts of calls, `knowing` folds the acts on one file into what
the transcript knows of it.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from sessionlog.diffs import Hunk

How = Literal["read", "write", "edit", "copy", "remove", "absent"]


class Swap(NamedTuple):
    """An old text that became a new one."""

    old: str
    new: str
    every: bool = False
    """All places of the old text, not the only one."""


class Act(NamedTuple):
    """One call's act on one file."""

    path: str
    how: How
    """copy: the content of `source` came here; absent: the call said that there is no such
    file."""
    text: str | None = None
    """read: what was shown; write: all that the file holds now; None: not told."""
    ranged: bool = False
    """read: only some of the lines were asked for."""
    shell: bool = False
    """read: the text is the output of a shell command, bare, and perhaps stripped at its end."""
    base: str | None = None
    """edit: all that the file held before, where the log has that."""
    swaps: tuple[Swap, ...] = ()
    hunks: tuple[Hunk, ...] = ()
    """edit: what changed, as lines; goes before the swaps."""
    source: str = ""
    tree: bool = False
    """remove: a folder with all that is in it."""
    digest: str = ""
    """read: a hash of the content, "sha256:<hex>"."""

    @property
    def writes(self) -> bool:
        return self.how in ("write", "edit", "copy", "remove")
