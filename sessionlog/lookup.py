"""A session by what a person calls it: an id, the head of one, a file name, a path, or `last`.

What is meant is never guessed: where several logs answer, none is taken, and the error holds them
all. Only a log in which nothing was said, or the same bytes again, is not asked about, but told.
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
    if os.sep in ref or ref in (os.curdir, os.pardir):
        if not there(ref):
            raise SessionNotFound(f"{ref}: no such file or folder")
        return with_life([glance(_only(ref))])[0]
    if ref == "last":
        entries = [e for e in scan(paths) if e.status is not None]
        if not entries:
            raise SessionNotFound(
                f"no session in {', '.join(paths) or 'no folder'}, so there is no last one"
            )
        newest = entries[0]  # two logs of one session are as new as each other
        alike = [e.path for e in entries if (e.id, e.started) == (newest.id, newest.started)]
        taken = _one_of(ref, sorted(alike), note)
        return next(entry for entry in entries if entry.path == taken)
    return with_life([glance(_named(ref, sorted(logs_in(paths)), note))])[0]


def _named(ref: str, paths: list[str], note: Note) -> str:
    """The path that a reference names, among all logs that answer to it by the file's name or by
    the id inside; else a file of this folder, named without one."""
    stem = stem_of(ref)
    found = [path for path in paths if stem_of(path) == stem] if stem != ref else []
    if found and os.path.isfile(ref):  # a file's whole name: the one here may be meant
        found.append(os.path.join(".", ref))
    if not found:
        names = {path: (stem_of(path), glance(path, closely=False).id) for path in paths}
        found = (
            [path for path in paths if stem in names[path]]
            or [path for path in paths if any(name.startswith(stem) for name in names[path])]
            or [path for path in paths if stem in names[path][0]]
        )
    if not found and there(ref):
        return _only(ref)
    if not found:
        raise SessionNotFound(
            f"{ref}: no session and no file of that name; `sessionlog list` shows all sessions"
        )
    return _one_of(ref, found, note)


def _only(path: str) -> str:
    """The one session in a file. Raises Ambiguous where there are several."""
    held = [path] if path.endswith(".jsonl") else sessions_in(path)
    if len(held) > 1:
        raise Ambiguous(f"{path}: it holds {len(held):,} sessions; name one of them", held)
    return held[0] if held else path


def _one_of(ref: str, paths: list[str], note: Note) -> str:
    """Which log is meant, where all are of one session and only one of them says anything: agents
    that go on in a new file leave an empty one beside it. Raises Ambiguous."""
    paths = list({os.path.realpath(path): path for path in paths}.values())
    if len(paths) == 1:
        return paths[0]
    entries = [glance(path, closely=False) for path in paths]
    if len({(entry.id, entry.agent) for entry in entries}) > 1 or entries[0].status is None:
        raise Ambiguous(
            f"{ref}: {len(paths)} sessions answer to it: give more of the id, or a path", paths
        )
    said = [entry.path for entry in entries if entry.title] or paths
    first, *others = said
    if not all(_same(first, other) for other in others):
        words = f"{len(paths)} logs have this id, and they differ: give a path"
        raise Ambiguous(f"{ref}: {words}", paths)
    if others:
        note(f"{ref}: {first}, of which {', '.join(others)} is a copy")
    if empty := [path for path in paths if path not in said]:
        note(f"{ref}: {first}; nothing was said in {', '.join(empty)}")
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
