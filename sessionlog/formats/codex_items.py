"""The items that Codex exchanges with the model, as records.

They are the Responses API's items, one a line: messages, reasoning, calls and their outputs.
From clients.md's runs of codex 0.171.0, logs of 0.39 to 0.142 and of before 0.32, and the client's
public source. A kind that is not known here is kept: by its name's ending as a call or an output,
with a text as a message, else as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from sessionlog.codec import loads
from sessionlog.formats.base import (
    dict_of,
    list_of,
    message_record,
    other_record,
    response,
    text_of,
)
from sessionlog.formats.parts import image_at, image_inline, json_text, rest_of
from sessionlog.records import NOTHING, Activity, Image, Message, Record, Span

Item = Mapping[str, Any]

_ROLES = {"assistant": "assistant", "developer": "system", "system": "system"}
_HARNESS = (
    "<environment_context", "# AGENTS.md instructions", "<user_instructions>", "<turn_aborted>",
    "<permissions instructions>", "<subagent_notification>", "<skills_instructions>", "<skill>",
    "<apps_instructions>", "<plugins_instructions>", "<collaboration_mode>", "<user_shell_command>",
    "<hook_prompt", "<goal_context>", "<model_switch>", "<personality_spec>", "<token_budget",
    "<realtime_conversation>", "<multi_agent", "<INSTRUCTIONS>",
)  # fmt: skip
"""How texts begin that the client puts into the conversation under the role of the user."""
_IMAGE_TAG = re.compile(r"\s*(?:<image(?: name=[^>]*)?>|</image>)\s*\Z")
"""Texts that the client sets around a picture."""
_QUIET = ("ghost_snapshot",)
_SUMMARIES = ("compaction", "compaction_summary", "context_compaction")
"""The condensed conversation, as opaque text."""

_EXIT = re.compile(
    r"(?:(?:Chunk ID|Wall time|Session ID|Original token count|Total output lines)[^\n]*\n){0,5}"
    r"(?:Process exited with code |Exit code: )(-?\d{1,10})\s*$",
    re.MULTILINE,
)
_FAILED = re.compile(
    r"(?:Wall time[^\n]*\n)?(?:"
    r"aborted(?: by user[^\n]*)?\s*\Z|Interrupted by the user\.\Z|failed in sandbox|"
    r"sandbox error|execution error|"
    r"exec_command failed|write_stdin failed|command timed out after|tool call error|"
    r"apply_patch verification failed|patch rejected|failed to parse function arguments|"
    r"unsupported (?:custom tool )?call|(?:exec command )?rejected by user|err: )"
)
"""How the client, or a repair, words a call that gave no output: no texts of a tool's."""


class Outcome(NamedTuple):
    """What an output says."""

    text: str
    failed: bool | None = None
    """None: it does not say."""
    images: tuple[Image, ...] = ()
    value: Any = None
    """The output where it is no text."""
    extra: Item = NOTHING


def item_records(item: Item, span: Span, at: str) -> list[Record]:
    """The records of one item; never empty."""
    kind = text_of(item.get("type"))
    make = _MAKERS.get(kind)
    if make is None and kind.endswith("_output"):
        make = _output
    elif make is None and kind.endswith("_call") and item.get("call_id"):
        make = _call
    elif make is None and isinstance(item.get("content"), str | list):
        make = _told
    if make is None:
        return [other_record(kind or "item", item, span, at, quiet=kind in _QUIET)]
    return make(item, span, at)


def messages_of(history: Any) -> Iterable[Message]:
    """The messages of a list of items, such as the context that a compaction leaves."""
    for item in list_of(history):
        if isinstance(item, dict):
            for record in item_records(item, Span(0, 0, 0), ""):
                if isinstance(record.payload, Message):
                    yield record.payload


def content_of(parts: Any) -> tuple[list[str], tuple[Image, ...]]:
    """Texts and pictures of a content list, in order; parts of other kinds as JSON text."""
    if isinstance(parts, str):
        return [parts], ()
    texts, images = [], []
    for part in list_of(parts):
        if isinstance(part, str):
            texts.append(part)
        elif not isinstance(part, dict):
            texts.append(json_text(part))
        elif part.get("type") == "input_image":
            url = part.get("image_url")
            images.append(image_at(text_of(url) or text_of(dict_of(url).get("url"))))
        elif isinstance(part.get("text"), str):
            if not _IMAGE_TAG.match(part["text"]):
                texts.append(part["text"])
        elif part.get("text") is not None or "text" not in part:
            texts.append(json_text(part))
    return texts, tuple(images)


def _pairing_id(item: Item, name: str) -> str:
    """What pairs a call with its output: `call_id`, or the call's own id in older shell calls.

    A search among tools that the provider ran has neither in its output, so the name has to do.
    """
    own = item.get("id") if item.get("type") != "tool_search_call" else None
    return text_of(item.get("call_id")) or text_of(own) or name


def _key(item: Item) -> str:
    return text_of(item.get("id"))


def _message(item: Item, span: Span, at: str) -> list[Record]:
    texts, images = content_of(item.get("content"))
    kind = _type_of(item, texts)
    # the ids of old logs' messages are missing, so the place of the line names the answer
    answer = (_key(item) or f"@{span.offset}") if kind == "assistant" else ""
    extra = rest_of(item, "type", "role", "content")
    return [
        message_record(kind, "\n\n".join(texts), span, at, key=_key(item), images=images,
                       answer=answer, extra=extra)
    ]  # fmt: skip


def _type_of(item: Item, texts: list[str]) -> str:
    """Whose words they are: of a person only what is not the client's own context.

    `content_item_kinds` says so since 0.149; before, the texts' beginnings do.
    """
    role = text_of(item.get("role"))
    if role != "user":
        return _ROLES.get(role, role or "message")
    told = dict_of(item.get("internal_chat_message_metadata_passthrough"))
    kinds = [kind for kind in list_of(told.get("content_item_kinds")) if isinstance(kind, str)]
    if any(kind.startswith("user.") for kind in kinds):
        return "user"
    if any(kind != "unknown" for kind in kinds):
        return "system"
    return "system" if any(text.lstrip().startswith(_HARNESS) for text in texts) else "user"


def _told(item: Item, span: Span, at: str) -> list[Record]:
    """A message of a kind that is not known, such as one between agents: under its own type."""
    texts, images = content_of(item.get("content"))
    extra = rest_of(item, "content")
    return [
        message_record(text_of(item.get("type")) or "message", "\n\n".join(texts), span, at,
                       key=_key(item), images=images, extra=extra)
    ]  # fmt: skip


def _reasoning(item: Item, span: Span, at: str) -> list[Record]:
    """The summary where there is one, else the raw text; often both are empty or encrypted."""
    texts, _ = content_of(item.get("summary"))
    text = "\n\n".join(texts or content_of(item.get("content"))[0])
    extra = rest_of(item, "type", "summary")
    key = _key(item)
    return [message_record("reasoning", text, span, at, key=key, quiet=not text, extra=extra)]


def _summary(item: Item, span: Span, at: str) -> list[Record]:
    return [message_record("summary", "", span, at, key=_key(item), extra=rest_of(item, "type"))]


def _call(item: Item, span: Span, at: str) -> list[Record]:
    name = text_of(item.get("name")) or text_of(item.get("type")).removesuffix("_call")
    space = text_of(item.get("namespace"))
    given = next((item[key] for key in ("arguments", "input", "action") if key in item), None)
    full = f"{space}.{name}" if space else name
    extra = rest_of(item, "type", "name", "namespace", "arguments", "input", "action", "call_id")
    activity = Activity("request", _pairing_id(item, name), full, json_text(given), extra=extra)
    return [message_record("activity", "", span, at, key=_key(item), activity=activity)]


def _output(item: Item, span: Span, at: str) -> list[Record]:
    name = text_of(item.get("name"))
    read = _read(item["tools"] if "output" not in item and "tools" in item else item.get("output"))
    failed = item.get("success") is False or item.get("status") == "failed"
    if item.get("success") is None and not failed:
        failed = read.failed is True
    extra = {**rest_of(item, "type", "output", "call_id", "name", "tools"), **read.extra}
    tool = name or text_of(item.get("type")).removesuffix("_output").removesuffix("_call")
    call = text_of(item.get("call_id")) or tool  # an output's own id is not its call's
    failure = (read.text or "failed without a word") if failed else None
    value = read.text if read.value is None else read.value
    activity = response(name, call, value, failure, extra=extra)
    return [
        message_record("activity", read.text, span, at, key=_key(item), images=read.images,
                       activity=activity)
    ]  # fmt: skip


def _hosted(item: Item, span: Span, at: str) -> list[Record]:
    """A call that the provider ran inside its answer: the item is written when it is over."""
    name = text_of(item.get("type")).removesuffix("_call")
    call = _pairing_id(item, f"{name}@{span.offset}")
    given = item.get("action") or {"prompt": item.get("revised_prompt")}
    picture = text_of(item.get("result"))
    extra = rest_of(item, "type", "action", "revised_prompt", "result", "call_id")
    failure = "failed" if item.get("status") == "failed" else None
    images = (image_inline("image/png", picture),) if picture else ()
    asked = Activity("request", call, name, json_text(given), extra=extra)
    key = _key(item)
    return [
        message_record("activity", "", span, at, key=key, activity=asked),
        message_record("activity", "", span, at, part=1, key=key, images=images,
                       activity=response(name, call, None, failure)),
    ]  # fmt: skip


def _read(output: Any) -> Outcome:
    """An output in any of its shapes: text, JSON in a text, parts, an object, nothing."""
    if isinstance(output, str):
        return _read_text(output)
    if isinstance(output, dict):
        return _read_object(output)
    if isinstance(output, list) and all(_is_part(part) for part in output):
        texts, images = content_of(output)
        text = "\n".join(texts)
        return Outcome(text, _says_failed(text), images)
    return Outcome("", value=output)


def _read_text(text: str) -> Outcome:
    """The shell's output was wrapped in JSON up to 0.4x, MCP results in a list of parts."""
    if text.startswith(('{"output"', '[{"t')):
        try:
            value = loads(text.encode("utf-8", "surrogatepass"))
        except ValueError:
            value = None
        if isinstance(value, list) and all(_is_part(part) for part in value):
            return Outcome("\n".join(content_of(value)[0]), images=content_of(value)[1])
        if isinstance(value, dict) and isinstance(value.get("output"), str):
            return _read_object(value)
    return Outcome(text, _says_failed(text))


def _read_object(output: Item) -> Outcome:
    inner = next((output[key] for key in ("output", "content", "text") if key in output), None)
    if not isinstance(inner, str | list):
        return Outcome("", _flag(output), value=output)
    texts, images = content_of(inner)
    code = dict_of(output.get("metadata")).get("exit_code")
    failed = _flag(output)
    text = "\n".join(texts)
    if failed is None and type(code) is int:
        failed = code != 0
        text = text or (f"exit code {code}" if failed else "")
    elif failed is None:
        failed = _says_failed(text)
    return Outcome(text, failed, images, extra=rest_of(output, "output", "content", "text"))


def _flag(output: Item) -> bool | None:
    """Failed or not, where the object has a field for it."""
    if "Err" in output:
        return True
    for key in ("is_error", "isError"):
        if isinstance(output.get(key), bool):
            return bool(output[key])
    success = output.get("success")
    return not success if isinstance(success, bool) else None


def _says_failed(text: str) -> bool | None:
    if found := _EXIT.match(text):
        return int(found[1]) != 0
    return True if _FAILED.match(text) else None


def _is_part(part: Any) -> bool:
    return isinstance(part, dict) and (
        isinstance(part.get("text"), str) or part.get("type") == "input_image"
    )


_MAKERS: dict[str, Callable[[Item, Span, str], list[Record]]] = {
    "message": _message,
    "reasoning": _reasoning,
    "function_call": _call,
    "custom_tool_call": _call,
    "local_shell_call": _call,
    "tool_search_call": _call,
    "web_search_call": _hosted,
    "image_generation_call": _hosted,
    **dict.fromkeys(_SUMMARIES, _summary),
}
