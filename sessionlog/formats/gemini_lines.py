"""Lines of Gemini CLI's log, changed inside their bytes. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from sessionlog import codec, splice
from sessionlog.formats.base import dict_of, list_of
from sessionlog.formats.gemini_parts import (
    MODEL,
    SPOKEN,
    UNHEARD,
    Call,
    answers_in,
    calls_of,
    parts_of,
)
from sessionlog.framing import Line
from sessionlog.stores.gemini_fold import bare


def value_of(data: bytes) -> dict[str, Any]:
    """The object that a line is; {} for one that is damaged, which the client passes over."""
    found = codec.parse(Line(0, 0, data, True)).objects
    whole = len(found) == 1 and found[0][1].length == len(data)
    return found[0][0] if whole else {}


def glued(data: bytes) -> list[bytes]:
    """The objects of a line that holds several; [] for any other line."""
    found = codec.parse(Line(0, 0, data, True)).objects
    return [data[span.offset : span.end] for _, span in found] if len(found) > 1 else []


def without_mark(data: bytes) -> bytes:
    """The line as the client wrote it."""
    return bare(data) if value_of(data) else data


class Results:
    """The results of a conversation, as its messages come: the client (0.61.0) sends a result as
    often as it stands there, in `toolCalls` and in messages of the user."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._asked: dict[str, set[str]] = {}
        self._told: set[str] = set()
        """Those of them that stand in messages of the user."""
        self._answered: dict[str, set[str]] = {}
        """Keys of the results that the last version of a message holds."""

    def take(self, data: bytes, value: Mapping[str, Any]) -> bytes:
        """The message's line without results that came before; b"" when it brings nothing else."""
        parts = parts_of(value.get("content"))
        if value.get("type") in MODEL:
            asked = self._asked.setdefault(value["id"], set())
            calls = calls_of(value, parts)
            self._known.difference_update(fresh := {call.key for call in calls} - asked)
            self._told -= fresh
            has = {call.key for call in calls if call.response is not None}
            if has < self._answered.get(value["id"], set()) and not fresh:
                return b""  # an older version once more
            self._answered[value["id"]] = has
            self._known |= has
            asked |= fresh
            return unanswered(data, again) if (again := has & self._told) else data
        keys = [a.key for a in answers_in(parts)] if value.get("type") == "user" else []
        known = self._known.intersection(keys)
        self._known.update(keys)
        self._told.update(key for key in keys if key not in known)
        if keys and len(keys) == len(parts) and known.issuperset(keys):
            return b""
        if known.isdisjoint(keys) or not isinstance(value.get("content"), list):
            return data
        return kept_results(data, lambda n: keys[n] not in known, rest=True)


def own_results(data: bytes, again: Collection[str] = ()) -> bytes:
    """A message of the model whose calls each have their own result alone.

    When the client (0.61.0, `updateMessagesFromHistory`) goes on with a log, it writes into each
    call all parts of the user's message behind it, and when it does so again, it sends all that is
    in each. Of calls whose results a message of the user holds, too (`again`, by key), what came
    with the result stands there.
    """
    listed = splice.member(data, ("toolCalls",))
    if listed is None or not _is_list(data, listed.start):
        return data
    entries = splice.loads(data[listed.start : listed.end])
    pieces, done = [], 0
    for item, entry in zip(splice.members(data, listed.start), entries, strict=True):
        call, wanted = data[item.start : item.end], _own(dict_of(entry), again)
        found = None if all(wanted) else splice.member(call, ("result",))
        if found:
            pieces += [data[done : item.start], splice.only(call, found.start, wanted)]
            done = item.end
    return b"".join((*pieces, data[done:]))


def unanswered(data: bytes, keys: Collection[str]) -> bytes:
    """A message of the model without the results of these calls."""
    value = splice.loads(data)
    calls = calls_of(value, parts_of(value.get("content")))
    held = {id(call.entry) for call in calls if call.key in keys}
    listed = splice.member(data, ("toolCalls",))
    items = splice.members(data, listed.start) if listed and _is_list(data, listed.start) else []
    for item, entry in reversed(list(zip(items, list_of(value.get("toolCalls")), strict=True))):
        if id(entry) in held:
            call = splice.without(data[item.start : item.end], "result")
            data = data[: item.start] + call + data[item.end :]
    return data


def _own(entry: Mapping[str, Any], again: Collection[str]) -> list[bool]:
    """Which parts of a call's result are its own; [] for what is no list, or names none."""
    parts = list_of(entry.get("result"))
    ids = [dict_of(dict_of(part).get("functionResponse")).get("id") for part in parts]
    id = entry.get("id")
    if not isinstance(id, str) or id not in ids:
        return []
    own = ids.index(id)
    shared = id in again or any(other not in (None, id) for other in ids)
    return [n == own or (other is None and not shared) for n, other in enumerate(ids)]


def results_of(messages: list[Any]) -> set[str]:
    """Keys of the results that the user's messages of a list hold."""
    said = [m for m in messages if isinstance(m, dict) and m.get("type") == "user"]
    return {answer.key for m in said for answer in answers_in(parts_of(m.get("content")))}


def spoken(data: bytes) -> bytes:
    """A user's message of which the model is told: see `UNHEARD`. What the message says first gets
    a few words before it; all other bytes stay."""
    found = splice.member(data, ("content",))
    if found is None:
        return data
    items = splice.members(data, found.start) if _is_list(data, found.start) else [found]
    for item in items:
        text = splice.member(data, ("text",), item.start) if _is_object(data, item.start) else item
        if text is None or data[text.start : text.start + 1] != b'"':
            return data
        said = str(splice.loads(data[text.start : text.end])).lstrip()
        if said.startswith(UNHEARD):
            return data[: text.start + 1] + SPOKEN.encode() + data[text.start + 1 :]
        if said:
            return data
    return data


def answered_by(value: Mapping[str, Any]) -> set[str]:
    """Keys of the calls that a message of the model holds with their results."""
    if value.get("type") not in MODEL:
        return set()
    calls = calls_of(value, parts_of(value.get("content")))
    return {call.key for call in calls if call.response is not None}


def closed(data: bytes, texts: Mapping[str, str], at: str = "") -> bytes:
    """A message of the model whose calls of these keys have failed, each with its text."""
    value = splice.loads(data)
    calls = {c.key: c for c in calls_of(value, parts_of(value.get("content"))) if c.key in texts}
    listed = splice.member(data, ("toolCalls",))
    items = splice.members(data, listed.start) if listed and _is_list(data, listed.start) else []
    end = items[-1].end if items else 0
    beside = {id(call.entry): call for call in calls.values()}
    listing = zip(items, list_of(value.get("toolCalls")), strict=True)
    there = [(item, call) for item, entry in listing if (call := beside.get(id(entry)))]
    held = {call.key for _, call in there}
    made = [_call(call, texts[key], at) for key, call in calls.items() if key not in held]
    if made and items:
        data = data[:end] + b"".join(b"," + call for call in made) + data[end:]
    for item, call in reversed(there):
        data = splice.put(data, item.start, _failure(call, texts[call.key]))
    if made and not items:
        data = splice.put(data, 0, {"toolCalls": b"[" + b",".join(made) + b"]"})
    return data


def kept_calls(data: bytes, keep: Callable[[int], bool]) -> bytes:
    """A message of the model with the calls, counted from 0, that are wanted."""
    value = splice.loads(data)
    calls = calls_of(value, parts_of(value.get("content")))
    gone = {call.key for n, call in enumerate(calls) if not keep(n)}
    content = list_of(value.get("content"))
    data = _only(data, "content", [_call_key(part) not in gone for part in content])
    entries = list_of(value.get("toolCalls"))
    held = {id(call.entry) for call in calls if call.key in gone}
    return _only(data, "toolCalls", [id(entry) not in held for entry in entries])


def kept_results(data: bytes, keep: Callable[[int], bool], rest: bool) -> bytes:
    """A user's message with the results, counted from 0, that are wanted, and the rest if so."""
    value = splice.loads(data)
    wanted, n = [], 0
    for part in list_of(value.get("content")):
        is_result = isinstance(dict_of(part).get("functionResponse"), dict)
        wanted.append(keep(n) if is_result else rest)
        n += is_result
    if wanted and not any(wanted):
        return b""
    return _only(data, "content", wanted)


def _only(data: bytes, key: str, wanted: Sequence[bool]) -> bytes:
    found = splice.member(data, (key,))
    if found is None or all(wanted) or not _is_list(data, found.start):
        return data
    return splice.only(data, found.start, wanted)


def _is_list(data: bytes, at: int) -> bool:
    return data[at : at + 1] == b"["


def _is_object(data: bytes, at: int) -> bool:
    return data[at : at + 1] == b"{"


def _call_key(part: Any) -> str | None:
    call = dict_of(dict_of(part).get("functionCall"))
    return call.get("id") if isinstance(call.get("id"), str) else None


def _failure(call: Call, text: str) -> dict[str, bytes]:
    answer = {"id": call.id, "name": call.name, "response": {"error": text}}
    return {
        "result": codec.dumps([{"functionResponse": answer}]),
        "status": b'"error"',
        "resultDisplay": codec.dumps(text),
    }


def _call(call: Call, text: str, at: str) -> bytes:
    start = codec.dumps({"id": call.id, "name": call.name, "args": call.args, "timestamp": at})
    return splice.put(start, 0, _failure(call, text))
