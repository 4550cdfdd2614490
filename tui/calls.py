"""A tool call at length: arguments, diff, result. Pure.

The telling argument stands first; an edit is shown as the diff it makes, with line numbers where
the client's own result tells them; the result is JSON, a diff or text, whichever it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sessionlog import codec
from sessionlog.diffs import FileDiff, edits_of, unified
from sessionlog.outcome import went_well
from sessionlog.records import Activity, Event, Message, Record, Span
from sessionlog.telling import arguments_of, telling
from tui import blocks
from tui.lines import Line, Piece
from tui.rows import Row

Read = Callable[[Span], bytes]

LARGEST = 4 << 20
"""Bytes of a line, or characters of a result, that are decoded to be shown as more than text."""
_SUBJECTS = ("file_path", "path", "filePath", "notebook_path", "file", "filename", "target_file")
_TESTS = re.compile(r"\b(\d+) (failed|passed)\b")


def call(row: Row, read: Read, columns: int, expanded: bool) -> Iterator[Line]:
    """The body of a call's row."""
    request, answer = halves(row)
    diffs = diffs_of(row, read)
    if request is not None:
        yield from _arguments(request, bool(diffs), columns, expanded)
    yield from blocks.changes(diffs, columns, expanded)
    if answer is not None and isinstance(answer.payload, Message):
        if diffs:
            yield blocks.indented([])
        yield from _answer(answer.payload, row.outcome_bad, columns, expanded)
    elif not (errors := _errors(row)):
        yield from blocks.fields([_unanswered(row)], columns)
    else:
        for text in errors:
            yield from blocks.fields([("error", text, "fail")], columns, expanded)


def halves(row: Row) -> tuple[Activity | None, Record | None]:
    """The request, and the record of the response. Some calls stand only in events."""
    request, answer = None, None
    for record in row.records:
        payload = record.payload
        activity = payload.activity if isinstance(payload, Message) else None
        if activity is not None and activity.kind == "response":
            answer = answer or record
        elif activity is not None:
            request = request or activity
        elif isinstance(payload, Event) and request is None and payload.kind != "toolCallError":
            request = Activity("request", payload.call_id, payload.tool, payload.text)
    return request, answer


def _errors(row: Row) -> list[str]:
    """What the events of a call say of its failure."""
    events = [r.payload for r in row.records if isinstance(r.payload, Event)]
    return [event.text for event in events if event.ok is False and event.text]


def _unanswered(row: Row) -> blocks.Field:
    if row.sign == "run":
        return "result", "none yet, it is running", "run"
    if row.sign == "open":
        return "result", row.second or "none in the log", "open"
    return "result", row.outcome or "not among its messages", "fg-2"


def _arguments(request: Activity, is_edit: bool, columns: int, expanded: bool) -> Iterator[Line]:
    """The telling argument first, then the others; what the diff shows is left out."""
    value = arguments_of(request.arguments) if request.arguments else {}
    if isinstance(value, Mapping):
        if is_edit:
            value = {key: item for key, item in value.items() if _beside_diff(key, item)}
        said = telling(request.arguments)
        first = [key for key, item in value.items() if item == said and isinstance(item, str)][:1]
        rest = {key: item for key, item in value.items() if key not in first}
        told = [(key, said, "fg-1") for key in first]
        yield from blocks.structure(rest, columns, expanded, told)
    elif not is_edit and (value is None or isinstance(value, str)):
        yield from blocks.output(value or request.arguments, columns, expanded)
    elif not is_edit:
        yield from blocks.structure(value, columns, expanded)


def _beside_diff(key: str, item: Any) -> bool:
    """Is this argument of an edit worth a line beside its diff?"""
    return key not in _SUBJECTS and isinstance(item, bool | int) and item is not False


def diffs_of(row: Row, read: Read) -> list[FileDiff]:
    """What the call changed; with line numbers where the client's own result tells them."""
    request, answer = halves(row)
    if request is None or not request.arguments:
        return []
    value = arguments_of(request.arguments)
    value = request.arguments if value is None else value
    diffs = edits_of(value)
    if not diffs or answer is None or answer.span.length > LARGEST:
        return diffs
    return edits_of(value, _structured(answer, read)) or diffs


def _structured(answer: Record, read: Read) -> Any:
    """The client's own result: Claude Code's toolUseResult, pi's details, Gemini's display."""
    try:
        line = codec.loads(read(answer.span))
    except ValueError:
        return None
    if not isinstance(line, dict):
        return None
    message = line.get("message")
    details = message.get("details") if isinstance(message, dict) else None
    half = answer.payload.activity if isinstance(answer.payload, Message) else None
    read_in = half.extra.get("details") if half is not None else None
    return line.get("toolUseResult") or details or read_in


def _answer(message: Message, bad: bool, columns: int, expanded: bool) -> Iterator[Line]:
    """The response: how much, in a few words what, and the text itself."""
    text, value = result_of(message)
    failed = bad or went_well(message) is False
    name = ("result ", "fg-3")
    if value is not None:
        yield blocks.indented([name])
        yield from blocks.structure(value, columns, expanded)
    elif "\n" not in text.strip("\n") and len(text) < 2 * columns:
        style = "fail" if failed else "fg" if text else "fg-2"
        yield from blocks.fields([("result", text or "nothing", style)], columns)
    elif text.startswith(("diff ", "--- ")) and (diffs := unified(text)):
        yield blocks.indented([name, *blocks.said_size(text)])
        yield from blocks.changes(diffs, columns, expanded, named=True)
    else:
        yield blocks.indented([name, *blocks.said_size(text), *verdict(text)])
        yield from blocks.output(text, columns, expanded, failed)
    yield from blocks.fields([blocks.image_field(image) for image in message.images], columns)


def result_of(message: Message) -> tuple[str, Any]:
    """(text, None) of a response that is text, ("", value) of one that is a JSON value."""
    activity = message.activity
    result = activity.result if activity is not None else None
    if activity is not None and activity.failure is not None:
        result = activity.failure
    if isinstance(result, dict | list) and result:
        return "", result
    text = result if isinstance(result, str) else message.text
    if text[:1] in ("{", "[") and len(text) <= LARGEST:
        value = arguments_of(text)
        if isinstance(value, dict | list):
            return "", value
    return text, None


def verdict(text: str) -> list[Piece]:
    """The count of tests at the end of an output ("  1 failed, 63 passed"); else nothing."""
    found = {word: number for number, word in _TESTS.findall(text[-4096:])}
    pieces: list[Piece] = []
    if found.get("failed", "0") != "0":
        pieces += [("  ", ""), (f"{found['failed']} failed", "fail")]
    if "passed" in found:
        pieces += [(", " if pieces else "  ", "fg-2"), (f"{found['passed']} passed", "fg-2")]
    return pieces
