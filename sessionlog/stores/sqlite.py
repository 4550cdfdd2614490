"""A SQLite database beside its living writer, read without a byte being written there.

Opening one is not free of writes: without a writer even a read-only connection leaves -shm and
-wal files behind, and after a killed one it rewrites -shm. So there are three ways in:

nothing in the -wal   as an immutable file; whether it changed meanwhile is looked at afterwards
a living writer       read-only: the files beside it are there, and stay as they are
neither               a copy of the files that belong together, in a private folder, read there
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable
from contextlib import closing, suppress
from typing import NamedTuple, TypeVar
from urllib.parse import quote

from sessionlog.errors import Unreadable
from sessionlog.stores.base import Mark

MAGIC = b"SQLite format 3\0"
_BESIDE = ("-wal", "-journal")
"""What SQLite keeps beside a database that belongs to its content."""
_TRIES = 5
_KEPT = 4
"""Connections that are kept open; to a database that nobody changes."""
_PROC = "/proc"

T = TypeVar("T")


def mark_of(path: str) -> Mark:
    """Differs whenever the database may have changed. Raises OSError when it is gone."""
    return (_file(path), *(_there(path + end) for end in _BESIDE))


def read(path: str, ask: Callable[[sqlite3.Connection], T]) -> T:
    """What `ask` gets out of the database, all of it from one state. It may be called again.

    Raises Unreadable, in words, for what is no database or changes too fast to be read.
    """
    why = "it changes faster than it can be read"
    with _lock:
        for _ in range(_TRIES):
            try:
                mark = mark_of(path)
                beside = bool(mark[1]) and not _is_kept(path, mark) and holders(path)
                found = _shared(path, ask) if beside else _held(path, mark, ask)
            except OSError as error:
                raise Unreadable(f"{path}: {error.strerror or error}") from None
            except sqlite3.Error as error:
                _let_go(path)
                why = f"cannot be read: {error}"
                if _same(path, mark):
                    break
            else:
                if found is not None:
                    return found[0]
    raise Unreadable(f"{path}: {why}")


def holders(path: str) -> tuple[int, ...]:
    """Processes that have the database open for writing (Linux); those of others are out of sight.

    Costs a look at every process's open files.
    """
    try:
        wanted = os.stat(path)
        pids = [name for name in os.listdir(_PROC) if name.isdigit() and int(name) != os.getpid()]
    except OSError:
        return ()
    return tuple(int(pid) for pid in pids if _holds(pid, os.path.basename(path), wanted))


class _Open(NamedTuple):
    mark: Mark
    connection: sqlite3.Connection


_connections: OrderedDict[str, _Open] = OrderedDict()
_lock = threading.RLock()


def _is_kept(path: str, mark: Mark) -> bool:
    """Is there a connection to the database as it is now? It costs a look at every process to see
    whether one writes it."""
    return path in _connections and _connections[path].mark == mark


def _held(path: str, mark: Mark, ask: Callable[[sqlite3.Connection], T]) -> tuple[T] | None:
    """Ask over a connection that is kept while nothing changes; None when something did."""
    if not _is_kept(path, mark):
        _let_go(path)
        _connections[path] = _Open(mark, _copied(path) if any(mark[1:]) else _immutable(path))
    _connections.move_to_end(path)
    while len(_connections) > _KEPT:
        _let_go(next(iter(_connections)))
    value = ask(_connections[path].connection)
    if _same(path, mark):
        return (value,)
    _let_go(path)
    return None


def _shared(path: str, ask: Callable[[sqlite3.Connection], T]) -> tuple[T]:
    """Ask beside a writer. The connection is closed at once: a writer that ends while another has
    the database open leaves it otherwise than it would."""
    _let_go(path)
    with closing(_connect(path, "mode=ro")) as connection:
        connection.execute("BEGIN")
        return (ask(connection),)


def _immutable(path: str) -> sqlite3.Connection:
    return _connect(path, "immutable=1")


def _copied(path: str) -> sqlite3.Connection:
    """A connection to a copy whose files have no names any more: nothing of it stays behind."""
    folder = tempfile.mkdtemp(prefix="sessionlog-")  # mode 0700
    try:
        copy = os.path.join(folder, "copy.db")
        for end in ("", *_BESIDE):
            if os.path.exists(path + end):
                shutil.copyfile(path + end, copy + end)
        connection = sqlite3.connect(copy, check_same_thread=False, isolation_level=None)
        try:
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()  # opens all of them
        except sqlite3.Error:
            connection.close()
            raise
        return connection
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _connect(path: str, how: str) -> sqlite3.Connection:
    address = f"file:{quote(os.path.abspath(path))}?{how}"
    return sqlite3.connect(address, uri=True, check_same_thread=False, isolation_level=None)


def _let_go(path: str) -> None:
    kept = _connections.pop(path, None)
    if kept is not None:
        kept.connection.close()


def _same(path: str, mark: Mark) -> bool:
    try:
        return mark_of(path) == mark
    except OSError:
        return False


def _file(path: str) -> tuple[int, ...]:
    found = os.stat(path)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _there(path: str) -> tuple[int, ...]:
    """Of a file beside it; empty where there is none, or nothing in it."""
    try:
        found = _file(path)
    except OSError:
        return ()
    return found if found[2] else ()


def _holds(pid: str, name: str, wanted: os.stat_result) -> bool:
    folder = f"{_PROC}/{pid}/fd"
    with suppress(OSError):  # another user's, or gone
        for number in os.listdir(folder):
            with suppress(OSError):
                target = os.readlink(f"{folder}/{number}")
                if os.path.basename(target) == name:
                    found = os.stat(f"{folder}/{number}")
                    same = (found.st_dev, found.st_ino) == (wanted.st_dev, wanted.st_ino)
                    if same and _writes(f"{_PROC}/{pid}/fdinfo/{number}"):
                        return True
    return False


def _writes(path: str) -> bool:
    """Do the flags of an open descriptor (octal, in its fdinfo) allow writing?"""
    with open(path, encoding="ascii", errors="replace") as file:
        flags = next((line.split()[1] for line in file if line.startswith("flags:")), "0")
    return int(flags, 8) & os.O_ACCMODE != os.O_RDONLY
