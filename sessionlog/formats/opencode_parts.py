"""The parts of OpenCode's messages as records: what was said, called, answered and noted.

A message of the client is one object with its parts in order: each text, reasoning, file and tool
call is a message of its own here, and a call that is over has its result right behind it. What the
model is told of a message again, and what not, is the client's own rule (`toModelMessages`, 1.18).
Seen from 1.2 to 1.18. Pure; content never raises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

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
from sessionlog.records import Activity, Image, Record, Span, stamp

Part = Mapping[str, Any]

ABORTED = "MessageAbortedError"
"""The error of an answer that a person interrupted."""
OVER = ("completed", "error")
"""States of a call that has its result."""
_IDS = ("id", "sessionID", "messageID", "type")
_SHORT = 500


class Whole(NamedTuple):
    """What a part has to know of its message."""

    span: Span
    key: str
    """The message's id."""
    role: str
    at: str
    """RFC 3339: when the message was begun."""
    answer: str
    """What its blocks have in common; "" for a person's."""
    unsent: bool
    """The model is never told of it again."""
    about: Mapping[str, Any]
    """Model and agent of the message."""


def time_of(milliseconds: Any) -> str:
    """Unix time in milliseconds as RFC 3339, "" for anything else that stands there."""
    number = milliseconds
    if isinstance(number, bool) or not isinstance(number, int | float):
        return ""
    return stamp(number / 1000)


def part_records(part: Any, whole: Whole) -> Iterator[Record]:
    """The records of one part; of a type that is not known, one that keeps it as it stands."""
    body = dict_of(part)
    maker = _MAKERS.get(text_of(body.get("type")))
    if maker is None:
        yield other_record(text_of(body.get("type")) or "part", part, whole.span, whole.at)
    else:
        yield from maker(body, whole)


# -- what was said -----------------------------------------------------------------------------


def _said(type: str, text: str, part: Part, whole: Whole, **more: Any) -> Record:
    at = time_of(dict_of(part.get("time")).get("start")) or whole.at
    more.setdefault("extra", {**whole.about, **rest_of(part, *_IDS, "text", "time")})
    unsent = more.pop("unsent", False) or whole.unsent
    quiet = not (text.strip() or more.get("images") or more.get("activity"))
    return message_record(
        type, text, whole.span, at, answer=whole.answer, quiet=quiet, unsent=unsent, **more
    )


def _text(part: Part, whole: Whole) -> Iterator[Record]:
    """A text of a person is a prompt, unless the client put it there or keeps it from the model."""
    text = text_of(part.get("text"))
    ignored = part.get("ignored") is True and whole.role == "user"
    own = part.get("synthetic") is True or ignored or whole.role != "user"
    type = "assistant" if whole.role == "assistant" else "system" if own else "user"
    yield _said(type, text, part, whole, unsent=ignored)


def _reasoning(part: Part, whole: Whole) -> Iterator[Record]:
    yield _said("reasoning", text_of(part.get("text")), part, whole)


def _file(part: Part, whole: Whole) -> Iterator[Record]:
    """What a person attached. The content of text files stands in a text part beside it."""
    source = dict_of(part.get("source"))
    name = text_of(part.get("filename")) or text_of(source.get("path"))
    url = text_of(part.get("url"))
    text = name or (url if not url.startswith("data:") else text_of(part.get("mime")))
    extra = {**whole.about, **rest_of(part, *_IDS, "url")}
    if not url.startswith("data:"):
        extra["url"] = url
    yield _said("attachment", text, part, whole, images=_images([part]), extra=extra)


def _images(files: list[Any]) -> tuple[Image, ...]:
    """Those of some files that are pictures, or that the log has whole."""
    found = []
    for file in map(dict_of, files):
        mime, url = text_of(file.get("mime")), text_of(file.get("url"))
        if url and (mime.startswith("image/") or url.startswith("data:image/")):
            image = image_at(url)
            found.append(image._replace(media_type=image.media_type or mime))
    return tuple(found)


def _subtask(part: Part, whole: Whole) -> Iterator[Record]:
    """A person has an agent started: the client makes a `task` call of it."""
    words = filter(None, (text_of(part.get("command")), text_of(part.get("prompt"))))
    yield _said("user", "\n".join(words), part, whole)


# -- what was called ---------------------------------------------------------------------------


def call_id(part: Part) -> str:
    """What pairs a call with its result; one that lost its id has its part's."""
    return text_of(part.get("callID")) or text_of(part.get("id"))


def _tool(part: Part, whole: Whole) -> Iterator[Record]:
    """A call, what it has printed so far if it runs, else its result."""
    state = dict_of(part.get("state"))
    times, told = dict_of(state.get("time")), dict_of(state.get("metadata"))
    id, name = call_id(part), text_of(part.get("tool"))
    given = state.get("input")
    arguments = json_text(given) if given else text_of(state.get("raw")) or json_text(given)
    extra = {**rest_of(part, *_IDS, "tool", "callID", "state"), "status": state.get("status")}
    child = child_of(part)
    if child:
        extra["session"] = child
    asked = Activity("request", id, name, arguments, extra=extra)
    begun = time_of(times.get("start")) or whole.at
    yield _call(asked, "", whole, begun)
    over = state.get("status") in OVER
    printed = text_of(told.get("output"))
    if printed and state.get("status") != "completed" and not _is_told(told):
        yield event_record("output so far", whole.span, begun, quiet=False, tool=name,
                           text=printed, call_id=id)  # fmt: skip
    if over:
        half, text = _result(state, told, name, id)
        files = list_of(state.get("attachments"))
        ended = time_of(times.get("end")) or begun
        yield _call(half, text, whole, ended, _images(files))


def _call(
    half: Activity, text: str, whole: Whole, at: str, images: tuple[Image, ...] = ()
) -> Record:
    return message_record(
        "activity", text, whole.span, at, activity=half, images=images, answer=whole.answer,
        unsent=whole.unsent, extra=whole.about,
    )  # fmt: skip


def _result(state: Part, told: Part, name: str, id: str) -> tuple[Activity, str]:
    """The answering half, and its text. A command that failed counts as completed there."""
    extra = rest_of(state, "status", "input", "output", "error", "raw", "attachments")
    if dict_of(state.get("time")).get("compacted"):
        extra["note"] = "its output was dropped from the context"
    if state.get("status") == "error":
        failure = json_text(state.get("error")) or "failed without a word"
        text = text_of(told.get("output")) if _is_told(told) else failure
        return response(name, id, None, failure, extra=extra), text
    output = json_text(state.get("output"))
    code = told.get("exit")
    failed = type(code) is int and code != 0
    why = (output or f"exit code {code}") if failed else None
    return response(name, id, output, why, extra=extra), output


def _is_told(told: Part) -> bool:
    """Does the model read what a call had printed, and not why it failed? So it is where the
    client itself broke the call off."""
    return told.get("interrupted") is True and isinstance(told.get("output"), str)


def child_of(part: Part) -> str:
    """Id of the session that a call of the `task` tool started, "" for other calls."""
    state = dict_of(part.get("state"))
    named = text_of(dict_of(state.get("metadata")).get("sessionId"))
    if named or part.get("tool") != "task":
        return named
    head, _, rest = text_of(state.get("output"))[:_SHORT].partition("task_id:")
    words = rest.split()
    return words[0] if words and not head.strip() else ""


# -- what the client notes beside it ------------------------------------------------------------


def _event(kind: str, text: str, part: Part, whole: Whole, **more: Any) -> Record:
    return event_record(kind, whole.span, whole.at, text=text[:_SHORT],
                        extra={**whole.about, **rest_of(part, *_IDS)}, **more)  # fmt: skip


def _step_start(part: Part, whole: Whole) -> Iterator[Record]:
    yield _event("step-start", "", part, whole)


def _step_finish(part: Part, whole: Whole) -> Iterator[Record]:
    yield _event("step-finish", text_of(part.get("reason")), part, whole)


def _patch(part: Part, whole: Whole) -> Iterator[Record]:
    files = [text_of(file) for file in list_of(part.get("files"))]
    yield _event("patch", ", ".join(filter(None, files)), part, whole)


def _snapshot(part: Part, whole: Whole) -> Iterator[Record]:
    yield _event("snapshot", text_of(part.get("snapshot")), part, whole)


def _agent(part: Part, whole: Whole) -> Iterator[Record]:
    yield _event("agent", text_of(part.get("name")), part, whole)


def _retry(part: Part, whole: Whole) -> Iterator[Record]:
    text = error_text(dict_of(part.get("error")))
    yield _event("retry", text, part, whole, quiet=False, ok=False)


def _compaction(part: Part, whole: Whole) -> Iterator[Record]:
    """The client asks the model for a summary; see `opencode.decode` for what comes of it."""
    why = "automatic" if part.get("auto") is True else "asked for"
    yield _event("compaction", f"compaction, {why}", part, whole, quiet=False)


def error_text(error: Part) -> str:
    """An error's own words, else its name."""
    told = text_of(dict_of(error.get("data")).get("message")) or text_of(error.get("message"))
    return told or text_of(error.get("name"))


_MAKERS: dict[str, Callable[[Part, Whole], Iterator[Record]]] = {
    "text": _text,
    "reasoning": _reasoning,
    "file": _file,
    "subtask": _subtask,
    "tool": _tool,
    "step-start": _step_start,
    "step-finish": _step_finish,
    "patch": _patch,
    "snapshot": _snapshot,
    "agent": _agent,
    "retry": _retry,
    "compaction": _compaction,
}
