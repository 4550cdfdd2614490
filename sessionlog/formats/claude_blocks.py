"""What a person, Claude and the client said: the content blocks of a record as messages.

One answer of the API is written as up to fourteen records with the same `message.id`, one block
each. Whose words a record of type "user" holds, its text tells: the client puts its own notes,
commands and reminders into the conversation under that role. Seen from 1.0.98 to 2.1.332.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sessionlog.formats.base import dict_of, response, text_of
from sessionlog.formats.parts import image_at, image_inline, json_text, rest_of
from sessionlog.records import Activity, Image, Kind, Message, Record, Span

INTERRUPTS = ("[Request interrupted by user]", "[Request interrupted by user for tool use]")
REFUSED = "The user doesn't want to proceed with this tool use"
_REFUSED = "User rejected tool use"
INLINE = "sidechain"
"""The name of a side chain that stands inside the main log, where no agent is named (1.0)."""
SYNTHETIC = "<synthetic>"
"""The model that the client names where it speaks itself."""
ABOUT = ("cwd", "gitBranch", "version", "sessionId", "forkedFrom", "entrypoint")
"""Fields of a line that tell of the run: a message keeps them."""
_TOLD = ("model", "stop_reason", "usage")

_TAG = re.compile(r"\s*<([a-z]+(?:[-_][a-z]+)*)(?: [^<>]*)?>")
_CLIENT = (
    "command-name", "command-message", "command-args", "local-command-stdout",
    "local-command-stderr", "local-command-caveat", "bash-input", "bash-stdout", "bash-stderr",
    "task-notification", "user-memory-input",
)  # fmt: skip
"""Marks that begin a text of the client's own, whatever stands behind them."""
_ASIDE = (
    *_CLIENT, "system-reminder", "ide_opened_file", "ide_selection", "ide_diagnostics",
    "user-prompt-submit-hook", "session-start-hook", "teammate-message",
)  # fmt: skip
"""Marks whose bodies are not a person's words, though those may go on behind them."""
_MARKS = re.compile(rf"</?(?:{'|'.join(_ASIDE)})(?: [^<>]*)?>")
_TAGS = re.compile(r"</?[a-z]+(?:-[a-z]+)*>")
CAVEAT = "local-command-caveat"
TASK = "task-notification"
"""The client's note that a task in the background ended: it wakes the model."""
OUTPUTS = ("local-command-stdout", "local-command-stderr", "bash-stdout", "bash-stderr")
"""Output of a command that the client ran by itself, asking no model."""

_SHORT = 200
_KEPT = ("structuredPatch", "usage")


def records_of(value: Mapping[str, Any], span: Span, at: str, key: str) -> list[Record]:
    """The messages of a user or an assistant record, in order; at least one."""
    message = dict_of(value.get("message"))
    mine = value.get("type") == "assistant"
    about = {name: value[name] for name in ABOUT if name in value}
    if mine:
        about |= {name: message[name] for name in _TOLD if name in message}
    made = _said(message.get("content")) if mine else _told(value, message.get("content"))
    side = side_of(value)
    answer = (text_of(message.get("id")) or key or f"@{span.offset}") if mine else ""
    empty = Message("assistant" if mine else "user")
    records = []
    for part, said in enumerate(list(made) or [empty]):
        full = said._replace(answer=answer, sidechain=side, extra=about | dict(said.extra))
        quiet = _is_empty(full)
        records.append(Record(Kind.MESSAGE, at, full, span, part, key, quiet))
    return records


def side_of(value: Mapping[str, Any]) -> str:
    """The subagent whose run a record is of, by its id; "" for the main run."""
    if value.get("isSidechain") is not True:
        return ""
    return text_of(value.get("agentId")) or INLINE


def is_interrupt(text: str) -> bool:
    """Is this text the client's note that a person stopped the run?"""
    return text.strip() in INTERRUPTS


def is_refusal(message: Message) -> bool:
    """Is this the answer to a call that a person refused, without a word to go on by?

    A refusal with the person's words in it is an order, and the model goes on.
    """
    text = message.text
    return text.startswith(REFUSED) and "the user said" not in text


def _is_empty(message: Message) -> bool:
    """Nothing to read: thinking with only its signature, output without a word, the caveat that
    stands before each command."""
    said = message.text.strip() or message.images or message.activity
    return not said or message.extra.get("note") == CAVEAT


# -- the model's blocks ------------------------------------------------------------------------


def _said(content: Any) -> Iterator[Message]:
    for block in _blocks(content):
        yield _block(block, "assistant")


def _blocks(content: Any) -> Iterator[Mapping[str, Any]]:
    """Content in any shape as blocks: a bare text is one, what is no block is kept as JSON."""
    if isinstance(content, str):
        yield {"type": "text", "text": content}
    elif isinstance(content, list):
        for block in content:
            if isinstance(block, dict):
                yield block
            else:
                yield {"type": "text", "text": json_text(block)}
    elif content is not None:
        yield {"type": "text", "text": json_text(content)}


def _block(block: Mapping[str, Any], speaker: str) -> Message:
    kind = text_of(block.get("type"))
    if kind == "text":
        return Message(speaker, _text(block))
    if kind in ("thinking", "redacted_thinking"):
        return Message("reasoning", text_of(block.get("thinking")))
    if kind.endswith("tool_use"):  # server_tool_use and mcp_tool_use run elsewhere
        asked = Activity(
            "request", text_of(block.get("id")), text_of(block.get("name")),
            json_text(block.get("input")), extra=rest_of(block, "type", "id", "name", "input"),
        )  # fmt: skip
        return Message("activity", activity=asked)
    if kind.endswith("tool_result"):
        return _result(block, None)
    if kind in ("image", "document"):
        texts, images = _attached([block])
        return Message(speaker, "\n\n".join(texts), images=images)
    text = block.get("text")
    return Message(kind or "block", text if isinstance(text, str) else json_text(block))


def _text(block: Mapping[str, Any]) -> str:
    text = block.get("text")
    return text if isinstance(text, str) else json_text(text)


# -- what stands under the user's role ---------------------------------------------------------


def _told(value: Mapping[str, Any], content: Any) -> Iterator[Message]:
    """A prompt's texts and pictures are one message; a result and a note are one each."""
    blocks = list(_blocks(content))
    results = sum(text_of(block.get("type")).endswith("tool_result") for block in blocks)
    structured = value.get("toolUseResult") if results == 1 else None
    prompt: list[Mapping[str, Any]] = []
    for block in blocks:
        kind = text_of(block.get("type"))
        if kind in ("image", "document") or (kind == "text" and not _is_note(value, block)):
            prompt.append(block)
            continue
        if prompt:
            yield _prompt(prompt)
            prompt = []
        if kind.endswith("tool_result"):
            yield _result(block, structured)
        elif kind == "text":
            yield _note(value, _text(block))
        else:
            yield _block(block, "user")
    if prompt:
        yield _prompt(prompt)


def _is_note(value: Mapping[str, Any], block: Mapping[str, Any]) -> bool:
    if value.get("isMeta") is True or value.get("isCompactSummary") is True:
        return True
    return _mark(_text(block)) != ""


def _mark(text: str) -> str:
    """The first mark of a text that holds no words of a person; "" for any other text."""
    first, at = "", 0
    while (tag := _TAG.match(text, at)) and tag[1] in _ASIDE:
        first = first or tag[1]
        if tag[1] in _CLIENT:
            return first
        closed = text.find(f"</{tag[1]}>", tag.end())
        if closed < 0:
            return ""
        at = closed + len(tag[1]) + 3
    return "" if text[at:].strip() else first


def _note(value: Mapping[str, Any], text: str) -> Message:
    """A summary, a command that the person gave, or a text of the client's own."""
    if value.get("isCompactSummary") is True:
        return Message("summary", text)
    mark = _mark(text)
    if not mark:
        return Message("system", text)
    name = _body(text, "command-name")
    if name and value.get("isMeta") is not True:
        words = f"{name} {_body(text, 'command-args')}".strip()
        return Message("user", words, extra={"note": mark, "command": name})
    return Message("system", _words(mark, text), extra={"note": mark})


def _words(mark: str, text: str) -> str:
    """What a marked text says."""
    if mark == "bash-input":
        return f"! {_body(text, mark)}"
    return (_TAGS if mark == TASK else _MARKS).sub("", text).strip()


def _body(text: str, tag: str) -> str:
    _, opened, rest = text.partition(f"<{tag}>")
    return rest.partition(f"</{tag}>")[0].strip() if opened else ""


def _prompt(blocks: list[Mapping[str, Any]]) -> Message:
    texts, images = _attached(blocks)
    return Message("user", "\n\n".join(texts), images=images)


# -- results and pictures ----------------------------------------------------------------------


def _result(block: Mapping[str, Any], structured: Any) -> Message:
    """The answer to a call; `structured` is what the client keeps beside it (toolUseResult)."""
    content = block.get("content")
    known = content is None or isinstance(content, str | list)
    texts, images = _attached(_blocks(content))
    text = "\n".join(texts)
    failed = block.get("is_error") is True or (
        isinstance(structured, str) and structured.startswith(("Error:", _REFUSED))
    )
    failure = (text or text_of(structured) or "failed without a word") if failed else None
    extra = rest_of(block, "type", "tool_use_id", "content", "is_error")
    if isinstance(structured, dict):
        extra["toolUseResult"] = _kept(structured)
        if text_of(structured.get("agentId")):
            extra["agent_id"] = structured["agentId"]
    call = text_of(block.get("tool_use_id"))
    half = response("", call, text if known else content, failure, extra=extra)
    return Message("activity", text, half, images)


def _kept(structured: Mapping[str, Any]) -> dict[str, Any]:
    """What the structured result tells beyond the text. The whole files in it stay in the line."""
    return {
        key: item
        for key, item in structured.items()
        if key in _KEPT or not isinstance(item, str | list | dict)
        or (isinstance(item, str) and len(item) <= _SHORT)
    }  # fmt: skip


def _attached(blocks: Iterable[Mapping[str, Any]]) -> tuple[list[str], tuple[Image, ...]]:
    """Texts and pictures of blocks; what is neither stays as JSON text."""
    texts: list[str] = []
    images: list[Image] = []
    for block in blocks:
        kind, source = block.get("type"), dict_of(block.get("source"))
        if kind == "text":
            texts.append(_text(block))
        elif kind in ("image", "document") and source.get("type") == "text":
            texts.append(text_of(source.get("data")))
        elif kind in ("image", "document"):
            images.append(_image(source))
        else:
            texts.append(json_text(block))
    return texts, tuple(images)


def _image(source: Mapping[str, Any]) -> Image:
    media, data = text_of(source.get("media_type")), source.get("data")
    if isinstance(data, str):
        return image_inline(media, data)
    if isinstance(source.get("url"), str):
        return image_at(source["url"])._replace(media_type=media)
    return Image(media, extra=source)
