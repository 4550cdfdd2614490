"""The orders in which the list shows its sessions. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from sessionlog.family import Forest
from sessionlog.records import Entry
from sessionlog.text import visible

NEWEST, FAMILY, PROJECT = "newest first", "by family", "by project"
ORDERS = (NEWEST, FAMILY, PROJECT)


class Order(NamedTuple):
    """Sessions in an order."""

    entries: tuple[Entry, ...]
    guides: tuple[str, ...] = ()
    """In family order: what stands in front of each."""
    projects: tuple[str, ...] = ()
    """In project order: the folder of each."""


def arranged(entries: Iterable[Entry], order: str) -> Order:
    """The sessions, which come newest first, in one of `ORDERS`. O(sessions)."""
    if order == FAMILY:
        members = tuple(Forest(entries).members())
        return Order(
            tuple(member.entry for member in members), tuple(member.guides for member in members)
        )
    if order == PROJECT:
        return _by_project(entries)
    return Order(tuple(entries))


def _by_project(entries: Iterable[Entry]) -> Order:
    """The project with the newest session first, the newest of each first; last, what is no log
    or does not say where it ran."""
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(entry.workdir if entry.status else "", []).append(entry)
    nowhere = groups.pop("", [])
    found = [(entry, project) for project, group in groups.items() for entry in group]
    found += [(entry, "") for entry in nowhere]
    return Order(
        tuple(entry for entry, _ in found), projects=tuple(project for _, project in found)
    )


def heading(project: str, home: str) -> str:
    """The rule above a project's sessions: its folder, ~ for the home folder."""
    if not project:
        return "no folder"
    if project == home or project.startswith(home + "/"):
        project = "~" + project[len(home) :]
    return visible(project)
