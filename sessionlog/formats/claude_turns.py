"""Where a Claude Code log goes back: a prompt that follows an earlier record than the last one.

Going back (`/rewind`, a prompt that is edited, `--resume-session-at`) writes nothing but the next
prompt, whose `parentUuid` is the record before the one that was taken back, and null where that
was the first. What was taken back stays in the file, and the client sends it no more. Only records
that a person begins a turn with tell: the links of results, hooks and reminders lead to many
places. An answer that follows nothing tells too: the log was written without links, and no null
means anything. Seen with 2.1.332, on its screen and headless.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sessionlog.formats.base import dict_of, list_of, text_of

_NOWHERE = "00000000-0000-0000-0000-000000000000"
"""The leaf of a mark that only lifts an older one."""


def goes_on(value: Mapping[str, Any]) -> str | None:
    """`Record.goes_on` of a line: uuid of the record that a turn goes on from."""
    kind = value.get("type")
    if kind == "last-prompt":
        leaf = text_of(value.get("leafUuid")) if value.get("explicit") is True else ""
        return leaf if leaf != _NOWHERE and leaf else None
    if value.get("isSidechain") is True or "parentUuid" not in value:
        return None
    parent = text_of(value["parentUuid"])
    if kind == "assistant":
        return None if parent else ""
    return parent if _begins(value) else None


def may_go_back(data: bytes) -> bool:
    """Can a raw line be one of those that `goes_on` tells of? True for a few others."""
    if b'"user"' in data:
        return b'"tool_use_id"' not in data
    return b'"local_command"' in data or b'"explicit"' in data


def _begins(value: Mapping[str, Any]) -> bool:
    """Is it what a person said or did, and not what the run brought?"""
    if value.get("type") == "system":
        return value.get("subtype") == "local_command"
    if value.get("type") != "user" or value.get("isCompactSummary") is True:
        return False
    blocks = list_of(dict_of(value.get("message")).get("content"))
    kinds = (text_of(dict_of(block).get("type")) for block in blocks)
    return not value.get("sourceToolUseID") and not any(k.endswith("tool_result") for k in kinds)
