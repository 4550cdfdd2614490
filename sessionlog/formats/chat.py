"""Plain chat: lines of {role, content}, as many programs write them.

One message a line, with OpenAI's or Anthropic's parts, or one whole conversation a line
({"messages": [...]}, as in fine-tuning sets); `stores.trajectory` brings conversations that are one
document here. Between the messages there may be lines of type tool_call, tool_result and error, and
marks of the program's own, as roles that begin with "_" (Kimi's context.jsonl). Such a log names no
session, records no ending, and says of its calls no more than that they were made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sessionlog.codec import loads
from sessionlog.formats.base import (
    Actor,
    Description,
    Head,
    decoded_bits,
    dict_of,
    event_record,
    list_of,
    message_record,
    other_record,
    response,
    standing,
    text_of,
)
from sessionlog.formats.chat_actor import ChatActor
from sessionlog.formats.parts import image_at, image_inline, json_text, rest_of
from sessionlog.formats.tokens import anthropic, openai
from sessionlog.framing import split
from sessionlog.records import (
    Activity,
    Ending,
    Entry,
    Event,
    Image,
    Kind,
    Message,
    Meta,
    Other,
    Record,
    Reset,
    Span,
    Usage,
    shown_type,
    stamp,
)

_ROLES = {"system": "system", "developer": "system", "user": "user", "human": "user",
          "assistant": "assistant", "model": "assistant", "_system_prompt": "system"}  # fmt: skip
_RESULTS = ("tool", "function")
_SYSTEM = "_system_prompt"
_LINES = ("tool_call", "tool_result", "error")
_SAID = ("content", "tool_calls", "parts", "function_call")
_FOREIGN = ("trajectory_format", "sessionId", "projectHash", "trajectory", "eval", "working_dir")
"""Fields of other agents' documents that hold messages too."""
_FOREIGN_PARTS = ("toolRequest", "toolResponse")
_NAMELESS = ("messages", "context")
"""Names that a program gives all of its logs (Mistral Vibe, Kimi): there the folder names it."""
_REASONING = ("reasoning_content", "reasoning", "thinking")
_TEXTS = ("", "text", "input_text", "output_text")
_IMAGES = ("image", "image_url", "input_image")
_LOOK = 50
"""Lines that recognising goes by."""
_SPOKEN_FAR = 400
"""Records that the ending of a log looks at."""

Body = Mapping[str, Any]


class Chat:
    """Plain chat's answers."""

    name = "chat"
    agent = ""
    actor: Actor | None = ChatActor()

    def recognises(self, head: Head) -> bool:
        """Most of the first lines have to be turns as a whole, so that a document which holds a
        few, one a line, is none."""
        if not any(map(_is_turn, head.values)) or any(map(_is_foreign, head.values)):
            return False
        lines = [line.data for line in split(head.data)[:_LOOK] if line.data.strip()]
        turns = sum(self.plausible(dict_of(_whole(data))) for data in lines)
        return turns * 2 >= len(lines)

    def plausible(self, value: Mapping[str, Any]) -> bool:
        return _is_turn(value) or value.get("type") in _LINES or _is_mark(value)

    def decode(self, value: dict[str, Any], span: Span) -> list[Record]:
        if "role" not in value and isinstance(value.get("messages"), list):
            return _conversation(value, span)
        at = _time(value)
        kind = value.get("type")
        if _is_mark(value):
            records = [_mark(value, span, at)]
        elif isinstance(value.get("role"), str):
            records = list(_turn(value, span, at))
        elif kind == "tool_call":
            records = [_request(value, span, at)]
        elif kind == "tool_result":
            records = [_result(value, value.get("result", value.get("content")), span, at)]
        elif kind == "error":
            records = [event_record("error", span, at, quiet=False, text=_error(value), ok=False)]
        else:
            records = [other_record(text_of(kind) or "record", value, span, at)]
        return _parted(records)

    def describe(
        self, path: str, oldest_first: Iterable[Record], newest_first: Iterable[Record]
    ) -> Description:
        """The file's name is the id, or its folder's; the first prompt the title."""
        started = title = model = ""
        for count, record in enumerate(oldest_first):
            started = started or record.at
            payload = record.payload
            if isinstance(payload, Message):
                model = model or text_of(payload.extra.get("model"))
                title = title or (payload.text.strip() if payload.type == "user" else "")
            elif isinstance(payload, Other) and isinstance(payload.data, dict):
                model = model or text_of(payload.data.get("model"))
            if (title and model) or count >= _LOOK:
                break
        return Description(Meta(id=_name(path), model=model), title, started)

    def ending(self, newest_first: Iterable[Record]) -> Ending:
        """An answer without a call is an ending of which nobody knows how it went."""
        seen: list[Record] = []
        error = ""
        for record in newest_first:
            payload = record.payload
            if isinstance(payload, Message) and not seen and shown_type(payload) == "assistant":
                return Ending(True, None, None, error or "done", "the last message is an answer")
            if isinstance(payload, Event) and not seen:
                error = error or payload.text
            if isinstance(payload, Message):
                seen.append(record)
            if len(seen) == _SPOKEN_FAR:
                break
        ending = standing(seen)
        return ending._replace(text=error) if error else ending

    def glimpse(self, path: str, head: bytes, tail: bytes, size: int) -> Entry | None:
        return None

    def classify(self, data: bytes) -> int:
        return decoded_bits(self, data)

    def usage(self, record: Record) -> Usage | None:
        """A `usage` beside a message, in OpenAI's or Anthropic's words, is that answer's own."""
        message = record.payload
        if not isinstance(message, Message) or record.part:
            return None
        told, model = message.extra.get("usage"), text_of(message.extra.get("model"))
        anthropics = "cache_read_input_tokens" in dict_of(told)
        tokens = anthropic(told) if anthropics else openai(told)
        return Usage(tokens, model=model) if tokens or model else None

    def alive(self, path: str, session_id: str) -> str | None:
        return None


def _whole(data: bytes) -> Any:
    """The value that a line is; None for one that does not decode as a whole."""
    try:
        return loads(data)
    except ValueError:
        return None


def _is_turn(value: Body) -> bool:
    """Is it a message, or a whole conversation?"""
    if isinstance(value.get("role"), str):
        return any(key in value for key in _SAID)
    turns = [turn for turn in list_of(value.get("messages")) if isinstance(turn, dict)]
    return any(isinstance(turn.get("role"), str) and _is_turn(turn) for turn in turns)


def _is_mark(value: Body) -> bool:
    """Is it a note of the program's own among the messages?"""
    role = text_of(value.get("role"))
    return role.startswith("_") and role != _SYSTEM


def _mark(value: Body, span: Span, at: str) -> Record:
    kind = value["role"].lstrip("_") or "mark"
    return event_record(kind, span, at, text=json_text(rest_of(value, "role")), extra=dict(value))


def _name(path: str) -> str:
    folder, _, name = path.rpartition("/")
    stem = name.removesuffix(".jsonl").removesuffix(".json")
    return folder.rpartition("/")[2] or stem if stem in _NAMELESS else stem


def _is_foreign(value: Body) -> bool:
    """Does it belong to an agent whose messages look alike but mean more?"""
    if value.get("type") == "session" or any(key in value for key in _FOREIGN):
        return True
    return any(dict_of(p).get("type") in _FOREIGN_PARTS for p in list_of(value.get("content")))


def _conversation(value: Body, span: Span) -> list[Record]:
    """The messages of a line that is one conversation; a further line begins a new one."""
    at = _time(value)
    records: list[Record] = []
    if span.offset:
        records.append(Record(Kind.RESET, at, Reset("another conversation"), span))
    for turn in value["messages"]:
        if isinstance(turn, dict) and isinstance(turn.get("role"), str):
            records += _turn(turn, span, _time(turn) or at)
        else:
            records.append(other_record("message", turn, span, at))
    rest = rest_of(value, "messages")
    if rest or not records:
        records.append(other_record("conversation", rest, span, at, quiet=True))
    return _parted(records)


def _parted(records: list[Record]) -> list[Record]:
    """The records of one line, counted."""
    if len(records) == 1:
        return records
    return [record._replace(part=part) for part, record in enumerate(records)]


def _turn(value: Body, span: Span, at: str) -> Iterator[Record]:
    """The blocks of one message; never none."""
    role = text_of(value.get("role"))
    content = value.get("content", value.get("parts"))
    if role in _RESULTS:
        yield _result(value, content, span, at)
        return
    kind = _ROLES.get(role, role)
    extra = rest_of(value, "role", "content", "parts", "tool_calls", "function_call", *_REASONING)
    thought = next((text for key in _REASONING if (text := text_of(value.get(key)))), "")
    calls = list_of(value.get("tool_calls"))
    if isinstance(value.get("function_call"), dict):
        calls = [*calls, value["function_call"]]
    if thought:
        yield message_record("reasoning", thought, span, at)
    blocks = list(_blocks(kind, content, span, at, extra))
    if not blocks and not calls and not thought:
        blocks = [message_record(kind, "", span, at, extra=extra)]
    yield from blocks
    for call in calls:
        yield _request(dict_of(call) or {"call": call}, span, at)


def _blocks(
    kind: str, content: Any, span: Span, at: str, extra: dict[str, Any]
) -> Iterator[Record]:
    """Runs of text and pictures as one message each; thoughts, calls and results alone."""
    texts: list[str] = []
    images: list[Image] = []

    def spoken() -> Iterator[Record]:
        if texts or images:
            text = "\n\n".join(texts)
            yield message_record(kind, text, span, at, images=tuple(images), extra=extra)
        texts.clear()
        images.clear()

    if isinstance(content, str):
        content = [content] if content else []
    elif content is not None and not isinstance(content, list):
        content = [content]
    for part in content or []:
        sort = text_of(part.get("type")) if isinstance(part, dict) else ""
        if isinstance(part, str):
            texts.append(part)
        elif sort in _TEXTS and isinstance(dict_of(part).get("text"), str):
            texts.append(part["text"])
        elif sort in _IMAGES:
            images.append(_image(part))
        else:
            yield from spoken()
            yield _block(sort, part, span, at)
    yield from spoken()


def _block(sort: str, part: Any, span: Span, at: str) -> Record:
    """A part that is neither text nor picture."""
    if sort in ("thinking", "reasoning", "redacted_thinking", "think"):
        words = (text_of(part.get(key)) for key in ("thinking", "think", "text"))
        text = next(filter(None, words), "")
        return message_record("reasoning", text, span, at, quiet=not text,
                              extra=rest_of(part, "type", "thinking"))  # fmt: skip
    if sort in ("tool_use", "tool_call"):
        return _request(part, span, at)
    if sort == "tool_result":
        return _result(part, part.get("content"), span, at)
    return other_record(sort or "part", part, span, at)


def _request(value: Body, span: Span, at: str) -> Record:
    """A call, in OpenAI's, Anthropic's or the plain form.

    Where calls have no ids, the tool's name pairs them with their results, one at a time.
    """
    function = dict_of(value.get("function"))
    name = text_of(function.get("name")) or text_of(value.get("name"))
    given = [(body, key) for body in (function, value) for key in ("arguments", "input", "args")]
    arguments = next((body[key] for body, key in given if key in body), None)
    extra = rest_of(value, "type", "id", "name", "function", "arguments", "input", "args")
    activity = Activity("request", _id(value) or name, name, json_text(arguments), extra=extra)
    return message_record("activity", "", span, at, activity=activity)


def _result(value: Body, content: Any, span: Span, at: str) -> Record:
    """What a call gave."""
    name = text_of(value.get("name"))
    text, images = _plain(content)
    failed = value.get("is_error") is True or bool(value.get("error"))
    failure = (_error(value) or text or "failed without a word") if failed else None
    extra = rest_of(value, "type", "role", "content", "result", "name", "id", "tool_call_id",
                    "tool_use_id", "timestamp")  # fmt: skip
    result = content if content is not None and not (text or images) else text
    activity = response(name, _id(value) or name, result, failure, extra=extra)
    return message_record("activity", text, span, at, images=images, activity=activity)


def _plain(content: Any) -> tuple[str, tuple[Image, ...]]:
    """The text and the pictures of a result; other values are the result as they stand."""
    if isinstance(content, str):
        return content, ()
    parts = [part for part in list_of(content) if isinstance(part, dict)]
    texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
    return "\n".join(texts), tuple(_image(p) for p in parts if p.get("type") in _IMAGES)


def _id(value: Body) -> str:
    keys = ("tool_call_id", "tool_use_id", "call_id", "id")
    return next((text for key in keys if (text := text_of(value.get(key)))), "")


def _image(part: Body) -> Image:
    """Anthropic's source or OpenAI's address."""
    source = dict_of(part.get("source"))
    if source.get("type") == "base64":
        return image_inline(text_of(source.get("media_type")), text_of(source.get("data")))
    url = part.get("image_url")
    return image_at(text_of(url) or text_of(dict_of(url).get("url")) or text_of(source.get("url")))


def _error(value: Body) -> str:
    for key in ("text", "message", "error", "content"):
        said = value.get(key)
        if text := text_of(said) or text_of(dict_of(said).get("message")):
            return text
    return ""


def _time(value: Body) -> str:
    """RFC 3339 as it stands; a number counts seconds, or milliseconds, since 1970."""
    told = value.get("timestamp", value.get("created_at"))
    if isinstance(told, str):
        return told
    if not isinstance(told, int | float) or isinstance(told, bool):
        return ""
    try:
        return stamp(told / 1000 if told > 1e11 else told)
    except OverflowError:  # an integer beyond all floats
        return ""
