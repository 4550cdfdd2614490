"""What the services refuse, by their documentation and their error messages: a list of faults.

Written from the rules, not from the code that keeps them.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Iterator
from typing import Any

_ID = re.compile(r"[a-zA-Z0-9_-]+")
_MEDIA = ("image/png", "image/jpeg", "image/gif", "image/webp")
_MAGIC = {"image/png": b"\x89PNG", "image/jpeg": b"\xff\xd8\xff", "image/gif": b"GIF8",
          "image/webp": b"RIFF"}  # fmt: skip


def anthropic_faults(messages: Any) -> list[str]:
    """Faults of messages for Anthropic's Messages API."""
    faults = list(_any_faults(messages))
    if not messages or messages[0].get("role") != "user":
        return [*faults, "the first message is not the user's"]
    if messages[-1]["role"] != "user":
        faults.append("the last message is not the user's")
    asked: list[str] = []
    seen: set[str] = set()
    pictures: list[str] = []
    for n, message in enumerate(messages):
        where = f"messages.{n}"
        if set(message) != {"role", "content"}:
            faults.append(f"{where}: fields {sorted(message)}")
        if message["role"] != ("assistant" if n % 2 else "user"):
            faults.append(f"{where}: roles do not alternate")
        blocks = message["content"]
        if not isinstance(blocks, list) or not blocks:
            faults.append(f"{where}: no content")
            continue
        results = [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
        if sorted(results) != sorted(asked):
            faults.append(f"{where}: results {results} of calls {asked}")
        if any(b["type"] != "tool_result" for b in blocks[: len(results)]):
            faults.append(f"{where}: results are not at the start")
        asked = [b["id"] for b in blocks if b["type"] == "tool_use"]
        if seen & set(asked) or len(set(asked)) < len(asked):
            faults.append(f"{where}: an id comes again")
        seen.update(asked)
        for block in blocks:
            faults += _block_faults(block, message["role"], where, pictures)
    faults += _picture_faults(pictures)
    return faults


def _block_faults(block: Any, role: str, where: str, pictures: list[str]) -> Iterator[str]:
    kind = block["type"]
    allowed = ("text", "tool_use") if role == "assistant" else ("text", "tool_result", "image")
    if kind not in allowed:
        yield f"{where}: {kind} in a message of the {role}"
    elif kind == "text":
        yield from _text_faults(block, where)
    elif kind == "image":
        source = block["source"]
        if source["type"] != "base64":
            yield f"{where}: a source of type {source['type']}"
        pictures.append(f"{source['media_type']},{source['data']}")
    elif kind == "tool_use":
        if set(block) != {"type", "id", "name", "input"} or not isinstance(block["input"], dict):
            yield f"{where}: the input is no object"
        if not _ID.fullmatch(block["id"]):
            yield f"{where}: id {block['id']!r}"
        if not re.fullmatch(r"[a-zA-Z0-9_-]{1,128}", block["name"]):
            yield f"{where}: name {block['name']!r}"
    else:
        content = block["content"]
        if not isinstance(block.get("is_error", False), bool):
            yield f"{where}: is_error is no truth value"
        if isinstance(content, str):
            yield from _text_faults({"type": "text", "text": content}, where)
            return
        if not content or any(inner["type"] not in ("text", "image") for inner in content):
            yield f"{where}: content of a result"
        for inner in content:
            yield from _block_faults(inner, "user", where, pictures)


def _text_faults(block: Any, where: str) -> Iterator[str]:
    if set(block) != {"type", "text"} or not isinstance(block["text"], str):
        yield f"{where}: {sorted(block)} is no text"
    elif not block["text"].strip():
        yield f"{where}: a text without words"


def openai_faults(messages: Any) -> list[str]:
    """Faults of messages for OpenAI's chat completions."""
    faults = list(_any_faults(messages))
    if not messages or messages[-1]["role"] != "user":
        faults.append("the last message is not the user's")
    waiting: list[str] = []
    seen: set[str] = set()
    pictures: list[str] = []
    for n, message in enumerate(messages):
        where, role = f"messages[{n}]", message["role"]
        if role not in ("system", "user", "assistant", "tool"):
            faults.append(f"{where}: role {role}")
        faults += _content_faults(message, where, pictures)
        if role == "tool":
            id = message["tool_call_id"]
            if id not in waiting:
                faults.append(f"{where}: answers no call that waits: {id}")
            else:
                waiting.remove(id)
            continue
        if waiting:
            faults.append(f"{where}: calls {waiting} are not answered before it")
        calls = message.get("tool_calls")
        waiting = [call["id"] for call in calls] if calls else []
        if seen & set(waiting) or len(set(waiting)) < len(waiting):
            faults.append(f"{where}: an id comes again")
        seen.update(waiting)
        if calls is not None and (role != "assistant" or not calls):
            faults.append(f"{where}: no calls, or not the assistant's")
        for call in calls or []:
            faults += _call_faults(call, where)
    if waiting:
        faults.append(f"calls {waiting} are not answered")
    return faults + list(_picture_faults(pictures))


def _content_faults(message: Any, where: str, pictures: list[str]) -> Iterator[str]:
    content = message["content"]
    if content is None:
        if message["role"] != "assistant" or not message.get("tool_calls"):
            yield f"{where}: no content"
    elif isinstance(content, str):
        if not content.strip():
            yield f"{where}: a text without words"
    elif message["role"] != "user" or not content:
        yield f"{where}: parts, or none, in a message of the role {message['role']}"
    else:
        for part in content:
            if part["type"] == "text":
                yield from _text_faults(part, where)
            elif part["type"] == "image_url":
                pictures.append(
                    part["image_url"]["url"].removeprefix("data:").replace(";base64", "")
                )
            else:
                yield f"{where}: a part {part['type']}"


def _call_faults(call: Any, where: str) -> Iterator[str]:
    if set(call) != {"id", "type", "function"} or call["type"] != "function":
        yield f"{where}: a call with {sorted(call)}"
    if not 1 <= len(call["id"]) <= 64:
        yield f"{where}: id {call['id']!r}"
    function = call["function"]
    if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", function["name"]):
        yield f"{where}: name {function['name']!r}"
    if not isinstance(function["arguments"], str):
        yield f"{where}: arguments are no text"
    elif not isinstance(_strict(function["arguments"]), dict):
        yield f"{where}: arguments are no object"


def _picture_faults(pictures: list[str]) -> Iterator[str]:
    """Types by the bytes, and Anthropic's limits on size and number."""
    if len(pictures) > 100 or sum(map(len, pictures)) > 30_000_000:
        yield f"{len(pictures)} pictures are too many or too big together"
    for picture in pictures:
        media, _, data = picture.partition(",")
        if media not in _MEDIA or len(data) > 5 * 1024 * 1024:
            yield f"a picture of type {media} and {len(data)} characters"
        elif not base64.b64decode(data, validate=True).startswith(_MAGIC[media]):
            yield f"a picture that is no {media}"


def _any_faults(messages: Any) -> Iterator[str]:
    """What no JSON reader takes: it has to be a list that UTF-8 and JSON can hold."""
    waiting = [messages]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += [*value, *value.values()]
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, str) and re.search("[\ud800-\udfff]", value):
            yield f"a lone surrogate in {value[:40]!r}"
        elif isinstance(value, float) and not math.isfinite(value):
            yield f"{value} is no JSON"
        elif not isinstance(value, str | int | float | bool | None):
            yield f"{type(value)} is no JSON"


def _strict(text: str) -> Any:
    """The value of a JSON text by the standard's letter; None where there is none."""

    def refuse(word: str) -> None:
        raise ValueError(word)

    try:
        return json.loads(text, parse_constant=refuse)
    except ValueError:
        return None
