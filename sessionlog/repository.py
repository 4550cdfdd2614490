"""The git repository that a run worked in: branch and commit, then and now.

Then is what the log says: Claude Code writes the branch on each line (`gitBranch`), Codex branch
and commit in its head (`git`); what commits and checkouts said since goes before that. Now is read
from git's files (`gitfiles`); git itself runs only to count what is not committed (`uncommitted`).
Nothing of the repository is run or written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from sessionlog.gitfiles import head_of, place_of
from sessionlog.outcome import result_text
from sessionlog.plainshell import command_of, steps_of
from sessionlog.records import Meta
from sessionlog.session import Session
from sessionlog.telling import arguments_of

_COMMITTED = re.compile(r"^\[(.+?)(?: \(root-commit\))? ([0-9a-f]{7,40})\] ", re.MULTILINE)
_SWITCHED = re.compile(r"^Switched to (?:a new )?branch '([^'\n]+)'", re.MULTILINE)
_MOVES = ("commit", "checkout", "switch", "merge", "pull", "rebase", "reset", "cherry-pick",
          "revert", "am", "stash", "bisect")  # fmt: skip


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
                commit = _word(git.get("commit_hash"))
                known = re.fullmatch(r"[0-9a-f]{7,64}", commit)
                return Repository(_word(git.get("branch")), commit if known else "")
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
    read. `count` tells how many files of the working tree are not committed (`uncommitted`, by
    default). Never raises."""
    place = place_of(folder)
    if place is None:
        return None
    branch, commit = head_of(place)
    if not branch and not commit:
        return None
    if count is not None:
        return Repository(branch, commit, count(place.root))
    from sessionlog.uncommitted import uncommitted

    return Repository(branch, commit, uncommitted(place, commit))
