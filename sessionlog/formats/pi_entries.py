"""The entries of a pi log as records: what was said, and what the client notes beside it.

From the client's documented format (docs/session.md, versions 1 to 3), its public source, and logs
of 1.x to 0.73.1. One message of the API is one entry; its blocks are messages of their own here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sessionlog import splice
from sessionlog.formats.base import (
    dict_of,
    event_record,
    list_of,
    message_record,
    other_record,
    response,
    text_of,
)
from sessionlog.formats.parts import image_at, image_inline, json_text, rest_of
from sessionlog.records import Activity, Image, Kind, Message, Record, Reset, Span

Entry = Mapping[str, Any]

BROKEN = ("error", "aborted")
"""Stop reasons of answers that the client never hands over again, whatever they hold."""
_SHORT = 200
_ENVELOPE = ("type", "id", "parentId", "timestamp")
_LINK = re.compile(rb'\{"type":"\w+","id":"(\w+)","parentId":(?:null|"(\w*)")[,}]')
_TOLD = ("api", "provider", "model", "responseModel", "responseId", "usage", "stopReason",
         "errorMessage", "diagnostics")  # fmt: skip


def entry_records(kind: str, value: Entry, span: Span, at: str) -> list[Record]:
    """The records of an entry; of a kind that is not known, one that keeps it as it stands."""
    maker = _MAKERS.get(kind)
    if maker is not None:
        return maker(value, span, at)
    if kind.endswith("_change"):  # a setting
        return _note(kind, json_text(rest_of(value, *_ENVELOPE)), value, span, at)
    return [other_record(kind or "entry", value, span, at)]


def link_of(data: bytes) -> tuple[str, str] | None:
    """(id, parent) of the entry on a raw line; None where there is none."""
    found = _LINK.match(data)
    if found is not None and data.count(b'"parentId":') == 1:  # else the last counts
        return found[1].decode(), (found[2] or b"").decode()
    value = splice.object_of(data)
    if "parentId" not in value:
        return None
    return text_of(value.get("id")), text_of(value["parentId"])


# -- what was said -----------------------------------------------------------------------------


def _message(value: Entry, span: Span, at: str) -> list[Record]:
    body = dict_of(value.get("message"))
    role = text_of(body.get("role"))
    if not body:
        return [other_record("message", value, span, at)]
    if role == "assistant":
        return _answer(value, body, span, at)
    if role == "toolResult":
        return [_result(body, span, at)]
    if role == "bashExecution":
        return [_shell(body, span, at)]
    if role in ("custom", "hookMessage"):  # the word of versions 1 and 2
        return _injected(body, span, at)
    if role in ("compactionSummary", "branchSummary"):
        return [message_record("summary", text_of(body.get("summary")), span, at,
                               extra=rest_of(body, "role", "summary"))]  # fmt: skip
    texts, images = content_of(body.get("content"))
    extra = rest_of(body, "role", "content", "timestamp")
    return [message_record(role or "message", "\n\n".join(texts), span, at, images=images,
                           extra=extra)]  # fmt: skip


def _answer(value: Entry, body: Entry, span: Span, at: str) -> list[Record]:
    """An answer's blocks. One that broke off is told by an event behind what there is of it."""
    stop = text_of(body.get("stopReason"))
    broken = stop in BROKEN
    name = text_of(value.get("id")) or text_of(body.get("responseId")) or f"@{span.offset}"
    about = {field: body[field] for field in _TOLD if field in body}
    blocks = list(_blocks(body.get("content")))
    if not blocks and not broken:
        blocks = [Message("assistant")]
    records = []
    for part, said in enumerate(blocks):
        full = said._replace(answer=name, unsent=broken, extra={**about, **said.extra})
        empty = not (said.text.strip() or said.activity or said.images)
        records.append(Record(Kind.MESSAGE, at, full, span, part, quiet=empty))
    if broken:
        text = text_of(body.get("errorMessage")) or stop
        records.append(event_record(stop, span, at, part=len(records), quiet=False, ok=False,
                                    ends=True, text=text, extra=about))  # fmt: skip
    return records


def _blocks(content: Any) -> Iterator[Message]:
    for item in [content] if isinstance(content, str) else list_of(content):
        block = dict_of(item)
        kind = text_of(block.get("type"))
        if kind == "thinking":
            yield Message("reasoning", text_of(block.get("thinking")))
        elif kind == "toolCall":
            asked = Activity(
                "request", text_of(block.get("id")), text_of(block.get("name")),
                json_text(block.get("arguments")),
                extra=rest_of(block, "type", "id", "name", "arguments"),
            )  # fmt: skip
            yield Message("activity", activity=asked)
        elif kind in ("", "text", "image"):
            texts, images = content_of([item])
            yield Message("assistant", "\n\n".join(texts), images=images)
        else:
            text = block.get("text")
            yield Message(kind, text if isinstance(text, str) else json_text(block))


def _result(body: Entry, span: Span, at: str) -> Record:
    texts, images = content_of(body.get("content"))
    text = "\n".join(texts)
    failure = (text or "failed without a word") if body.get("isError") is True else None
    half = response(text_of(body.get("toolName")), text_of(body.get("toolCallId")), text, failure)
    extra = rest_of(body, "role", "toolCallId", "toolName", "content", "isError", "timestamp")
    return message_record("activity", text, span, at, images=images, activity=half, extra=extra)


def _shell(body: Entry, span: Span, at: str) -> Record:
    """A command that the person ran by hand (`!`); with `!!` the model is not told of it."""
    output = text_of(body.get("output"))
    code = body.get("exitCode")
    words = [f"! {text_of(body.get('command'))}", output.rstrip("\n")]
    if body.get("cancelled") is True:
        words.append("(cancelled)")
    elif type(code) is int and code:
        words.append(f"exit code {code}")
    return message_record(
        "system", "\n".join(filter(None, words)), span, at,
        unsent=body.get("excludeFromContext") is True,
        extra={"note": "bashExecution", **rest_of(body, "role", "output", "timestamp")},
    )  # fmt: skip


def _injected(value: Entry, span: Span, at: str) -> list[Record]:
    """What an extension put into the conversation; `display` false: not for a person's eyes."""
    texts, images = content_of(value.get("content"))
    extra = {"note": text_of(value.get("customType")) or "custom",
             **rest_of(value, *_ENVELOPE, "role", "customType", "content")}  # fmt: skip
    return [message_record("system", "\n\n".join(texts), span, at, images=images, extra=extra,
                           quiet=value.get("display") is False)]  # fmt: skip


def _compaction(value: Entry, span: Span, at: str) -> list[Record]:
    """The conversation goes on with a summary and with what stands behind the first kept entry.

    Version 1 counts entries instead of naming one: the header is the first, each has its line.
    """
    first, index = text_of(value.get("firstKeptEntryId")), value.get("firstKeptEntryIndex")
    line = index + 1 if type(index) is int and index > 0 and not first else None
    reset = Reset("compaction", keep=(first, "") if first else None, keep_line=line)
    extra = rest_of(value, *_ENVELOPE, "summary", "firstKeptEntryId")
    return [
        Record(Kind.RESET, at, reset, span),
        message_record("summary", text_of(value.get("summary")), span, at, part=1, extra=extra),
    ]


def _branch(value: Entry, span: Span, at: str) -> list[Record]:
    """The person went back to an earlier entry; what was left is told in a summary."""
    extra = {"note": "branch_summary", **rest_of(value, *_ENVELOPE, "summary")}
    return [message_record("summary", text_of(value.get("summary")), span, at, extra=extra)]


def content_of(content: Any) -> tuple[list[str], tuple[Image, ...]]:
    """Texts and pictures of a message's content; what is neither stays as JSON text."""
    if isinstance(content, str):
        return [content], ()
    texts: list[str] = []
    images: list[Image] = []
    for block in list_of(content):
        kind = dict_of(block).get("type")
        if kind == "text" and isinstance(block.get("text"), str):
            texts.append(block["text"])
        elif kind == "image":
            images.append(_image(block))
        else:
            texts.append(json_text(block))
    return texts, tuple(images)


def _image(block: Entry) -> Image:
    data, media = text_of(block.get("data")), text_of(block.get("mimeType"))
    if data:
        return image_inline(media, data)
    return image_at(text_of(block.get("url")))._replace(media_type=media)


# -- what the client notes beside it -----------------------------------------------------------


def _note(kind: str, text: str, value: Entry, span: Span, at: str) -> list[Record]:
    return [event_record(kind, span, at, text=text[:_SHORT], extra=rest_of(value, *_ENVELOPE))]


def _model(value: Entry, span: Span, at: str) -> list[Record]:
    return _note("model_change", text_of(value.get("modelId")), value, span, at)


def _thinking(value: Entry, span: Span, at: str) -> list[Record]:
    return _note("thinking_level_change", text_of(value.get("thinkingLevel")), value, span, at)


def _label(value: Entry, span: Span, at: str) -> list[Record]:
    return _note("label", text_of(value.get("label")), value, span, at)


def _info(value: Entry, span: Span, at: str) -> list[Record]:
    return _note("session_info", text_of(value.get("name")), value, span, at)


def _custom(value: Entry, span: Span, at: str) -> list[Record]:
    """State of an extension; the model is never told of it."""
    return _note("custom", text_of(value.get("customType")), value, span, at)


_MAKERS: dict[str, Callable[[Entry, Span, str], list[Record]]] = {
    "message": _message,
    "custom_message": _injected,
    "compaction": _compaction,
    "branch_summary": _branch,
    "model_change": _model,
    "thinking_level_change": _thinking,
    "label": _label,
    "session_info": _info,
    "custom": _custom,
}
KINDS = frozenset(_MAKERS)
"""The kinds of entries that are known."""
