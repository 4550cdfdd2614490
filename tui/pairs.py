"""Which call and which response belong together, seen through a window. Pure.

A chunk is paired within itself first; what is left over looks into the chunks beside it, LOOK of
them at most. Halves pair like brackets of one key (the call's id; name and arguments where there
is none), so that a call and its response find each other from either side with nothing but what
stands between them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from sessionlog.records import Event, Message
from sessionlog.window import Chunk

LOOK = 16
"""Chunks on either side that are looked through for the other half of a call."""

At = tuple[int, int]
"""(chunk, index among its records)."""


class Half(NamedTuple):
    """One half of a call in a chunk."""

    key: str
    opens: bool
    at: int
    """Index of its record."""


class Gist(NamedTuple):
    """What a chunk's neighbours need to know of it."""

    halves: list[Half]
    """In file order; calls that stand in events pair among themselves."""
    last_message: int
    """Index of its last message of the main run, -1 when it has none."""
    last_user: int
    """Index of its last prompt, -1 when it has none."""


def gist(chunk: Chunk) -> Gist:
    """The gist of a chunk. O(records)."""
    halves: list[Half] = []
    last_message = last_user = -1
    for index, record in enumerate(chunk.records):
        payload = record.payload
        if isinstance(payload, Message):
            if not payload.sidechain:
                last_message = index
                if payload.type == "user":
                    last_user = index
            activity = payload.activity
            if activity is not None and activity.kind in ("request", "response"):
                key = activity.id or f"{activity.name}\0{activity.arguments}"
                halves.append(Half(key, activity.kind == "request", index))
        elif isinstance(payload, Event) and payload.kind.startswith("toolCall"):
            opens = payload.kind == "toolCallStart"
            halves.append(Half(f"\0{payload.call_id or payload.tool}", opens, index))
    return Gist(halves, last_message, last_user)


class Pairs(NamedTuple):
    """The pairs of one chunk's halves, by index."""

    response: dict[int, At]
    """Where the response of a call stands."""
    request: dict[int, At]
    """Where the call of a response stands."""
    later: frozenset[int]
    """Calls whose response was not found although the file goes on behind what was looked at."""
    earlier: frozenset[int]
    """Responses whose call was not found although the file begins before what was looked at."""


def pairs(number: int, chunks: int, look: Callable[[int], Gist]) -> Pairs:
    """Pair the halves of chunk `number` of a file of so many chunks."""
    response: dict[int, At] = {}
    request: dict[int, At] = {}
    open_requests: dict[str, list[int | None]] = {}
    open_responses: dict[str, list[int | None]] = {}
    for half in look(number).halves:
        if half.opens:
            open_requests.setdefault(half.key, []).append(half.at)
        elif waiting := open_requests.get(half.key):
            index = waiting.pop()
            assert index is not None
            response[index], request[half.at] = (number, half.at), (number, index)
        else:
            open_responses.setdefault(half.key, []).insert(0, half.at)
    ahead = range(number + 1, min(number + LOOK + 1, chunks))
    behind = range(number - 1, max(number - LOOK - 1, -1), -1)
    response |= _sought(open_requests, ahead, look, forward=True)
    request |= _sought(open_responses, behind, look, forward=False)
    later = frozenset(_left(open_requests)) if number + LOOK + 1 < chunks else frozenset()
    earlier = frozenset(_left(open_responses)) if number - LOOK > 0 else frozenset()
    return Pairs(response, request, later, earlier)


def _left(waiting: dict[str, list[int | None]]) -> list[int]:
    return [index for stack in waiting.values() for index in stack if index is not None]


def _sought(
    waiting: dict[str, list[int | None]],
    numbers: range,
    look: Callable[[int], Gist],
    *,
    forward: bool,
) -> dict[int, At]:
    """Look through chunks until every half of `waiting` (stacks by key) has found its other."""
    found: dict[int, At] = {}
    missing = len(_left(waiting))
    for number in numbers:
        if not missing:
            break
        halves = look(number).halves
        for half in halves if forward else reversed(halves):
            stack = waiting.get(half.key)
            if stack is None:
                continue
            if half.opens is forward:
                stack.append(None)  # a pair of strangers in between
            elif stack:
                index = stack.pop()
                if index is not None:
                    found[index] = (number, half.at)
                    missing -= 1
    return found
