"""A session as messages for any program: what a resume would hand over, in the two wire forms.

What the services document is kept, so that a program can send the messages as they are: see
`turns` for what both ask for, and for what is left out.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from sessionlog import codec
from sessionlog.errors import NotPossible, SessionExists
from sessionlog.pictures import Picture
from sessionlog.session import Session
from sessionlog.turns import Answer, Call, Part, Said, tool_name, turns

Wire = dict[str, Any]

_BEGINNING = "(The beginning of this conversation is not here.)"
_INSTRUCTIONS = "System instructions of this conversation:\n\n"
_TOOL_NAME = {"anthropic": 128, "openai": 64}
"""Longest name of a tool."""


def anthropic_messages(session: Session, note: str = "") -> list[Wire]:
    """The context as messages for Anthropic's Messages API.

    Roles alternate and the user has the first word; the results of a turn's calls stand at the
    start of the next message. Messages have no system role: instructions are a text of the
    user's that says so.
    """
    messages: list[Wire] = []
    for turn in turns(session, note):
        if isinstance(turn, Said):
            _add(messages, "assistant" if turn.role == "assistant" else "user", _words(turn))
        else:
            _add(messages, "assistant", [_tool_use(call) for call in turn])
            _add(messages, "user", [_tool_result(call) for call in turn])
    if messages[0]["role"] == "assistant":
        messages.insert(0, {"role": "user", "content": [_block(_BEGINNING)]})
    return messages


def openai_messages(session: Session, note: str = "") -> list[Wire]:
    """The context as messages for OpenAI's chat completions.

    Every call is answered by a `tool` message right behind the message that makes it. These hold
    text alone: the pictures that a tool gave follow as a message of the user.
    """
    messages: list[Wire] = []
    for turn in turns(session, note):
        if isinstance(turn, Said):
            messages.append({"role": turn.role, "content": _content(turn.parts)})
            continue
        if not messages or messages[-1]["role"] != "assistant":
            messages.append({"role": "assistant", "content": None})
        messages[-1]["tool_calls"] = [_tool_call(call) for call in turn]
        messages += [_tool_message(call) for call in turn]
        messages += [_shown(call) for call in turn if _pictures(call.answer)]
    return messages


def write_messages(path: str | os.PathLike[str], messages: Sequence[Wire]) -> None:
    """Write messages as one JSON list into a new file that is its owner's alone.

    Raises SessionExists when the path is taken, NotPossible when the disk refuses; then there is
    no file.
    """
    name = os.fspath(path)
    data = codec.dumps(list(messages))
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        fd = os.open(name, flags, 0o600)
    except FileExistsError:
        raise SessionExists(f"{name}: is there already; nothing was overwritten") from None
    except (OSError, ValueError) as error:
        raise NotPossible(f"{name}: {getattr(error, 'strerror', error)}") from None
    try:
        with open(fd, "wb") as file:
            os.fchmod(fd, 0o600)
            file.write(data)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(name)
        if isinstance(error, OSError):
            raise NotPossible(f"{name}: {error.strerror}") from None
        raise


def _add(messages: list[Wire], role: str, blocks: list[Wire]) -> None:
    if messages and messages[-1]["role"] == role:
        messages[-1]["content"] += blocks
    else:
        messages.append({"role": role, "content": blocks})


def _words(said: Said) -> list[Wire]:
    blocks = [_block(part) for part in said.parts]
    if said.role == "system":
        blocks[0]["text"] = _INSTRUCTIONS + blocks[0]["text"]
    return blocks


def _block(part: Part) -> Wire:
    if isinstance(part, Picture):
        source = {"type": "base64", "media_type": part.media_type, "data": part.data}
        return {"type": "image", "source": source}
    return {"type": "text", "text": part}


def _tool_use(call: Call) -> Wire:
    name = tool_name(call.tool, _TOOL_NAME["anthropic"])
    return {"type": "tool_use", "id": call.id, "name": name, "input": call.arguments}


def _tool_result(call: Call) -> Wire:
    parts = call.answer.parts
    content = parts[0] if len(parts) == 1 else [_block(part) for part in parts]
    result = {"type": "tool_result", "tool_use_id": call.id, "content": content}
    return result | ({"is_error": True} if call.answer.failed else {})


def _content(parts: Sequence[Part]) -> str | list[Wire]:
    """Text where there is nothing but text, else parts."""
    texts = [part for part in parts if isinstance(part, str)]
    if len(texts) == len(parts):
        return "\n\n".join(texts)
    return [_piece(part) for part in parts]


def _piece(part: Part) -> Wire:
    if isinstance(part, Picture):
        url = f"data:{part.media_type};base64,{part.data}"
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "text", "text": part}


def _tool_call(call: Call) -> Wire:
    function = {
        "name": tool_name(call.tool, _TOOL_NAME["openai"]),
        "arguments": codec.dumps(call.arguments).decode(),
    }
    return {"id": call.id, "type": "function", "function": function}


def _tool_message(call: Call) -> Wire:
    texts = [part for part in call.answer.parts if isinstance(part, str)]
    return {"role": "tool", "tool_call_id": call.id, "content": "\n\n".join(texts)}


def _shown(call: Call) -> Wire:
    """The pictures that a tool gave."""
    told = f"Pictures from the call {call.id}:"
    return {"role": "user", "content": [_piece(part) for part in (told, *_pictures(call.answer))]}


def _pictures(answer: Answer) -> list[Part]:
    return [part for part in answer.parts if isinstance(part, Picture)]
