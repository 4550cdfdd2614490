"""The git repository that a run worked in: branch and commit, then and now.

Then is what the log says: Claude Code writes the branch on each line (`gitBranch`), Codex branch
and commit in its head (`git`); what commits and checkouts said since goes before that. Now is read
from the files of `.git` (gitrepository-layout(5)); git itself runs only to count what is not
committed, and only where the repository's own configuration cannot make it run anything.
Nothing is written.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from sessionlog.errors import Unreadable
from sessionlog.outcome import result_text
from sessionlog.paths import open_regular
from sessionlog.plainshell import command_of, steps_of
from sessionlog.records import Meta
from sessionlog.session import Session
from sessionlog.telling import arguments_of

_MOST = 1 << 20
"""Bytes of a file of git's that are read; packed refs are read in pieces."""
_SECONDS = 5.0
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_COMMITTED = re.compile(r"^\[(.+?)(?: \(root-commit\))? ([0-9a-f]{7,40})\] ", re.MULTILINE)
_SWITCHED = re.compile(r"^Switched to (?:a new )?branch '([^'\n]+)'", re.MULTILINE)
_MOVES = ("commit", "checkout", "switch", "merge", "pull", "rebase", "reset", "cherry-pick",
          "revert", "am", "stash", "bisect")  # fmt: skip
_RUNS = re.compile(
    r"\[\s*(?:filter|include)|\b(?:worktree|attributesfile|promisor|partialclone)\b", re.I
)
"""What in a repository's configuration can make `git status` run a program (filters, a promisor's
transport) or look elsewhere; what can be overruled on the command line is not among it."""
_STATUS = ("git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null",
           "--no-optional-locks", "status", "--porcelain", "--no-renames",
           "--ignore-submodules=all")  # fmt: skip

_QUIET = {"LC_ALL": "C", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0"}


class Repository(NamedTuple):
    """Where a repository stands."""

    branch: str = ""
    """"" when HEAD is on none, or it is not known."""
    commit: str = ""
    """Whole, or as many digits as the log has; "" when it is not known."""
    uncommitted: int | None = None
    """Files that are changed or not tracked; a folder without tracked files counts as one. None:
    not asked, or no answer in time."""


def then(session: Session, at: int | None = None) -> Repository | None:
    """The repository as the transcript last saw it, `at` that message; None: it does not tell."""
    found = _at_start(session)
    for step in session.history:
        if at is not None and step.n > at:
            break
        branch = step.message.extra.get("gitBranch")
        named = isinstance(branch, str) and branch not in ("", "HEAD")
        if named and (found is None or branch != found.branch):
            found = Repository(str(branch))
        activity = step.message.activity
        if activity and activity.kind == "response" and step.pair:
            call = session.history[step.pair - 1].message.activity
            if call and '"' in call.arguments and "git" in call.arguments:
                found = _after(found, call.arguments, result_text(step.message))
    return found if found and (found.branch or found.commit) else None


def _at_start(session: Session) -> Repository | None:
    """What the head of the log says."""
    for record in session.records:
        if isinstance(record.payload, Meta):
            git = record.payload.extra.get("git")
            if isinstance(git, Mapping):
                return Repository(_word(git.get("branch")), _word(git.get("commit_hash")))
    return None


def _word(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _after(found: Repository | None, arguments: str, said: str) -> Repository | None:
    """The repository after a command that may have moved it, by what the command said."""
    value = arguments_of(arguments)
    fields = value if isinstance(value, Mapping) else {}
    command = command_of(fields.get("command", fields.get("cmd")))
    if not re.search(r"\bgit\b", command):
        return found
    moves = {
        step.words[1].text
        for step in steps_of(command)
        if step.name == "git" and len(step.words) > 1
    } & {*_MOVES}
    if moves and "commit" in moves and (told := [*_COMMITTED.finditer(said)]):
        branch = told[-1][1]
        return Repository("" if branch == "detached HEAD" else branch, told[-1][2])
    if moves & {"checkout", "switch"} and (switched := _SWITCHED.findall(said)):
        return Repository(switched[-1])
    if moves and found is not None:
        return found._replace(commit="")  # it moved, and where to was not told
    return found


def now(folder: str, *, count: Callable[[str], int | None] | None = None) -> Repository | None:
    """The repository that a folder is in as it stands; None when there is none, or it cannot be
    read. `count` tells how many files are not committed (`uncommitted`, by default)."""
    root, place = _found(folder)
    if not place:
        return None
    try:
        head = _read(os.path.join(place, "HEAD")).strip()
    except Unreadable:
        return None
    commit, branch = head, ""
    if head.startswith("ref:"):
        name = head[4:].strip()
        branch = name.removeprefix("refs/heads/")
        commit = _resolved(place, name)
        if branch == ".invalid":  # its refs are kept in another way (reftable)
            branch = ""
    if not _SHA.match(commit):
        commit = ""
    if not branch and not commit:
        return None
    asked = count or (lambda root: uncommitted(root, place))
    return Repository(branch, commit, asked(root))


def _found(folder: str) -> tuple[str, str]:
    """(the working tree's folder, git's own folder) that a folder is in; ("", "") for none."""
    folder = os.path.realpath(folder)
    while True:
        place = os.path.join(folder, ".git")
        if os.path.isdir(place):
            return folder, place
        if os.path.isfile(place):  # a worktree or a submodule: it names the folder
            try:
                text = _read(place)
            except Unreadable:
                return "", ""
            named = text.partition("gitdir:")[2].strip()
            return (folder, os.path.join(folder, named)) if named else ("", "")
        above = os.path.dirname(folder)
        if above == folder:
            return "", ""
        folder = above


def _resolved(place: str, name: str) -> str:
    """The commit that a ref names; "" when it names none (a branch before its first commit)."""
    if not name.startswith("refs/") or ".." in name:
        return ""
    common = _common(place)
    for _ in range(5):  # a ref may name another
        value = ""
        for folder in dict.fromkeys((place, common)):
            try:
                value = value or _read(os.path.join(folder, name)).strip()
            except Unreadable:
                continue
        value = value or _packed(common, name)
        if not value.startswith("ref: refs/") or ".." in value:
            return value
        name = value[5:]
    return ""


def _common(place: str) -> str:
    """The folder that all worktrees of a repository share."""
    try:
        return os.path.join(place, _read(os.path.join(place, "commondir")).strip())
    except Unreadable:
        return place


def _packed(common: str, name: str) -> str:
    try:
        fd = open_regular(os.path.join(common, "packed-refs"))
    except Unreadable:
        return ""
    wanted = f" {name}\n".encode("utf-8", "surrogateescape")
    with open(fd, "rb") as lines:
        return next((line[: -len(wanted)].decode() for line in lines if line.endswith(wanted)), "")


def _read(path: str) -> str:
    """A small text file. Raises Unreadable."""
    fd = open_regular(path)
    try:
        return os.read(fd, _MOST).decode("utf-8", "surrogateescape")
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror}") from None
    finally:
        os.close(fd)


def uncommitted(root: str, place: str) -> int | None:
    """How many files git calls changed or not tracked; None where it is not there, takes more than
    5 seconds, or the repository's configuration could make it run a program."""
    try:
        held = _read(os.path.join(_common(place), "config"))
    except Unreadable:
        return None
    with suppress(Unreadable):
        held += _read(os.path.join(place, "config.worktree"))
    if _RUNS.search(held):
        return None
    environ = {name: v for name, v in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(_STATUS, cwd=root, env={**environ, **_QUIET}, timeout=_SECONDS,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=False)  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.count(b"\n") if done.returncode == 0 else None
