"""How a call went, in a few words: failed or not, and the size of what came back. Pure.

A failure is what the log marks as one, and a result whose exit status says so: shells report it
in words ("[exit: exit status 4]", "Exit code 1", "Process exited with code 2", "exit_code":127).
Success is a size, since "ok" says nothing. A call that was cut short and closed later is neither.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from sessionlog.conversation import INTERRUPTED
from sessionlog.diffs import counts, edits_of
from sessionlog.errorline import telling_line
from sessionlog.records import Activity, Event, Message
from sessionlog.telling import arguments_of
from sessionlog.text import size

_HEAD, _TAIL = 400, 300
_EXIT_HEAD = re.compile(
    r"^(?:error: )?(?:Exit code:?|(?:Process|Command) exited with code) (-?\d+)",
    re.MULTILINE | re.I,
)
_EXIT_JSON = re.compile(r'"exit_?code"\s*:\s*(-?\d+)', re.I)
_EXIT_TAIL = re.compile(r"(?:exit status|exit code:?|exited with code|\[exit:) (-?\d+)\W*$", re.I)
_SIGNAL = re.compile(r"\[exit: (?!exit status)([^\]]{1,40})\]\s*$")
_ONLY_EXIT = re.compile(
    r"\W*(?:exit\W+)?(?:(?:process |command )?exited with|exit) (?:status|code):? -?\d+\W*$", re.I
)
_WORDS = (
    (re.compile(r"timed out|timeout", re.I), "timed out"),
    (re.compile(r"interrupted|aborted by user|cancel", re.I), "stopped"),
    (re.compile(r"doesn't want to|rejected|denied by|not allowed|permission", re.I), "refused"),
)
_CLOSED = re.compile(
    r"""
    (?:Wall\ time[^\n]*\n)?aborted(?:\ by\ user[^\n]*)?      # Codex
  | (?:Error:\ )?\[(?:Request|Tool\ call)\ interrupted.*      # Claude Code
  | The\ user\ doesn't\ want\ to\ proceed(?!.*the\ user\ said:).*
  | \[Tool\ execution\ was\ interrupted\]|Tool\ execution\ aborted  # OpenCode
  | \[Operation\ Cancelled\].*     # Gemini CLI, Qwen Code
  | Tool\ execution\ result\ was\ not\ recorded.*           # Qwen Code
  | (?:.*\n)?(?:Command|Operation)\ aborted|No\ result\ provided  # pi
    """,
    re.VERBOSE | re.DOTALL,
)
"""How clients answer a call that was interrupted."""
_EDITS = ("edit", "write", "patch", "replace", "create", "insert")
_SEARCHES = ("grep", "search", "find", "glob")
_FETCHES = ("fetch", "web", "http", "browse", "download")


class Outcome(NamedTuple):
    """What the row of a finished call says of its result."""

    failed: bool = False
    words: str = ""
    second: str = ""
    """The first telling line of a failure."""
    interrupted: bool = False
    """It was cut short: what came of it is not known, and it is no failure of the tool."""


def result_text(message: Message) -> str:
    """The text of a response, wherever its format keeps it."""
    activity = message.activity
    if activity is not None and activity.failure:
        return activity.failure
    if message.text:
        return message.text
    result = activity.result if activity is not None else None
    if isinstance(result, Mapping):
        for key in ("output", "stdout", "content", "text", "stderr", "error"):
            if isinstance(result.get(key), str) and result[key]:
                return str(result[key])
        return ""
    return result if isinstance(result, str) else ""


def outcome_of(request: Activity, response: Message) -> Outcome:
    """How the call went that this message answers."""
    activity = response.activity
    text = result_text(response)
    if is_interrupted(response):
        refused = failure_word(text) == "refused"
        return Outcome(words="refused" if refused else "interrupted", interrupted=True)
    failed = activity is not None and activity.failure is not None
    word = exit_word(text, activity.result if activity else None)
    if failed or word:
        said = telling_line(text)
        return Outcome(True, word or failure_word(text), "" if word and _says_exit(said) else said)
    return Outcome(False, _size(request, response, text))


def is_interrupted(response: Message) -> bool:
    """Does a result only close a call that was cut short, in a repair's words or a client's?"""
    text, half = result_text(response).strip(), response.activity
    if text == INTERRUPTED:
        return True
    return bool(half and half.failure is not None and _CLOSED.fullmatch(text))


def went_well(response: Message) -> bool | None:
    """Did the call go well that this answers, by its mark or its exit status? None: that is not
    known, it was interrupted."""
    half = response.activity
    if half is None:
        return False
    if is_interrupted(response):
        return None
    return half.failure is None and not exit_word(result_text(response), half.result)


def event_outcome(end: Event) -> Outcome:
    """How a call went that stands only in events."""
    if end.ok is False or end.kind == "toolCallError":
        return Outcome(True, exit_word(end.text, None) or "failed", telling_line(end.text))
    return Outcome()


def exit_word(text: str, result: Any) -> str:
    """ "exit 4" or the signal, when the result tells of a bad end; "" otherwise."""
    if isinstance(result, Mapping):
        code = result.get("exit_code", result.get("exitCode"))
        if isinstance(code, int) and not isinstance(code, bool):
            return f"exit {code}" if code else ""
    head, tail = text[:_HEAD], text[-_TAIL:]
    if "xit" not in head and "xit" not in tail:
        return ""
    if signal := _SIGNAL.search(tail):
        return signal[1].removeprefix("signal: ")[:12]
    found = (
        _EXIT_HEAD.search(head) or _EXIT_TAIL.search(tail)
        or (_EXIT_JSON.search(tail) if text.lstrip().startswith("{") else None)
    )  # fmt: skip
    return f"exit {int(found[1])}" if found and int(found[1]) else ""


def _says_exit(line: str) -> bool:
    """Is the line nothing but the exit status?"""
    return bool(_ONLY_EXIT.match(line))


def failure_word(text: str) -> str:
    """One word for a failure without an exit status."""
    head = text[:_HEAD]
    return next((word for pattern, word in _WORDS if pattern.search(head)), "failed")


def _size(request: Activity, response: Message, text: str) -> str:
    name = request.name.lower()
    if any(word in name for word in _EDITS):
        return _changed(request, response)
    if response.images:
        return f"{len(response.images)} images" if len(response.images) > 1 else "image"
    body = text.partition("\nOutput:\n")[2] if "\nOutput:\n" in text[:_HEAD] else text
    body = body.strip("\n")
    if len(body) > 1 << 20 or any(word in name for word in _FETCHES):
        return size(len(body)) if body else ""
    lines = body.count("\n") + 1 if body else 0
    if any(word in name for word in _SEARCHES):
        return _hits(body, lines)
    return f"{lines:,} lines" if lines > 1 else ""


_FOUND = re.compile(r"Found (\d+) (file|match|line)")


def _hits(body: str, lines: int) -> str:
    found = _FOUND.match(body)
    if found:
        noun = {"match": "hits", "file": "files", "line": "lines"}[found[2]]
        return f"{found[1]} {noun[:-1] if found[1] == '1' else noun}"
    if not lines or re.match(r"No (?:files|matches|results)", body):
        return "0 hits"
    return f"{lines:,} hits" if lines > 1 else "1 hit"


def _changed(request: Activity, response: Message) -> str:
    value = arguments_of(request.arguments)
    structured = response.extra.get("toolUseResult") or response.extra.get("details")
    if structured is None and response.activity is not None:
        structured = response.activity.extra.get("toolUseResult")
    added, removed = counts(edits_of(request.arguments if value is None else value, structured))
    if not added and not removed:
        return ""
    return f"+{added} −{removed}" if removed else f"+{added}"
