"""Sessions as they stand in folders: heads and tails are read, nothing between.

The cost of a row is two small reads, whatever the log's size. The head gives what the run was,
the tail how it ended, by the format's own rules; only logs without an ending are asked for
evidence of a living writer, all at once.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator

from sessionlog.errors import Unreadable
from sessionlog.evidence import Evidence, may_live
from sessionlog.formats.base import Format
from sessionlog.formats.table import named, recognise
from sessionlog.framing import Line, split
from sessionlog.logfile import enter, open_log, sessions_in, stat_file, stored_in
from sessionlog.paths import runs_folder, stem_of
from sessionlog.records import Entry, Message, Record, Status, moment, stamp
from sessionlog.source import decode, read_head, why_not
from sessionlog.status import HIDDEN, WAITS, judge, last_at, waits

BLOCK = 4096
"""First read at either end; doubled as long as more is needed."""
TAIL = 20 * 1024
"""First read at the end, for a row from the bytes alone: the titles of a log may stand there."""
FAR = 1 << 20
"""How far from either end a row may read."""
DEEP = 8 << 20
"""And how far back where nothing was said within that: lines with pictures are long."""
FEW = 500
"""Up to so many logs, a listing also decodes what an open ending was in the middle of."""
_PASSED_OVER = (".blobs", "subagents", "node_modules", "tool-results")
"""Folders that hold no session of their own: a subagent's log is opened from its parent."""
_STORED = (".json", ".jsonl.zst", ".traj", ".db")
"""Ends of names under which sessions are kept otherwise than as lines; what is inside decides."""
_ALIKE = "session-"
"""How names of logs begin of which several may be one session's (Gemini CLI)."""
_SIDE = re.compile(r"/tmp/[^/]+/chats/[^/]+\Z")
"""Folders of one session's subagents (Gemini CLI)."""
_PIECES = ("storage/message", "storage/part", "session/message", "session/part")
"""Folders that hold pieces of sessions (OpenCode's old tree)."""
DEPTH = 8
"""How deep folders are looked into: Codex keeps sessions by year, month and day."""


def list_sessions(folder: str | os.PathLike[str]) -> list[Entry]:
    """The sessions of a folder, newest first; a missing folder is an empty list."""
    name = os.fspath(folder)
    return scan([name], closely=True) if os.path.isdir(name) else []


def scan(
    paths: Iterable[str],
    stop: Callable[[], bool] = lambda: False,
    closely: bool | None = None,
) -> list[Entry]:
    """The sessions in folders (looked into) and of logs named one by one, newest first.

    What is no log, or cannot be read, is an Entry without status whose reason says why.
    `closely` as `glance` has it; None: up to FEW logs, since it costs ten times the rest.
    """
    found = list(logs_in(paths))
    if closely is None:
        closely = len(found) <= FEW
    return ordered(look(found, closely, stop))


def look(
    paths: Iterable[str], closely: bool, stop: Callable[[], bool] = lambda: False
) -> list[Entry]:
    """The rows of these logs, in this order, with evidence of life."""
    entries = []
    for path in paths:
        if stop():
            break
        entries.append(glance(path, closely))
    return with_life(entries)


def age_of(entry: Entry) -> tuple[bool, str, str, str]:
    """What rows are ordered by, newest last: the start (else the last change), id and path. What
    is no log comes before all that are: a folder of other files must not hide its sessions."""
    return entry.status is not None, entry.started or entry.updated, entry.id, entry.path


def ordered(entries: Iterable[Entry]) -> list[Entry]:
    """Newest first by start; what has none by its last change; ties by id and path."""
    return sorted(entries, key=age_of, reverse=True)


def logs_in(paths: Iterable[str]) -> Iterator[str]:
    """Every log below the folders, and each path that is no folder as it stands."""
    for path in paths:
        if os.path.isdir(path):
            yield from _walk(path, DEPTH)
        else:
            yield from (path,) if path.endswith(".jsonl") else sessions_in(path)


def _walk(folder: str, depth: int) -> Iterator[str]:
    try:
        found = os.scandir(folder)
    except OSError:
        return
    deeper, alike = [], []
    with found:
        for item in found:
            name = item.name
            if item.is_dir(follow_symlinks=False):
                if depth and name[0] != "." and not _is_passed_over(item.path):
                    deeper.append(item.path)
            elif name.startswith(_ALIKE) and name.endswith(".jsonl"):
                alike.append(name)
            elif name.endswith(".jsonl"):
                yield item.path
            elif name.endswith(_STORED):
                yield from _stored(item.path)
    if alike:
        from sessionlog.formats.gemini_leftover import without_leftovers

        yield from (os.path.join(folder, name) for name in without_leftovers(folder, alike))
    for path in deeper:
        yield from _walk(path, depth - 1)


def _is_passed_over(folder: str) -> bool:
    return folder.endswith(_PASSED_OVER + _PIECES) or _SIDE.search(folder) is not None


def _stored(path: str) -> list[str]:
    """The sessions in a file that may be a store; a compressed log beside its plain one is none."""
    plain = path.removesuffix(".zst")
    if plain != path and os.path.lexists(plain):
        return []
    return stored_in(path) or []


def glance(path: str, closely: bool = True) -> Entry:
    """One session's row, without evidence of life: what has no ending counts as cut off.

    `closely` decodes records of an open ending to say what it was in the middle of.
    """
    try:
        fd, kept = enter(path)
        if kept is not None:
            entry = kept.store.glimpse(kept.file, kept.id)
            if entry is not None:
                return _in_time(entry)
            fd = open_log(path)
    except Unreadable as error:
        reason = str(error).removeprefix(f"{path}: ")
        return Entry(stem_of(path), path, "unknown", reason=reason)
    except OSError as error:
        return _unreadable(path, error)
    try:
        return _in_time(_row(path, fd, closely))
    except OSError as error:
        return _unreadable(path, error)
    finally:
        os.close(fd)


def _in_time(entry: Entry) -> Entry:
    """No log was changed before it was made: a fork is younger than what it took along."""
    if entry.updated >= entry.started:  # most often, and without a look at the clock
        return entry
    made, last = moment(entry.started), moment(entry.updated)
    return entry._replace(updated=entry.started) if made and last and last < made else entry


def _unreadable(path: str, error: OSError) -> Entry:
    reason = f"cannot be read: {error.strerror or error}"
    return Entry(stem_of(path), path, "unknown", reason=reason)


def with_life(entries: list[Entry]) -> list[Entry]:
    """The entries, with those running whose writer is seen to live."""
    asked = {e.path for e in entries if _may_live(e)}
    if not asked:
        return entries
    evidence, beside = Evidence(asked), _journal()
    return [
        e if e.path not in asked
        else _running(e) if _lives(e, evidence)
        else e if e.status is Status.COMPLETE
        else beside(e)
        for e in entries
    ]  # fmt: skip


def _may_live(entry: Entry) -> bool:
    if entry.status is not Status.COMPLETE:
        return entry.status is not None
    if entry.ok is not None:
        return False
    form = named(entry.format)
    return form is not None and may_live(form, True, entry.ok)


def _running(entry: Entry) -> Entry:
    """The row of a run that goes on."""
    if entry.status is Status.COMPLETE:
        return entry._replace(status=Status.RUNNING, reason=None, ok=None, stop=HIDDEN)
    stop = "has begun" if entry.stop == WAITS else entry.stop
    return entry._replace(status=Status.RUNNING, stop=stop)


def _journal() -> Callable[[Entry], Entry]:
    """Gives a row the end of its run that stands beside its log, where there is one."""
    if not os.path.isdir(runs_folder()):
        return lambda entry: entry
    from sessionlog.supervise.beside import journal  # most people never handed anything over

    known = journal()

    def told(entry: Entry) -> Entry:
        beside = known.beside(entry.path, entry.resumed_from, moment(entry.updated))
        if beside is None:
            return entry
        return entry._replace(stop=beside.short, ok=False if beside.failed else entry.ok)

    return told


def _lives(entry: Entry, evidence: Evidence) -> bool:
    try:
        seen = stat_file(entry.path)
    except OSError:
        return False
    form = named(entry.format)
    if form is None:
        return False
    return evidence.of(form, entry.path, entry.id, entry.workdir, seen) is not None


def _row(path: str, fd: int, closely: bool) -> Entry:
    seen = os.fstat(fd)
    size = seen.st_size
    data = os.pread(fd, BLOCK, 0)
    folder, _, name = path.rpartition("/")
    form = recognise(name, folder, data)
    if form is None and size > len(data):
        form = recognise(name, folder, read_head(fd))
    if form is None:
        return Entry(stem_of(path), path, "unknown", reason=why_not(data), bytes=size,
                     updated=_mtime(seen))  # fmt: skip
    tail = data if size <= BLOCK else os.pread(fd, TAIL, max(size - TAIL, 0))
    entry = form.glimpse(path, data, tail, size)
    if entry is not None and (entry.status is Status.COMPLETE or not closely):
        return entry
    ends = _Ends(fd, size, form, data)
    described = form.describe(path, ends.oldest_first(), ends.newest_first())
    ending = form.ending(ends.newest_first())
    meta = described.meta
    updated = ends.updated() or described.started or _mtime(seen)
    if not ending.ended and waits(meta, described.started, next(ends.newest_first(), None)):
        ending = ending._replace(text=WAITS)
    return Entry(
        id=meta.id,
        path=path,
        format=form.name,
        agent=form.agent,
        title=described.title or meta.task,
        task=meta.task or described.title,
        model=meta.model,
        workdir=meta.workdir,
        started=described.started,
        updated=updated,
        status=judge(ending, torn=ends.torn, alive=False),
        reason=ending.reason,
        ok=ending.ok if ending.ended else None,
        resumed_from=meta.resumed_from,
        forked_from=meta.forked_from,
        bytes=size,
        stop=ending.text,
    )


def _mtime(seen: os.stat_result) -> str:
    return stamp(seen.st_mtime)


class _Ends:
    """The records of a log from either end, read as far as they are asked for."""

    def __init__(self, fd: int, size: int, form: Format, head: bytes) -> None:
        self._fd, self._size, self._form, self._head = fd, size, form, head
        self._newest: list[Record] = []
        self._lines: list[Line] = []
        self._from = size
        self._cut = b""
        self._spoke = False
        """Was a message read?"""
        self.torn = False
        self._last()

    def oldest_first(self) -> Iterator[Record]:
        """From the first record on, as far as FAR goes."""
        data, done = self._head, 0
        while True:
            lines = split(data, done, empty=False)
            whole = done + len(data) >= self._size
            if not whole and lines and not lines[-1].ended:
                lines.pop()
            for line in lines:
                yield from decode(self._form, line)[0]
            ended = len(data) if whole else data.rfind(b"\n") + 1
            done += ended
            if whole or done >= FAR or (not ended and len(data) >= FAR):
                return
            data = os.pread(self._fd, min(2 * len(data), FAR), done)

    def newest_first(self) -> Iterator[Record]:
        """From the last record back, as far as FAR goes; what was decoded once is kept."""
        at = 0
        while True:
            while at < len(self._newest):
                yield self._newest[at]
                at += 1
            if self._lines:
                self._newest += decode(self._form, self._lines.pop())[0][::-1]
            elif self._from == 0 or self._size - self._from >= self._reach:
                return
            else:
                self._back()

    @property
    def _reach(self) -> int:
        """How far back may be read."""
        self._spoke = self._spoke or any(isinstance(r.payload, Message) for r in self._newest)
        return FAR if self._spoke else DEEP

    def updated(self) -> str:
        return last_at(self._newest)

    def _back(self) -> None:
        """Read one block further back; its whole lines wait to be decoded."""
        start = max(0, self._from - max(BLOCK, self._size - self._from))
        if start == 0 and self._from <= len(self._head):
            data = self._head[: self._from]
        else:
            data = os.pread(self._fd, self._from - start, start)
        self._from = start
        data += self._cut
        self._cut = b""
        if start:
            head, lf, rest = data.partition(b"\n")
            if not lf:
                self._cut = data
                return
            self._cut, data = head + lf, rest
            start += len(head) + 1
        self._lines = split(data, start, 0, empty=False)

    def _last(self) -> None:
        """Decode the last line: whether it is torn decides the status."""
        while not self._lines and self._from and self._size - self._from < DEEP:
            self._back()
        if self._lines:
            records, damages = decode(self._form, self._lines.pop())
            self._newest += records[::-1]
            self.torn = any(damage.torn for damage in damages)
