"""What a message of mini-swe-agent asks to be run.

Version 1 takes a command from the one fenced block of an answer, version 2 from tool calls (or,
when it is told to, from the text as before) and notes it under ``extra.actions``. From the public
source (agents/default.py of 1.0 to 1.17, models/utils/actions_*.py of 2.0 to 2.3). Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from sessionlog.formats.base import dict_of, list_of, text_of
from sessionlog.formats.parts import json_text

_FENCE = re.compile(
    r"```(?:bash|mswea_bash_command)[ \t]*\s\n?(.*?)\n[ \t]*```"
    r"|<mswea_bash_command>(.*?)</mswea_bash_command>",
    re.DOTALL,
)
TOOL = "bash"
"""The one tool."""


class Command(NamedTuple):
    """One thing to run."""

    id: str
    """Of the tool call; "" for one that stands in the text."""
    tool: str
    arguments: str
    """JSON text, verbatim where it is a tool call's."""


def opens(message: Mapping[str, Any]) -> bool:
    """Does a message begin a step: an answer of the model, or a command of the person's own?"""
    return (
        message.get("role") == "assistant"
        or isinstance(message.get("output"), list)
        or bool(_actions(message))
    )


def commands(message: Mapping[str, Any]) -> list[Command]:
    """What a message asks to be run, in order; [] for one that asks for nothing."""
    if calls := [call for call in _dicts(message.get("tool_calls")) if "function" in call]:
        return [_called(call, dict_of(call.get("function"))) for call in calls]
    if isinstance(message.get("output"), list):
        items = _dicts(message["output"])
        return [_called(item, item) for item in items if item.get("type") == "function_call"]
    if actions := _actions(message):
        return [
            Command(text_of(action.get("tool_call_id")), TOOL, _bash(action.get("command")))
            for action in actions
        ]
    if message.get("role") != "assistant":
        return []
    found = _FENCE.findall(text_in(message.get("content")))
    return [Command("", TOOL, _bash((a or b).strip())) for a, b in found] if len(found) == 1 else []


def without_command(text: str) -> str:
    """The words of an answer, without the one fenced block that is its command."""
    if len(_FENCE.findall(text)) != 1:
        return text
    return _FENCE.sub("", text).strip()


def text_in(content: Any) -> str:
    """The text of a message's content: a string, or parts of which some are text."""
    if isinstance(content, str):
        return content
    parts = list_of(content)
    texts = [p if isinstance(p, str) else text_of(dict_of(p).get("text")) for p in parts]
    return "\n\n".join(filter(None, texts))


def _actions(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return _dicts(dict_of(message.get("extra")).get("actions"))


def _called(call: Mapping[str, Any], function: Mapping[str, Any]) -> Command:
    id = text_of(call.get("call_id")) or text_of(call.get("id"))
    return Command(id, text_of(function.get("name")), json_text(function.get("arguments")))


def _bash(command: Any) -> str:
    return json_text({"command": command})


def _dicts(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in list_of(value) if isinstance(item, dict)]
