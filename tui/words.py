"""Small readings of records that rows are made of: times, waits, first words. Pure."""

from __future__ import annotations

from functools import lru_cache

from sessionlog.records import Event, Message, Record, Result, moment, shown_type
from sessionlog.text import one_line, took, visible
from sessionlog.window import Chunk


@lru_cache(maxsize=1024)
def seconds_of(at: str) -> float | None:
    """POSIX seconds of an RFC 3339 text; None when it is none."""
    time = moment(at)
    return time.timestamp() if time else None


def between(before: str, after: str) -> float:
    """Seconds from one time to another; -1 where one of them is not told."""
    a, b = seconds_of(before), seconds_of(after)
    return b - a if a is not None and b is not None else -1.0


def spans_of(chunk: Chunk) -> dict[tuple[str, str], float]:
    """How long the calls of a chunk took by its events, by tool and arguments."""
    running: dict[str, list[Record]] = {}
    found: dict[tuple[str, str], float] = {}
    for record in chunk.records:
        event = record.payload
        if not isinstance(event, Event) or not event.kind.startswith("toolCall"):
            continue
        if event.kind == "toolCallStart":
            running.setdefault(event.tool, []).append(record)
        elif waiting := running.get(event.tool):
            start = waiting.pop()
            if isinstance(start.payload, Event):
                spent = between(start.at, record.at)
                found[event.tool, start.payload.text] = spent
    return found


def waited(waits: list[float]) -> str:
    """The waits between tries, a few of them."""
    if not waits:
        return ""
    shown = [took(round(seconds)) if seconds >= 10 else f"{seconds:.0f}s" for seconds in waits]
    if len(shown) > 6:
        return f"waits {shown[0]} {shown[1]} {shown[2]} … {shown[-1]}"
    return f"waits {' '.join(shown)}"


def how_ended(after: Record | None) -> str:
    """What came of the tries, by the record behind them."""
    if after is None:
        return ""
    if isinstance(after.payload, Result) and (after.payload.code or after.payload.error):
        return "then the run ended"
    if isinstance(after.payload, Message) and shown_type(after.payload) != "user":
        return "then it answered"
    return ""


def prose(message: Message) -> str:
    """The words of a text as one line: line breaks become spaces."""
    return _with_images(visible(" ".join(message.text[:1500].split())), message)


def first_line(message: Message) -> str:
    """The first line of a text that says something."""
    return _with_images(one_line(message.text), message)


def _with_images(text: str, message: Message) -> str:
    if not message.images:
        return text
    noun = "image" if len(message.images) == 1 else f"{len(message.images)} images"
    return f"{text} [{noun}]" if text else f"[{noun}]"
