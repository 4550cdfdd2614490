"""Which dialects there are, and which one a line speaks."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from sessionlog.dialects import NAMES
from sessionlog.dialects.base import About, Dialect, loaded
from sessionlog.errors import NotPossible

_CLASSES = {
    "anthropic-sse": ("anthropic_sse", "AnthropicSse"),
    "openai-sse": ("openai_sse", "OpenAiSse"),
    "claude-stream-json": ("claude_stream_json", "ClaudeStreamJson"),
    "codex-exec-json": ("codex_exec_json", "CodexExecJson"),
    "text": ("text", "Text"),
}

_ANTHROPIC = ("message_start", "content_block_start", "content_block_delta", "content_block_stop",
              "message_delta", "message_stop", "ping")  # fmt: skip
_CLAUDE = ("system", "assistant", "user", "result", "stream_event")
_CODEX = ("thread.started", "turn.started", "turn.completed", "turn.failed", "item.started",
          "item.updated", "item.completed")  # fmt: skip
"""Types that only these have."""


def dialect(name: str) -> Dialect:
    """A new one of that name. Raises NotPossible for a name that is not in NAMES."""
    if name not in _CLASSES:
        raise NotPossible(f"no dialect {name!r}: one of {', '.join(NAMES)}")
    module, kind = _CLASSES[name]
    made: Dialect = getattr(import_module(f"sessionlog.dialects.{module}"), kind)()
    return made


def named_by(line: bytes) -> str:
    """The dialect that a line speaks; "" where it does not tell."""
    if line.startswith(b"event:"):
        return _by_event(line[6:].strip().decode("latin-1"))
    sent = line.startswith(b"data:")
    body = line[5:].strip() if sent else line
    if body == b"[DONE]":
        return "openai-sse"
    value = loaded(body)
    return "" if value is None else _by_value(value, sent)


def about(line: bytes) -> About | None:
    """What a line tells of the run as a whole; None where that is still to come."""
    name = named_by(line)
    value = loaded(line.removeprefix(b"data:").strip())
    if not name or value is None:
        return None
    told: About | None = import_module(f"sessionlog.dialects.{_CLASSES[name][0]}").about(value)
    return told


def _by_event(kind: str) -> str:
    if kind in _ANTHROPIC:
        return "anthropic-sse"
    return "openai-sse" if kind.startswith("response.") else ""


def _by_value(value: Mapping[str, Any], sent: bool) -> str:
    """`sent`: as an event's data; else it stands alone on its line."""
    kind = value.get("type")
    kind = kind if isinstance(kind, str) else ""
    if not sent and kind in _CODEX:
        return "codex-exec-json"
    if not sent and kind in _CLAUDE and ("session_id" in value or "message" in value):
        return "claude-stream-json"
    if kind == "error" and isinstance(value.get("error"), dict):
        return "anthropic-sse"
    if isinstance(value.get("error"), dict) or "choices" in value:
        return "openai-sse"
    return _by_event(kind) if kind != "ping" or sent else ""
