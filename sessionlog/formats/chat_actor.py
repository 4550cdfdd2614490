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

    def pick(self, data: bytes, results: Collection[int], rest: bool) -> bytes:
        """A user's line with some of its result blocks, and with its other blocks if `rest`."""
        content = splice.member(data, ("content",))
        if content is None or data[content.start : content.start + 1] != b"[":
            return data
        blocks = [splice.loads(data[m.start : m.end]) for m in splice.members(data, content.start)]
        numbers = count()
        keep = [next(numbers) in results if _is_result(block) else rest for block in blocks]
        return splice.only(data, content.start, keep)

    def renew(self, parts: Iterable[Part], birth: Birth) -> Iterator[bytes]:
        """Every line as it stands. Raises NotPossible for a whole conversation on a line."""
        first = True
        for data, fate in parts:
            if first and data.strip():
                first = False
                if b'"messages"' in data and _is_conversation(data):
                    raise NotPossible(
                        f"{birth.parent}: a whole conversation on each line is no run to go on with"
                    )
            if fate is not Fate.DROPPED:
                yield data

    def say(self, text: str, at: str) -> bytes:
        return codec.dumps({"role": "user", "content": text})

    def place(
        self, parent: str, at: int | None, now: datetime, taken: Callable[[str], bool]
    ) -> tuple[str, str]:
        """Beside the parent under its name and what was done: `x-fork-7`, `x-repaired`, and
        `x-repaired-2` where that is taken."""
        stem, ending = os.path.splitext(parent)
        stem += "-repaired" if at is None else f"-fork-{at}"
        names = (stem if n == 1 else f"{stem}-{n}" for n in count(1))
        free = next(name for name in names if not taken(name + ending))
        return os.path.basename(free), free + ending


def _is_conversation(data: bytes) -> bool:
    """Is the line one? A damaged one is taken apart as the reader does it."""
    return any("role" not in value for value, _ in codec.parse(Line(0, 0, data, True)).objects)


def _answer(asked: dict[str, Any], call: OpenCall, text: str) -> dict[str, Any]:
    if asked.get("type") == "tool_call" and "role" not in asked:
        ids = {key: asked[key] for key in _IDS if isinstance(asked.get(key), str)}
        return {"type": "tool_result", "name": call.tool, **ids, "result": text, "is_error": True}
    for block in list_of(asked.get("content")):
        if dict_of(block).get("type") in ("tool_use", "tool_call") and _names(block, call):
            result = {"type": "tool_result", "tool_use_id": call.call_id, "content": text,
                      "is_error": True}  # fmt: skip
            return {"role": "user", "content": [result]}
    if any(_names(block, call) for block in list_of(asked.get("tool_calls"))):
        return {"role": "tool", "tool_call_id": call.call_id, "content": text}
    return {"role": "function", "name": call.tool, "content": text}


def _names(block: Any, call: OpenCall) -> bool:
    """Is the block this call? A call without an id goes by its tool's name."""
    body = dict_of(block)
    names = [body.get(key) for key in (*_IDS, "name")]
    return call.call_id in [*names, dict_of(body.get("function")).get("name")]


def _is_result(block: Any) -> bool:
    return dict_of(block).get("type") == "tool_result"
