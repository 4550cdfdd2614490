"""What a line of Gemini CLI's log says: messages, notes of the client, changes of its head.

A line is decoded by itself. What earlier lines said already, its mark tells (`stores.gemini_fold`),
so that each text, call and result counts once: the client writes an answer first without and then
with its calls, and each result twice, in `toolCalls` and as the next user message. The client's
rules are those of its source, 0.61.0 (`convertSessionToClientHistory`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sessionlog.formats.base import dict_of, event_record, list_of, other_record, response, text_of
from sessionlog.formats.gemini_parts import (
    CONTEXTS,
    MODEL,
    NOTES,
    TOLD,
    Call,
    answers_in,
    calls_of,
    is_whole,
    key_of,
    parts_of,
    said,
)
from sessionlog.formats.parts import image_at, image_inline, json_text, rest_of
from sessionlog.records import Activity, Image, Kind, Message, Meta, Origin, Record, Reset, Span

CANCELLED = "Request cancelled."
"""The client's note that a person stopped the answer."""
NUDGE = "System: Please continue."
"""What the client itself says when the model stopped with nothing."""
_HALTS = {
    "The session has reached the maximum number of turns": "max_turns",
    "A potential loop was detected": "loop_detected",
}
"""How notes of the client begin by which it stopped the model itself, and why."""
_FAILED = ("error", "cancelled")
_META = ("sessionId", "startTime", "directories", "messages", "forkedFrom", TOLD)


def records_of(value: Mapping[str, Any], span: Span) -> list[Record]:
    """The records of one object of a line; at least one."""
    told = dict_of(value.get(TOLD))
    if isinstance(value.get("$rewindTo"), str):
        return [
            Record(
                Kind.RESET, "", Reset("rewind", keep=_keep(told), drop=_keys(told, "drop")), span
            )
        ]
    if isinstance(value.get("id"), str):
        return list(_numbered(_message(value, told, span)))
    if isinstance(value.get("$set"), dict):
        return list(_numbered(_change(value["$set"], told, span)))
    if isinstance(value.get("sessionId"), str):
        return list(_numbered(_head(value, span)))
    return [other_record("line", rest_of(value, TOLD), span)]


def _numbered(records: Iterable[Record]) -> Iterator[Record]:
    for part, record in enumerate(records):
        yield record._replace(part=part) if part else record


def _keep(told: Mapping[str, Any]) -> tuple[str, str] | None:
    keys = list_of(told.get("keep"))
    return (text_of(keys[0]), text_of(keys[1])) if len(keys) == 2 else None


def _keys(told: Mapping[str, Any], name: str) -> frozenset[str]:
    """Of the messages that a mark lists, the keys of all their records."""
    return frozenset(key_of(id, again) for id in _names(told.get(name)) for again in (False, True))


# -- the head ----------------------------------------------------------------------------------


def _head(value: Mapping[str, Any], span: Span) -> Iterator[Record]:
    origin, folders = dict_of(value.get("forkedFrom")), list_of(value.get("directories"))
    at = origin.get("at")
    parent = text_of(origin.get("sessionId"))
    meta = Meta(
        id=text_of(value.get("sessionId")),
        driver="gemini",
        workdir=text_of(folders[0]) if folders else "",
        resumed_from=parent if parent and type(at) is not int else None,
        forked_from=Origin(parent, at) if parent and type(at) is int else None,
        extra=rest_of(value, *_META),
    )
    yield Record(Kind.META, text_of(value.get("startTime")), meta, span)
    yield from _listed(value.get("messages"), {}, span)


def _change(change: Mapping[str, Any], told: Mapping[str, Any], span: Span) -> Iterator[Record]:
    at = text_of(change.get("lastUpdated"))
    if told.get("reset") is True:
        why = "the conversation was replaced"
        drop, behind = (_keys(told, name) for name in ("drop", "behind"))
        reset = Reset(why, keep=_keep(told), drop=drop, behind=behind)
        yield Record(Kind.RESET, at, reset, span)
    else:
        extra = rest_of(change, "messages")
        yield event_record("update", span, at, text=text_of(change.get("summary")), extra=extra)
    yield from _listed(change.get("messages"), dict_of(told.get("messages")), span)


def _listed(messages: Any, told: Mapping[str, Any], span: Span) -> Iterator[Record]:
    """The messages of a list as far as no line told them before."""
    found = [m for m in list_of(messages) if isinstance(m, dict) and isinstance(m.get("id"), str)]
    last = {message["id"]: message for message in found}
    for message in last.values():
        records = _message(message, dict_of(told.get(message["id"])), span)
        yield from (record for record in records if record.kind is not Kind.EVENT or record.at)


# -- messages ----------------------------------------------------------------------------------


def _message(value: Mapping[str, Any], told: Mapping[str, Any], span: Span) -> Iterator[Record]:
    kind, at = text_of(value.get("type")), text_of(value.get("timestamp"))
    again = told.get("said") is True
    key = key_of(value["id"], again)
    if kind in MODEL:
        messages = list(_answer(value, told, again))
    elif kind == "user":
        messages = list(_prompt(value, told, again))
    elif kind in NOTES:
        yield _note(kind, value, span, at, again)._replace(key=key)
        return
    elif not again:
        yield other_record(kind or "message", dict(value), span, at)._replace(key=key)
        return
    else:
        messages = []
    for message in messages:
        quiet = not (message.text.strip() or message.images or message.activity)
        yield Record(Kind.MESSAGE, at, message, span, 0, key, quiet)
    if not messages:
        yield event_record("again", span, at, key=key)


def _note(kind: str, value: Mapping[str, Any], span: Span, at: str, again: bool) -> Record:
    """What the client tells the person; the model never hears it."""
    text = _words(parts_of(value.get("content")))
    if text.strip() == CANCELLED:
        return event_record("cancelled", span, at, text=text, ok=False, ends=True, quiet=again)
    if halted := next((word for start, word in _HALTS.items() if text.startswith(start)), ""):
        return event_record(halted, span, at, text=text, ok=False, ends=True, quiet=again)
    failed = kind == "error"
    return event_record(
        kind, span, at, text=text, ok=False if failed else None, ends=failed, quiet=again
    )


def _prompt(value: Mapping[str, Any], told: Mapping[str, Any], again: bool) -> Iterator[Message]:
    """A user's message: results first, as the service wants them."""
    parts = parts_of(value.get("content"))
    known = _names(told.get("results"))
    results = [answer for answer in answers_in(parts) if answer.key not in known]
    yield from (_result(answer.id, answer.name, answer.response, {}) for answer in results)
    text, images = _words(parts), _images(parts)
    if again or not (text.strip() or images):
        return
    start = text.lstrip()
    if start.startswith(CONTEXTS):
        tag = start[1 : start.index(">")]
        yield Message("system", text, extra={"note": tag})
    elif start == NUDGE:
        yield Message("system", text, extra={"note": "nudge"})
    else:
        shown = _words(parts_of(value.get("displayContent")))
        extra = {"display": shown} if shown and shown != text else {}
        yield Message("user", text, images=images, extra=extra, unsent=told.get("unsent") is True)


def _answer(value: Mapping[str, Any], told: Mapping[str, Any], again: bool) -> Iterator[Message]:
    """The model's message: thoughts, text, calls, results."""
    parts = parts_of(value.get("content"))
    extra = {key: value[key] for key in ("model", "tokens") if value.get(key)}
    calls = calls_of(value, parts)
    if not again:
        texts = list(_texts(value, parts))
        empty = Message("assistant", unsent=True)  # the client leaves out what is empty
        for message in texts or [empty]:
            yield message._replace(answer=value["id"], extra=extra)
    asked, answered = _names(told.get("calls")), _names(told.get("results"))
    for call in calls:
        if call.key not in asked:
            yield Message("activity", activity=_request(call), answer=value["id"], extra=extra)
    for call in calls:
        if call.key not in answered and (found := _response(call)) is not None:
            yield found._replace(answer=value["id"])


def _names(listed: Any) -> set[str]:
    return {name for name in list_of(listed) if isinstance(name, str)}


def _texts(value: Mapping[str, Any], parts: list[Mapping[str, Any]]) -> Iterator[Message]:
    if not is_whole(parts):
        for thought in list_of(value.get("thoughts")):
            if text := _thought(dict_of(thought)):
                yield Message("reasoning", text)
    for part in parts:
        if part.get("thought") is True and text_of(part.get("text")):
            yield Message("reasoning", part["text"])
    text, images = _words(parts), _images(parts)
    if text or images:
        yield Message("assistant", text, images=images)


def _thought(thought: Mapping[str, Any]) -> str:
    """A thought in the words in which the client tells it to the model again."""
    subject, description = text_of(thought.get("subject")), text_of(thought.get("description"))
    return f"**{subject}** {description}".rstrip() if subject else description


def _words(parts: list[Mapping[str, Any]]) -> str:
    """The text of the parts; what is neither text, thought, picture nor call stays as JSON."""
    if all("text" in part for part in parts):
        return said(parts)
    texts = []
    for part in parts:
        if "text" in part:
            texts.append(said([part]))
        elif not any(key in part for key in ("functionCall", "functionResponse")):
            texts += [] if _image(part) else [json_text(part)]
    return "\n\n".join(text for text in texts if text)


def _images(parts: list[Mapping[str, Any]]) -> tuple[Image, ...]:
    return tuple(image for part in parts if (image := _image(part)))


def _image(part: Mapping[str, Any]) -> Image | None:
    inline, file = dict_of(part.get("inlineData")), dict_of(part.get("fileData"))
    if isinstance(inline.get("data"), str):
        return image_inline(text_of(inline.get("mimeType")), inline["data"])
    if isinstance(file.get("fileUri"), str):
        return image_at(file["fileUri"])._replace(media_type=text_of(file.get("mimeType")))
    return None


# -- calls -------------------------------------------------------------------------------------


def _request(call: Call) -> Activity:
    extra = {
        key: call.entry[key]
        for key in ("status", "timestamp", "displayName", "agentId")
        if call.entry.get(key)
    }
    return Activity("request", call.id, call.name, json_text(call.args), extra=extra)


def _response(call: Call) -> Message | None:
    """The answer to a call, None where there is none: not for one that failed without a word to
    the model, which a service would miss."""
    if call.response is None:
        return None
    failed = call.entry.get("status") in _FAILED
    return _result(call.id, call.name, call.response, call.entry, failed)


def _result(
    id: str, name: str, body: Mapping[str, Any], entry: Mapping[str, Any], failed: bool = False
) -> Message:
    error, output = body.get("error"), body.get("output", body.get("content"))
    value = output if output is not None else error if error is not None else dict(body)
    text = value if isinstance(value, str) else json_text(value)
    failed = failed or (error is not None and output is None)
    display = entry.get("resultDisplay")
    extra: dict[str, Any] = {}
    if isinstance(display, dict) and isinstance(display.get("fileDiff"), str):
        extra["details"] = {"diff": display["fileDiff"], "path": text_of(display.get("filePath"))}
    agent = text_of(entry.get("agentId"))
    half = response(
        name, id, value, (text or "failed without a word") if failed else None,
        extra={"agent_id": agent} if agent else {},
    )  # fmt: skip
    return Message("activity", text, half, extra=extra)
