"""The links between the records of a new Claude Code log: where one leads nowhere, lead it on.

Every record of the conversation names the one before it. In a new log some are gone (lines that
were damaged, results of no call), some have moved and some are new. A link to one that is not
there goes to the last record before it of the same run, and so does the one of a record that
names none where the client always does. A record whose own name is damaged gets a new one. What
hung on an open call hangs on the line that closes it.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from sessionlog import codec
from sessionlog.formats.base import Fate, dict_of, list_of, text_of
from sessionlog.formats.claude_turns import goes_on

_CHAINED = ("user", "assistant", "attachment", "progress")
"""Kinds of records that the client gives a name, and links."""
_ROOT = "boundary"
"""In the name of a note that begins a conversation."""


class Links:
    """Takes the records of a new log in order; tells which of their members have to change."""

    def __init__(self, id: str) -> None:
        self._id = id
        self._known: set[int] = set()
        """Of each uuid that is in the new log, its hash: a number takes a third of the memory."""
        self._placed: set[int] = set()
        """The same of those that stand there already."""
        self._last: dict[str, str] = {}
        """uuid of the last record of each run: "" for the main one, else the subagent's name."""
        self._instead: dict[str, str] = {}
        """Where links to a uuid lead from now on."""
        self._moved: set[str] = set()
        self._asked: dict[str, str] = {}
        """Of each call that waits for its result, the uuid of its record."""
        self._linked: bool | None = None
        """Does the first answer name what it follows? Else no null means anything."""
        self._nameless = 0

    def last(self, side: str) -> str:
        """uuid of the run's last record so far, "" for none."""
        return self._last.get(side, "")

    def made(self, name: str) -> str:
        """The uuid of a record that is made for this log: always the same for the same name."""
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{self._id}/{name}"))

    def expect(self, value: Mapping[str, Any]) -> None:
        """A record that will come: it may be linked to before."""
        if key := text_of(value.get("uuid")):
            self._known.add(hash(key))

    def drop(self, value: Mapping[str, Any]) -> None:
        """A record that is left out where it stood."""
        key = text_of(value.get("uuid"))
        if key and (key in self._moved or hash(key) not in self._known):
            self._instead.setdefault(key, self.last(_side(value)))

    def follow(self, value: Mapping[str, Any], fate: Fate) -> dict[str, bytes]:
        """The members that change in the next record of the new log."""
        key, side = text_of(value.get("uuid")), _side(value)
        changes: dict[str, str] = {}
        if not key and value.get("type") in _CHAINED:
            self._nameless += 1
            key = changes["uuid"] = self.made(f"nameless/{self._nameless}")
            self._known.add(hash(key))
        if not key:
            return {}
        asked = self._calls(value, key)
        parent = text_of(value.get("parentUuid"))
        parent = self.last(side) if parent == key else parent
        if self._linked is None and not side and value.get("type") == "assistant":
            self._linked = bool(parent)
        if fate is Fate.ADDED:
            key = changes["uuid"] = self.made(f"{parent}/{key}")
            self._known.add(hash(key))
            new = parent if hash(parent) in self._known else self._hang(parent, side)
            if parent:
                self._instead[parent] = key
            else:  # the call's record lost its name
                new = changes["sourceToolAssistantUUID"] = self.last(side)
                changes["parentUuid"] = new
        elif fate is Fate.MOVED:
            new = asked or self._hang(parent, side)
            if key in self._moved:
                key = changes["uuid"] = self.made(f"{key}/{len(self._known)}")
                self._known.add(hash(key))
            self._moved.add(key)
        else:
            new = self._hang(parent, side) if parent or self._begins(value) else self.last(side)
            if key in self._moved or hash(key) in self._placed:
                renamed = changes["uuid"] = self.made(f"{key}/{len(self._placed)}/here")
                self._known.add(hash(renamed))
                self._instead[key] = key = renamed
        if (new or None) != value.get("parentUuid", ""):
            changes["parentUuid"] = new
        self._last[side] = key
        self._placed.add(hash(key))
        return {name: codec.dumps(text or None) for name, text in changes.items()}

    def _begins(self, value: Mapping[str, Any]) -> bool:
        """Does a record without a parent follow nothing?"""
        if _side(value) or _ROOT in text_of(value.get("subtype")):
            return True
        return self._linked is True and value.get("type") != "assistant" and goes_on(value) == ""

    def _calls(self, value: Mapping[str, Any], key: str) -> str:
        """Note the calls of a record; gives the record of a call that it answers, "" for none."""
        asked = ""
        for block in list_of(dict_of(value.get("message")).get("content")):
            call = dict_of(block)
            if text_of(call.get("type")).endswith("tool_use"):
                self._asked[text_of(call.get("id"))] = key
            elif answered := text_of(call.get("tool_use_id")):
                asked = self._asked.pop(answered, "") or asked
        return asked

    def _hang(self, parent: str, side: str) -> str:
        """What a record that followed `parent` follows in the new log; "" for nothing."""
        seen = set()
        while parent in self._instead and parent not in seen:
            seen.add(parent)
            parent = self._instead[parent]
        if parent and hash(parent) not in self._known:
            return self.last(side) or parent
        return parent


def _side(value: Mapping[str, Any]) -> str:
    """Which run a record is of."""
    if value.get("isSidechain") is not True:
        return ""
    return text_of(value.get("agentId")) or "sidechain"
