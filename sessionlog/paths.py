"""Ids and places: what a session may be called, where agents keep theirs, how a log is opened.

An id becomes a file name, so it is checked before it is joined to a folder; a log is opened so
that nothing but a regular file can be read (a FIFO would hang its reader for ever); a folder is
made so that nobody else can look into it.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import re
import stat
from collections.abc import Mapping
from datetime import UTC, datetime

from sessionlog.errors import NotPossible, Unreadable

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}\Z")
_ENDINGS = (".jsonl", ".jsonl.zst", ".traj.json", ".traj", ".json")
_WORDS = {
    stat.S_IFDIR: "a folder", stat.S_IFIFO: "a FIFO", stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device", stat.S_IFBLK: "a device",
}  # fmt: skip


def new_id(now: datetime | None = None) -> str:
    """An id that sorts by time: YYYYMMDD-HHMMSS in UTC, as the native engine makes it."""
    return (now or datetime.now(UTC)).astimezone(UTC).strftime("%Y%m%d-%H%M%S")


def valid_id(id: str) -> str:
    """The id, if it can be a file name anywhere.

    Raises NotPossible for one that could leave its folder, hide, or be taken for an option.
    """
    if not _ID.match(id):
        raise NotPossible(
            f"{id!r} cannot be a session's id: letters, digits, dots, dashes and underscores, "
            "at most 128, the first a letter or a digit"
        )
    return id


def stem_of(path: str) -> str:
    """The name of a log without folder and ending."""
    name = path.rpartition("/")[2]
    for ending in _ENDINGS:
        if name.endswith(ending):
            return name[: -len(ending)]
    return name


def open_regular(path: str) -> int:
    """A descriptor to read a regular file with; the caller closes it.

    A link to one is fine. Raises Unreadable, with the reason in plain words, for everything else.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise Unreadable(f"{path}: {_why_not(path, error)}") from None
    kind = stat.S_IFMT(os.fstat(fd).st_mode)
    if kind != stat.S_IFREG:
        os.close(fd)
        raise Unreadable(f"{path}: {_WORDS.get(kind, 'no regular file')}, not a log")
    return fd


def beginning(path: str, most: int) -> bytes:
    """The first bytes of a regular file, at most so many; none of one that cannot be read."""
    try:
        with open(open_regular(path), "rb") as file:
            return file.read(most)
    except (OSError, Unreadable):
        return b""


def _why_not(path: str, error: OSError | ValueError) -> str:
    """Why a path cannot be opened; the system's word for a socket is "no such device"."""
    if not isinstance(error, OSError):
        return str(error)
    if error.errno == errno.ENXIO:
        return "a socket, not a log"
    if error.errno == errno.ENOENT and os.path.islink(path):
        return "a link that leads nowhere"
    return error.strerror or str(error)


def dashed(path: str) -> str:
    """A path as the name of a folder, as agents in JavaScript make it: all but ASCII letters and
    digits are dashes, two for a character that is two units of UTF-16 (Qwen Code 0.24.4,
    `sanitizeCwd`)."""
    return "".join(c if c.isascii() and c.isalnum() else "-" * (1 + (c > "\uffff")) for c in path)


def real(path: str) -> str:
    """A path without links, as a program that is started there sees its own; one that no system
    has (a log may say anything) only made absolute."""
    try:
        return os.path.realpath(path)
    except ValueError:
        return os.path.abspath(path)


def name_too_long(path: str) -> str:
    """The name in a path that its file system cannot keep, as it is too long; "" for none."""
    there, names = path, list[str]()
    while not os.path.isdir(there) and there != os.path.dirname(there):
        there, name = os.path.split(there)
        names.append(name)
    for name in names:
        try:
            os.lstat(os.path.join(there, name))
        except ValueError:
            break
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                return name
    return ""


def private_folder(path: str) -> None:
    """Make a folder and those above it, each its owner's alone whatever the umask.

    One that is there stays as it is. Raises OSError when that cannot be.
    """
    if os.path.isdir(path):
        return
    above = os.path.dirname(path)
    if above and above != path:
        private_folder(above)
    with contextlib.suppress(FileExistsError):  # somebody else was faster, or no folder: seen later
        os.mkdir(path, 0o700)
        os.chmod(path, 0o700)
        sync_folder(above or ".")


def sync_folder(path: str) -> None:
    """Make a new name in the folder outlive a power cut, where the file system can do that."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):
            raise
    finally:
        os.close(fd)


def native_folder(environment: Mapping[str, str] = os.environ) -> str:
    """Where the native engine keeps its sessions: $ZOT_SESSION_DIR, or the XDG state folder."""
    own = environment.get("ZOT_SESSION_DIR")
    if own:
        return own
    state = environment.get("XDG_STATE_HOME") or _home(environment, ".local", "state")
    return os.path.join(state, "zot", "sessions")


def runs_folder(environment: Mapping[str, str] = os.environ) -> str:
    """Where the runs that were handed over are written down: in the XDG state folder."""
    base = environment.get("XDG_STATE_HOME", "")
    if not os.path.isabs(base):  # the specification: a relative one is not valid
        base = _home(environment, ".local", "state")
    return os.path.join(base, "sessionlog", "runs")


def agent_folders(environment: Mapping[str, str] = os.environ) -> dict[str, list[str]]:
    """Where each agent keeps its sessions by its own rules, whether that is there or not: folders,
    and databases."""
    claude = environment.get("CLAUDE_CONFIG_DIR") or _home(environment, ".claude")
    codex = environment.get("CODEX_HOME") or _home(environment, ".codex")
    openclaw = environment.get("OPENCLAW_STATE_DIR") or _home(environment, ".openclaw")
    return {
        "zot": [native_folder(environment)],
        "claude": [os.path.join(claude, "projects")],
        "codex": [os.path.join(codex, "sessions"), os.path.join(codex, "archived_sessions")],
        "pi": [_pi_folder(environment)],
        "openclaw": [os.path.join(openclaw, "agents")],
        "opencode": [
            *opencode_databases(environment),
            os.path.join(_opencode_folder(environment), "storage", "session"),
        ],
        "gemini": [os.path.join(gemini_folder(environment), "tmp")],
        "qwen": [os.path.join(qwen_folder(environment), name) for name in ("projects", "tmp")],
    }


def gemini_folder(environment: Mapping[str, str] = os.environ) -> str:
    """Gemini CLI's own folder; its variable names the home folder that it is in."""
    return os.path.join(environment.get("GEMINI_CLI_HOME") or _home(environment), ".gemini")


def qwen_folder(environment: Mapping[str, str] = os.environ) -> str:
    """Qwen Code's folder of what it keeps while it runs."""
    own = environment.get("QWEN_RUNTIME_DIR") or environment.get("QWEN_HOME")
    return own or _home(environment, ".qwen")


def opencode_databases(environment: Mapping[str, str] = os.environ) -> list[str]:
    """OpenCode's databases, that of a release first; a channel's builds have one of their own."""
    folder, own = _opencode_folder(environment), environment.get("OPENCODE_DB")
    if own:
        return [os.path.join(folder, own)]
    release = os.path.join(folder, "opencode.db")
    return [release, *sorted(glob.glob(os.path.join(glob.escape(folder), "opencode-*.db")))]


def _opencode_folder(environment: Mapping[str, str]) -> str:
    data = environment.get("XDG_DATA_HOME") or _home(environment, ".local", "share")
    return os.path.join(data, "opencode")


def _pi_folder(environment: Mapping[str, str]) -> str:
    """pi's sessions: a variable of their own moves them, else that of the whole folder."""
    own = environment.get("PI_CODING_AGENT_SESSION_DIR")
    if own:
        return own
    agent = environment.get("PI_CODING_AGENT_DIR") or _home(environment, ".pi", "agent")
    return os.path.join(agent, "sessions")


def default_folders(environment: Mapping[str, str] = os.environ) -> list[str]:
    """The agents' folders and databases that are there on this machine."""
    folders = [path for paths in agent_folders(environment).values() for path in paths]
    return [path for path in folders if os.path.exists(path)]


def _home(environment: Mapping[str, str], *parts: str) -> str:
    return os.path.join(environment.get("HOME") or os.path.expanduser("~"), *parts)
