"""The door that makes a log out of another: all of it or nothing, and never over anything.

The lines go to a file without a name (where the system has such, else under a temporary one in
the same folder), are synced, and appear by a hard link, which fails when the name is taken.
Pictures are carried along before the log can be seen. Whatever fails, nothing is left behind. The
source is only ever read.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import shutil
import stat
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC
from itertools import chain
from pathlib import Path

from sessionlog.errors import NotPossible, SessionExists
from sessionlog.formats.base import Actor, Birth, Fate, Modelled, Part
from sessionlog.framing import Line
from sessionlog.logfile import open_log
from sessionlog.paths import private_folder, sync_folder, valid_id
from sessionlog.plan import INTERRUPTED, Edits, Fork, Insert, Repair
from sessionlog.records import Span
from sessionlog.source import lines_of

_BLANK = b" \t\r\0"
_BOM = b"\xef\xbb\xbf"
_BLOCK = 1 << 20
_DIGEST = re.compile(r"[0-9a-f]{64}")
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
_TRIES = 100


def parts(
    lines: Iterable[Line], edits: Edits, actor: Actor, read: Callable[[Span], bytes]
) -> Iterator[Part]:
    """The lines of the new log in order, from those of its source. O(bytes).

    Lines that say nothing stay behind, and so do byte order marks: many clients read no line that
    has one (Codex 0.171 refuses the log).
    """
    todo = deque(edits.edits)
    for line in lines:
        if line.offset >= edits.end:
            return
        stop = min(line.offset + len(line.data), edits.end)
        if not todo or todo[0].offset > stop:
            yield from _piece(line, line.offset, stop)
            continue
        at = line.offset
        while todo and todo[0].offset <= stop:
            edit = todo.popleft()
            yield from _piece(line, at, edit.offset)
            made = (_made(insert, actor, read) for insert in edit.lines)
            yield from (part for part in made if part.data)
            at = edit.offset + edit.removed
            if edit.removed:
                yield Part(line.data[edit.offset - line.offset : at - line.offset], Fate.DROPPED)
        yield from _piece(line, at, stop)


def _piece(line: Line, start: int, stop: int) -> Iterator[Part]:
    data = line.data[start - line.offset : stop - line.offset].removeprefix(_BOM)
    if data.strip(_BLANK):
        yield Part(data)


def _made(insert: Insert, actor: Actor, read: Callable[[Span], bytes]) -> Part:
    data = read(insert.span).removeprefix(_BOM)
    if insert.call is not None:
        return Part(actor.close(data, insert.call, insert.at, INTERRUPTED), insert.fate)
    if insert.results is not None:
        data = actor.pick(data, insert.results, insert.rest)
    if insert.without:
        data = actor.without(data, insert.without)
    return Part(data, insert.fate)


def make(
    plan: Fork | Repair, actor: Actor, out: str | os.PathLike[str] | None, told: str = "",
    environ: Mapping[str, str] = os.environ,
) -> Path:  # fmt: skip
    """Write what was planned, at `out` or at the first free place from the planned one on.

    `told` is the user's last message in the new log; `environ` is the agent's. Raises
    SessionExists when `out` is taken, NotPossible when it cannot be written.
    """
    model = actor.model(environ) if isinstance(actor, Modelled) else ""
    if out is not None:
        target = _place(out)
        return _write(plan, actor, _birth(plan, _id_of(target, plan.id), told, model), target)
    id, path = plan.id, plan.path
    for _ in range(_TRIES):
        try:
            _ready(Path(path).parent)
            return _write(plan, actor, _birth(plan, id, told, model), Path(path))
        except SessionExists:
            id, path = actor.place(plan.source, plan.at, plan.now, os.path.lexists)
    raise SessionExists(f"{path}: taken again and again; give a place of your own")


def _place(out: str | os.PathLike[str]) -> Path:
    """The place that was given. Path("") is ".", which would be said to be taken already."""
    if not os.fspath(out):
        raise NotPossible("the path of the new log is empty; name a file, or give no path")
    return Path(out)


def _id_of(target: Path, otherwise: str) -> str:
    """A log answers to its file's name, where that can be an id."""
    try:
        return valid_id(target.stem)
    except NotPossible:
        return otherwise


def copy(source: str, size: int, out: str | os.PathLike[str]) -> Path:
    """A byte copy of the log's first `size` bytes at `out`, made in the same way."""
    target = _place(out)
    fd = open_log(source)
    try:
        return _publish(target, _blocks(fd, size), source, None)
    finally:
        os.close(fd)


def write(target: Path, lines: Iterable[bytes]) -> Path:
    """A new log of these lines, LF included, in the same way; its folder is made.

    Raises as `make` does.
    """
    _ready(target.parent)
    return _publish(target, lines, "", frozenset())


def _ready(folder: Path) -> None:
    """Make the folder where it is missing: agents keep a folder a day, or one a project."""
    try:
        private_folder(str(folder))
    except OSError as error:
        raise NotPossible(f"{folder}: cannot keep sessions here: {error.strerror}") from None


def _birth(plan: Fork | Repair, id: str, told: str, model: str) -> Birth:
    time = plan.now.astimezone(UTC).isoformat().replace("+00:00", "Z")
    source = plan.source
    return Birth(id, plan.parent, plan.at, time, told, plan.workdir, source=source, model=model)


def _write(plan: Fork | Repair, actor: Actor, birth: Birth, target: Path) -> Path:
    fd = open_log(plan.source)
    try:
        if os.fstat(fd).st_size < plan.changes.end:
            raise NotPossible(f"{plan.source}: it became shorter meanwhile; look again")

        def read(span: Span) -> bytes:
            return os.pread(fd, span.length, span.offset)

        lines = actor.renew(parts(lines_of(fd), plan.changes, actor, read), birth)
        chunks: Iterator[bytes] = (line + b"\n" for line in lines)
        if (first := next(chunks, None)) is None:
            raise NotPossible(f"{plan.source}: nothing is left of it that can be gone on with")
        return _publish(target, chain([first], chunks), plan.source, plan.changes.blobs)
    finally:
        os.close(fd)


def _blocks(fd: int, size: int) -> Iterator[bytes]:
    at = 0
    while at < size and (block := os.pread(fd, min(_BLOCK, size - at), at)):
        yield block
        at += len(block)


def _publish(
    target: Path, chunks: Iterable[bytes], source: str, digests: frozenset[str] | None
) -> Path:
    """Make `target` appear whole, or not at all. `digests`: which blobs; None: every one."""
    if os.path.lexists(target):
        raise SessionExists(f"{target}: already there; nothing was overwritten")
    blobs: Path | None = None
    try:
        with _staged(target.parent, chunks) as staged:
            blobs = _carry(Path(source), target, digests)
            _appear(staged, target)
            blobs = None
        sync_folder(str(target.parent))
    except FileExistsError as error:
        raise SessionExists(f"{error.filename2 or error.filename}: already there; "
                            "nothing was overwritten") from error  # fmt: skip
    except OSError as error:
        raise NotPossible(f"{target}: cannot be written: {error.strerror}; "
                          "nothing was left behind") from error  # fmt: skip
    finally:
        if blobs is not None:
            shutil.rmtree(blobs, ignore_errors=True)
    return target


@contextlib.contextmanager
def _staged(folder: Path, chunks: Iterable[bytes]) -> Iterator[Path]:
    """A synced file with these bytes, as a path to link from; gone afterwards."""
    fd, path = _nameless(folder)
    temp = None
    if fd is None:  # a kill -9 leaves this one behind; it is no *.jsonl, so nothing lists it
        path = temp = folder / f".{secrets.token_hex(8)}.tmp"
        fd = _create(temp)
    try:
        with os.fdopen(fd, "wb", buffering=_BLOCK) as file:
            file.writelines(chunks)
            file.flush()
            _set_apart(fd)
            os.fsync(fd)
            yield path
    finally:
        if temp is not None:
            temp.unlink()


def _set_apart(fd: int) -> None:
    """Have the file's last change be no line that a client wrote: its time of writing is set, so
    that it differs from that of the change (`clients`)."""
    os.utime(fd, ns=(now := time.time_ns(), now))


def _nameless(folder: Path) -> tuple[int | None, Path]:
    """A file that no folder holds yet (Linux): it is gone with its last descriptor."""
    try:
        fd = os.open(folder, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    except (AttributeError, OSError):
        return None, folder
    path = Path(f"/proc/self/fd/{fd}")
    if not path.exists():
        os.close(fd)
        return None, folder
    os.fchmod(fd, 0o600)
    return fd, path


def _create(path: Path) -> int:
    """A new file that only its owner may read, whatever the umask."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(path, flags, 0o600)
    os.fchmod(fd, 0o600)
    return fd


def _appear(staged: Path, target: Path) -> None:
    """Give the staged file its name, if that is free."""
    here = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        # a folder's descriptor makes this linkat(), which alone can link from /proc/self/fd
        os.link(staged, target, src_dir_fd=here, follow_symlinks=True)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        _copy_file(staged, target)  # a file system without hard links
    finally:
        os.close(here)


def _copy_file(source: Path, target: Path) -> None:
    """A new file with the bytes of `source`; removed again when that fails."""
    fd = _create(target)
    try:
        with open(source, "rb") as file, os.fdopen(fd, "wb") as new:
            shutil.copyfileobj(file, new, _BLOCK)
            new.flush()
            _set_apart(new.fileno())
            os.fsync(new.fileno())
    except BaseException:
        target.unlink()
        raise


def _carry(source: Path, target: Path, digests: frozenset[str] | None) -> Path | None:
    """Bring the pictures' files along; the new folder, None when there is nothing to bring."""
    if digests is not None and not digests:
        return None
    old, new = source.with_suffix(".blobs"), target.with_suffix(".blobs")
    wanted = sorted(_wanted(old, digests))
    if not wanted:
        return None
    new.mkdir(mode=0o700)
    try:
        new.chmod(0o700)
        for name in wanted:
            _carry_file(old / name, new / name)
        sync_folder(str(new))
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    return new


def _wanted(folder: Path, digests: frozenset[str] | None) -> Iterator[str]:
    """Names in the parent's blobs folder: a digest and an ending, and a regular file of its own."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as found:
        for entry in found:
            digest = entry.name.partition(".")[0]
            if not _DIGEST.fullmatch(digest) or not entry.is_file(follow_symlinks=False):
                continue
            if digests is None or digest in digests:
                yield entry.name


def _carry_file(old: Path, new: Path) -> None:
    """A blob never changes, so a link will do where its mode is the one that we would give."""
    if stat.S_IMODE(old.lstat().st_mode) == 0o600:
        try:
            os.link(old, new, follow_symlinks=False)
            return
        except OSError as error:
            if error.errno not in (*_NO_LINKS, errno.EXDEV):
                raise
    _copy_file(old, new)
