"""Events of a streamed answer in a few words of our own. Pure.

Three dialects (Anthropic's events, OpenAI's Responses events, OpenAI's chat chunks) are put into
steps here; nothing behind this knows where an event came from. No event, however malformed,
raises.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

Key = int | tuple[object, ...]
"""A block's own index in the stream; where the dialect gives it none, a tuple that names it."""


class Begin(NamedTuple):
    """Another answer begins."""


class Start(NamedTuple):
    """A block begins, or more is known of one that is open."""

    key: Key
    type: str
    id: str = ""
    name: str = ""
    given: object = None
    begins: bool = True
    """False: it may tell once more of a block that is closed."""


class Piece(NamedTuple):
    """More of a block; opens it if its start was lost."""

    key: Key
    text: str
    type: str
    """What the block is, if its start did not say."""
    part: Literal["piece", "whole", "seal"] = "piece"
    """A whole replaces the pieces before it; a seal is no part of the text."""


class Stop(NamedTuple):
    """A block is finished; without a key, all of them are."""

    key: Key | None = None


class Told(NamedTuple):
    """Something about the answer as a whole."""

    stop_reason: str = ""
    usage: Mapping[str, object] = {}
    problem: str = ""


Step = Begin | Start | Piece | Stop | Told


def steps(event: object) -> Iterator[Step]:
    """Any dialect's event in the few words above; what none of them knows gives nothing."""
    event = _map(event)
    kind = _str(event.get("type"))
    if "choices" in event or not kind:
        yield from _chat(event)
    elif kind.startswith("response."):
        yield from _responses(kind, event)
    else:
        yield from _anthropic(kind, event)


_ANTHROPIC_TYPES = {"text": "text", "thinking": "reasoning", "tool_use": "tool_use"}
_ANTHROPIC_DELTAS = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "reasoning"),
    "input_json_delta": ("partial_json", "tool_use"),
}


def _anthropic(kind: str, event: Mapping[str, object]) -> Iterator[Step]:
    """Anthropic: every block has an index, a start and a stop."""
    key, delta = _key(event.get("index")), _map(event.get("delta"))
    block = _map(event.get("content_block"))
    match kind:
        case "message_start":
            yield Begin()
            yield Told(usage=_map(_map(event.get("message")).get("usage")))
        case "content_block_start":
            own = _str(block.get("type"))
            type = _ANTHROPIC_TYPES.get(own, own)
            given = None if type in ("text", "reasoning", "") else block.get("input", block)
            yield Start(key, type, _str(block.get("id")), _str(block.get("name")), given)
            yield Piece(key, _str(block.get("text")) or _str(block.get("thinking")), type)
            yield Piece(key, _str(block.get("signature")), type, "seal")
        case "content_block_delta":
            field_name, type = _ANTHROPIC_DELTAS.get(_str(delta.get("type")), ("", ""))
            yield Piece(key, _str(delta.get(field_name)), type)
            yield Piece(key, _str(delta.get("signature")), "reasoning", "seal")
        case "content_block_stop":
            yield Stop(key)
        case "message_delta":
            yield Told(_str(delta.get("stop_reason")), _map(event.get("usage")))
        case "message_stop":
            yield Stop()
        case "error":
            yield Told(problem=_trouble(event.get("error") or event))


_ITEM_TYPES = {"message": "text", "reasoning": "reasoning", "function_call": "tool_use"}
_ITEM_DELTAS = {
    "output_text": "text", "refusal": "text", "reasoning_text": "reasoning",
    "reasoning_summary_text": "reasoning", "function_call_arguments": "tool_use",
    "mcp_call_arguments": "tool_use", "custom_tool_call_input": "custom_tool_call",
}  # fmt: skip


def _responses(kind: str, event: Mapping[str, object]) -> Iterator[Step]:
    """OpenAI's Responses: every item has an index and comes whole again at its end."""
    key, item = _key(event.get("output_index"), event.get("item_id")), _map(event.get("item"))
    what, _, last = kind.removeprefix("response.").rpartition(".")
    match kind:
        case "response.created":
            yield Begin()
        case "response.output_item.added":
            yield _item(key, item)
        case "response.output_item.done":
            yield _item(key, item)._replace(begins=False)
            type = "tool_use" if "arguments" in item else ""
            yield Piece(key, _text_of(item), type, "whole")
            yield Piece(key, _str(item.get("encrypted_content")), "", "seal")
            yield Stop(key)
        case "response.function_call_arguments.done":
            yield Piece(key, _str(event.get("arguments")), "tool_use", "whole")
        case "response.reasoning_summary_part.added" if event.get("summary_index"):
            yield Piece(key, "\n\n", "reasoning")
        case "response.completed" | "response.incomplete" | "response.failed":
            answer = _map(event.get("response"))
            why = _str(_map(answer.get("incomplete_details")).get("reason"))
            yield Told(why or _str(answer.get("status")), _map(answer.get("usage")))
            failed = kind == "response.failed"
            yield Told(problem=_trouble(answer.get("error"))) if failed else Stop()
        case _ if last == "delta" and what in _ITEM_DELTAS:
            yield Piece(key, _str(event.get("delta")), _ITEM_DELTAS[what])


def _item(key: Key, item: Mapping[str, object]) -> Start:
    own = _str(item.get("type"))
    id = _str(item.get("call_id")) or _str(item.get("id"))
    given = None if own in _ITEM_TYPES or not own else item
    return Start(key, _ITEM_TYPES.get(own, own), id, _str(item.get("name")), given)


def _text_of(item: Mapping[str, object]) -> str:
    """The raw text of a whole item: its arguments, its free input, or its parts."""
    summary = _list(item.get("summary"))
    parts = map(_map, summary or _list(item.get("content")))
    words = [_str(part.get("text")) or _str(part.get("refusal")) for part in parts]
    whole = ("\n\n" if summary else "").join(words)
    return _str(item.get("arguments")) or _str(item.get("input")) or whole


def _chat(event: Mapping[str, object]) -> Iterator[Step]:
    """OpenAI's chat: only calls have an index, and only the whole answer has an end."""
    error = event.get("error")
    yield Told("", _map(event.get("usage")), _trouble(error) if error else "")
    for choice in map(_map, _list(event.get("choices"))):
        if choice.get("index"):
            continue  # an alternative to the answer, no part of it
        delta = _map(choice.get("delta"))
        # Where a service sends reasoning under both names they say the same.
        reasoning = _str(delta.get("reasoning_content")) or _str(delta.get("reasoning"))
        yield Piece(("reasoning",), reasoning, "reasoning")
        yield Piece(("text",), _str(delta.get("content")), "text")
        yield Piece(("refusal",), _str(delta.get("refusal")), "refusal")
        for call in map(_map, _list(delta.get("tool_calls"))):
            yield from _chat_call(call)
        if reason := _str(choice.get("finish_reason")):
            yield Told(stop_reason=reason)
            yield Stop()


def _chat_call(call: Mapping[str, object]) -> Iterator[Step]:
    function, index = _map(call.get("function")), call.get("index")
    key = ("tool_use", index if isinstance(index, int) else 0)
    arguments = function.get("arguments")
    given = arguments if isinstance(arguments, Mapping) else None
    yield Start(key, "tool_use", _str(call.get("id")), _str(function.get("name")), given)
    yield Piece(key, _str(arguments), "tool_use")


def _key(index: object, id: object = None) -> Key:
    return index if type(index) is int else ("no index", _str(id))


def _trouble(error: object) -> str:
    """An error in the service's own words."""
    told = _map(error)
    words = [_str(told.get("code")) or _str(told.get("type")), _str(told.get("message"))]
    return _str(error) or ": ".join(filter(None, words)) or "the service reported an error"


def _str(value: object) -> str:
    return value if isinstance(value, str) else ""


def _map(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
