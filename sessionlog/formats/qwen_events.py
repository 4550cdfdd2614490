"""What Qwen Code notes beside the conversation: records of type "system".

They are links of the chain like all others, and most are bookkeeping; those of a session's
artifacts and sources stand outside it. What went wrong (an error of the API, a retry), a rewind,
a command of the person's and a subtype that is not known are shown. Subtypes are those of the
client's public source, 0.24.4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sessionlog.formats.base import dict_of, event_record, list_of, other_record, text_of
from sessionlog.formats.parts import json_text, rest_of
from sessionlog.formats.qwen_parts import blocks, parts_of, side_of
from sessionlog.records import Kind, Message, Record, Reset, Span, shown_type

OUTSIDE = (
    "session_artifact_event", "session_artifact_snapshot", "session_sources_snapshot",
    "managed_session_header_v1", "managed_session_event_v1", "managed_session_commit_v1",
)  # fmt: skip
"""Subtypes that are no link of the chain."""
QUIET = {
    "custom_title": "customTitle", "session_model": "modelId", "parent_session": "parentSessionId",
    "session_source": "sourceType", "at_command": "userText", "omni_recall": "text",
    "agent_launch_prompt": "displayText", "goal_turn_end": "toolCallId",
    **dict.fromkeys((
        "attribution_snapshot", "file_history_snapshot", "background_task_completed",
        "branch_checkpoint", "goal_state", "agent_bootstrap", "agent_retry",
        "agent_session_ready", "user_text_elements", *OUTSIDE,
    ), ""),
}  # fmt: skip
"""Subtypes that are folded away, and the field that says the most."""
_TELEMETRY = "qwen-code."
_RETRIES = ("api_retry", "chat.content_retry")
API_ERROR = "api_error"
INTERRUPT = "api_cancel"
_LONG = 200
_ENVELOPE = (
    "type", "subtype", "uuid", "timestamp", "parentUuid", "sessionId", "cwd", "version",
    "gitBranch", "provenance", "isSidechain", "agentId", "agentName", "agentColor", "systemPayload",
)  # fmt: skip


def system(value: Mapping[str, Any], span: Span, at: str) -> Record:
    """A record of type "system"."""
    kind = text_of(value.get("subtype"))
    about = dict_of(value.get("systemPayload"))
    if kind == "chat_compression" and about.get("compressedHistory"):
        return _compression(about, span, at)
    if kind == "ui_telemetry":
        return _telemetry(dict_of(about.get("uiEvent")), span, at)
    side = side_of(value)
    extra = {
        **rest_of(value, *_ENVELOPE),
        **(about or {"systemPayload": value.get("systemPayload")}),
        **({"sidechain": side} if side else {}),
    }
    if kind in QUIET:
        text = text_of(about.get(QUIET[kind]))
        return event_record(kind, span, at, text=text[:_LONG], extra=extra)
    if kind == "rewind":
        count = about.get("truncatedCount")
        text = f"went back, {count} messages left" if type(count) is int else "went back"
        return event_record(kind, span, at, quiet=False, text=text, extra=extra)
    if kind == "turn_result":
        return _turn(about, span, at, extra)
    if kind in ("slash_command", "chat_compression"):
        text = text_of(about.get("rawCommand"))
        asked = about.get("phase") == "invocation"
        return event_record(kind, span, at, quiet=not asked, text=text, extra=extra)
    return other_record(kind or "system", dict(value), span, at)


def _compression(about: Mapping[str, Any], span: Span, at: str) -> Record:
    """The client goes on with what stands here: a summary, and what it kept of the end."""
    how = "manual" if dict_of(about.get("info")).get("triggerReason") == "manual" else "auto"
    context = tuple(_context(about["compressedHistory"]))
    return Record(Kind.RESET, at, Reset(f"{how} compaction", context=context), span)


def _context(history: Any) -> Iterator[Message]:
    first = True
    for content in list_of(history):
        mine = dict_of(content).get("role") == "model"
        for said in blocks(parts_of(content), "assistant" if mine else "user"):
            if first and shown_type(said) == "user":
                said = said._replace(type="summary")
            first = False
            yield said


def _telemetry(event: Mapping[str, Any], span: Span, at: str) -> Record:
    """What the client counts for its screen. It repeats answers and calls; an error of the API
    stands nowhere else."""
    name = text_of(event.get("event.name")).removeprefix(_TELEMETRY)
    extra = rest_of(event, "response_text", "function_args")
    call = text_of(event.get("call_id"))
    if name == API_ERROR:
        text = text_of(event.get("error_message")) or text_of(event.get("error"))
        return event_record(name, span, at, quiet=False, ok=False, text=text or "API error",
                            extra=extra)  # fmt: skip
    if name in _RETRIES:
        text = text_of(event.get("error_message")) or text_of(event.get("error_type"))
        return event_record("retry", span, at, quiet=False, ok=False, text=text, extra=extra)
    if name == INTERRUPT:
        return event_record(name, span, at, quiet=False, ok=False, ends=True,
                            text="cancelled by the user", extra=extra)  # fmt: skip
    tool = text_of(event.get("function_name"))
    return event_record(name or "ui_telemetry", span, at, tool=tool, call_id=call, extra=extra)


def _turn(about: Mapping[str, Any], span: Span, at: str, extra: Mapping[str, Any]) -> Record:
    """How a prompt of a daemon's session ended: state completed, cancelled or error."""
    state = text_of(about.get("state"))
    error = about.get("error")
    text = text_of(dict_of(error).get("message")) or json_text(error)
    fine = state == "completed"
    return event_record(
        "turn_result", span, at, quiet=fine, ok=None if fine else False, ends=True,
        text=text or state, extra=extra,
    )  # fmt: skip
