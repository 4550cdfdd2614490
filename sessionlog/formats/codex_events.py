"""What Codex's screen was told, as events: narration beside the items, mostly the same again.

An event that tells what an item tells too (a prompt, an answer, a command's end) is quiet, and so
are counters and settings. What only an event tells (an error, an abort, a warning, a kind that is
not known) is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sessionlog.formats.base import dict_of, event_record, text_of
from sessionlog.formats.codex_items import content_of
from sessionlog.records import Ending, Event, Kind, Message, Record, Reset, Span

STARTED = ("task_started", "turn_started")
DONE = ("task_complete", "turn_complete")
QUIET = frozenset((
    *STARTED, "user_message", "agent_message", "agent_reasoning", "agent_reasoning_raw_content",
    "agent_reasoning_section_break", "item_started", "item_completed", "token_count",
    "context_compacted", "thread_settings_applied", "thread_name_updated", "thread_goal_updated",
    "exec_command_begin", "exec_command_end", "patch_apply_begin", "mcp_tool_call_begin",
    "mcp_tool_call_end", "web_search_begin", "web_search_end", "view_image_tool_call",
    "image_generation_begin", "image_generation_end", "session_configured", "plan_update",
    "turn_diff", "background_event", "sub_agent_activity", "raw_response_item",
    "dynamic_tool_call_request", "dynamic_tool_call_response",
))  # fmt: skip
_SHORT = 200
"""Characters of a text that stands in an item as well."""
_NO_END = ("thread_rollback_failed", "active_turn_not_steerable")
"""Errors of a request beside the turn, which goes on."""


def event_of(payload: Mapping[str, Any], span: Span, at: str) -> list[Record]:
    """The record of one event_msg; an undone turn is a reset."""
    kind = text_of(payload.get("type"))
    if kind == "thread_rolled_back":
        return [_rollback(payload, span, at)]
    ok, ends = _verdict(kind, payload)
    quiet = (kind in QUIET or kind.startswith("collab_") or kind.endswith("_delta")
             or (kind in (*DONE, "patch_apply_end") and ok is not False))  # fmt: skip
    item = dict_of(payload.get("item"))
    return [
        event_record(
            kind or "event", span, at, quiet=quiet, tool=_tool(kind, payload, item),
            text=_text(kind, payload, item), ok=ok, ends=ends,
            call_id=text_of(payload.get("call_id")) or _call_of(item), extra=payload,
        )
    ]  # fmt: skip


def reason_of(error: Mapping[str, Any]) -> str | None:
    """The client's own word for an error: `codex_error_info` is a word or {word: details}."""
    info = error.get("codex_error_info")
    if isinstance(info, dict):
        return next(iter(info), None)
    return text_of(info) or None


def usage(total: Mapping[str, Any]) -> str:
    """Tokens of the whole run, in the words that native logs use; input includes what was cached,
    output the reasoning."""
    counts = total.get("input_tokens"), total.get("output_tokens")
    return "input {} output {}".format(*counts) if all(type(n) is int for n in counts) else ""


def _rollback(payload: Mapping[str, Any], span: Span, at: str) -> Record:
    turns = payload.get("num_turns")
    turns = turns if type(turns) is int and turns >= 0 else 0
    why = "rollback of one turn" if turns == 1 else f"rollback of {turns} turns"
    return Record(Kind.RESET, at, Reset(why, turns=turns), span)


def _verdict(kind: str, payload: Mapping[str, Any]) -> tuple[bool | None, bool]:
    """(ok, ends the turn) of an event."""
    if kind in DONE:
        return not payload.get("error"), True
    if kind == "turn_aborted":
        return False, True
    if kind == "error":
        return False, reason_of(payload) not in _NO_END
    if kind == "stream_error":
        return False, False
    for holder in (payload, dict_of(payload.get("item"))):
        success, code = holder.get("success"), holder.get("exit_code")
        if isinstance(success, bool) and kind.endswith("_end"):
            return success, False
        if type(code) is int:
            return code == 0, False
    return (False if "Err" in dict_of(payload.get("result")) else None), False


def _text(kind: str, payload: Mapping[str, Any], item: Mapping[str, Any]) -> str:
    if kind in DONE:
        return _words(dict_of(payload.get("error")))
    if kind in ("error", "stream_error"):
        return _words(payload)
    if kind == "turn_aborted":
        return text_of(payload.get("reason"))
    if kind == "token_count":
        return usage(dict_of(dict_of(payload.get("info")).get("total_token_usage")))
    if kind == "patch_apply_end":
        return text_of(payload.get("stderr")) or text_of(payload.get("stdout"))
    if kind.startswith("item_"):
        texts, _ = content_of(item.get("content"))
        return " ".join(texts)[:_SHORT]
    text = text_of(payload.get("message")) or text_of(payload.get("text"))
    return text[:_SHORT] if kind in QUIET else text


def _words(error: Mapping[str, Any]) -> str:
    said = (error.get("message"), error.get("additional_details"))
    return ": ".join(text for text in said if isinstance(text, str) and text)


def _tool(kind: str, payload: Mapping[str, Any], item: Mapping[str, Any]) -> str:
    if kind.startswith("patch_apply"):
        return "apply_patch"
    call = dict_of(payload.get("invocation"))
    if call:
        return ".".join(filter(None, (text_of(call.get("server")), text_of(call.get("tool")))))
    return text_of(item.get("type"))


def _call_of(item: Mapping[str, Any]) -> str:
    """The id of the call that an item tells of: commands carry it, messages their own."""
    own = ("UserMessage", "AgentMessage", "Reasoning", "Plan")
    return "" if item.get("type") in own else text_of(item.get("id"))


def ended_by(event: Event, before: Iterable[Record] = ()) -> Ending:
    """How a closed turn went. `before` reads what stands before it, newest first: a turn that was
    closed without a word right behind its error failed (seen up to 0.142, which notes it there
    alone)."""
    silent = not text_of(event.extra.get("last_agent_message"))
    if event.kind in DONE and event.ok and silent and (failed := _error_in(before)):
        return ended_by(failed)
    if event.kind in DONE:
        error = dict_of(event.extra.get("error"))
        reason = reason_of(error) if error else None
        return Ending(True, reason, event.ok, event.text or "done", f"{event.kind} event")
    if event.kind == "turn_aborted":
        reason = event.text or "aborted"
        text = reason if reason == "interrupted" else f"aborted: {reason}"
        return Ending(True, reason, False, text, "turn_aborted event")
    return Ending(True, reason_of(event.extra), False, event.text or "error", "error event")


def _error_in(newest_first: Iterable[Record]) -> Event | None:
    """The error that ended a turn, of which nothing was said after it."""
    for record in newest_first:
        event = record.payload
        if isinstance(event, Event) and event.kind == "error" and event.ends:
            return event
        if isinstance(event, Message | Reset) or (
            isinstance(event, Event) and (event.ends or event.kind in STARTED)
        ):
            return None
    return None
