"""Which files a transcript read or wrote, and what it knows of each. Pure.

All calls of the history count, those of subagents too, in the order in which they ended. The last
act on a path is what counts, with what is known of the content from the acts before it. A file
that the conversation still holds counts as it holds it: what was done to it on a branch that was
left, or in turns that were rolled back, is not known there and so is a change. A file that only
stands before a reset is told too, marked as out of context: the summary that the agent goes on
from may speak of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sessionlog.acts import Act
from sessionlog.branch import left_behind
from sessionlog.filecalls import acts_of
from sessionlog.knowing import Known, Work, known_of, settles, unknown_of
from sessionlog.records import Message
from sessionlog.session import Numbered, Session

_NUMBERED = ("claude",)
"""Formats whose agent shows files with line numbers, always."""
_LONGEST = 4096
_DEEPEST = 64
"""Folders above a file up to which it is found when one of them is removed."""
_KERNEL = ("/proc/", "/sys/", "/dev/")


class Chain(NamedTuple):
    """Acts as a list that shares its beginning with what it was."""

    act: Act
    before: Chain | None = None

    def acts(self) -> list[Act]:
        """All of them, in order."""
        acts = []
        link: Chain | None = self
        while link is not None:
            acts.append(link.act)
            link = link.before
        return acts[::-1]


class Touch(NamedTuple):
    """A file that the transcript read, wrote, removed or found missing."""

    path: str
    """Absolute, without `.` and `..`; links are as the call named them."""
    n: int
    """Number of the last call's message."""
    at: str
    """RFC 3339: when its answer was recorded; "" when the log does not say."""
    chain: Chain
    """What was done to it since its content was told last."""
    wrote: bool = False
    in_context: bool = True
    """Does the conversation still hold one of the calls?"""

    @property
    def known(self) -> Known:
        """What the transcript holds of it. Costs what its last contents cost."""
        return self.known_by(Work())

    def known_by(self, work: Work) -> Known:
        """The same, for no more than is left of the work for all files."""
        if work.left <= 0:  # copies share long chains: not even walked over then
            return unknown_of(self.chain.act)
        return known_of(self.chain.acts(), work)


def touched(session: Session, at: int | None = None) -> tuple[Touch, ...]:
    """Every file that the session's calls touched, the last touched first; those that stand in
    the conversation before those that only stand before a reset.

    `at`: as the conversation stood right after that message. O(history).
    """
    files = _Files()
    for call, answer in _answered(session, at):
        files.take(call, answer, session)
    return tuple(sorted(files.found(), key=lambda touch: (not touch.in_context, -touch.n)))


def _answered(session: Session, at: int | None) -> Iterator[tuple[Numbered, Numbered]]:
    """Calls with their answers, as they ended."""
    left = left_behind(session.records, session.damages)
    places = [i for i, r in enumerate(session.records) if isinstance(r.payload, Message)]
    for place, step in zip(places, session.history, strict=True):
        if at is not None and step.n > at:
            return
        activity = step.message.activity
        if activity and activity.kind == "response" and step.pair and place not in left:
            yield session.history[step.pair - 1], step


class _File(NamedTuple):
    """A path while the history is walked over."""

    chain: Chain
    n: int
    at: str
    wrote: bool
    held: _File | None = None
    """As the conversation holds it; None: as it is, and out of context."""


class _Folder:
    """Files by the folders that they are in."""

    __slots__ = ("file", "inside")

    def __init__(self) -> None:
        self.inside: dict[str, _Folder] = {}
        self.file = ""
        """The path, when it is one."""

    def add(self, path: str) -> None:
        here = self
        for name in path.split("/", _DEEPEST)[1:]:
            here = here.inside.setdefault(name, _Folder())
        here.file = path

    def take(self, folder: str) -> set[str]:
        """The files below a folder; they are not in it any more."""
        here = self
        for name in folder.split("/", _DEEPEST)[1:]:
            if (found := here.inside.get(name)) is None:
                return set()
            here = found
        below, files = [*here.inside.values()], set()
        here.inside = {}
        while below:
            one = below.pop()
            below += one.inside.values()
            if one.file:
                files.add(one.file)
        return files


class _Files:
    """All paths; the calls come in order."""

    def __init__(self) -> None:
        self._files: dict[str, _File] = {}
        self._there, self._held = _Folder(), _Folder()
        """Files that were not removed with a folder; the same as the conversation holds them."""

    def take(self, call: Numbered, answer: Numbered, session: Session) -> None:
        asked = call.message.activity
        if asked is None or call.message.unsent:
            return
        place = call.message.extra.get("cwd")
        folder = place if isinstance(place, str) and place else session.meta.workdir
        own = session.format in _NUMBERED
        for act in acts_of(asked, answer.message, folder, numbered=own):
            path = absolute(act.path)
            if path:
                self._act(path, act, call, answer)
                if act.tree:
                    self._remove_below(path, act, call, answer)

    def _act(self, path: str, act: Act, call: Numbered, answer: Numbered) -> None:
        before = self._files.get(path)
        if act.how == "copy":
            source = self._files.get(absolute(act.source))
            chain = source.chain if source else Chain(act)
        else:
            chain = Chain(act, before.chain if before and not settles(act) else None)
        wrote = act.writes or bool(before and before.wrote)
        file = _File(chain, call.n, answer.record.at or call.record.at, wrote)
        if _is_held(answer):
            file = file._replace(held=file)
            self._held.add(path)
        elif before:
            file = file._replace(held=before.held)
        self._files[path] = file
        self._there.add(path)

    def _remove_below(self, folder: str, act: Act, call: Numbered, answer: Numbered) -> None:
        """A folder went, and the files that were in it."""
        files = self._there.take(folder)
        if _is_held(answer):
            files |= self._held.take(folder)
        for path in files:
            self._act(path, act, call, answer)
        self._there.take(folder)
        if _is_held(answer):
            self._held.take(folder)

    def found(self) -> Iterable[Touch]:
        for path, last in self._files.items():
            file = last.held or last
            yield Touch(path, file.n, file.at, file.chain, file.wrote, bool(last.held))


def _is_held(answer: Numbered) -> bool:
    """Does the conversation hold a call?"""
    return answer.in_context or bool(answer.message.sidechain)


def absolute(path: str) -> str:
    """A path without detours; "" for one that names no file here: relative to nowhere, of another
    system, of the kernel's own trees."""
    if not path.startswith("/") or "\0" in path or len(path) > _LONGEST or path.endswith("/"):
        return ""
    whole = os.path.normpath("/" + path.lstrip("/"))
    return "" if whole == "/" or f"{whole}/".startswith(_KERNEL) else whole
