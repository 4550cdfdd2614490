"""Messages of OpenCode 2 (table `session_message`): one object each, its blocks inside.

From the schema that the client carries with it since 1.18 (`Session.Message`); its content blocks
are those of version 1 under other names. Pure; content never raises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sessionlog.formats.base import (
    dict_of,
    event_record,
    list_of,
    message_record,
    other_record,
    response,
    text_of,
)
from sessionlog.formats.opencode_parts import time_of
from sessionlog.formats.opencode_usage import LAST
from sessionlog.formats.parts import image_at, json_text, rest_of
from sessionlog.records import Activity, Image, Kind, Record, Reset, Span

Body = Mapping[str, Any]

_IDS = ("id", "sessionID", "type", "time", "text")


def v2_records(info: Body, span: Span) -> list[Record]:
    """The records of a message, by its `type`."""
    at = time_of(dict_of(info.get("time")).get("created"))
    made = _MAKERS[text_of(info.get("type"))](info, span, at)
    key = text_of(info.get("id"))
    return [record._replace(part=n, key=key) for n, record in enumerate(made)]


def _user(info: Body, span: Span, at: str) -> Iterator[Record]:
    files = [dict_of(file) for file in list_of(info.get("files"))]
    yield message_record("user", text_of(info.get("text")), span, at, images=_images(files),
                         extra=rest_of(info, *_IDS, "files"))  # fmt: skip
    for file in files:
        name = text_of(file.get("name")) or text_of(file.get("mime"))
        yield message_record("attachment", name, span, at, extra=rest_of(file, "uri"))


def _images(files: list[Mapping[str, Any]]) -> tuple[Image, ...]:
    return tuple(
        image_at(text_of(file.get("uri")))._replace(media_type=text_of(file.get("mime")))
        for file in files
        if text_of(file.get("mime")).startswith("image/")
    )


def _system(info: Body, span: Span, at: str) -> Iterator[Record]:
    extra = rest_of(info, *_IDS)
    yield message_record("system", text_of(info.get("text")), span, at, extra=extra)


def _shell(info: Body, span: Span, at: str) -> Iterator[Record]:
    """A command that the person ran by hand."""
    words = (f"! {text_of(info.get('command'))}", text_of(info.get("output")).rstrip("\n"))
    yield message_record("system", "\n".join(filter(None, words)), span, at,
                         extra={"note": "shell", **rest_of(info, *_IDS, "output")})  # fmt: skip


def _switched(info: Body, span: Span, at: str) -> Iterator[Record]:
    text = json_text(info.get("agent") or info.get("model"))
    yield event_record(text_of(info.get("type")), span, at, text=text, extra=rest_of(info, *_IDS))


def _compaction(info: Body, span: Span, at: str) -> Iterator[Record]:
    """The conversation goes on with a summary and with the last words, which it repeats."""
    yield Record(Kind.RESET, at, Reset("compaction"), span)
    words = filter(None, (text_of(info.get("summary")), text_of(info.get("recent"))))
    extra = rest_of(info, *_IDS, "summary", "recent")
    yield message_record("summary", "\n\n".join(words), span, at, extra=extra)


def _assistant(info: Body, span: Span, at: str) -> Iterator[Record]:
    times, model = dict_of(info.get("time")), dict_of(info.get("model"))
    about = {"modelID": model.get("id"), "providerID": model.get("providerID")}
    answer = f"{text_of(info.get('id'))} {times.get('created')}"
    error = dict_of(info.get("error"))
    for block in list_of(info.get("content")):
        yield from _block(dict_of(block), span, at, answer)
    ended = time_of(times.get("completed"))
    if error:
        yield event_record(text_of(error.get("type")) or "error", span, ended or at, quiet=False,
                           ok=False, ends=True, text=text_of(error.get("message")))  # fmt: skip
    extra = {**about, **rest_of(info, *_IDS, "content", "model"), "ended": bool(ended)}
    yield event_record(LAST, span, ended or at, text=text_of(info.get("finish")), extra=extra)


def _block(block: Body, span: Span, at: str, answer: str) -> Iterator[Record]:
    kind = text_of(block.get("type"))
    begun = time_of(dict_of(block.get("time")).get("created")) or at
    if kind == "tool":
        yield from _tool(block, span, begun, answer)
    elif kind in ("text", "reasoning"):
        text = text_of(block.get("text"))
        yield message_record("assistant" if kind == "text" else kind, text, span, begun,
                             answer=answer, quiet=not text.strip())  # fmt: skip
    else:
        yield other_record(kind or "block", block, span, begun)


def _tool(block: Body, span: Span, at: str, answer: str) -> Iterator[Record]:
    id, name = text_of(block.get("id")), text_of(block.get("name"))
    state = dict_of(block.get("state"))
    status, times = state.get("status"), dict_of(block.get("time"))
    asked = Activity("request", id, name, json_text(state.get("input")), extra={"status": status})
    yield message_record("activity", "", span, at, activity=asked, answer=answer)
    texts = [text_of(dict_of(c).get("text")) for c in list_of(state.get("content"))]
    text = "\n".join(filter(None, texts))
    if status not in ("completed", "error"):
        if text:
            yield event_record("output so far", span, at, quiet=False, tool=name, text=text,
                               call_id=id)  # fmt: skip
        return
    failure = None
    if status == "error":
        failure = text_of(dict_of(state.get("error")).get("message")) or "failed without a word"
        text = "\n".join(filter(None, (text, failure)))
    result = text or json_text(state.get("result") or state.get("structured"))
    half = response(name, id, result, failure and text, extra=rest_of(state, "input", "content"))
    yield message_record("activity", text, span, time_of(times.get("completed")) or at,
                         activity=half, answer=answer)  # fmt: skip


_MAKERS: dict[str, Callable[[Body, Span, str], Iterator[Record]]] = {
    "user": _user,
    "synthetic": _system,
    "system": _system,
    "shell": _shell,
    "agent-switched": _switched,
    "model-switched": _switched,
    "compaction": _compaction,
    "assistant": _assistant,
}
TYPES = frozenset(_MAKERS)
"""Types of messages that are known."""
