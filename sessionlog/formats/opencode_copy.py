"""A copy of an OpenCode session in the making: its messages under new ids, then its own object.

Edits are made inside the bytes: ids, the state of calls that are closed, what an import would
refuse to do without. All else stays as it stands. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from sessionlog import codec, splice
from sessionlog.formats.base import Birth, dict_of, list_of, text_of
from sessionlog.formats.opencode_ids import Ids
from sessionlog.formats.opencode_lines import NOTES, ORIGIN
from sessionlog.formats.opencode_parts import OVER, call_id
from sessionlog.formats.opencode_shape import MESSAGES, PARTS, SESSION, STATES, missing, wrong
from sessionlog.records import moment

Value = Mapping[str, Any]

_FORK = re.compile(r"(.+) \(fork #(\d+)\)", re.DOTALL)
_VERSION = "1.18.33"
"""Of the client whose sessions a new one is like."""
_NAMES = ("providerID", "modelID")


class Copy:
    """Takes the messages in order, then the session. Every id is a new one."""

    def __init__(self, id: str, birth: Birth) -> None:
        self._id, self._birth = id, birth
        self._now = milliseconds(birth.time)
        self._ids = Ids(id)
        self._asked = ""
        """New id of the last message of a person."""
        provider, _, model = birth.model.partition("/")
        known = dict(zip(_NAMES, (provider, model), strict=True))
        self._model = known if model else dict(MESSAGES["user"]["model"])
        self._agent = "build"

    def message(self, line: bytes, value: Value, closings: Iterable[Value]) -> bytes:
        """A message of the source; `closings` answer its open calls."""
        info = dict_of(value.get("info"))
        for note in NOTES:
            line = splice.without(line, note)
        found = splice.member(line, ("info",))
        assert found is not None  # it has a role
        head, body = line[: found.start], line[found.start : found.end]
        id, body = self._info(body, info)
        line = head + body + line[found.end :]
        return self._parts(line, id, list_of(value.get("parts")), list(closings), _created(info))

    def said(self, role: str, text: str, at: str) -> bytes:
        """A message of ours, at the end."""
        time = milliseconds(at)
        id = self._ids.message("", time)
        body: dict[str, Any] = {"id": id, "sessionID": self._id, "role": role}
        if role == "user":
            body |= {"time": {"created": time}, "agent": self._agent, "model": self._model}
            self._asked = id
        else:
            rest = {**MESSAGES["assistant"], **self._model, "agent": self._agent, "finish": "stop"}
            path = {"cwd": self._birth.workdir or "/", "root": "/"}
            body |= {**rest, "path": path, "parentID": self._asked,
                     "time": {"created": time, "completed": time}}  # fmt: skip
        part = {"id": self._ids.part(""), "sessionID": self._id, "messageID": id, "type": "text",
                "text": text}  # fmt: skip
        return codec.dumps({"info": body, "parts": [part]})

    def session(self, line: bytes) -> bytes:
        """The members of the document but for its messages; `line` is the source's, or b""."""
        line = line or b'{"info":{}}'
        found = splice.member(line, ("info",))
        assert found is not None
        body = line[found.start : found.end]
        info = dict_of(splice.loads(body))
        for key in ("parentID", "share", "workspaceID", "revert", *wrong(info, SESSION)):
            body = splice.without(body, key)
        values = missing(info, self._expected(info)) | self._values(info)
        return line[: found.start][1:] + splice.put(body, 0, values) + line[found.end : -1]

    def _expected(self, info: Value) -> dict[str, Any]:
        workdir = self._birth.workdir or "/"
        version = _VERSION if not info else "0"
        return {**SESSION, "directory": workdir, "version": version}

    def _values(self, info: Value) -> dict[str, bytes]:
        birth = self._birth
        origin = {"id": birth.parent} if birth.at is None else {"id": birth.parent, "at": birth.at}
        notes = {**dict_of(info.get("metadata")), ORIGIN: origin} if birth.parent else {}
        values: dict[str, Any] = {
            "id": self._id,
            "title": _title(text_of(info.get("title")), birth),
            "time": {"created": self._now, "updated": self._now},
        }
        if birth.workdir:
            values["directory"] = birth.workdir
        if notes:
            values["metadata"] = notes
        back = self._back(dict_of(info.get("revert"))) if birth.at is None else {}
        if back:
            values["revert"] = back
        return {key: codec.dumps(value) for key, value in values.items()}

    def _back(self, revert: Value) -> dict[str, Any]:
        """A repair leaves the session where it was taken back to; a fork is the messages it has."""
        message = self._ids.now(text_of(revert.get("messageID")))
        part = self._ids.now(text_of(revert.get("partID")))
        if not message or (revert.get("partID") and not part):
            return {}
        return {**revert, "messageID": message, **({"partID": part} if part else {})}

    def _info(self, body: bytes, info: Value) -> tuple[str, bytes]:
        """(new id, the message's own object)."""
        role = text_of(info.get("role"))
        created = _created(info) or self._now
        id = self._ids.message(text_of(info.get("id")), created)
        values = {"id": codec.dumps(id), "sessionID": codec.dumps(self._id)}
        wanted = dict(MESSAGES.get(role, {}))
        if role == "assistant":
            parent = self._ids.now(text_of(info.get("parentID"))) or self._asked or id
            values["parentID"] = codec.dumps(parent)
            wanted |= self._model
        else:
            self._asked = id
            wanted["model"] = self._model
        self._know(info)
        for key in wrong(info, wanted):
            body = splice.without(body, key)
        return id, splice.put(body, 0, missing(info, wanted) | values)

    def _know(self, info: Value) -> None:
        """What a message of ours behind it goes to."""
        named = {**dict_of(info.get("model")), **info}
        if all(isinstance(named.get(name), str) for name in _NAMES):
            self._model = {name: named[name] for name in _NAMES}
        self._agent = text_of(info.get("agent")) or self._agent

    def _parts(
        self, line: bytes, message: str, parts: list[Any], closings: list[Value], created: int
    ) -> bytes:
        found = splice.member(line, ("parts",))
        if found is None:
            return line[:-1] + b',"parts":[]}'
        items = splice.members(line, found.start)
        made = [
            self._part(line[item.start : item.end], dict_of(part), message, closings, created)
            for item, part in zip(items, parts, strict=True)
        ]
        for item, data in reversed(list(zip(items, made, strict=True))):
            line = line[: item.start] + data + line[item.end :]
        return line

    def _part(
        self, data: bytes, part: Value, message: str, closings: list[Value], created: int
    ) -> bytes:
        if not part:
            return data
        values = {
            "id": codec.dumps(self._ids.part(text_of(part.get("id")))),
            "sessionID": codec.dumps(self._id),
            "messageID": codec.dumps(message),
        }
        kept = self._ids.now(text_of(part.get("tail_start_id")))
        if kept:
            values["tail_start_id"] = codec.dumps(kept)
        if part.get("type") == "tool":
            values |= _state(data, part, closings, created)
            if not text_of(part.get("callID")):
                values["callID"] = codec.dumps(call_id(part))
        wanted = PARTS.get(text_of(part.get("type")), {})
        for key in wrong(part, wanted):
            data = splice.without(data, key)
        return splice.put(data, 0, missing(part, wanted) | values)


# -- a call's state ----------------------------------------------------------------------------


def _state(data: bytes, part: Value, closings: list[Value], created: int) -> dict[str, bytes]:
    """The state of a call that is closed here, or that lacks what an import wants."""
    state, body = dict_of(part.get("state")), splice.value(data, ("state",))
    closing = _closing(part, state, closings)
    if closing is None:
        wanted = missing(state, STATES.get(text_of(state.get("status")), {}))
        return {"state": splice.put(body, 0, wanted)} if wanted else {}
    closings.remove(closing)
    begun = dict_of(state.get("time")).get("start")
    start = begun if type(begun) is int else created
    end = max(start, milliseconds(text_of(closing.get("at"))))
    values = {
        "status": codec.dumps("error"),
        "error": codec.dumps(text_of(closing.get("text"))),
        "time": codec.dumps({"start": start, "end": end}),
    }
    told = dict_of(state.get("metadata"))
    if told.get("interrupted") is True:  # the client would tell the model what was printed instead
        values["metadata"] = codec.dumps({**told, "interrupted": False})
    if not isinstance(state.get("input"), dict):
        values["input"] = b"{}"
    return {"state": splice.put(body or b"{}", 0, values)}


def _closing(part: Value, state: Value, closings: list[Value]) -> Value | None:
    """What closes a call; its line's calls are closed in their order."""
    if state.get("status") in OVER:
        return None
    name = call_id(part), text_of(part.get("tool"))
    return next((c for c in closings if (c.get("closes"), c.get("tool")) == name), None)


# -- small things ------------------------------------------------------------------------------


def _title(title: str, birth: Birth) -> str:
    """As the client names its own forks."""
    if not title:
        return birth.title or f"from {birth.parent}"
    if birth.at is None:
        return f"{title} (repaired)"
    found = _FORK.fullmatch(title)
    return f"{found[1]} (fork #{int(found[2]) + 1})" if found else f"{title} (fork #1)"


def milliseconds(at: str) -> int:
    """RFC 3339 as Unix milliseconds, 0 for what is no time."""
    time = moment(at)
    return int(time.timestamp() * 1000) if time else 0


def _created(info: Value) -> int:
    created = dict_of(info.get("time")).get("created")
    if isinstance(created, bool) or not isinstance(created, int | float):
        return 0
    return int(created) if 0 <= created < 1 << 53 else 0
