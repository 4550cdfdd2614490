"""A session by what a person calls it: an id, the head of one, a file name, a path, or `last`.

What is meant is never guessed: where several logs answer, none is taken, and the error holds them
all. Only a log of which nothing was said, or the same bytes again, is not asked about.
"""

from __future__ import annotations

import filecmp
import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from sessionlog.errors import Ambiguous, SessionNotFound
from sessionlog.listing import glance, logs_in, scan, with_life
from sessionlog.logfile import sessions_in, there
from sessionlog.paths import stem_of
from sessionlog.records import Entry

if TYPE_CHECKING:
    from pathlib import Path

Note = Callable[[str], None]
"""Is told, in one line, what a person should know of the choice."""


def find(ref: str, paths: Iterable[str], note: Note = lambda words: None) -> Entry:
    """The session that a reference names; "last" is the newest.

    Raises SessionNotFound, and Ambiguous where several answer.
    """
    ref, paths = ref.strip().removesuffix("…"), list(paths)  # as a narrow list cuts an id
    if not ref:
        raise SessionNotFound("no session named: give an id, a path, or `last`")
    if os.sep in ref:
        if not there(ref):
            raise SessionNotFound(f"{ref}: no such file or folder")
        return with_life([glance(_only(ref))])[0]
    if ref == "last":
        entries = [e for e in scan(paths) if e.status is not None]
        if not entries:
            raise SessionNotFound(
                f"no session in {', '.join(paths) or 'no folder'}, so there is no last one"
            )
        return entries[0]
    return with_life([glance(_named(ref, list(logs_in(paths)), note))])[0]


def _named(ref: str, paths: list[str], note: Note) -> str:
    """The path that a reference names: by file name first, then by the ids inside; else a file of
    this folder, named without one."""
    stem = stem_of(ref)
    exact = [path for path in paths if stem_of(path) == stem]
    if exact and stem != ref and os.path.isfile(ref):  # a whole name: the one here may be meant
        exact.append(os.path.join(".", ref))
    found = exact or [path for path in paths if stem_of(path).startswith(stem)]
    if not found:  # ids that are not the file's name (Codex: inside a longer one)
        found = [path for path in paths if stem in stem_of(path)]
    if not found:
        found = [path for path in paths if glance(path).id.startswith(stem)]
    if not found and there(ref):
        return _only(ref)
    if not found:
        raise SessionNotFound(
            f"{ref}: no session and no file of that name; `sessionlog list` shows all sessions"
        )
    once = list({os.path.realpath(path): path for path in found}.values())
    return once[0] if len(once) == 1 else _one_of(ref, once, note)


def _only(path: str) -> str:
    """The one session in a file. Raises Ambiguous where there are several."""
    held = [path] if path.endswith(".jsonl") else sessions_in(path)
    if len(held) > 1:
        raise Ambiguous(f"{path}: it holds {len(held):,} sessions; name one of them", held)
    return held[0] if held else path


def _one_of(ref: str, paths: list[str], note: Note) -> str:
    """Which log is meant, where all are of one session and only one of them says anything: agents
    that go on in a new file leave an empty one beside it. Raises Ambiguous."""
    entries = [glance(path, closely=False) for path in paths]
    if len({(entry.id, entry.agent) for entry in entries}) > 1 or entries[0].status is None:
        raise Ambiguous(
            f"{ref}: {len(paths)} sessions answer to it: give more of the id, or a path", paths
        )
    said = [entry for entry in entries if entry.title] or entries
    first, *others = [entry.path for entry in said]
    if not all(_same(first, other) for other in others):
        raise Ambiguous(
            f"{ref}: {len(said)} logs have this id, and they differ: give a path", [first, *others]
        )
    if others:
        note(f"{ref}: {first}, of which {', '.join(others)} is a copy")
    return first


def _same(left: str, right: str) -> bool:
    try:
        return filecmp.cmp(left, right, shallow=False)
    except OSError:  # in a database, or gone
        return False


def resolve(folder: str | os.PathLike[str], ref: str) -> Path:
    """The path of the session that `ref` names in a folder; see `find`."""
    from pathlib import Path  # a listing does without

    return Path(find(ref, [os.fspath(folder)]).path)
