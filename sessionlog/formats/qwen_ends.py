"""The two ends of a Qwen Code log: what a list row shows, and how the run stands.

Both read lazily. A title is written again after each 32 KB of log, so that it is found near the
end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from sessionlog.formats.base import Description, dict_of, standing, text_of
from sessionlog.formats.parts import last_said
from sessionlog.formats.qwen_events import API_ERROR, INTERRUPT
from sessionlog.formats.qwen_parts import CANCELLED
from sessionlog.records import Ending, Event, Message, Meta, Origin, Record, as_own, shown_type

_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_NEAR = 64 * 1024
"""Bytes behind the prompt in which the model's name is looked for."""
_TAIL = 48 * 1024
"""Bytes before the end in which a title is looked for."""
_ALONE = 50
"""Messages of side chains after which a log without any others is a subagent's own."""
_TURN = 400
"""Records that an unfinished turn is judged by."""


# -- what a list row shows ---------------------------------------------------------------------


@dataclass(slots=True)
class _Facts:
    """What the ends of a log tell."""

    about: Mapping[str, Any] = field(default_factory=dict)
    started: str = ""
    model: str = ""
    prompt: str = ""
    title: str = ""
    parent: str = ""
    """Id of the session that started this one."""


def description_of(
    path: str, oldest_first: Iterable[Record], newest_first: Iterable[Record]
) -> Description:
    """What a list row shows: the title that was given, else the first prompt."""
    facts = _Facts()
    _read_head(facts, oldest_first)
    facts.title = last_said(newest_first, "custom_title", _TAIL) or facts.title
    return Description(_meta(path, facts), facts.title or facts.prompt, facts.started)


def _read_head(facts: _Facts, oldest_first: Iterable[Record]) -> None:
    """Reads on until the prompt is known, and a little further for the model."""
    found = 0
    for record in oldest_first:
        payload = record.payload
        facts.started = facts.started or record.at
        if isinstance(payload, Event):
            _note_event(facts, payload)
        elif isinstance(payload, Message):
            facts.about = facts.about or payload.extra
            copied = dict_of(facts.about.get("forkedFrom")).get("timestamp")
            facts.started = max(facts.started, text_of(copied))
            facts.model = facts.model or text_of(payload.extra.get("model"))
            if payload.type == "user" and not payload.unsent:
                facts.prompt = facts.prompt or payload.text
        found = found or (record.span.end if facts.prompt else 0)
        if found and (facts.model or record.span.end > found + _NEAR):
            return


def _note_event(facts: _Facts, event: Event) -> None:
    if event.kind == "custom_title":
        facts.title = event.text
    elif event.kind == "session_model":
        facts.model = facts.model or event.text
    elif event.kind == "parent_session":
        facts.parent = event.text


def _meta(path: str, facts: _Facts) -> Meta:
    """The file's name is the identity; a log under another name goes by what stands in it."""
    stem = path.rpartition("/")[2].removesuffix(".jsonl")
    about = facts.about
    session = text_of(about.get("sessionId"))
    own = bool(_UUID.fullmatch(stem)) or stem.startswith("agent-")
    parent = text_of(dict_of(about.get("forkedFrom")).get("sessionId"))
    extra = {name: about[name] for name in ("gitBranch", "version", "sessionId") if name in about}
    return Meta(
        id=stem if own else session or stem,
        model=facts.model,
        driver="qwen",
        workdir=text_of(about.get("cwd")),
        forked_from=Origin(parent) if parent else None,
        extra=extra | ({"parentSessionId": facts.parent} if facts.parent else {}),
    )


# -- how the run stands ------------------------------------------------------------------------


def ending_of(newest_first: Iterable[Record]) -> Ending:
    """What the last records say.

    An answer without a call ends a turn; so do an error of the API, a cancelled call, and a
    daemon's note of how the turn ended. A call without a result, a result or a prompt do not. A
    compaction at the end says nothing: what stands before it decides.
    """
    records = _own_run(newest_first)
    for record in records:
        payload = record.payload
        if isinstance(payload, Event):
            ending = _noted(payload)
            if ending is not None:
                return ending
        elif isinstance(payload, Message) and not payload.unsent and payload.type != "system":
            turn = _turn(chain([record], records))
            return _decided(turn) or standing(turn)
        elif isinstance(payload, Message) and payload.extra.get("note") == "notification":
            return standing([record])
    return standing([])


def _noted(event: Event) -> Ending | None:
    """The ending that an event at the end makes."""
    if event.kind == API_ERROR:
        return Ending(True, "error", False, event.text, "an API error, and nothing after it")
    if event.kind == INTERRUPT:
        return Ending(True, "interrupted", False, event.text, "api_cancel, and nothing after it")
    if event.kind == "rewind":
        return Ending(True, None, None, event.text, "rewind, and nothing after it")
    if event.kind != "turn_result":
        return None
    state = text_of(event.extra.get("state"))
    if state == "completed":
        return Ending(True, state, True, "done", "turn_result completed")
    reason = "interrupted" if state == CANCELLED else state or None
    return Ending(True, reason, False, event.text, f"turn_result {state}".rstrip())


def _decided(turn: list[Record]) -> Ending | None:
    """The ending that the last message makes, newest first; None: it is cut off there."""
    last = turn[0].payload
    assert isinstance(last, Message)
    kind, text = shown_type(last), last.text.strip()
    if kind == "response":
        kept = dict_of(last.extra.get("toolCallResult"))
        if kept.get("status") == CANCELLED:
            return Ending(True, "interrupted", False, "a call was cancelled",
                          "a cancelled call, and nothing after it")  # fmt: skip
        return None
    if kind not in ("assistant", "reasoning"):
        return None
    own = [r.payload for r in turn if r.span.offset == turn[0].span.offset]
    if kind == "reasoning" or any(isinstance(m, Message) and m.activity for m in own):
        return None
    return Ending(True, None, True, text or "done", "the last answer has no call")


def _turn(newest_first: Iterable[Record]) -> list[Record]:
    """The records back to where the last calls were asked for."""
    turn: list[Record] = []
    for record in newest_first:
        turn.append(record)
        payload = record.payload
        if len(turn) == _TURN:
            break
        if isinstance(payload, Message) and payload.activity is None and payload.type != "system":
            if record.span.offset == turn[0].span.offset:  # a block of the last answer itself
                continue
            break
    return turn


def _own_run(newest_first: Iterable[Record]) -> Iterator[Record]:
    """The records of the main run; a log of a subagent's own is its main run."""
    rest, side = iter(newest_first), list[Record]()
    for record in rest:
        payload = record.payload
        if isinstance(payload, Message) and payload.sidechain:
            side.append(record)
            if len(side) == _ALONE:
                break
        else:
            yield record
            if isinstance(payload, Message):
                yield from (r for r in rest if not _side(r))
                return
    yield from map(as_own, chain(side, rest))


def _side(record: Record) -> str:
    return record.payload.sidechain if isinstance(record.payload, Message) else ""
