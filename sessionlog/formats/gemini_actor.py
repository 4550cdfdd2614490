"""Acting on Gemini CLI's logs: close an open call, give a copy its own head, send nothing twice.

The client appends to the log that it resumes, and finds it by the `sessionId` in its head, in files
whose names begin with `session-`. A closing line is the model's message once more, under its id,
with the call's result in it: the later one counts. Tried with 0.61.0.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar

from sessionlog import codec, splice
from sessionlog.formats import gemini_lines as lines
from sessionlog.formats.base import Birth, Fate, Part, Said
from sessionlog.formats.gemini_compose import composed, home_of, project_hash, told_line
from sessionlog.formats.gemini_parts import MODEL, TOLD, calls_of, parts_of
from sessionlog.formats.ids import digest_of, first_free, uuid_of
from sessionlog.records import OpenCall


class GeminiActor:
    """Gemini CLI's way of acting."""

    by_line: ClassVar = True

    def close(self, request: bytes, call: OpenCall, at: str, text: str) -> bytes:
        """The model's message once more, the call failed; `renew` puts several into one."""
        value = splice.loads(request)
        if value.get("type") not in MODEL:  # a list of messages holds it: it is answered behind
            return _answer(call, at, text)
        calls = calls_of(value, parts_of(value.get("content")))
        open = [c for c in calls if c.response is None]
        found = next((c for c in open if c.id == call.call_id and c.name == call.tool), None)
        return lines.closed(request, {found.key: text} if found else {}, at)

    def answers(self, call: OpenCall) -> bool:
        return bool(call.tool)  # the client pairs calls without an id by their tool

    def without(self, data: bytes, calls: Collection[int]) -> bytes:
        """A line without these of its calls."""
        if lines.value_of(data).get("type") not in MODEL:
            return data
        return lines.kept_calls(data, lambda n: n not in calls)

    def pick(self, data: bytes, results: Collection[int], rest: bool) -> bytes:
        """A user's message with these of its results. The model's is never torn apart: its results
        stand with their calls, wherever it is told again."""
        value = lines.value_of(data)
        if value.get("type") == "user":
            return lines.kept_results(data, lambda n: n in results, rest)
        if not results and TOLD in value:
            return b""
        return data

    def renew(self, parts: Iterable[Part], birth: Birth) -> Iterator[bytes]:
        """The lines with the new id in the head, without marks, and without the user's messages
        that only repeat results. O(bytes); in memory: the keys of the calls that are answered."""
        copy = _Copy(birth)
        held: tuple[str, bytes] | None = None  # a closing line, while more may come for its message
        for part in parts:
            if part.fate is Fate.ADDED and held and held[0] == _id(part.data):
                held = held[0], _joined(held[1], part.data)
                continue
            if held:
                yield from copy.take(held[1])
            held = (_id(part.data), part.data) if part.fate is Fate.ADDED else None
            if part.fate is Fate.DROPPED:
                copy.drop(part.data)
            if part.fate not in (Fate.ADDED, Fate.DROPPED):
                yield from copy.take(copy.own(part) if part.fate is Fate.MOVED else part.data)
        if held:
            yield from copy.take(held[1])
        yield from copy.head(b"")
        if birth.told:
            yield told_line(birth)

    def place(
        self, parent: str, at: int | None, now: datetime, taken: Callable[[str], bool]
    ) -> tuple[str, str]:
        """In the project's `chats`, under the client's own name for it."""
        folder = os.path.dirname(parent)
        up = os.path.dirname(folder)
        is_subagent = os.path.basename(up) == "chats"
        return _free(up if is_subagent else folder, now, taken, parent, at)

    def compose(self, said: Iterable[Said], birth: Birth) -> Iterator[bytes]:
        """A session of these messages."""
        return composed(said, birth)

    def home(
        self, workdir: str, now: datetime, environ: Mapping[str, str],
        taken: Callable[[str], bool],
    ) -> tuple[str, str]:  # fmt: skip
        """In the folder that the client keeps for that working directory."""
        return _free(home_of(workdir, environ), now, taken, workdir)


class _Copy:
    """Lines of a log in, those of its copy out."""

    def __init__(self, birth: Birth) -> None:
        self._birth = birth
        self._headed = False
        self._results = lines.Results()
        self._moved = 0

    def own(self, part: Part) -> bytes:
        """A user's results that moved, under an id of their own: what stays of their message, or
        goes elsewhere, has the old one."""
        value = lines.value_of(part.data)
        if value.get("type") != "user":
            return part.data
        self._moved += 1
        digest = hashlib.sha256(f"{self._birth.id}/moved/{self._moved}".encode()).digest()
        return splice.put(part.data, 0, {"id": codec.dumps(uuid_of(digest))})

    def drop(self, data: bytes) -> None:
        """A user's results that are left out stay out, as often as they are told again."""
        value = lines.value_of(data)
        if value.get("type") == "user":
            self._results.take(data, value)

    def take(self, data: bytes) -> Iterator[bytes]:
        """What becomes of a line."""
        if pieces := lines.glued(data):  # the client reads no line that holds two
            for piece in pieces:
                yield from self.take(piece)
            return
        data = lines.without_mark(data)
        value = lines.value_of(data)
        if isinstance(value.get("$set"), dict):
            yield from self.head(b"")
            if value["$set"].keys() - {"lastUpdated"}:  # the head tells when the copy was made
                yield self._change(data, value["$set"])
        elif isinstance(value.get("id"), str):
            yield from self.head(b"")
            if data := self._message(data, value):
                yield data
        elif isinstance(value.get("sessionId"), str):
            yield from self.head(self._listed(data, ("messages",), value.get("messages")))
        else:
            yield data

    def head(self, data: bytes) -> Iterator[bytes]:
        """The first head names the session; a log that lost it gets one, as the client refuses it
        otherwise. Later ones would rename it."""
        birth, time = self._birth, codec.dumps(self._birth.time)
        values = {"sessionId": codec.dumps(birth.id), "startTime": time, "lastUpdated": time,
                  "kind": b'"main"'}  # fmt: skip
        if not self._headed:
            origin = {"sessionId": birth.parent} | ({} if birth.at is None else {"at": birth.at})
            values["forkedFrom"] = codec.dumps(origin)
            data = data or codec.dumps({"sessionId": "", "projectHash": project_hash("")})
        self._headed = True
        if data:
            yield splice.put(data, 0, values)

    def _change(self, data: bytes, change: Mapping[str, Any]) -> bytes:
        """A change of the head keeps the new id, and its time: the client deletes sessions that are
        old by it. A list of messages says each result once."""
        if isinstance(change.get("messages"), list):
            self._results = lines.Results()  # what was before does not count any more
            data = self._listed(data, ("$set", "messages"), change["messages"])
        own = {"sessionId": self._birth.id, "lastUpdated": self._birth.time}
        own = {key: value for key, value in own.items() if key in change}
        if own and (found := splice.member(data, ("$set",))):
            values = {key: codec.dumps(value) for key, value in own.items()}
            data = splice.put(data, found.start, values)
        return data

    def _listed(self, data: bytes, path: tuple[str, ...], messages: Any) -> bytes:
        """A line with a list of messages: what becomes of each."""
        found = splice.member(data, path)
        if found is None or not isinstance(messages, list):
            return data
        again = lines.results_of(messages)
        places = splice.members(data, found.start)
        made = [
            self._message(data[place.start : place.end], message, again)
            if isinstance(message, dict) and isinstance(message.get("id"), str)
            else data[place.start : place.end]
            for place, message in zip(places, messages, strict=True)
        ]
        if all(data[p.start : p.end] == new for p, new in zip(places, made, strict=True)):
            return data
        return data[: places[0].start] + b",".join(filter(None, made)) + data[places[-1].end :]

    def _message(self, data: bytes, value: Mapping[str, Any], again: Collection[str] = ()) -> bytes:
        """A message, each result once, and each prompt so that the model is told of it; b"" when
        it brings nothing new."""
        if value.get("type") in MODEL:
            data = lines.own_results(data, again)
        data = self._results.take(data, value)
        return lines.spoken(data) if data and value.get("type") == "user" else data


def _free(
    folder: str, now: datetime, taken: Callable[[str], bool], *seeds: object
) -> tuple[str, str]:
    """(id, path) of a new log there: `session-<minute>-<id>.jsonl`.

    The client itself names a log by the first eight characters of its id. By that name, a resume
    leaves a session without a message beside it, and the next start of the client (0.61.0,
    `cleanupExpiredSessions`) deletes both. It resumes by the id inside, whatever the name.
    """
    minute = now.astimezone(UTC).strftime("%Y-%m-%dT%H-%M")

    def made(n: int) -> tuple[str, str]:
        id = uuid_of(digest_of(now.isoformat(), folder, *seeds, n))
        return id, os.path.join(folder, f"session-{minute}-{id}.jsonl")

    return first_free(made, taken)


def _answer(call: OpenCall, at: str, text: str) -> bytes:
    body = {"id": call.call_id, "name": call.tool, "response": {"error": text}}
    return codec.dumps(
        {"id": f"{call.call_id}_closed", "timestamp": at, "type": "user",
         "content": [{"functionResponse": body}]}
    )  # fmt: skip


def _id(data: bytes) -> str:
    return str(lines.value_of(data).get("id", ""))


def _joined(data: bytes, other: bytes) -> bytes:
    """Two closing lines of one message as one: what `other` closes is closed in `data`, too."""
    value = lines.value_of(other)
    if value.get("type") not in MODEL:
        return data
    mine = lines.answered_by(lines.value_of(data))
    texts = {
        call.key: str((call.response or {}).get("error", ""))
        for call in calls_of(value, parts_of(value.get("content")))
        if call.response is not None and call.key not in mine
    }
    return lines.closed(data, texts)
