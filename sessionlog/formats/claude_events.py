"""What Claude Code notes beside the conversation: events, most of them bookkeeping.

Up to seven lines in ten are progress, snapshots and settings that are written again and again;
they are quiet. What went wrong (an error of the API, a retry, a failed hook) is shown, and so is
a subtype that is not known. Seen from 1.0.98 to 2.1.332.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sessionlog.formats.base import dict_of, event_record, list_of, text_of
from sessionlog.formats.claude_blocks import side_of
from sessionlog.formats.parts import rest_of
from sessionlog.records import Kind, Record, Reset, Span
from sessionlog.text import took

TITLES = {"custom-title": "customTitle", "agent-name": "agentName", "ai-title": "aiTitle",
          "summary": "summary"}  # fmt: skip
"""Records that name a session, strongest first, and the field that holds the name."""
BOOKKEEPING = {
    "queue-operation": "content", "last-prompt": "lastPrompt", "mode": "mode",
    "permission-mode": "permissionMode", "pr-link": "prUrl", "relocated": "relocatedCwd",
    "task-summary": "summary", "tag": "tag",
    **dict.fromkeys((
        "file-history-snapshot", "file-history-delta", "worktree-state", "bridge-session",
        "frame-link", "started", "result", "atis-latch", "tools-used", "cost-state",
        "api-request", "api-request-shape", "api-request-blob", "agent-color", "agent-setting",
        "speculation-accept", "content-replacement", "attribution-snapshot",
        "marble-origami-commit", "marble-origami-snapshot",
    ), ""),
}  # fmt: skip
"""Records outside the conversation, and the field that says the most."""
QUIET = (
    "turn_duration", "stop_hook_summary", "away_summary", "agents_killed", "memory_saved",
    "bridge_status", "thinking",
)  # fmt: skip
"""Subtypes of system records that are folded away unless they tell of an error."""
_FAILED = (
    "hook_non_blocking_error", "hook_blocking_error", "hook_error_during_execution",
    "hook_stopped_continuation", "hook_cancelled",
)  # fmt: skip
ENDS = ("max_turns_reached", "hook_stopped_continuation")
"""Attachments by which the client notes that it let the model go no further."""
_ENVELOPE = (
    "type", "subtype", "uuid", "timestamp", "parentUuid", "isSidechain", "userType", "cwd",
    "version", "gitBranch", "slug", "entrypoint", "agentId", "isMeta", "level",
)  # fmt: skip
"""Fields that most records repeat; the line has them."""
_LONG = 200
"""Characters of a text that only reminds."""


def bookkeeping(kind: str, value: Mapping[str, Any], span: Span, at: str) -> Record:
    """A record outside the conversation; `kind` is a key of TITLES or BOOKKEEPING."""
    text = text_of(value.get(TITLES.get(kind) or BOOKKEEPING[kind]))
    if kind == "queue-operation":
        text = f"{text_of(value.get('operation'))} {text}".strip()
    elif kind == "tools-used":
        text = _list(value.get("tools"))
    elif kind == "cost-state":
        dollars = _number(value.get("totalCostUSD"))
        text = "" if dollars is None else f"${dollars:.2f}"
    return event_record(kind, span, at, text=text[:_LONG], extra=rest_of(value, *_ENVELOPE))


def api_error(value: Mapping[str, Any], text: str, span: Span, at: str, key: str) -> Record:
    """What the service refused, in the client's words; it ended the turn.

    The client writes it as an answer of the model "<synthetic>" and never sends it.
    """
    side = side_of(value)
    return event_record(
        "api_error", span, at, key=key, quiet=False, ok=False, ends=True, text=text,
        extra=rest_of(value, *_ENVELOPE, "message") | ({"sidechain": side} if side else {}),
    )  # fmt: skip


def system(value: Mapping[str, Any], span: Span, at: str, key: str) -> Record:
    """A record of the client itself; a compaction of the main run is a reset."""
    kind = text_of(value.get("subtype")) or "system"
    if kind == "compact_boundary" and value.get("isSidechain") is not True:
        return reset_of(dict_of(value.get("compactMetadata")), span, at, key)
    extra = rest_of(value, *_ENVELOPE)
    if kind == "api_error":
        return event_record("retry", span, at, key=key, quiet=False, ok=False, text=_retry(value),
                            extra=extra)  # fmt: skip
    hooked = value.get("hookErrors") or value.get("preventedContinuation") is True
    bad = value.get("level") == "error" or (kind == "stop_hook_summary" and bool(hooked))
    text = text_of(value.get("content"))
    if kind == "turn_duration":
        text = _length(value.get("durationMs"))
    elif kind == "stop_hook_summary":
        text = text_of(value.get("stopReason")) or _list(value.get("hookErrors"))
    return event_record(
        kind, span, at, key=key, quiet=kind in QUIET and not bad, ok=False if bad else None,
        ends=kind == "turn_duration", text=text, extra=extra,
    )  # fmt: skip


def progress(value: Mapping[str, Any], span: Span, at: str, key: str) -> Record:
    """A sign of life of a call that runs: a command's output so far, a hook, a subagent's step."""
    data = dict_of(value.get("data"))
    return event_record(
        text_of(data.get("type")) or "progress", span, at, key=key,
        call_id=text_of(value.get("parentToolUseID")), text=_said(data)[:_LONG], extra=data,
    )  # fmt: skip


def attachment(value: Mapping[str, Any], span: Span, at: str, key: str) -> Record:
    """What the client put beside the conversation: hooks, files, lists, reminders."""
    body = dict_of(value.get("attachment"))
    kind = text_of(body.get("type"))
    failed = kind in _FAILED or kind == "max_turns_reached"
    text = _said(body)
    if kind == "max_turns_reached":
        most = body.get("maxTurns")
        text = f"turn limit reached{f' ({most})' if type(most) is int else ''}"
    return event_record(
        kind or "attachment", span, at, key=key, quiet=not failed, ok=False if failed else None,
        ends=kind in ENDS, text=text if failed else text[:_LONG], extra=rest_of(body, "type"),
        call_id=text_of(body.get("toolUseID")),
    )  # fmt: skip


_WORDS = (
    "stderr", "blockingError", "message", "text", "content", "output", "prompt", "filename",
    "displayPath", "path", "stdout", "summary", "query", "command", "agentId", "date",
)  # fmt: skip


def _said(body: Mapping[str, Any]) -> str:
    """The first field that says something, behind the name of the hook if it is one's."""
    hook = text_of(body.get("hookName"))
    for name in _WORDS:
        if text := _words(body.get(name)):
            return f"{hook}: {text}" if hook else text
    return hook or _list(body.get("addedNames")) or _list(body.get("names"))


def _words(item: Any) -> str:
    if isinstance(item, dict):
        item = item.get("blockingError") or item.get("text")
    return item.strip() if isinstance(item, str) else _list(item)


def _list(value: Any) -> str:
    return ", ".join(item for item in list_of(value) if isinstance(item, str))


def reset_of(about: Mapping[str, Any], span: Span, at: str, key: str) -> Record:
    """The client goes on with a summary, and with what it preserved (seen with 2.1.332)."""
    kept = dict_of(about.get("preservedSegment"))
    head, tail = text_of(kept.get("headUuid")), text_of(kept.get("tailUuid"))
    how = "manual" if about.get("trigger") == "manual" else "auto"
    reset = Reset(f"{how} compaction", keep=(head, tail) if head and tail else None)
    return Record(Kind.RESET, at, reset, span, key=key)


def _retry(value: Mapping[str, Any]) -> str:
    """`Overloaded (attempt 1 of 10, next in 0.6s)`"""
    words = _error(value.get("error")) or _error(value.get("cause")) or "API error"
    attempt, most = value.get("retryAttempt"), value.get("maxRetries")
    wait = _length(value.get("retryInMs"))
    counted = type(attempt) is int and type(most) is int
    told = [f"attempt {attempt} of {most}"] if counted else []
    told += [f"next in {wait}"] if wait else []
    return f"{words} ({', '.join(told)})" if told else words


def _error(error: Any) -> str:
    """The words of an error: they stand in it, or in the error that it wraps."""
    for _ in range(4):
        if not isinstance(error, dict):
            break
        for name in ("formatted", "message"):
            if text_of(error.get(name)):
                return text_of(error[name])
        code = text_of(error.get("code")) or error.get("status")
        error = error.get("error") or error.get("cause") or error.get("connection") or code
    return str(error) if isinstance(error, str | int) else ""


def _number(value: Any) -> float | None:
    try:
        return float(value) if isinstance(value, int | float) else None
    except OverflowError:
        return None


def _length(milliseconds: Any) -> str:
    number = _number(milliseconds)
    return "" if number is None else took(number / 1000)
