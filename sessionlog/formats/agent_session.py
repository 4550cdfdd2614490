"""Agent Session Format: a tree of entries, one a line, of which the last entry's branch counts.

Documented in RFC 0001 of the format (drafts 0.1 to 0.12). Context entries are what the model was
told and said, as Open Responses items; record entries tell what happened around it. From 0.5 on
the ids are hashes of what an entry says. `agent_session_entries` has what an entry says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any

from sessionlog.formats.agent_session_actor import AgentSessionActor, link_of
from sessionlog.formats.agent_session_entries import CORE, entry_records
from sessionlog.formats.base import (
    Actor,
    Description,
    Head,
    decoded_bits,
    dict_of,
    list_of,
    standing,
    text_of,
)
from sessionlog.formats.parts import rest_of
from sessionlog.formats.tokens import openai
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
from sessionlog.status import ANSWERING, WENT_BACK

_FORMAT = "agentsession/"
_TORN_HEAD = re.compile(rb'\{"(?:type":"session","format":"agentsession/|created_at":")')
_NAMED = re.compile(rb'"format":"agentsession/')
_OK = {"done": True, "stopped": None, "input_required": None, "interrupted": False,
       "aborted": False, "error": False}  # fmt: skip
"""How a run's end words map onto ok: a harness that stopped by itself gave no verdict, and one
that waits for a person has none yet."""
_HEAD = 100
"""Records in which a title is looked for."""
_TAIL = 50
"""Records from the end in which the session's name is looked for."""
_TURN = 400
"""Records that an unfinished turn is judged by."""


class AgentSession:
    """The format's answers."""

    name = "agentsession"
    agent = ""
    actor: Actor | None = AgentSessionActor()

    def recognises(self, head: Head) -> bool:
        if head.values:
            return any(_is_header(value) or _is_entry(value) for value in head.values)
        data = head.data.lstrip(b"\0 \t\r\n")
        return bool(_TORN_HEAD.match(data) and _NAMED.search(data))

    def plausible(self, value: dict[str, Any]) -> bool:
        return _is_header(value) or (isinstance(value.get("ts"), str) and "type" in value)

    def decode(self, value: dict[str, Any], span: Span) -> list[Record]:
        if _is_header(value):
            return [Record(Kind.META, text_of(value.get("created_at")), _meta(value), span)]
        key = text_of(value.get("id"))
        parent = text_of(value["parent"]) if key and "parent" in value else None
        return [
            record._replace(key=key, parent=parent, part=part)
            for part, record in enumerate(entry_records(value, span))
        ]

    def describe(
        self, path: str, oldest_first: Iterable[Record], newest_first: Iterable[Record]
    ) -> Description:
        """Named by its last `info`, else by the first prompt; the model is that of the first
        configuration."""
        meta, prompt, name, model, started = Meta(), "", "", "", ""
        for record in islice(oldest_first, _HEAD):
            payload = record.payload
            started = started or record.at
            if isinstance(payload, Meta):
                meta = meta if meta.id else payload
            elif isinstance(payload, Event):
                model = model or text_of(payload.extra.get("model"))
                name = payload.text if payload.kind == "info" else name
                if payload.extra.get("rel") == "fork_of" and meta.forked_from is None:
                    origin = Origin(text_of(payload.extra.get("session")))
                    meta = meta._replace(forked_from=origin)
            elif isinstance(payload, Message) and payload.type == "user":
                prompt = prompt or payload.text.strip()
            if prompt and model:
                break
        for record in islice(newest_first, _TAIL):
            if isinstance(record.payload, Event) and record.payload.kind == "info":
                name = record.payload.text or name
                break
        stem = path.rpartition("/")[2].removesuffix(".jsonl")
        return Description(meta._replace(id=meta.id or stem, model=model), name or prompt, started)

    def ending(self, newest_first: Iterable[Record]) -> Ending:
        """By the last run's end. One that began and did not end was cut off, if the header
        promises that runs are recorded; the last answer decides where no run tells."""
        records = iter(newest_first)
        seen: list[Record] = []
        for record in records:
            payload = record.payload
            if isinstance(payload, Event) and payload.kind == "run":
                if payload.ends:
                    return _ended(payload) if not _said(seen) else _by_turn(seen)
                begun = [*seen, record]
                promised, spoke = _promised(records)
                if promised and spoke and not _said(seen):
                    return Ending(False, None, None, ANSWERING,
                                  "a run began, and nothing after it")  # fmt: skip
                return standing(begun) if promised else _by_turn(chain(begun, records))
            if len(seen) < _TURN:
                seen.append(record)
        return _by_turn(seen)

    def glimpse(self, path: str, head: bytes, tail: bytes, size: int) -> Entry | None:
        return None

    def classify(self, data: bytes) -> int:
        return decoded_bits(self, data)

    def usage(self, record: Record) -> Usage | None:
        """A `response`, and the summaries of a compaction and of a branch, tell of their own."""
        payload = record.payload
        if record.part or not isinstance(payload, Message | Event):
            return None
        tokens = openai(payload.extra.get("usage"))
        model = text_of(payload.extra.get("model"))
        answer = text_of(payload.extra.get("response_id"))
        return Usage(tokens, model=model, answer=answer) if tokens or model else None

    def alive(self, path: str, session_id: str) -> str | None:
        return None

    def link(self, data: bytes) -> tuple[str, str] | None:
        return link_of(data)


def _is_header(value: Mapping[str, Any]) -> bool:
    return value.get("type") == "session" and text_of(value.get("format")).startswith(_FORMAT)


def _is_entry(value: Mapping[str, Any]) -> bool:
    """Known without its header, which may be lost."""
    kind = text_of(value.get("type"))
    known = kind in CORE or ":" in kind
    return known and {"id", "parent", "ts"} <= value.keys() and isinstance(value["ts"], str)


def _meta(value: Mapping[str, Any]) -> Meta:
    """A session that a call of another one started names that one as its parent, too: it is no
    fork of it."""
    parent, spawned = text_of(value.get("parent_session")), text_of(value.get("spawned_by"))
    return Meta(
        id=text_of(value.get("id")),
        driver=text_of(dict_of(value.get("harness")).get("name")),
        workdir=text_of(value.get("cwd")),
        forked_from=Origin(parent) if parent and not spawned else None,
        extra=rest_of(value, "type", "id", "created_at", "cwd"),
    )


# -- how it stands -----------------------------------------------------------------------------


def _ended(run: Event) -> Ending:
    """The words of a run's end; `ref` names the cause in the harness's own terms."""
    reason = text_of(run.extra.get("reason"))
    text = " ".join(filter(None, (reason, text_of(run.extra.get("ref"))))) or "done"
    return Ending(True, reason or None, _OK.get(reason), text, f"run end, reason {reason}")


def _said(records: Iterable[Record]) -> bool:
    return any(
        isinstance(r.payload, Message) and not r.quiet and r.payload.type != "summary"
        for r in records
    )


def _promised(records: Iterator[Record]) -> tuple[bool, bool]:
    """Does the header, wherever it stands before, promise that a run that ends is told? A header
    that is out of reach is taken to: its writer told that the run began. And was anything said?"""
    spoke = False
    for record in records:
        if isinstance(record.payload, Meta):
            return "run" in list_of(record.payload.extra.get("records")), spoke
        spoke = spoke or isinstance(record.payload, Message)
    return True, spoke


def _by_turn(newest_first: Iterable[Record]) -> Ending:
    """By the last answer: one without a call is an ending of which nobody knows how it went."""
    seen: list[Record] = []
    for record in islice(newest_first, _TURN):
        payload = record.payload
        if isinstance(payload, Event) and payload.kind == "response" and not _said(seen):
            failed = payload.ok is False
            if failed:
                return Ending(True, text_of(payload.extra.get("status")) or "failed", False,
                              payload.text, "the last response failed")  # fmt: skip
        if isinstance(payload, Message) and not _said(seen):
            if shown_type(payload) in ("assistant", "reasoning"):
                return Ending(True, None, None, payload.text.strip() or "done",
                              "the last answer has no call")  # fmt: skip
            if payload.extra.get("note") == "branch_summary":
                return Ending(True, None, None, WENT_BACK,
                              "branch_summary, and nothing after it")  # fmt: skip
        seen.append(record)
    return standing(seen)
