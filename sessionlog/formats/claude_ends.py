"""The two ends of a Claude Code log: what a list row shows, and how the run stands.

Both read lazily. The first prompt may lie behind hundreds of lines of bookkeeping, and the last
words before as many; titles are written again near the end, so that they are found there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

from sessionlog.formats.base import Description, dict_of, standing, text_of
from sessionlog.formats.claude_blocks import INLINE, OUTPUTS, is_interrupt, is_refusal
from sessionlog.formats.claude_events import TITLES
from sessionlog.records import Ending, Event, Message, Meta, Origin, Record, Reset, shown_type

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
SYNTHETIC = "<synthetic>"
"""The model that the client names where it speaks itself."""
_NEAR = 64 * 1024
"""Bytes behind the prompt in which the model's name is looked for."""
_TAIL = 16 * 1024
"""Bytes before the end in which a title is looked for: it is written again after each turn."""
_TURN = 400
"""Messages that an unfinished turn is judged by."""
_MANY = 50
"""Side chain messages after which a log without any others is a subagent's own."""
_BAD_STOPS = ("max_tokens", "refusal", "model_context_window_exceeded")


# -- what a list row shows ---------------------------------------------------------------------


@dataclass(slots=True)
class _Facts:
    """What the ends of a log tell."""

    about: Mapping[str, Any] = field(default_factory=dict)
    started: str = ""
    model: str = ""
    prompt: str = ""
    command: str = ""
    """A command without words of its own, a subagent's task: titles where there is no other."""
    titles: dict[str, str] = field(default_factory=dict)
    summaries: list[tuple[str, str]] = field(default_factory=list)
    """(leaf, title) of each summary: often of another log."""
    keys: set[str] = field(default_factory=set)


def description_of(
    path: str, oldest_first: Iterable[Record], newest_first: Iterable[Record]
) -> Description:
    """What a list row shows."""
    facts = _Facts()
    _read_head(facts, oldest_first)
    _read_tail(facts, newest_first)
    title = next((facts.titles[kind] for kind in TITLES if facts.titles.get(kind)), "")
    own = [title for leaf, title in facts.summaries if leaf in facts.keys]
    title = title or (own[-1] if own else "") or facts.prompt or facts.command
    return Description(_meta(path, facts), title, facts.started)


def _read_head(facts: _Facts, oldest_first: Iterable[Record]) -> None:
    """Reads on until the prompt is known, and a little further for the model."""
    found = 0
    for record in oldest_first:
        payload = record.payload
        facts.started = facts.started or record.at
        facts.keys.add(record.key)
        if isinstance(payload, Event):
            _note_event(facts, payload)
        elif isinstance(payload, Message):
            _note_message(facts, payload)
        said = facts.prompt or (facts.command and facts.model)
        found = found or (record.span.end if said else 0)
        if found and (facts.model or record.span.end > found + _NEAR):
            return


def _note_event(facts: _Facts, event: Event) -> None:
    if event.kind == "summary":
        facts.summaries.append((text_of(event.extra.get("leafUuid")), event.text))
    elif event.kind in TITLES:
        facts.titles[event.kind] = event.text
    elif event.kind == "model" and not facts.model:
        facts.model = text_of(dict_of(event.extra.get("identity")).get("modelId"))
    if not facts.about and text_of(event.extra.get("sessionId")):
        facts.about = {"sessionId": event.extra["sessionId"]}


def _note_message(facts: _Facts, message: Message) -> None:
    if message.sidechain == INLINE:
        facts.command = facts.command or message.text
        return
    if not facts.about.get("cwd"):
        facts.about = message.extra
    model = text_of(message.extra.get("model"))
    if not facts.model and model != SYNTHETIC:
        facts.model = model
    if message.type != "user" or is_interrupt(message.text):
        return
    command = text_of(message.extra.get("command"))
    if command and message.text == command:
        facts.command = facts.command or command
    else:
        facts.prompt = facts.prompt or message.text


def _read_tail(facts: _Facts, newest_first: Iterable[Record]) -> None:
    """The last title of a kind wins. Looks _TAIL bytes back."""
    seen: set[str] = set()
    end = -1
    for record in newest_first:
        payload = record.payload
        end = record.span.end if end < 0 else end
        if record.span.offset < end - _TAIL or "custom-title" in seen:
            return
        facts.keys.add(record.key)
        if isinstance(payload, Event) and payload.kind in TITLES:
            if payload.kind == "summary":
                facts.summaries.append((text_of(payload.extra.get("leafUuid")), payload.text))
            elif payload.kind not in seen:
                seen.add(payload.kind)
                facts.titles[payload.kind] = payload.text
        elif isinstance(payload, Message):
            model = text_of(payload.extra.get("model"))
            facts.model = facts.model or (model if model != SYNTHETIC else "")


def _meta(path: str, facts: _Facts) -> Meta:
    """The file's name is the identity; a log under another name goes by what stands in it."""
    stem = path.rpartition("/")[2].removesuffix(".jsonl")
    about = facts.about
    session = text_of(about.get("sessionId"))
    own = bool(_UUID.fullmatch(stem)) or stem.startswith("agent-")
    parent = text_of(dict_of(about.get("forkedFrom")).get("sessionId"))
    names = ("gitBranch", "version", "entrypoint", "sessionId")
    return Meta(
        id=stem if own else session or stem,
        model=facts.model,
        provider="anthropic",
        driver="claude",
        workdir=text_of(about.get("cwd")),
        forked_from=Origin(parent) if parent else None,
        extra={name: about[name] for name in names if name in about},
    )


# -- how the run stands ------------------------------------------------------------------------


def ending_of(newest_first: Iterable[Record]) -> Ending:
    """What the last records of the main run say.

    The last text without a call ends a turn, whatever `stop_reason` says: before about 2.1.60 it
    was null on nearly all lines. An error of the API, the mark of an interrupt and a refusal end
    it too. A call without a result, a result or a prompt at the end do not.
    """
    records = _own_run(newest_first)
    turned = local = False
    summary: Record | None = None
    offset = 0
    for record in records:
        payload, offset = record.payload, record.span.offset
        if isinstance(payload, Reset):
            if not payload.why.startswith("manual"):
                return _open([summary or record])
            summary = None  # a person asked for it, and the model was idle
        elif isinstance(payload, Event):
            if payload.kind == "api_error":
                reason = text_of(payload.extra.get("error")) or "api_error"
                return Ending(True, reason, False, payload.text, "an API error ended the turn")
            turned = turned or payload.ends
        elif not isinstance(payload, Message) or _is_aside(payload, local):
            local = _asks_no_model(payload, local)
        elif payload.type == "summary" and summary is None:
            summary = record
        else:
            before = [summary] if summary else []
            return _decided(payload, turned) or _open(chain(before, [record], records))
    if offset and not summary:  # as far as was read; the messages stand before
        return Ending(False, None, None, "no ending recorded", "no message near the end")
    return _open([summary] if summary else [])


def _is_aside(message: Message, local: bool) -> bool:
    """Neither the model's nor meant for it: notes, a command that was run here, the filler that
    the client writes when it resumes ("No response requested.")."""
    if message.type == "system" or (local and "command" in message.extra):
        return True
    return message.type == "assistant" and message.extra.get("model") == SYNTHETIC


def _asks_no_model(payload: object, local: bool) -> bool:
    """Is the command in front of this record one that the client ran by itself?"""
    if isinstance(payload, Message) and "command" in payload.extra:
        return False
    return local or (isinstance(payload, Message) and payload.extra.get("note") in OUTPUTS)


def _decided(message: Message, turned: bool) -> Ending | None:
    """The ending that the last message of the run makes; None: it is cut off there.

    `turned`: the client noted behind it that the turn was over.
    """
    kind, text = shown_type(message), message.text.strip()
    if kind == "user" and is_interrupt(text):
        return Ending(True, "interrupted", False, text.strip("[]"), "the mark of an interrupt")
    if kind == "response" and is_refusal(message):
        return Ending(True, "interrupted", False, "a call was refused", "a refused call, no more")
    if kind == "assistant":
        stop = text_of(message.extra.get("stop_reason"))
        if stop in _BAD_STOPS:
            return Ending(True, stop, False, text or stop, f"stop_reason {stop}")
        if turned or stop != "tool_use":
            return Ending(True, stop or None, True, text or "done", "the last answer has no call")
    if turned and kind != "call":
        return Ending(True, None, None, "the turn ended", f"turn_duration, and before it a {kind}")
    return None


def _open(newest_first: Iterable[Record]) -> Ending:
    """Cut off: in a call, or while the model answered."""
    records = list(islice(_turn(newest_first), _TURN))
    last = records[0].payload if records else None
    kind = shown_type(last) if isinstance(last, Message) else ""
    if kind in ("assistant", "reasoning"):
        words = f"the last message is a piece of an answer: {kind}"
        return Ending(False, None, None, "while the model answered", words)
    return standing(records)


def _turn(newest_first: Iterable[Record]) -> Iterator[Record]:
    """The messages back to where the last calls were asked for."""
    for record in newest_first:
        if isinstance(record.payload, Message):
            yield record
            if record.payload.activity is None and record.payload.type != "system":
                return


def _own_run(newest_first: Iterable[Record]) -> Iterator[Record]:
    """The records of the main run; where there is no other, a subagent's are the main run.

    Up to 1.0 the side chains stood inside the main log, without the names of their agents.
    """
    rest = iter(newest_first)
    side: list[Record] = []
    for record in rest:
        if name := _side(record):
            side.append(record)
            if len(side) >= _MANY and name != INLINE:
                break
            continue
        yield record
        if isinstance(record.payload, Message):
            yield from (record for record in rest if not _side(record))
            return
    yield from map(_as_own, chain(side, rest))


def _side(record: Record) -> str:
    """The side chain that a record is of; "" for the main run."""
    payload = record.payload
    if isinstance(payload, Message):
        return payload.sidechain
    return text_of(payload.extra.get("sidechain")) if isinstance(payload, Event) else ""


def _as_own(record: Record) -> Record:
    payload = record.payload
    if isinstance(payload, Message):
        return record._replace(payload=payload._replace(sidechain=""))
    return record
