"""What git keeps in a repository's own folder: where it is, HEAD, refs (gitrepository-layout(5)).

All of it may be hostile: only regular files are opened, of each only so many bytes are read, and
what is not as git writes it counts as not there.
"""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from sessionlog.errors import Unreadable
from sessionlog.paths import open_regular

_SMALL = 1 << 13
"""Bytes of a file that holds one line; git's own limit of a path is 4,096."""
_PACKED = 1 << 26
"""Bytes of the packed refs that are looked through: more than half a million refs."""
_LONGEST = 4096
SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")


class Place(NamedTuple):
    """Where a repository is."""

    root: str
    """The working tree's folder, absolute and without links."""
    own: str
    """Git's folder for this working tree."""
    common: str
    """Git's folder that all working trees of the repository share."""


def place_of(folder: str) -> Place | None:
    """The repository that a folder, absolute, is in as git would find it; None for none. Never
    raises."""
    if not os.path.isabs(folder) or len(folder) > _LONGEST:
        return None
    try:
        folder = os.path.realpath(folder)
    except (OSError, ValueError):
        return None
    while folder:
        path = os.path.join(folder, ".git")
        if os.path.isfile(path):  # a worktree or a submodule: it names the folder
            return _named(folder, path)
        if os.path.isdir(path) and (place := _checked(folder, path)):
            return place
        above = os.path.dirname(folder)
        folder = above if above != folder else ""
    return None


def _named(folder: str, path: str) -> Place | None:
    """The repository that a file `.git` names."""
    try:
        named = read_small(path).partition("gitdir:")[2].strip()
    except Unreadable:
        return None
    return _checked(folder, os.path.join(folder, named)) if named else None


def _checked(root: str, own: str) -> Place | None:
    """None for a folder that git would not take for a repository's."""
    try:
        head = read_small(os.path.join(own, "HEAD")).strip()
    except Unreadable:
        return None
    try:
        common = os.path.join(own, read_small(os.path.join(own, "commondir")).strip())
    except Unreadable:
        common = own
    names = head[4:].lstrip().startswith("refs/") if head.startswith("ref:") else SHA.match(head)
    whole = all(os.path.isdir(os.path.join(common, name)) for name in ("objects", "refs"))
    return Place(root, own, common) if names and whole else None


def head_of(place: Place) -> tuple[str, str]:
    """(branch, commit) that HEAD names; "" for what it does not name, as a branch before its first
    commit names no commit. Never raises."""
    try:
        commit = read_small(os.path.join(place.own, "HEAD")).strip()
    except Unreadable:
        return "", ""
    branch = ""
    if commit.startswith("ref:"):
        name = commit[4:].strip()
        branch = name.removeprefix("refs/heads/")
        commit = _resolved(place, name)
        if branch == ".invalid":  # its refs are kept in another way (reftable)
            branch = ""
    return branch, commit if SHA.match(commit) else ""


def _resolved(place: Place, name: str) -> str:
    """What a ref holds; "" where it is not there, or would lead out of the refs."""
    for _ in range(5):  # a ref may name another
        if not name.startswith("refs/") or ".." in name:
            break
        value = _loose(place, name) or _packed(place.common, name)
        if not value.startswith("ref:"):
            return value
        name = value[4:].strip()
    return ""


def _loose(place: Place, name: str) -> str:
    for folder in dict.fromkeys((place.own, place.common)):
        try:
            return read_small(os.path.join(folder, name)).strip()
        except Unreadable:
            continue
    return ""


def _packed(common: str, name: str) -> str:
    wanted, left = name.encode("utf-8", "surrogateescape"), _PACKED
    try:
        with open(_opened(os.path.join(common, "packed-refs")), "rb") as lines:
            while left > 0 and (line := lines.readline(_SMALL)):
                left -= len(line)
                value, _, named = line.rstrip(b"\n").partition(b" ")
                if named == wanted:
                    return value.decode("ascii", "replace")
    except (OSError, Unreadable):
        pass
    return ""


def read_small(path: str, most: int = _SMALL) -> str:
    """A text file of at most so many bytes. Raises Unreadable, for a bigger one too."""
    try:
        with open(_opened(path), "rb") as file:
            data = file.read(most + 1) or b""
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror}") from None
    if len(data) > most:
        raise Unreadable(f"{path}: more than {most:,} bytes")
    return data.decode("utf-8", "surrogateescape")


def _opened(path: str) -> int:
    """A descriptor of a regular file; nothing else is opened, since opening alone can do something
    (a FIFO, a device). Raises Unreadable."""
    if not os.path.isfile(path):
        raise Unreadable(f"{path}: no regular file")
    return open_regular(path)
