"""The entries of an Agent Session as records: what was said, and what is told beside it.

From RFC 0001 of the format, drafts 0.1 to 0.12: members that a draft does not define are kept, and
so are entries of other types; neither is in the context of the model.
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
from sessionlog.formats.parts import image_at, json_text, rest_of
from sessionlog.records import Activity, Image, Kind, Message, Record, Reset, Span

Body = Mapping[str, Any]

_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
_TEXTS = ("input_text", "output_text", "text", "summary_text", "reasoning_text")
_CALLS = ("function_call", "custom_tool_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output")
_ENVELOPE = ("type", "id", "legacy_id", "parent", "ts")
_SHORT = 200


def entry_records(value: Body, span: Span) -> list[Record]:
    """The records of an entry; never none."""
    kind, at = text_of(value.get("type")), text_of(value.get("ts"))
    maker = _MAKERS.get(kind)
    if maker is not None:
        return list(maker(value, span, at))
    return [other_record(kind or "entry", value, span, at, quiet=":" in kind)]


# -- what was said -----------------------------------------------------------------------------


def _item(value: Body, span: Span, at: str) -> Iterator[Record]:
    """An item of the conversation. One that a reader hides is the harness's, not a person's."""
    answer = text_of(value.get("response"))
    message = message_of(value.get("item"), answer)
    extra = {**message.extra, **rest_of(value, *_ENVELOPE, "item", "response")}
    hidden = value.get("visible") is False
    if hidden and message.type == "user":
        message, extra["note"] = message._replace(type="system"), "hidden"
    if not message.answer and message.type in ("assistant", "reasoning"):
        message = message._replace(answer=f"@{span.offset}")
    empty = not (message.text.strip() or message.images or message.activity)
    yield Record(Kind.MESSAGE, at, message._replace(extra=extra), span, quiet=hidden or empty)


def message_of(item: Any, answer: str = "") -> Message:
    """An Open Responses item as a message; of a type that is not known, as it stands."""
    body = dict_of(item)
    kind = text_of(body.get("type"))
    if kind in _CALLS:
        return Message("activity", activity=_request(body), answer=answer)
    if kind in _OUTPUTS:
        return _result(body)
    if kind == "reasoning":
        texts = [*content_of(body.get("summary"))[0], *content_of(body.get("content"))[0]]
        extra = rest_of(body, "type", "summary", "content")
        return Message("reasoning", "\n\n".join(texts), answer=answer, extra=extra)
    if kind == "message" or (not kind and "role" in body):
        role = text_of(body.get("role"))
        texts, images = content_of(body.get("content"))
        extra = rest_of(body, "type", "role", "content")
        return Message(_ROLES.get(role, role or "message"), "\n\n".join(texts), images=images,
                       answer=answer if role == "assistant" else "", extra=extra)  # fmt: skip
    known = kind == "compaction"
    text = "" if known else json_text(item)
    return Message("summary" if known else kind or "item", text, extra=dict(body))


def content_of(content: Any) -> tuple[list[str], tuple[Image, ...]]:
    """Texts and pictures of an item's content; what is neither stays as JSON text."""
    if isinstance(content, str):
        return [content], ()
    texts: list[str] = []
    images: list[Image] = []
    for part in list_of(content):
        body = dict_of(part)
        kind = body.get("type")
        if kind in _TEXTS and isinstance(body.get("text"), str):
            texts.append(body["text"])
        elif kind == "refusal" and isinstance(body.get("refusal"), str):
            texts.append(body["refusal"])
        elif kind == "input_image":
            url = body.get("image_url")
            images.append(image_at(text_of(url) or text_of(dict_of(url).get("url"))))
        else:
            texts.append(json_text(part))
    return texts, tuple(images)


def _request(body: Body) -> Activity:
    arguments = body.get("arguments", body.get("input"))
    return Activity("request", text_of(body.get("call_id")), text_of(body.get("name")),
                    json_text(arguments), extra=rest_of(body, "type", "call_id", "name",
                                                        "arguments", "input"))  # fmt: skip


def _result(body: Body) -> Message:
    """What a call gave; the format has no word for a call that failed."""
    output = body.get("output")
    texts, images = content_of(output)
    text = "\n".join(texts)
    value = text if isinstance(output, str | list) or output is None else output
    half = response("", text_of(body.get("call_id")), value, None,
                    extra=rest_of(body, "type", "call_id", "output"))  # fmt: skip
    return Message("activity", text or json_text(value), activity=half, images=images)


def _compaction(value: Body, span: Span, at: str) -> Iterator[Record]:
    """The context goes on with a summary, with items that were kept word for word, and with what
    stands from the first kept entry on. The kept items are copies of earlier ones."""
    first = text_of(value.get("first_kept"))
    extra = rest_of(value, *_ENVELOPE, "summary", "pinned")
    yield Record(Kind.RESET, at, Reset("compaction", keep=(first, "") if first else None), span)
    summary = message_of(value.get("summary"))
    yield message_record("summary", summary.text, span, at, images=summary.images, extra=extra)
    for item in list_of(value.get("pinned")):
        kept = message_of(item)
        role = text_of(dict_of(item).get("role"))
        yield message_record("summary", kept.text or json_text(item), span, at, images=kept.images,
                             extra={"note": "pinned", "role": role})  # fmt: skip


def _branch(value: Body, span: Span, at: str) -> Iterator[Record]:
    """The run went back to an earlier entry; what was left is told in a summary."""
    summary = message_of(value.get("summary"))
    extra = {"note": "branch_summary", **rest_of(value, *_ENVELOPE, "summary")}
    yield message_record("summary", summary.text, span, at, images=summary.images, extra=extra)


# -- what is told beside it --------------------------------------------------------------------


def _note(
    value: Body, span: Span, at: str, text: str, *, quiet: bool = True, **more: Any
) -> Iterator[Record]:
    extra = rest_of(value, *_ENVELOPE)
    yield event_record(text_of(value.get("type")), span, at, quiet=quiet, text=text[:_SHORT],
                       call_id=text_of(value.get("call_id")), extra=extra, **more)  # fmt: skip


def _response(value: Body, span: Span, at: str) -> Iterator[Record]:
    """How one call of the model went. Nobody needs a status: the error and what is incomplete
    tell."""
    error, cut = value.get("error"), value.get("incomplete")
    failed = error not in (None, {}, "") or cut not in (None, {}, "", False)
    words = (
        text_of(dict_of(error).get("message")) or text_of(dict_of(cut).get("reason"))
        or json_text(error or cut)
    )  # fmt: skip
    text = (words or "failed") if failed else text_of(value.get("model"))
    return _note(value, span, at, text, quiet=not failed, ok=False if failed else None)


def _config(value: Body, span: Span, at: str) -> Iterator[Record]:
    texts = [text_of(value.get("model")), text_of(value.get("instructions"))]
    return _note(value, span, at, ": ".join(filter(None, texts)))


def _run(value: Body, span: Span, at: str) -> Iterator[Record]:
    phase, reason = text_of(value.get("phase")), text_of(value.get("reason"))
    words = (phase, reason or text_of(value.get("source")), text_of(value.get("ref")))
    bad = reason in ("error", "aborted", "interrupted")
    return _note(value, span, at, " ".join(filter(None, words)), quiet=not bad,
                 ends=phase == "end", ok=False if bad else None)  # fmt: skip


def _decision(value: Body, span: Span, at: str) -> Iterator[Record]:
    verdict = text_of(value.get("verdict"))
    words = (verdict, text_of(value.get("by")), text_of(value.get("reason")))
    refused = verdict == "reject"
    return _note(value, span, at, " ".join(filter(None, words)), quiet=not refused,
                 ok=False if refused else None)  # fmt: skip


def _queued(value: Body, span: Span, at: str) -> Iterator[Record]:
    """Typed ahead; it is said when an item takes it up."""
    return _note(value, span, at, message_of(value.get("item")).text)


def _outcome(value: Body, span: Span, at: str) -> Iterator[Record]:
    passed = value.get("pass")
    ok = passed if isinstance(passed, bool) else None
    words = (text_of(value.get("kind")), text_of(value.get("label")), json_text(value.get("score")))
    return _note(value, span, at, " ".join(filter(None, words)), quiet=False, ok=ok)


def _telling(*keys: str) -> Callable[[Body, Span, str], Iterator[Record]]:
    """Entries whose words stand in these members."""

    def told(value: Body, span: Span, at: str) -> Iterator[Record]:
        words = (text_of(value.get(key)) for key in keys)
        return _note(value, span, at, " ".join(filter(None, words)))

    return told


_MAKERS: dict[str, Callable[[Body, Span, str], Iterator[Record]]] = {
    "item": _item,
    "response": _response,
    "config": _config,
    "compaction": _compaction,
    "branch_summary": _branch,
    "run": _run,
    "dispatch": _telling("call_id"),
    "decision": _decision,
    "queued": _queued,
    "withdraw": _telling("by", "reason"),
    "label": _telling("label"),
    "info": _telling("name"),
    "env": _telling("cwd"),
    "outcome": _outcome,
    "link": _telling("rel", "session"),
    "custom": _telling("ns"),
}
CORE = frozenset(_MAKERS)
"""The types of entries that the format defines."""
