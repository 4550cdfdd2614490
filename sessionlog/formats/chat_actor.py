"""Acting on plain chat: close an open call in the log's own dialect.

OpenAI's calls are answered by a line of role `tool` (`function` for the old form), Anthropic's by
a user's `tool_result` block, and lines of type `tool_call` by one of type `tool_result`. Nothing
inside a chat log names it, so no line of a copy changes and its origin shows only in its file
name: `<parent>-fork-N`, `<parent>-repaired`. A log with a whole conversation on a line is data
for training, not a run to go on with: it is refused.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import datetime
from itertools import count
from typing import Any

from sessionlog import codec, splice
from sessionlog.errors import NotPossible
from sessionlog.formats.base import Birth, Fate, Part, dict_of, list_of
from sessionlog.framing import Line
from sessionlog.records import OpenCall

_IDS = ("tool_call_id", "tool_use_id", "call_id", "id")
_CALLS = ("tool_calls", "function_call")
_THOUGHTS = ("reasoning_content", "reasoning", "thinking")
_SAID = ("content", "parts", *_CALLS, *_THOUGHTS)
_TIMES = ("timestamp", "created_at")


class ChatActor:
    """Plain chat's way of acting."""

    def close(self, request: bytes, call: OpenCall, at: str, text: str) -> bytes:
        """The answer in the dialect of the call; it has the time of the line that asks, as it
        stands there."""
        asked = splice.loads(request)
        time = b"".join(
            b",%s:%s" % (codec.dumps(key), splice.clean(value))
            for key in _TIMES
            if (value := splice.value(request, (key,)))
        )
        answer = codec.dumps(_answer(asked, call, text))
        return answer[:-1] + time + b"}"

    def answers(self, call: OpenCall) -> bool:
        """A result names its call by the id, or by the tool where there is none."""
        return bool(call.call_id)

    def without(self, data: bytes, calls: Collection[int]) -> bytes:
        """A line without these of its calls; b"" when they are all that it says."""
        data = _kept(data, lambda kind, n: kind != "call" or n not in calls)
        left = splice.loads(data)
        return data if isinstance(left.get("role"), str) and any(map(left.get, _SAID)) else b""

    def pick(self, data: bytes, results: Collection[int], rest: bool) -> bytes:
        """A line with some of its result blocks, and with all else that it says if `rest`."""
        return _kept(data, lambda kind, n: n in results if kind == "result" else rest)

    def renew(self, parts: Iterable[Part], birth: Birth) -> Iterator[bytes]:
        """Every line as it stands. Raises NotPossible for a whole conversation on a line."""
        for data, fate in parts:
            if b'"messages"' in data and _is_conversation(data):
                raise NotPossible(
                    f"{birth.parent}: a whole conversation on a line is no run to go on with"
                )
            if fate is not Fate.DROPPED:
                yield data
        if birth.told:
            yield codec.dumps({"role": "user", "content": birth.told})

    def place(
        self, parent: str, at: int | None, now: datetime, taken: Callable[[str], bool]
    ) -> tuple[str, str]:
        """Beside the parent under its name and what was done: `x-fork-7`, `x-repaired`, and
        `x-repaired-2` where that is taken. What was one document becomes lines."""
        stem, ending = os.path.splitext(parent)
        ending = ".jsonl" if ending == ".json" else ending
        stem += "-repaired" if at is None else f"-fork-{at}"
        names = (stem if n == 1 else f"{stem}-{n}" for n in count(1))
        free = next(name for name in names if not taken(name + ending))
        return os.path.basename(free), free + ending


def _is_conversation(data: bytes) -> bool:
    """Is the line one? A damaged one is taken apart as the reader does it."""
    found = codec.parse(Line(0, 0, data, True)).objects
    return any("role" not in v and isinstance(v.get("messages"), list) for v, _ in found)


def _answer(asked: dict[str, Any], call: OpenCall, text: str) -> dict[str, Any]:
    if not isinstance(asked.get("role"), str):
        ids = {key: asked[key] for key in _IDS if isinstance(asked.get(key), str)}
        return {"type": "tool_result", "name": call.tool, **ids, "result": text, "is_error": True}
    for block in list_of(asked.get("content", asked.get("parts"))):
        if _kind("content", block) == "call" and _names(block, call):
            result = {"type": "tool_result", "tool_use_id": call.call_id, "content": text,
                      "is_error": True}  # fmt: skip
            return {"role": "user", "content": [result]}
    if call.call_id != call.tool or any(
        _names(block, call) for block in list_of(asked.get("tool_calls"))
    ):
        return {"role": "tool", "tool_call_id": call.call_id, "content": text}
    return {"role": "function", "name": call.tool, "content": text}


def _names(block: Any, call: OpenCall) -> bool:
    """Is the block this call? A call without an id goes by its tool's name."""
    body = dict_of(block)
    names = [body.get(key) for key in (*_IDS, "name")]
    return call.call_id in [*names, dict_of(body.get("function")).get("name")]


def _kept(data: bytes, keep: Callable[[str, int], bool]) -> bytes:
    """A line with those of its parts that `keep` wants, by their kind and number of that kind.

    They are counted as the reader does: in the content, then `tool_calls`, then `function_call`.
    """
    numbers = {"result": count(), "call": count(), "": count()}
    for key in ("content" if splice.value(data, ("content",)) else "parts", *_CALLS, *_THOUGHTS):
        found = splice.member(data, (key,))
        if found is None:
            continue
        value = splice.loads(data[found.start : found.end])
        listed = isinstance(value, list) and key not in ("function_call", *_THOUGHTS)
        parts = value if listed else [value] if _counts(key, value) else []
        wanted = [keep(kind, next(numbers[kind])) for kind in (_kind(key, part) for part in parts)]
        if all(wanted):
            continue
        if listed and (any(wanted) or key not in _CALLS):
            data = splice.only(data, found.start, wanted)
        else:
            data = splice.without(data, key)
    return data


def _counts(key: str, value: Any) -> bool:
    """Is a value that is no list one part of the line?"""
    return isinstance(value, dict) if key in _CALLS[1:] else bool(value) and key not in _CALLS


def _kind(key: str, part: Any) -> str:
    kind = dict_of(part).get("type")
    if key in _CALLS or (key not in _THOUGHTS and kind in ("tool_use", "tool_call")):
        return "call"
    return "result" if kind == "tool_result" and key not in _THOUGHTS else ""
