"""Trajectories of SWE-agent and mini-swe-agent, and conversations that are one JSON document.

All are one document, written whole again after each step, so a line is a step of the run: what
the model said and did, and what came back. What tells of the whole run stands at both ends: the
document without its lists first (that names the format), its `info` last (that tells the ending).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from sessionlog import codec, splice
from sessionlog.errors import Unreadable
from sessionlog.formats.base import dict_of
from sessionlog.formats.mini_commands import commands, opens
from sessionlog.paths import open_regular
from sessionlog.records import Entry
from sessionlog.stores.base import Mark, Unended
from sessionlog.stores.document import joined, opening, walk

_LISTS = ("trajectory", "history", "attempts", "messages")
_INFO = (b'"model_stats"', b'"exit_status"', b'"mini_version"')
_FOREIGN = ("sessionId", "projectHash", "eval", "plan", "samples", "working_dir", "steps")
"""Members of other programs' documents that hold messages, too."""
_SAID = ("content", "tool_calls", "parts")
_NAMES = (".traj", ".traj.json")
_BLOCK = 1 << 20


class Trajectories:
    """The store of these documents."""

    many = False

    def keeps(self, path: str, head: bytes) -> bool:
        members = opening(head)
        if "" in members:
            return _is_message(members[""])
        if _is_run(members) or (_named(path) and not members.keys().isdisjoint((*_LISTS, "info"))):
            return True
        if path.endswith(".jsonl"):  # a conversation a line
            return False
        turns = members.get("messages", b"")
        return _is_message(turns[1:]) and members.keys().isdisjoint(_FOREIGN)

    def sessions(self, path: str) -> list[str]:
        return []

    def lines(self, path: str, id: str) -> Iterator[bytes]:
        fd = open_regular(path)
        try:
            data = _read(fd)
        except OSError as error:
            raise Unreadable(f"{path}: {error.strerror or error}") from None
        finally:
            os.close(fd)
        return lines_of(data, path)

    def mark(self, path: str, id: str) -> Mark:
        seen = os.stat(path)
        return seen.st_ino, seen.st_size, seen.st_mtime_ns

    def glimpse(self, path: str, id: str) -> Entry | None:
        return None


def lines_of(data: bytes, name: str = "") -> Iterator[bytes]:
    """The lines of a document; `name` helps where an old one says nothing of its writer."""
    document = _taken_apart(data)
    if "attempts" in document.lists:
        yield from _attempts(document)
    elif "trajectory" in document.lists or "history" in document.lists:
        yield from _steps(document)
    elif _is_mini(document, name):
        yield from _turns(document)
    else:
        yield from _chat(document)
    yield from document.lost[:-1]
    yield from map(Unended, document.lost[-1:])


def _read(fd: int) -> bytes:
    blocks = iter(lambda: os.read(fd, _BLOCK), b"")
    return b"".join(blocks)


def _named(path: str) -> bool:
    return path.endswith(_NAMES)


def _is_message(data: bytes) -> bool:
    """Does a message begin here?"""
    members = opening(data)
    return "role" in members and not members.keys().isdisjoint(_SAID)


def _is_run(members: dict[str, bytes]) -> bool:
    """Is it an agent's trajectory? A list that is named like theirs is not enough."""
    if members.get("trajectory", b"").startswith(b"[") or "trajectory_format" in members:
        return True
    if any(word in members.get("info", b"") for word in _INFO):
        return True
    words = {"attempts": (b'"trajectory"', b'"history"'), "history": (b'"message_type"',)}
    return any(word in members.get(key, b"") for key, some in words.items() for word in some)


# -- the document ------------------------------------------------------------------------------


@dataclass(slots=True)
class _Document:
    """A document taken apart; every value is its own bytes on one line."""

    members: dict[str, bytes] = field(default_factory=dict)
    """What is no list of the run's, and the empty lists."""
    lists: dict[str, list[bytes]] = field(default_factory=dict)
    lost: list[bytes] = field(default_factory=list)
    """What is left behind the place where the document breaks off."""


def _taken_apart(data: bytes) -> _Document:
    document = _Document()
    for piece in walk(data, _LISTS):
        key = piece.key or "messages"
        if not piece.whole:
            document.lost.append(piece.data)
        elif piece.item:
            document.lists.setdefault(key, []).append(piece.data)
        elif piece.data == b"[]" and key in _LISTS:
            document.members[key] = piece.data
            document.lists[key] = []
        else:
            document.members[key] = piece.data
    return document


def _load(data: bytes) -> dict[str, Any]:
    """An item as an object; {} for what is none."""
    try:
        value = splice.loads(data)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _ends(document: _Document, number: bytes = b"") -> tuple[bytes, list[bytes]]:
    """The first line, and the last ones."""
    first = {key: text for key, text in document.members.items() if key != "info"}
    last = {"info": document.members["info"]} if "info" in document.members else {}
    if number:
        first, last = {"attempt": number, **first}, {"attempt": number, **last}
    return joined(first), [joined(last)] if "info" in last else []


# -- SWE-agent ---------------------------------------------------------------------------------


def _attempts(document: _Document) -> Iterator[bytes]:
    """Every attempt. At the end the agent repeats the best one in the document itself."""
    steps = document.lists.pop("trajectory", [])
    history = document.lists.pop("history", [])
    first, last = _ends(document)
    yield first
    known = []
    for number, data in enumerate(document.lists["attempts"], 1):
        attempt = _taken_apart(data)
        known.append(attempt.lists.get("trajectory", []))
        yield from _steps(attempt, b"%d" % number)
        yield from attempt.lost
    if steps and steps not in known:
        rest = _Document({"trajectory": b"[]"}, {"trajectory": steps, "history": history})
        yield from _steps(rest, b"%d" % (len(known) + 1))
    yield from last


def _steps(document: _Document, number: bytes = b"") -> Iterator[bytes]:
    """What the model was told first, then the steps. The history repeats the steps as messages:
    that stays together on a line."""
    first, last = _ends(document, number)
    steps, history = document.lists.get("trajectory", []), document.lists.get("history", [])
    loaded = [_load(item) for item in history]
    told = next((i for i, item in enumerate(loaded) if _acts(item)), len(history))
    yield first
    yield from history[:told]
    yield from _with_calls(steps, loaded[told:])
    if history[told:]:
        yield b'{"history":[%s]}' % b",".join(history[told:])
    yield from last


def _acts(item: dict[str, Any]) -> bool:
    """Is a message of the history an answer of this run?"""
    shown = item.get("is_demo") is True or item.get("message_type") == "demonstration"
    return item.get("role") == "assistant" and not shown


def _with_calls(steps: Iterable[bytes], history: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    """The steps with the tool calls that only the history has: its answers are theirs, in order,
    as far as they ask for the same."""
    answers = filter(_acts, history)
    same = True
    for data in steps:
        answer = next(answers, {})
        calls = answer.get("tool_calls")
        if same and calls and not (step := _load(data)).get("tool_calls"):
            same = step.get("action") == answer.get("action")
            if same:
                data = splice.put(data, 0, {"tool_calls": codec.dumps(calls)})
        yield data


# -- mini-swe-agent ----------------------------------------------------------------------------


def _is_mini(document: _Document, name: str) -> bool:
    """Its document says so; an old one is a bare list, in which every answer has one command."""
    if "trajectory_format" in document.members or "info" in document.members:
        return True
    asked = [m for m in map(_load, document.lists.get("messages", ())) if opens(m)]
    if _named(name):
        return any(map(commands, asked))
    return bool(asked) and all(
        len(commands(m)) == 1 and not m.get("tool_calls") and _follows_rules(m) for m in asked
    )


def _follows_rules(message: dict[str, Any]) -> bool:
    """Version 1 tells the model to think first, and notes what the service answered."""
    return "THOUGHT" in str(message.get("content")) or "response" in dict_of(message.get("extra"))


def _turns(document: _Document) -> Iterator[bytes]:
    """A line for each answer with all that came back, and for each message before the first."""
    first, last = _ends(document)
    if "trajectory_format" not in document.members:
        first = joined({"trajectory_format": b"null", **_without(document.members, "info")})
    yield first
    turn: list[bytes] = []
    asked = False
    for data in document.lists.get("messages", ()):
        begins = opens(_load(data))
        if turn and (begins or not asked):
            yield b'{"messages":[%s]}' % b",".join(turn)
            turn = []
        asked = begins or (asked and bool(turn))
        turn.append(data)
    if turn:
        yield b'{"messages":[%s]}' % b",".join(turn)
    yield from last


def _without(members: dict[str, bytes], key: str) -> dict[str, bytes]:
    return {name: text for name, text in members.items() if name != key}


# -- a conversation ----------------------------------------------------------------------------


def _chat(document: _Document) -> Iterator[bytes]:
    """A message a line, as plain chat has them; what else the document says comes last."""
    yield from document.lists.get("messages", ())
    rest = _without(document.members, "messages")
    if rest:
        yield joined(rest)
