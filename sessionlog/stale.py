"""How the files that a transcript touched stand now: changed, deleted, new, unchanged.

Between a stop and a resume files change, and an edit made from what the transcript holds would
destroy somebody's work. Each file is looked at once and judged by the strongest evidence there is:
its content where the transcript holds it, a hash where one was printed, else the time of its last
change against the time of the call. What cannot be told counts as changed: reading a file again
costs little. Nothing is written, and nothing but regular files is opened.
"""

from __future__ import annotations

import hashlib
import os
import stat as kinds
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from typing import Literal, NamedTuple

from sessionlog import repository
from sessionlog.displays import View, holds, same
from sessionlog.errors import Unreadable
from sessionlog.knowing import MOST, Known, Work
from sessionlog.paths import open_regular
from sessionlog.records import moment, stamp
from sessionlog.repository import Repository
from sessionlog.session import Session
from sessionlog.text import one_line
from sessionlog.touched import Touch, touched

OWN_WRITE = 2.0
"""Seconds that a file's time may be later than the record of the write that made it."""
_COMPARED = 1 << 32
"""Bytes that are read and gone over for all files together; what is left is judged by its time."""
_LISTED = 20
How = Literal["changed", "deleted", "new", "unchanged"]
By = Literal["content", "hash", "time"]


class Look(NamedTuple):
    """What stands under a path."""

    kind: Literal["file", "nothing", "folder", "other", "hidden"]
    """hidden: it cannot be looked at."""
    modified: float = 0.0
    """POSIX seconds."""
    size: int = 0
    data: bytes | None = None
    """The content, where it was asked for and could be read."""
    why: str = ""
    """Why it could not be read."""


Door = Callable[[str, bool], Look]
"""Looks at a path; true: the content is wanted."""


class FileNow(NamedTuple):
    """How one file stands against what the transcript holds of it."""

    path: str
    shown: str
    """Relative to the run's folder where it is in it."""
    how: How
    since: str
    """RFC 3339: when the agent last saw it; "" when the log does not say."""
    changed_at: str
    """RFC 3339: when it was last written to; "" when it is not there."""
    by: By
    n: int
    """Number of the message of the last call that touched it."""
    wrote: bool
    in_context: bool = True
    why: str = ""
    """More than the rest says: what stands there instead, why it could not be read."""


class Staleness(NamedTuple):
    """How a session's files and its repository stand."""

    files: tuple[FileNow, ...] = ()
    """In the order of `touched`."""
    then: Repository | None = None
    now: Repository | None = None
    lost: int = 0
    """Files that cannot be there because the run's whole folder is missing: for them `files` has
    the folder, once."""

    @property
    def changed(self) -> tuple[FileNow, ...]:
        """All but the unchanged ones."""
        return tuple(file for file in self.files if file.how != "unchanged")

    @property
    def moved(self) -> bool:
        """Is the repository on another branch or commit? False where one side is not known."""
        old, new = self.then, self.now
        if old is None or new is None:
            return False
        other = bool(old.branch) and old.branch != new.branch
        length = min(len(old.commit), len(new.commit))
        return other or (length > 0 and old.commit[:length] != new.commit[:length])


def look(path: str, content: bool = True) -> Look:
    """What stands under a path on this machine. Never raises; opens regular files alone, and none
    of the kernel's own."""
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return Look("nothing")
    except (OSError, ValueError) as error:
        return Look("hidden", why=_words(error))
    if kinds.S_ISDIR(found.st_mode):
        return Look("folder", found.st_mtime, why="a folder stands there")
    if not kinds.S_ISREG(found.st_mode) or found.st_dev in _kernel():
        return Look("other", found.st_mtime, why="no regular file stands there")
    there = Look("file", found.st_mtime, found.st_size)
    return _with_content(path, there) if content and found.st_size <= MOST else there


@cache
def _kernel() -> frozenset[int]:
    """The file systems that the kernel makes up: a link can lead to them from anywhere."""
    made = set()
    for folder in ("/proc", "/sys", "/dev"):
        with suppress(OSError):
            made.add(os.stat(folder).st_dev)
    return frozenset(made - {os.stat("/").st_dev})


def _with_content(path: str, there: Look) -> Look:
    try:
        fd = open_regular(path)
    except Unreadable as error:
        return there._replace(why="cannot be read: " + str(error).removeprefix(f"{path}: "))
    try:
        data = _read(fd)
    except OSError as error:
        return there._replace(why=f"cannot be read: {_words(error)}")
    finally:
        os.close(fd)
    return there._replace(data=data if len(data) <= MOST else None)


def _read(fd: int) -> bytes:
    """All bytes, and a few more than `MOST` of a file that grew."""
    data = b""
    while len(data) <= MOST and (piece := os.read(fd, 1 << 20)):
        data += piece
    return data


def _words(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def stale(
    session: Session, *, at: int | None = None, look: Door = look,
    git: Callable[[str], Repository | None] = repository.now,
) -> Staleness:  # fmt: skip
    """How the files and the repository stand against the transcript, `at` that message.

    Each file is looked at once. Never raises.
    """
    folder = session.meta.workdir
    files: list[FileNow] = []
    lost: list[Touch] = []
    work, reads = Work(), Work(_COMPARED)
    gone = bool(folder) and os.path.isabs(folder) and look(folder, False).kind == "nothing"
    for touch in touched(session, at):
        if gone and touch.path.startswith(folder.rstrip("/") + "/"):
            lost.append(touch)
            continue
        if file := _now(touch, folder, look, work, reads):
            files.append(file)
    if lost:
        files.insert(0, _missing_folder(folder, lost))
    now = None if gone or not os.path.isabs(folder) else git(folder)
    return Staleness(tuple(files), repository.then(session, at), now, len(lost))


def _missing_folder(folder: str, lost: list[Touch]) -> FileNow:
    last = max(lost, key=lambda touch: touch.n)
    files = f"{len(lost)} file{'s' * (len(lost) != 1)}"
    return FileNow(folder, folder, "deleted", last.at, "", "content", last.n,
                   any(touch.wrote for touch in lost),
                   why=f"the folder is missing, with {files} of the run")  # fmt: skip


def _now(touch: Touch, folder: str, look: Door, work: Work, reads: Work) -> FileNow | None:
    """The file as it stands; None for a folder that was only listed."""
    known = touch.known_by(work)
    wanted = bool(known.there and (known.whole or known.parts or known.digest))
    seen = look(touch.path, wanted and reads.left > 0)
    reads.does(len(seen.data or b"") * (1 + len(known.parts)))
    if seen.kind == "folder" and not _was_file(touch, known):
        return None
    how, by, why = judged(touch, known, seen)
    shown = os.path.relpath(touch.path, folder) if _inside(touch.path, folder) else touch.path
    changed_at = stamp(seen.modified) if seen.kind in ("file", "folder", "other") else ""
    return FileNow(touch.path, shown, how, touch.at, changed_at, by, touch.n, touch.wrote,
                   touch.in_context, why)  # fmt: skip


def _was_file(touch: Touch, known: Known) -> bool:
    """Did the transcript see a file there for sure? Bare text may be the listing of a folder."""
    bare = known.whole is None or known.whole.source == "bare"
    return known.there and (touch.wrote or bool(known.digest) or not bare)


def _inside(path: str, folder: str) -> bool:
    return os.path.isabs(folder) and path.startswith(folder.rstrip("/") + "/")


def judged(touch: Touch, known: Known, seen: Look) -> tuple[How, By, str]:
    """(how, by what evidence, what more there is to say) of one file. Pure."""
    if seen.kind == "hidden":
        return "changed", "time", f"cannot be looked at: {seen.why}"
    if not known.there:
        return ("unchanged" if seen.kind == "nothing" else "new"), "content", ""
    if seen.kind == "nothing":
        return "deleted", "content", ""
    if seen.kind != "file":
        return "changed", "content", seen.why
    if seen.data is not None:
        if known.digest and (verdict := _by_hash(known.digest, seen.data)):
            return verdict, "hash", ""
        if known.whole and (verdict := _by_content(known.whole, seen.data)):
            return verdict, "content", ""
        if not all(holds(seen.data, part) for part in known.parts):
            return "changed", "content", ""
    return _by_time(touch, seen)


def _by_hash(digest: str, data: bytes) -> How | None:
    """None: a hash that is not of the bytes as they are, so another one says nothing."""
    kind, _, value = digest.rpartition(":")
    if kind == "blob":
        made = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
        return "unchanged" if made == value else None  # git may store other line ends
    if kind == "image-sha256":
        made = hashlib.sha256(data).hexdigest()
        return "unchanged" if made == value else None  # a picture may have been made smaller
    if kind not in ("sha256", "sha1", "md5"):
        return None  # what a log names may be no hash at all
    made = hashlib.new(kind, data, usedforsecurity=False).hexdigest()
    return "unchanged" if made == value else "changed"


def _by_content(whole: View, data: bytes) -> How | None:
    """None: what is known was shown in a way that does not tell."""
    if same(whole, data):
        return "unchanged"
    if whole.source != "told":
        if b"\0" in data or not _is_text(data):
            return None  # a display of bytes that are no text is not their text
        if whole.source == "bare" and data and data.decode() in whole.text:
            return None  # the tool may have put words of its own around it
    return "changed"


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _by_time(touch: Touch, seen: Look) -> tuple[How, By, str]:
    last = moment(touch.at)
    if last is None:
        return "changed", "time", "the log does not say when the agent saw it"
    exact = "." in touch.at
    slack = OWN_WRITE if touch.wrote else 0.0 if exact else 1.0
    later = seen.modified > last.timestamp() + slack
    return ("changed" if later else "unchanged"), "time", seen.why


def note_of(staleness: Staleness) -> list[str]:
    """What the agent is told of it, as lines; none when no file was touched and nothing moved.

    Paths are made one line each; they are log text still, like the rest of a note.
    """
    files = staleness.changed[1:] if staleness.lost else staleness.changed
    told: dict[How, list[FileNow]] = {"changed": [], "new": [], "deleted": [], "unchanged": []}
    for file in files:
        told[file.how].append(file)
    gone = len(told["deleted"])
    changed = "These files changed since you last saw them; read them again before editing:"
    return [
        *_same(staleness),
        *_lost(staleness),
        *_listed(changed, told["changed"]),
        *_listed("These files are there now and were not when you looked:", told["new"]),
        *_listed(f"{_count(gone, 'file')} {'is' if gone == 1 else 'are'} gone:", told["deleted"]),
        *_moved(staleness),
    ]


def _same(staleness: Staleness) -> Iterator[str]:
    """That all is as it was, where there is something and every file was looked at."""
    if staleness.files and not staleness.changed:
        count = len(staleness.files)
        files = "The one file" if count == 1 else f"None of the {count:,} files"
        yield f"{files} that you knew has {'not ' * (count == 1)}changed since."


def _lost(staleness: Staleness) -> Iterator[str]:
    if staleness.lost:
        folder = one_line(staleness.files[0].path)
        yield f"The folder {folder} is gone, and with it {_count(staleness.lost, 'file')} you knew."


def _listed(head: str, files: list[FileNow]) -> list[str]:
    if not files:
        return []
    more = [f"- and {len(files) - _LISTED} more"] if len(files) > _LISTED else []
    return [head, *(f"- {one_line(file.shown)}" for file in files[:_LISTED]), *more]


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"


def _moved(staleness: Staleness) -> Iterator[str]:
    old, new = staleness.then, staleness.now
    if not staleness.moved or old is None or new is None:
        return
    left = f", with {_count(new.uncommitted, 'file')} not committed" if new.uncommitted else ""
    yield f"The repository was {_place(old)} and is {_place(new)} now{left}."


def _place(found: Repository) -> str:
    branch = f"on {one_line(found.branch)}" if found.branch else "on no branch"
    commit = f" at {one_line(found.commit[:7])}" if found.commit else ""
    return branch + commit
