"""What a call works at: the programs it runs, and which later call does the same again. Pure.

A failure is overcome when the same work went well later: `make -j2` after `make`, `python3 run.py`
after `python run.py`, `x --user` after `sudo x`. Options and numbers tell of the how, so they do
not count. What freed space, or only showed something, went well without having to write.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

from sessionlog.why import failures
from sessionlog.why.errors import alternatives
from sessionlog.why.facts import Done

_PARTS = re.compile(r"&&|\|\||[;|\n]")
_BEFORE = re.compile(r"^(?:\w+=\S*|sudo|doas|env|exec|time|nice|nohup|command|timeout|npx|uvx)$")
"""Words in front of a program that start it."""
_VERSION = re.compile(r"(?<=[a-z])[\d.]+$")
_FREES = r"""
    \b(?:rm|rmdir|clean|prune|purge|gc|autoremove|truncate|unlink|df|du|status|branch)\b
"""
_WRITES = r"write|edit|patch|replace|create"
"""Tools that write a file."""
_LOOKED = 300
"""Characters of a command that are looked at."""


def went_well(done: Done) -> bool:
    """No failure, and none that hides behind a pipe."""
    return not (done.failed or done.interrupted or _cause(done)[0])


def unresolved(recent: Sequence[Done]) -> list[Done]:
    """Those that failed, without those that went well when they were tried again."""
    return [
        done for i, done in enumerate(recent)
        if done.failed and not any(went_well(d) and is_same(done, d) for d in recent[i + 1 :])
    ]  # fmt: skip


def row_of(recent: Sequence[Done], last: Done) -> list[Done]:
    """The failures of the same work in a row that end with this one, oldest first."""
    row: list[Done] = []
    for done in reversed(recent):
        if done.nth <= last.nth and is_same(done, last):
            if not done.failed:
                break
            row.append(done)
    return row[::-1]


def is_overcome(done: Done, cause: str, subject: str, after: Iterable[Done]) -> bool:
    """Does something after a failed call show that its cause was gone?"""
    return any(
        (went_well(later) and is_same(done, later))
        or (bool(subject) and _runs(later, subject))
        or (cause == "disk_full" and _writes_again(done, later))
        for later in after
    )


def is_same(done: Done, later: Done) -> bool:
    """Is it the same work, in other words maybe?"""
    first, second = done.call, later.call
    if first.tool != second.tool:
        return False
    if first.arguments == second.arguments:
        return True
    words = _words(first.said)
    return bool(words) and words == _words(second.said)


def programs(said: str) -> list[str]:
    """The programs that a command line runs, without their folders."""
    return [words[0] for part in _PARTS.split(said[:_LOOKED]) if (words := _bare(part))]


def _words(said: str) -> list[str]:
    """The program and what it works at, without options; of the first part that works."""
    for part in _PARTS.split(said[:_LOOKED]):
        words = _bare(part)
        if words and words[0] != "cd":
            return [_VERSION.sub("", words[0]), *words[1:]]
    return []


def _bare(part: str) -> list[str]:
    words = [w for w in part.split() if not w.startswith("-") and not w.isdecimal() and w != "2>&1"]
    while words and _BEFORE.match(words[0]):
        del words[0]
    return [os.path.basename(words[0]) or words[0], *words[1:]] if words else []


def _runs(later: Done, program: str) -> bool:
    """Was the program there? Its own failure shows that as well."""
    asked = failures.asked_for(later.call.said)
    if asked == program:
        return not later.failed
    if program not in programs(later.call.said):
        return False
    cause, missing = _cause(later)
    return cause != "permission" and missing != program and not _is_gone(later, program)


def _is_gone(later: Done, program: str) -> bool:
    """Does the output say that what was called is not there, in words for any file?"""
    block = rf"\b{re.escape(program)}['\"’]?: (?:\w+ )?(?:not found|no such file)"
    return later.failed and re.search(block, later.text, re.I) is not None


def _writes_again(done: Done, later: Done) -> bool:
    """Could something be written again? The same program ran, or a file was written."""
    if not went_well(later) or alternatives(_FREES).search(later.call.said):
        return False
    if alternatives(_WRITES).search(later.call.tool):
        return True
    if failures.shows(later.call.tool, later.call.said):
        return False
    return bool(set(programs(done.call.said)) & set(programs(later.call.said)) - {"cd"})


def _cause(done: Done) -> tuple[str, str]:
    return failures.cause_of(done.call.tool, done.call.said, done.text, done.failed)
