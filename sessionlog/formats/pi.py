"""pi: one log a session, a tree of entries by id, of which the last entry's branch counts.

The client's format is documented (docs/session.md). Version 1 is a plain list without ids, 2 made
it a tree, 3 renamed a role; the client rewrites older files when it opens them, this reads all.
OpenClaw and other programs built on pi write the same. Read from the client's public source and
from logs of versions 1 and 3; `pi_entries` has what an entry says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from sessionlog.formats.base import (
    LOUD,
    Actor,
    Description,
    Head,
    decoded_bits,
    dict_of,
    standing,
    text_of,
)
from sessionlog.formats.parts import last_said, rest_of
from sessionlog.formats.pi_actor import PiActor
from sessionlog.formats.pi_entries import BROKEN, KINDS, entry_records, link_of
from sessionlog.formats.pi_usage import usage_of
from sessionlog.records import (
    Ending,
    Entry,
    Event,
    Kind,
    Message,
    Meta,
    Origin,
    Record,
    Span,
    Usage,
    shown_type,
)
from sessionlog.status import WENT_BACK

_ROLES = ("user", "assistant", "toolResult", "bashExecution", "custom", "hookMessage",
          "branchSummary", "compactionSummary")  # fmt: skip
_TORN_HEAD = re.compile(rb'\{"type":"session",(?:"version":\d+,)?"id":"[^"\\]*","timestamp":"')
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_NEAR = 64 * 1024
"""Bytes behind the prompt in which the model's name is looked for."""
_TAIL = 16 * 1024
"""Bytes before the end in which the session's name is looked for."""
_TURN = 400
"""Records that an unfinished turn is judged by."""


class Pi:
    """pi's answers."""

    name = "pi"
    agent = "pi"
    program = "pi"
    package = "@mariozechner/pi-coding-agent"
    hides_calls = False
    actor: Actor | None = PiActor()

    def recognises(self, head: Head) -> bool:
        if head.values:
            return any(_is_header(value) or _is_entry(value) for value in head.values)
        return bool(_TORN_HEAD.match(head.data.lstrip(b"\0 \t\r\n")))

    def plausible(self, value: dict[str, Any]) -> bool:
        """Not a block inside a message, which has a type but no time."""
        return isinstance(value.get("type"), str) and isinstance(value.get("timestamp"), str)

    def decode(self, value: dict[str, Any], span: Span) -> list[Record]:
        kind, at = text_of(value.get("type")), text_of(value.get("timestamp"))
        if kind == "session":
            return [Record(Kind.META, at, _meta(value), span)]
        key = text_of(value.get("id"))
        parent = text_of(value["parentId"]) if key and "parentId" in value else None
        return [
            record._replace(key=key, parent=parent)
            for record in entry_records(kind, value, span, at)
        ]

    def describe(
        self, path: str, oldest_first: Iterable[Record], newest_first: Iterable[Record]
    ) -> Description:
        facts = _Facts()
        _read_head(facts, oldest_first)
        facts.name = last_said(newest_first, "session_info", _TAIL) or facts.name
        stem = path.rpartition("/")[2].removesuffix(".jsonl")
        named = _UUID.search(stem)
        meta = facts.meta._replace(
            id=facts.meta.id or (named[0] if named else stem),
            model=facts.model or facts.meta.model,
            provider=facts.provider or facts.meta.provider,
        )
        return Description(meta, facts.name or facts.prompt, facts.started)

    def ending(self, newest_first: Iterable[Record]) -> Ending:
        """The last answer decides, by its stop reason; what a person or the client does while the
        model is idle (a command by hand, a compaction, a label) is passed over."""
        records = iter(newest_first)
        for record in records:
            payload = record.payload
            if isinstance(payload, Event) and payload.kind in BROKEN and payload.ends:
                return Ending(True, payload.kind, False, payload.text,
                              f"stopReason {payload.kind}")  # fmt: skip
            if isinstance(payload, Message):
                if payload.extra.get("note") == "branch_summary":
                    return Ending(True, None, None, WENT_BACK,
                                  "branch_summary, and nothing after it")  # fmt: skip
                if payload.type not in ("system", "summary"):
                    return _decided(payload) or _open(chain([record], records))
        return standing([])

    def glimpse(self, path: str, head: bytes, tail: bytes, size: int) -> Entry | None:
        return None  # prompt, model and name stand in entries, which have to be decoded

    def classify(self, data: bytes) -> int:
        """By the first and the last bytes, as the client orders the keys; else by decoding."""
        found = _FAST.match(data)
        if found is None or not data.endswith(b"}") or b"\0" in data:
            return decoded_bits(self, data)
        if found[1] in _FAST_QUIET:
            return 0
        if found[1] != b"message":
            return decoded_bits(self, data)
        if data.startswith(b'"message":{"role":"toolResult",', found.end()):
            fine = _FAST_FINE.search(data, max(found.end(), len(data) - _END))
            return LOUD | 1 if fine else decoded_bits(self, data)
        return _plain_answer(data, found.end()) or decoded_bits(self, data)

    def usage(self, record: Record) -> Usage | None:
        return usage_of(record)

    def alive(self, path: str, session_id: str) -> str | None:
        return None  # it keeps no pid file, and opens its log anew for each line

    def link(self, data: bytes) -> tuple[str, str] | None:
        """(id, parent) of the entry on a raw line; None where there is none."""
        return link_of(data)


_FAST = re.compile(
    rb'\{"type":"(\w+)",(?:"id":"\w*","parentId":(?:null|"\w*"),)?"timestamp":"[^"\\]*",'
)
_FAST_QUIET = (b"model_change", b"thinking_level_change", b"label", b"session_info")
_FAST_FINE = re.compile(rb'"isError":false,"timestamp":\d+\}\}\Z')
_REST = rb'[^"\\]*(?:\\.[^"\\]*)*"'
_SIGNED = rb'(?:,"(?:thinking|text)Signature":"' + _REST + rb")?"
_FAST_ANSWER = re.compile(
    rb'"message":\{"role":"assistant","content":\['
    rb'(\{"type":"thinking","thinking":"' + _REST + _SIGNED + rb"\},)?"
    rb'(\{"type":"text","text":"[!#-\[\]-~]' + _REST + _SIGNED + rb"\},?)?"
    rb'(?:(\{"type":"toolCall","id":")|\],"api":)'
)
_FAST_STOP = re.compile(
    rb'"stopReason":"(?:stop|toolUse|length)","timestamp":\d+(?:,"\w+":"[^"\\]*")*\}\}\Z'
)
_END = 200
"""Bytes in which a message's last fields stand."""


def _plain_answer(data: bytes, at: int) -> int:
    """The bits of an answer that ended, with something to show and one call at the most; else 0."""
    found = _FAST_ANSWER.match(data, at)
    if found is None or not (found[2] or found[3]):
        return 0
    if found[3] and data.find(b'{"type":"', found.end()) >= 0:  # a second, or deep in the first
        return 0
    if not _FAST_STOP.search(data, max(found.end(), len(data) - _END)):
        return 0
    return LOUD | sum(part is not None for part in found.groups())


def _is_header(value: Mapping[str, Any]) -> bool:
    """A header with a `format` is that of another kind of log (agentsession)."""
    return (
        value.get("type") == "session"
        and isinstance(value.get("id"), str)
        and isinstance(value.get("timestamp"), str)
        and not isinstance(value.get("format"), str)
    )


def _is_entry(value: Mapping[str, Any]) -> bool:
    """Known without its header, which may be lost."""
    kind = text_of(value.get("type"))
    if not isinstance(value.get("timestamp"), str) or "uuid" in value or "payload" in value:
        return False
    if kind == "message":
        return dict_of(value.get("message")).get("role") in _ROLES
    return kind in KINDS and "parentId" in value


def _meta(value: Mapping[str, Any]) -> Meta:
    """`parentSession` is the path of the log that this one was copied from; version 1 wrote
    `branchedFrom`."""
    parent = text_of(value.get("parentSession")) or text_of(value.get("branchedFrom"))
    stem = parent.replace("\\", "/").rpartition("/")[2].removesuffix(".jsonl")
    named = _UUID.search(stem)
    return Meta(
        id=text_of(value.get("id")),
        model=text_of(value.get("modelId")),
        provider=text_of(value.get("provider")),
        driver="pi",
        workdir=text_of(value.get("cwd")),
        forked_from=Origin(named[0] if named else stem) if stem else None,
        extra=rest_of(value, "type", "id", "timestamp", "cwd", "provider", "modelId"),
    )


# -- how it stands -----------------------------------------------------------------------------


def _decided(message: Message) -> Ending | None:
    """The ending that the last message makes; None: it is cut off there."""
    stop = text_of(message.extra.get("stopReason"))
    if shown_type(message) not in ("assistant", "reasoning"):
        return None
    if stop == "length":
        return Ending(True, stop, False, "the answer was cut at its longest", "stopReason length")
    if stop == "toolUse":
        return None
    evidence = f"stopReason {stop}" if stop else "the last answer has no call"
    return Ending(True, stop or None, True, message.text.strip() or "done", evidence)


def _open(newest_first: Iterable[Record]) -> Ending:
    """Cut off: in a call, or while the model answered."""
    records = []
    for record in newest_first:
        records.append(record)
        payload = record.payload
        if isinstance(payload, Message) and payload.activity is None:
            break
        if len(records) == _TURN:
            break
    return standing(records)


# -- what a list row shows ---------------------------------------------------------------------


@dataclass(slots=True)
class _Facts:
    """What the two ends of a log tell."""

    meta: Meta = field(default_factory=Meta)
    started: str = ""
    prompt: str = ""
    model: str = ""
    provider: str = ""
    name: str = ""


def _read_head(facts: _Facts, oldest_first: Iterable[Record]) -> None:
    """Reads on until the prompt is known, and a little further for the model."""
    found = 0
    for record in oldest_first:
        payload = record.payload
        facts.started = facts.started or record.at
        if isinstance(payload, Meta):
            facts.meta = facts.meta if facts.meta.id else payload
        elif isinstance(payload, Event):
            _note_event(facts, payload)
        elif isinstance(payload, Message):
            if payload.type == "user" and not facts.prompt:
                facts.prompt = payload.text
            told = text_of(payload.extra.get("model"))
            if told and not facts.model:
                facts.model = told
                facts.provider = text_of(payload.extra.get("provider"))
        found = found or (record.span.end if facts.prompt else 0)
        if found and (facts.model or record.span.end > found + _NEAR):
            return


def _note_event(facts: _Facts, event: Event) -> None:
    if event.kind == "model_change" and not facts.prompt:  # the one that the first prompt went to
        facts.model = event.text
        facts.provider = text_of(event.extra.get("provider"))
    elif event.kind in BROKEN and not facts.model:  # an answer that broke off without a word
        facts.model = text_of(event.extra.get("model"))
        facts.provider = text_of(event.extra.get("provider"))
    elif event.kind == "session_info":
        facts.name = event.text
