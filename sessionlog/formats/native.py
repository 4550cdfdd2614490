"""The native format: what openzot's engine writes and `sessionlog.Writer` too.

One JSON object a line: ``{"kind", "at", <payload under the key named like the kind>}`` with five
kinds. Read from the engine's source (openzot at 0777c1b) and its tests. Where the engine's own
reader is weaker this one is stricter inside the same format: started is the meta's time, the
first meta is the session's, unknown kinds are shown, damage in the middle is not truncation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from sessionlog.codec import loads, peek
from sessionlog.formats.base import (
    LOUD,
    RESET,
    TROUBLE,
    USER,
    Actor,
    Description,
    Head,
    decoded_bits,
    dict_of,
    list_of,
    standing,
    text_of,
)
from sessionlog.formats.native_actor import NativeActor
from sessionlog.records import (
    ENDED,
    Activity,
    Ending,
    Entry,
    Event,
    Image,
    Kind,
    Message,
    Meta,
    Origin,
    Other,
    Payload,
    Record,
    Reset,
    Result,
    Span,
    Status,
    Tokens,
    Usage,
)
from sessionlog.status import BROKE_OFF

KINDS = ("meta", "message", "event", "result", "reset")
_ID = re.compile(r"\d{8}-\d{6}(-\d+)?$")
_QUIET = {
    "iteration", "usage", "message", "toolCallStart", "toolCallEnd", "toolCallError", "toolStart",
    "token", "reasoningToken",
}  # fmt: skip
_BAD = {"retry", "runaway", "toolCallError", "error", "cut"}
"""The last two are those of a recorded stream: the service's errors, and where it broke off."""
_FIRST = re.compile(rb'\{"kind":"(meta|message|event|result|reset)"')
_SPENT = re.compile(r"input (\d{1,15}) output (\d{1,15})", re.ASCII)
_HEAD = 50
"""Records among which the meta is looked for: it is the first unless the head was damaged."""


class Native:
    """The native format's answers."""

    name = "native"
    agent = "zot"
    actor: Actor | None = NativeActor()

    def recognises(self, head: Head) -> bool:
        if head.values:
            return any(value.get("kind") in KINDS for value in head.values)
        return _torn_head(head.name, head.data.strip(b"\0 \t\r\n"))

    def plausible(self, value: dict[str, Any]) -> bool:
        kind = value.get("kind")  # pieces of records have one too: activities, events
        return isinstance(kind, str) and ("at" in value or isinstance(value.get(kind), dict))

    def decode(self, value: dict[str, Any], span: Span) -> list[Record]:
        kind, at = text_of(value.get("kind")), text_of(value.get("at"))
        body = value.get(kind)
        if kind == "reset":
            return [Record(Kind.RESET, at, Reset(), span)]
        if kind not in KINDS or not isinstance(body, dict):
            # the engine's reader ignores these without a word; they are kept and shown here
            return [Record(Kind.OTHER, at, Other(kind or "record", value), span)]
        payload, quiet = _PAYLOADS[kind](body)
        return [Record(Kind(kind), at, payload, span, quiet=quiet)]

    def describe(
        self, path: str, oldest_first: Iterable[Record], newest_first: Iterable[Record]
    ) -> Description:
        stem = path.rpartition("/")[2].removesuffix(".jsonl")
        started, first = "", ""
        for record in islice(oldest_first, _HEAD):
            payload = record.payload
            started = started or record.at
            if isinstance(payload, Meta):
                started = _started(payload, stem, record)
                return Description(_named(payload, stem), payload.task, started)
            if isinstance(payload, Message) and payload.type == "user":
                first = first or payload.text
        return Description(Meta(id=stem), first, started)

    def glimpse(self, path: str, head: bytes, tail: bytes, size: int) -> Entry | None:
        end = head.find(b"\n")
        if end < 0 or not head.startswith(b'{"kind":"meta",'):
            return None
        start = tail.rfind(b"\n", 0, -1) + 1
        if not start and len(tail) < size:
            return None
        try:
            first = peek(head[:end])
            meta = first["meta"]
            at, task, model, workdir = first["at"], meta["task"], meta["model"], meta["workdir"]
        except (ValueError, KeyError, TypeError):
            return None
        if not (type(at) is type(task) is type(model) is type(workdir) is str):
            return None
        if "forkedFrom" in meta or "resumedFrom" in meta:
            return None
        stem = path[path.rfind("/") + 1 :].removesuffix(".jsonl")
        if tail.startswith(b'{"kind":"result",', start) and tail.endswith(b"\n"):
            try:
                last = peek(tail[start:])
                body = last["result"]
                reason, updated, code = body["reason"], last["at"], body["code"]
            except (ValueError, KeyError, TypeError):
                return None
            if type(reason) is not str or type(updated) is not str:
                return None
            error = text_of(body.get("error"))
            words = error or text_of(body.get("message"))
            return Entry(
                stem, path, "native", "zot", task, task, model, workdir, at, updated,
                Status.COMPLETE, reason or None, _went_well(reason, error, code),
                None, None, None, size, words or _WORDS.get(reason) or reason or "done",
            )  # fmt: skip
        if b'{"kind":"result"' in tail:
            return None
        status = Status.UNFINISHED
        if not tail.endswith(b"\n") and not _decodes(tail[start:]):
            status, tail = Status.TRUNCATED, tail[:start]
        return Entry(
            stem, path, "native", "zot", task, task, model, workdir, at, _at(tail),
            status, None, None, None, None, None, size,
        )  # fmt: skip

    def ending(self, newest_first: Iterable[Record]) -> Ending:
        seen: list[Record] = []
        for record in newest_first:
            payload = record.payload
            if isinstance(payload, Result):
                return _ended(payload)
            if len(seen) < 400:
                seen.append(record)
        cut = seen[0].payload if seen else None
        ending = standing(seen)
        if isinstance(cut, Event) and cut.kind == "cut" and cut.text:
            return ending._replace(text=cut.text, evidence=BROKE_OFF)
        return ending

    def classify(self, data: bytes) -> int:
        """By the first bytes, as the engine and our writer order the keys; else by decoding."""
        if data.startswith(b'{"kind":"message"'):
            at = data.find(b'"message":{"type":"', 0, 120)
            if at < 0:
                return decoded_bits(self, data)
            bits = LOUD | 1
            if data.startswith(b'user"', at + 19):
                return bits | USER
            if data.startswith(b'activity"', at + 19) and b'"failure":"' in data:
                # the words may stand inside a result; only decoding tells
                return decoded_bits(self, data)
            return bits
        if data.startswith(b'{"kind":"event"'):
            at = data.find(b'"event":{"kind":"', 0, 120)
            word = data[at + 17 : data.find(b'"', at + 17)].decode("latin-1") if at > 0 else ""
            if word not in _QUIET:
                return LOUD | (TROUBLE if word in _BAD else 0)
            return 0
        if data.startswith(b'{"kind":"reset"'):
            return LOUD | RESET
        return decoded_bits(self, data)

    def usage(self, record: Record) -> Usage | None:
        """`usage` events hold the run's total so far, as text (openzot's engine at 0777c1b; the
        text is empty in older logs). A fork copies the lines, so time and text name the step."""
        event = record.payload
        if not isinstance(event, Event) or event.kind != "usage":
            return None
        found = _SPENT.fullmatch(event.text)
        if found is None:
            return None
        tokens = Tokens(int(found[1]), int(found[2]))
        return Usage(tokens, counter="run", answer=f"{record.at} {event.text}")

    def alive(self, path: str, session_id: str) -> str | None:
        return None  # the engine keeps no pid file; our writer's lock is looked up elsewhere


def _torn_head(name: str, data: bytes) -> bool:
    """Was a run killed while it wrote the first line? Then there is no whole object to go by."""
    stem = name.removesuffix(".jsonl")
    return bool(_FIRST.match(data)) or (
        bool(data) and bool(_ID.match(stem)) and b'{"kind":"meta"'.startswith(data)
    )


def _decodes(data: bytes) -> bool:
    try:
        loads(data)
    except ValueError:
        return False
    return True


def _at(data: bytes) -> str:
    """The time of the last line that is not torn, by its bytes; "" when they do not tell."""
    line = max(data.rfind(b'\n{"kind":"'), 0)
    start = data.find(b'","at":"', line, line + 40)
    end = data.find(b'"', start + 8)
    return data[start + 8 : end].decode("latin-1") if 0 <= start < end <= start + 48 else ""


def _named(meta: Meta, stem: str) -> Meta:
    """The file name is the identity: a copied log answers to its own name."""
    return meta if meta.id == stem else meta._replace(id=stem)


def _started(meta: Meta, stem: str, record: Record) -> str:
    """The meta's time; a fork or a repair keeps its parent's meta, so its id tells when it was
    made. The engine's own resumed logs have a meta of their own, no older than their id."""
    if (meta.forked_from or meta.resumed_from) and _ID.match(stem):
        day, clock = stem[:8], stem[9:15]
        made = f"{day[:4]}-{day[4:6]}-{day[6:]}T{clock[:2]}:{clock[2:4]}:{clock[4:]}Z"
        if meta.forked_from or record.at[:19] < made[:19]:
            return made
    return record.at


def verdict(result: Result) -> bool | None:
    """Did a run with this result go well? None where nobody knows."""
    return _went_well(result.reason, result.error, result.code)


def _went_well(reason: str, error: str, code: object) -> bool | None:
    if reason == ENDED and code == 0 and not error:
        return None
    return code == 0 and not error and reason not in _WORDS


def _ended(result: Result) -> Ending:
    ok = verdict(result)
    words = result.error or result.message or _WORDS.get(result.reason) or result.reason or "done"
    return Ending(True, result.reason or None, ok, words, "result record")


_WORDS = {
    "failed": "the model's own verdict: failed", "iterations": "iteration limit",
    "calls": "call limit", "continuations": "continuation limit", "cycle": "going in circles",
    "time": "time limit", "empty": "empty answers", "unsettled": "ended without a verdict",
    "aborted": "aborted", "error": "error",
}  # fmt: skip


_SIX = ("id", "task", "model", "provider", "driver", "workdir")
_COUNTS = ("code", "iterations", "calls", "continuations", "cycles", "settles")
_META: Mapping[str, type] = {**dict.fromkeys((*_SIX, "resumedFrom"), str), "forkedFrom": dict}
_MESSAGE: Mapping[str, type] = {"type": str, "text": str, "activity": dict, "images": list}
_ACTIVITY: Mapping[str, type] = dict.fromkeys(("kind", "id", "name", "arguments", "failure"), str)
_IMAGE: Mapping[str, type] = {
    **dict.fromkeys(("media_type", "digest", "source"), str),
    **dict.fromkeys(("width", "height", "size"), int),
}
_EVENT: Mapping[str, type] = {"kind": str, "tool": str, "text": str, "iteration": int}
_RESULT: Mapping[str, type] = {
    **dict.fromkeys(("reason", "message", "error"), str), "failure": dict,
    **dict.fromkeys(_COUNTS, int),
}  # fmt: skip


def _rest(body: Mapping[str, Any], known: Mapping[str, type]) -> dict[str, Any]:
    """The fields that were not taken: those without a name here, or of another type than theirs."""
    return {
        key: value
        for key, value in body.items()
        if key not in known or not (value is None or type(value) is known[key])
    }


def _meta(body: Mapping[str, Any]) -> tuple[Payload, bool]:
    fork = dict_of(body.get("forkedFrom"))
    at = fork.get("at")
    origin = Origin(text_of(fork.get("id")), at if type(at) is int else None) if fork else None
    id, task, model, provider, driver, workdir = (text_of(body.get(name)) for name in _SIX)
    meta = Meta(
        id, task, model, provider, driver, workdir,
        resumed_from=text_of(body.get("resumedFrom")) or None,
        forked_from=origin,
        extra=_rest(body, _META),
    )  # fmt: skip
    return meta, False


def _message(body: Mapping[str, Any]) -> tuple[Payload, bool]:
    activity = body.get("activity")
    message = Message(
        text_of(body.get("type")),
        text_of(body.get("text")),
        _activity(activity) if isinstance(activity, dict) else None,
        tuple(_image(image) for image in list_of(body.get("images")) if isinstance(image, dict)),
        extra=_rest(body, _MESSAGE),
    )
    return message, False


def _activity(body: Mapping[str, Any]) -> Activity:
    failure = body.get("failure")
    return Activity(
        text_of(body.get("kind")),
        text_of(body.get("id")),
        text_of(body.get("name")),
        text_of(body.get("arguments")),
        body.get("result"),
        failure if isinstance(failure, str) and failure else None,
        {k: v for k, v in _rest(body, _ACTIVITY).items() if k != "result"},
    )


def _number(value: Any) -> int:
    return value if type(value) is int else 0


def _image(body: Mapping[str, Any]) -> Image:
    return Image(
        text_of(body.get("media_type")),
        text_of(body.get("digest")),
        _number(body.get("width")),
        _number(body.get("height")),
        _number(body.get("size")),
        text_of(body.get("source")),
        extra=_rest(body, _IMAGE),
    )


def _event(body: Mapping[str, Any]) -> tuple[Payload, bool]:
    kind = text_of(body.get("kind"))
    event = Event(
        kind,
        text_of(body.get("tool")),
        text_of(body.get("text")),
        _number(body.get("iteration")),
        ok=False if kind in _BAD else None,
        extra=_rest(body, _EVENT),
    )
    return event, kind in _QUIET


def _result(body: Mapping[str, Any]) -> tuple[Payload, bool]:
    failure = body.get("failure")
    code, iterations, calls, continuations, cycles, settles = (
        _number(body.get(name)) for name in _COUNTS
    )
    result = Result(
        text_of(body.get("reason")), text_of(body.get("message")), text_of(body.get("error")),
        failure if isinstance(failure, dict) else None,
        code, iterations, calls, continuations, cycles, settles,
        _rest(body, _RESULT),
    )  # fmt: skip
    return result, False


_PAYLOADS = {"meta": _meta, "message": _message, "event": _event, "result": _result}
