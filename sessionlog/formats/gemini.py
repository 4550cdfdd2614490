"""Gemini CLI: a log of changes to a conversation, since 0.39 as JSON lines.

Line 0 is the session's head, further ones are messages, `$set` changes and `$rewindTo`. Before
that it was one document, rewritten each time; Qwen Code's first versions wrote the same.
`stores.gemini_json` makes of both what can be read line by line, `gemini_items` has what a line
says. A call stands in the log when it has ended: one that ran when the client was killed is
nowhere (seen with 0.61.0), so an answer without a call may have had one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from sessionlog.formats.base import (
    Actor,
    Description,
    Head,
    decoded_bits,
    dict_of,
    standing,
    text_of,
)
from sessionlog.formats.gemini_actor import GeminiActor
from sessionlog.formats.gemini_items import records_of
from sessionlog.formats.gemini_parts import MODEL, NOTES
from sessionlog.formats.tokens import count
from sessionlog.records import (
    Activity,
    Ending,
    Entry,
    Event,
    Message,
    Meta,
    Record,
    Reset,
    Span,
    Tokens,
    Usage,
    shown_type,
)
from sessionlog.status import UNASKED, WENT_BACK
from sessionlog.stores.gemini_fold import plausible

_FOLDERS = re.compile(
    r"(?:Workspace Directories:\*\*|working (?:in the )?(?:following )?director(?:y|ies):)"
    r"\s*(?:-\s*)?(\S[^\n]*)"
)
_TURN = 400
"""Records that an unfinished turn is judged by."""
_TAIL = 40
"""Records before the end in which the session's summary is looked for."""
_HEAD = 2000
"""Records in which its first prompt and its model are looked for."""
_UNSEEN = "the last answer has no call; the client writes a call down only when it has ended"


class Gemini:
    """Gemini CLI's answers."""

    name = "gemini"
    agent = "gemini"
    program = "gemini"
    package = "@google/gemini-cli"
    hides_calls = True

    def __init__(self) -> None:
        self.actor: Actor | None = GeminiActor()

    def recognises(self, head: Head) -> bool:
        return any(map(_is_ours, head.values))

    def plausible(self, value: dict[str, Any]) -> bool:
        return plausible(value)

    def decode(self, value: dict[str, Any], span: Span) -> list[Record]:
        return records_of(value, span)

    def describe(
        self, path: str, oldest_first: Iterable[Record], newest_first: Iterable[Record]
    ) -> Description:
        meta, started, prompt, model, folder = Meta(driver="gemini"), "", "", "", ""
        for record in islice(oldest_first, _HEAD):
            payload = record.payload
            started = started or record.at
            if isinstance(payload, Meta):
                meta = (
                    meta if meta.id else payload._replace(workdir=payload.workdir or meta.workdir)
                )
            elif isinstance(payload, Message):
                if payload.type == "user" and not payload.unsent and not prompt:
                    prompt = text_of(payload.extra.get("display")) or payload.text
                if payload.extra.get("note") == "session_context" and not folder:
                    found = _FOLDERS.search(payload.text)
                    folder = found[1].strip() if found else ""
                model = model or text_of(payload.extra.get("model"))
            if prompt and model:
                break
        stem = os.path.splitext(os.path.basename(path))[0]
        workdir = meta.workdir or _project_root(path) or folder
        meta = meta._replace(id=meta.id or stem, model=model, workdir=workdir)
        return Description(meta, _summary(meta, newest_first) or prompt.strip(), started)

    def ending(self, newest_first: Iterable[Record]) -> Ending:
        """The last message decides; what the client notes or keeps beside it is passed over."""
        records = iter(newest_first)
        for record in records:
            payload = record.payload
            if isinstance(payload, Event) and payload.ends:
                said = payload.text.strip()
                return Ending(True, payload.kind, False, said, f"a message of type {payload.kind}")
            if isinstance(payload, Reset):
                return Ending(True, None, None, WENT_BACK, "a rewind is last")
            if isinstance(payload, Message) and payload.type != "system" and not payload.unsent:
                return _decided(payload) or _open([record, *islice(records, _TURN)])
            if isinstance(payload, Message) and payload.type == "assistant":
                return Ending(False, None, None, "in a call that the log does not hold",
                              "the last answer is empty, as it is while its calls run")  # fmt: skip
        return Ending(False, None, None, UNASKED, "no prompt in the log")

    def glimpse(self, path: str, head: bytes, tail: bytes, size: int) -> Entry | None:
        return None  # prompt, model and text stand in messages, which have to be decoded

    def classify(self, data: bytes) -> int:
        return decoded_bits(self, data)

    def usage(self, record: Record) -> Usage | None:
        """The tokens of an answer, on each of its records; input includes what was cached."""
        message = record.payload
        if not isinstance(message, Message) or not message.answer:
            return None
        told, model = dict_of(message.extra.get("tokens")), text_of(message.extra.get("model"))
        if not told:
            return Usage(model=model) if model else None
        given, cached = count(told.get("input")), count(told.get("cached"))
        thought = count(told.get("thoughts"))
        tokens = Tokens(
            max(given - cached, 0) + count(told.get("tool")),
            count(told.get("output")) + thought, min(cached, given), 0, thought,
        )  # fmt: skip
        return Usage(tokens if tokens.total else None, None, model, message.answer)

    def alive(self, path: str, session_id: str) -> str | None:
        return None  # it keeps no pid file, and opens its log anew for each line

    def subagents(self, path: str) -> list[str]:
        """The logs in `<session id>/` beside the session's, by name."""
        from sessionlog.formats.gemini_subagents import subagents_of

        return subagents_of(path)

    def started(self, path: str, half: Activity) -> str | None:
        """The log of the subagent that a call started, by the `agentId` that the call has."""
        from sessionlog.formats.gemini_subagents import subagents_of

        name = text_of(half.extra.get("agentId")) or text_of(half.extra.get("agent_id"))
        logs = subagents_of(path) if name else []
        return next((log for log in logs if os.path.basename(log) == f"{name}.jsonl"), None)


def _is_ours(value: Mapping[str, Any]) -> bool:
    if isinstance(value.get("$set"), dict) or isinstance(value.get("$rewindTo"), str):
        return True
    if isinstance(value.get("sessionId"), str) and isinstance(value.get("projectHash"), str):
        return True
    kind = value.get("type")
    return (
        kind in (*MODEL, "user", *NOTES)
        and isinstance(value.get("id"), str)
        and isinstance(value.get("timestamp"), str)
        and ("content" in value or "toolCalls" in value)
        and "uuid" not in value
    )


def _project_root(path: str) -> str:
    """The folder that a session was in, by the file that the client keeps beside `chats`."""
    folder = os.path.dirname(path)
    for beside in (os.path.dirname(folder), os.path.dirname(os.path.dirname(folder))):
        try:
            with open(os.path.join(beside, ".project_root"), encoding="utf-8") as file:
                return file.read(4096).removesuffix("\n")
        except (OSError, ValueError):
            continue
    return ""


def _summary(meta: Meta, newest_first: Iterable[Record]) -> str:
    """The client's own words for the session, which it writes when it begins the next one."""
    for record in islice(newest_first, _TAIL):
        payload = record.payload
        if isinstance(payload, Event) and payload.kind == "update" and payload.text:
            return payload.text
    return text_of(meta.extra.get("summary"))


# -- how it stands -----------------------------------------------------------------------------


def _decided(message: Message) -> Ending | None:
    """The ending that the last message makes; None: it is cut off there."""
    if shown_type(message) == "reasoning":
        return Ending(False, None, None, "in a call that the log does not hold",
                      "the last answer is only thoughts, as it is while its calls run")  # fmt: skip
    if shown_type(message) != "assistant":
        return None
    return Ending(True, None, None, message.text.strip() or "done", _UNSEEN)


def _open(newest_first: list[Record]) -> Ending:
    """Cut off: in a call, or while the model answered."""
    for i, record in enumerate(newest_first):
        payload = record.payload
        if isinstance(payload, Message) and payload.activity is None and payload.type == "user":
            return standing(newest_first[: i + 1])
    return standing(newest_first)
