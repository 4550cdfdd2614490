"""How many files of a working tree are not committed, by a git that cannot be made to run anything.

`git status` runs programs that configuration names: filters, fsmonitor, hooks, what fetches for a
promisor (git-config(1), gitattributes(5)), and which configuration it reads depends on what it
takes for the repository. So it is told all of that: its GIT_DIR is a folder of our own with a
configuration of our own, and of the repository it gets data alone: index, objects, working tree,
patterns of what to ignore. No configuration of the repository's, the person's or the system's is
read by git; what of it says how files compare is taken over here, by a list of keys and values.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping

from sessionlog.errors import Unreadable
from sessionlog.gitfiles import Place, read_small

_MOST = 1 << 20
"""Bytes of a configuration, or of patterns, that are read."""
_SECONDS = 5.0
_SHELL = "/bin/sh"
_BOUNDED = (
    "ulimit -v 4194304 2>/dev/null; ulimit -f 131072 2>/dev/null; ulimit -t 10 2>/dev/null; "
    'exec "$@"'
)
"""4 GiB of address space, at least 64 MiB of output, 10 seconds of computing."""
_SWITCH = ("true", "false")
_TAKEN: dict[str, dict[str, tuple[str, ...]]] = {
    "core": {
        "filemode": _SWITCH, "ignorecase": _SWITCH, "symlinks": _SWITCH, "trustctime": _SWITCH,
        "precomposeunicode": _SWITCH, "autocrlf": (*_SWITCH, "input"),
        "eol": ("lf", "crlf", "native"), "checkstat": ("default", "minimal"),
    },
    "extensions": {"objectformat": ("sha1", "sha256")},
}  # fmt: skip
"""What of a configuration is taken over: keys, each with the values that it may have."""
_OURS = """
[core]
\tbare = false
\tfsmonitor = false
\thooksPath = /dev/null
\tattributesFile = /dev/null
\texcludesFile = /dev/null
\tuntrackedCache = false
\tpackedGitWindowSize = 16m
\tpackedGitLimit = 256m
[protocol]
\tallow = never
[gc]
\tauto = 0
"""
_STATUS = ("status", "--porcelain", "--no-renames", "--untracked-files=normal",
           "--ignore-submodules=all")  # fmt: skip
_SECTION = re.compile(r"\s*\[\s*([\w.-]+)\s*\]\s*\Z")
_VALUE = re.compile(r"\s*(\w+)\s*=\s*([^#;]*)")


def uncommitted(place: Place, commit: str) -> int | None:
    """How many files git calls changed against a commit ("": there is none yet) or not tracked.

    A file behind a filter (git-lfs) counts as changed once it was written to: the filter is not
    run. None where git is not there, takes more than 5 seconds, or the repository is not a plain
    one: its index is missing, it borrows objects, its configuration is not readable.
    """
    git = _git(place)
    try:
        settings = _settings(place)
        ignored = _ignored(place)
    except Unreadable:
        return None
    if git is None or not _is_plain(place, commit):
        return None
    try:
        with tempfile.TemporaryDirectory(prefix="sessionlog-") as scratch:
            _lay_out(scratch, commit, settings, ignored)
            return _counted(git, place, scratch)
    except (OSError, ValueError):
        return None


def _git(place: Place) -> str | None:
    """The program, looked for where nothing of the repository can stand for it."""
    return shutil.which("git", path=_path(place))


def _path(place: Place) -> str:
    """The folders of programs: absolute ones, outside of the working tree."""
    folders = [folder for folder in os.get_exec_path() if os.path.isabs(folder)]
    inside = place.root.rstrip("/") + "/"
    return os.pathsep.join(f for f in folders if not f"{os.path.realpath(f)}/".startswith(inside))


def _is_plain(place: Place, commit: str) -> bool:
    if os.path.lexists(os.path.join(place.common, "objects", "info", "alternates")):
        return False
    index = os.path.join(place.own, "index")
    return os.path.isfile(index) or not (commit or os.path.lexists(index))


def _settings(place: Place) -> dict[str, dict[str, str]]:
    """What is taken over, by section. Raises Unreadable when the repository's cannot be read."""
    texts = [*_persons(), read_small(os.path.join(place.common, "config"), _MOST)]
    taken: dict[str, dict[str, str]] = {section: {} for section in _TAKEN}
    for text in texts:
        for section, key, value in _values(text):
            if value.lower() in _TAKEN.get(section, {}).get(key, ()):
                taken[section][key] = value.lower()
    return taken


def _values(text: str) -> Iterator[tuple[str, str, str]]:
    """(section, key, value) of the plain lines of a configuration."""
    section = ""
    for line in text.split("\n"):
        if line.lstrip().startswith("["):
            found = _SECTION.match(line)
            section = found[1].lower() if found else ""
        elif found := _VALUE.match(line):
            yield section, found[1].lower(), found[2].strip().strip('"')


def _persons() -> Iterator[str]:
    """The person's own configuration, the one that counts less first."""
    for path in (os.path.join(_persons_folder(), "config"), os.path.expanduser("~/.gitconfig")):
        yield _text(path)


def _persons_folder() -> str:
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return os.path.join(base, "git")


def _text(path: str) -> str:
    """A file that need not be there."""
    try:
        return read_small(path, _MOST)
    except Unreadable:
        return ""


def _ignored(place: Place) -> str:
    """Patterns of what to ignore: the person's, then the repository's (gitignore(5))."""
    named = [
        os.path.expanduser(value)
        for text in _persons()
        for section, key, value in _values(text)
        if (section, key) == ("core", "excludesfile")
    ]
    own = named[-1] if named else os.path.join(_persons_folder(), "ignore")
    return _text(own) + "\n" + _text(os.path.join(place.common, "info", "exclude"))


def _lay_out(
    scratch: str, commit: str, settings: Mapping[str, Mapping[str, str]], ignored: str
) -> None:
    """Make a folder that git takes for its own."""
    for name in ("refs", "objects", "info"):
        os.mkdir(os.path.join(scratch, name))
    other = "1" if settings["extensions"] else "0"
    lines = [f"[core]\n\trepositoryformatversion = {other}"]
    for section, values in settings.items():
        lines += [f"[{section}]", *(f"\t{key} = {value}" for key, value in values.items())]
    files = {
        "HEAD": f"{commit}\n" if commit else "ref: refs/heads/none\n",
        "config": "\n".join(lines) + _OURS,
        os.path.join("info", "exclude"): ignored,
    }
    for name, text in files.items():
        with open(os.path.join(scratch, name), "wb") as file:
            file.write(text.encode("utf-8", "surrogateescape"))


def _environment(place: Place, scratch: str) -> dict[str, str]:
    """Everything that git goes by; of the caller's nothing that is git's."""
    kept = {name: v for name, v in os.environ.items() if not name.startswith("GIT_")}
    nothing = os.devnull
    return {
        **kept, "PATH": _path(place), "LC_ALL": "C", "HOME": scratch, "XDG_CONFIG_HOME": scratch,
        "GIT_DIR": scratch, "GIT_COMMON_DIR": scratch, "GIT_WORK_TREE": place.root,
        "GIT_INDEX_FILE": os.path.join(place.own, "index"),
        "GIT_OBJECT_DIRECTORY": os.path.join(place.common, "objects"),
        "GIT_CONFIG_GLOBAL": nothing, "GIT_CONFIG_SYSTEM": nothing, "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ATTR_NOSYSTEM": "1", "GIT_CEILING_DIRECTORIES": scratch, "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none", "GIT_TERMINAL_PROMPT": "0",
    }  # fmt: skip


def _counted(git: str, place: Place, scratch: str) -> int | None:
    """Lines of `git status`. It starts in the scratch folder: nothing is found by where it is."""
    with tempfile.TemporaryFile(dir=scratch) as out:
        process = subprocess.Popen(
            (_SHELL, "-c", _BOUNDED, "sh", git, *_STATUS), cwd=scratch,
            env=_environment(place, scratch), stdin=subprocess.DEVNULL, stdout=out,
            stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        try:
            status = process.wait(_SECONDS)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if isinstance(error, subprocess.TimeoutExpired):
                return None
            raise
        if status != 0:
            return None
        out.seek(0)
        return sum(piece.count(b"\n") for piece in iter(lambda: out.read(1 << 20), b""))
