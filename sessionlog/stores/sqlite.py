"""A SQLite database beside its living writer, read without a byte being written there.

Opening one is not free of writes: without a writer even a read-only connection leaves -shm and
-wal files behind, and after a killed one it rewrites -shm. So there are three ways in:

nothing in the -wal   as an immutable file; whether it changed meanwhile is looked at afterwards
a living writer       read-only: the files beside it are there, and stay as they are
neither               a copy of the files that belong together, in a private folder, read there

A database is data from anywhere, and its schema and journals are programs: a journal may name a
file that SQLite deletes once it is rolled back (https://sqlite.org/atomiccommit.html, 5.5), a view
or a generated column may make gigabytes of one row. So what a question may do is a short list, and
what it may take is bounded.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import closing, suppress
from typing import NamedTuple, TypeVar
from urllib.parse import quote

from sessionlog.errors import Unreadable
from sessionlog.paths import open_regular
from sessionlog.stores.base import Mark, Unfit

MAGIC = b"SQLite format 3\0"
_BESIDE = ("-wal", "-journal")
"""What SQLite keeps beside a database that belongs to its content."""
_JOURNAL_MAGIC = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
"""The last bytes of a journal that names another file (and the first of each)."""
_TRIES = 5
_KEPT = 4
"""Connections that are kept open; to a database that nobody changes."""
_PROC = "/proc"
_PATIENCE = 0.2
"""Seconds to wait for a lock."""
_LONGEST = 30.0
"""Seconds of work (not of waiting) that one reading may take."""
_STEPS = 100_000
"""Steps of SQLite's machine between two looks at the clock."""
_SMALL = 1 << 20
"""Bytes that a value may have in any database; no value is longer than what holds it."""
_FUNCTIONS = ("max", "count")
_PRAGMAS = ("table_xinfo", "page_count", "page_size")
_HARMLESS = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_TRANSACTION)
_SETTINGS = ("trusted_schema = OFF", "query_only = ON", "cell_size_check = ON", "mmap_size = 0",
             "temp_store = MEMORY")  # fmt: skip

T = TypeVar("T")


def mark_of(path: str) -> Mark:
    """Differs whenever the database may have changed. Raises OSError when it is gone."""
    path = _real(path)
    return (_file(path), *(_there(path + end) for end in _BESIDE))


def read(path: str, ask: Callable[[sqlite3.Connection], T]) -> T:
    """What `ask` gets out of the database, all of it from one state. It may be called again.

    Raises Unreadable, in words, for what is no database, is damaged or locked, takes too long, or
    changes too fast to be read.
    """
    why = "it changes faster than it can be read"
    real = _real(path)
    with _lock:
        for _ in range(_TRIES):
            try:
                found, mark = None, mark_of(real)
                _are_regular(real)
                beside = not _is_kept(real, mark) and _is_shared(real, mark)
                found = _shared(real, mark, ask) if beside else _held(real, mark, ask)
            except OSError as error:
                raise Unreadable(f"{path}: {error.strerror or error}") from None
            except (sqlite3.Error, UnicodeError, MemoryError, Unfit) as error:
                why = _words(error)
                if _same(real, mark):
                    break
                _let_go(real)
            if found is not None:
                return found[0]
    raise Unreadable(f"{path}: {why}")


def is_damage(error: sqlite3.Error) -> bool:
    """Is it the database's own bytes that SQLite stumbles over?"""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_CORRUPT


def holders(path: str) -> tuple[int, ...]:
    """Processes that have the database open for writing (Linux); those of others are out of sight.

    Costs a look at every process's open files.
    """
    path = _real(path)
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


# -- the three ways in -------------------------------------------------------------------------


def _is_kept(path: str, mark: Mark) -> bool:
    """Is there a connection to the database as it is now? It costs a look at every process to see
    whether one writes it."""
    return path in _connections and _connections[path].mark == mark


def _is_shared(path: str, mark: Mark) -> bool:
    """Is there a writer with whom it can be read? Without a -shm one would be made there."""
    wal, journal = mark[1:]
    return bool(wal) and not journal and os.path.exists(f"{path}-shm") and bool(holders(path))


def _held(path: str, mark: Mark, ask: Callable[[sqlite3.Connection], T]) -> tuple[T] | None:
    """Ask over a connection that is kept while nothing changes; None when something did."""
    if not _is_kept(path, mark):
        _let_go(path)
        way = _copied if any(mark[1:]) else _immutable
        _connections[path] = _Open(mark, way(path, mark))
    _connections.move_to_end(path)
    while len(_connections) > _KEPT:
        _let_go(next(iter(_connections)))
    value = _bounded(_connections[path].connection, ask)
    if _same(path, mark):
        return (value,)
    _let_go(path)
    return None


def _shared(path: str, mark: Mark, ask: Callable[[sqlite3.Connection], T]) -> tuple[T]:
    """Ask beside a writer. The connection is closed at once: a writer that ends while another has
    the database open leaves it otherwise than it would."""
    _let_go(path)
    with closing(_connect(path, "mode=ro", mark)) as connection:
        connection.execute("BEGIN")
        return (_bounded(connection, ask),)


def _immutable(path: str, mark: Mark) -> sqlite3.Connection:
    return _connect(path, "mode=ro&immutable=1", mark)


def _copied(path: str, mark: Mark) -> sqlite3.Connection:
    """A connection to a copy whose files have no names any more: nothing of it stays behind."""
    folder = tempfile.mkdtemp(prefix="sessionlog-")  # mode 0700
    try:
        if shutil.disk_usage(folder).free < 2 * _size(mark):
            raise Unreadable(f"{path}: no room in {os.path.dirname(folder)} for a copy to read")
        copy = os.path.join(folder, "copy.db")
        for end in ("", *_BESIDE):
            if os.path.lexists(path + end):
                _copy(path + end, copy + end)
        _is_of_one(path, f"{copy}-journal")
        connection = _connect(copy, "mode=rw", mark)
        try:
            _bounded(connection, _opened)
        except BaseException:
            connection.close()
            raise
        return connection
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _opened(connection: sqlite3.Connection) -> None:
    """SQLite opens its files, and takes back what was not done, with the first question."""
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()


def _copy(path: str, to: str) -> None:
    with open(open_regular(path), "rb") as file, open(to, "xb") as copy:
        shutil.copyfileobj(file, copy, _SMALL)


def _is_of_one(path: str, journal: str) -> None:
    """Refuse a journal that ends in the name of another file: SQLite would delete that file."""
    if not os.path.exists(journal):
        return
    with open(journal, "rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(0, file.tell() - len(_JOURNAL_MAGIC)))
        if file.read() == _JOURNAL_MAGIC:
            raise Unreadable(f"{path}: its -journal is part of a change to several databases, "
                             "which only the program that made it can take back")  # fmt: skip


# -- what a question may do and take -----------------------------------------------------------


def _connect(path: str, how: str, mark: Mark) -> sqlite3.Connection:
    address = f"file:{quote(os.fsencode(os.path.abspath(path)))}?{how}"
    connection = sqlite3.connect(
        address, _PATIENCE, uri=True, check_same_thread=False, isolation_level=None
    )
    for setting in _SETTINGS:
        connection.execute(f"PRAGMA {setting}")
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max(_SMALL, 2 * _size(mark)))
    connection.set_authorizer(_allowed)
    connection.text_factory = _text
    return connection


def _allowed(
    what: int, first: str | None, second: str | None, database: str | None, within: str | None
) -> int:
    """May a statement do this? Reading tables, in no view or trigger, with few functions."""
    fine = within is None and (
        what in _HARMLESS
        or (what == sqlite3.SQLITE_READ and database in ("main", None))
        or (what == sqlite3.SQLITE_FUNCTION and second in _FUNCTIONS)
        or (what == sqlite3.SQLITE_PRAGMA and first in _PRAGMAS)
    )
    return sqlite3.SQLITE_OK if fine else sqlite3.SQLITE_DENY


def _bounded(connection: sqlite3.Connection, ask: Callable[[sqlite3.Connection], T]) -> T:
    end = time.thread_time() + _LONGEST
    connection.set_progress_handler(lambda: time.thread_time() > end, _STEPS)
    try:
        return ask(connection)
    finally:
        connection.set_progress_handler(None, 0)


def _text(data: bytes) -> str:
    """Text that is no UTF-8 keeps its bytes."""
    return data.decode("utf-8", "surrogateescape")


def _words(error: Exception) -> str:
    """Why it cannot be read."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return "locked by the program that writes it; try again"
    if code == sqlite3.SQLITE_INTERRUPT:
        return f"takes more than {_LONGEST:.0f} s of work to read"
    if isinstance(error, Unfit):
        return str(error)
    if isinstance(error, MemoryError):
        return "takes more memory to read than there is"
    if isinstance(error, UnicodeError):
        return "cannot be read: its schema is damaged"
    return f"cannot be read: {error}"


# -- its files ---------------------------------------------------------------------------------


def _are_regular(path: str) -> None:
    """Refuse what SQLite would follow, or wait for, beside a database."""
    for end in (*_BESIDE, "-shm"):
        with suppress(FileNotFoundError):
            if not stat.S_ISREG(os.lstat(path + end).st_mode):
                raise Unreadable(f"{path}: its {end} is no regular file")


def _real(path: str) -> str:
    """SQLite looks for what is beside a database where a link to it leads."""
    return os.path.realpath(path) if os.path.islink(path) else path


def _size(mark: Mark) -> int:
    """Bytes of the database and of what belongs to it."""
    return sum(file[2] for file in mark if isinstance(file, tuple) and file)


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
