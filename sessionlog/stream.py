"""Streamed pieces of a model's answer to whole, finished blocks. Sans-io.

A recorder that writes pieces as they come leaves half words and unparsable JSON behind, and one
that waits for the end of the answer loses all of it when the stream is cut. So pieces are held by
block, and a block is handed out the moment it is finished. Three dialects (Anthropic's events,
OpenAI's Responses events, OpenAI's chat chunks) are first put into the few words of `_Step`;
nothing after that knows where an event came from. What arrives is data from elsewhere: no event,
however malformed, raises.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from sessionlog import codec

_Key = int | tuple[object, ...]
"""A block's own index in the stream; where the dialect gives it none, a tuple that names it."""


@dataclass(frozen=True, slots=True)
class Block:
    """One block of an answer."""

    index: int
    """Its own index in the stream, or its rank by first piece where it has none."""
    type: str
    """"text", "reasoning", "tool_use", or an unknown type as it stands."""
    text: str = ""
    id: str = ""
    """The call's id; of other blocks the id that the service gives them, if any."""
    name: str = ""
    arguments: str = ""
    """Of a call: the raw JSON as it was streamed, even where it does not parse."""
    input: object = None
    """Of a call: its parsed arguments; None when they do not parse or the block was cut. Of an
    unknown type: the block as the stream gave it."""
    complete: bool = True
    """False: the stream was cut inside it."""
    problem: str = ""
    """What is wrong with it; "" when nothing is."""
    signature: str = ""
    """The seal on reasoning that the service wants back together with it."""


class StreamAssembler:
    """Events in, finished blocks out.

    ::

        for block in assembler.feed(event): ...
        for block in assembler.finish(): ...      # "[DONE]": the stream ended by itself
        for block in assembler.unfinished(): ...  # or it was cut

    Answer after answer may be fed: where one begins, what is known of the last one is cleared,
    and `feed` hands out as not complete what that left open.
    """

    def __init__(self) -> None:
        self._clear()

    @property
    def open(self) -> tuple[int, ...]:
        """Indices of the blocks that are not finished, in ascending order. O(their number)."""
        return tuple(sorted(self._open))

    @property
    def is_open(self) -> bool:
        """Is any block not finished?"""
        return bool(self._open)

    @property
    def stop_reason(self) -> str:
        """Why the answer ended, in the service's word; "" until it says."""
        return self._stop_reason

    @property
    def usage(self) -> Mapping[str, object]:
        """Tokens as last told; empty until then."""
        return dict(self._usage)

    @property
    def problem(self) -> str:
        """What went wrong with the answer as a whole; "" when nothing did."""
        return self._problem

    def feed(self, event: Mapping[str, object]) -> list[Block]:
        """Take one event and give the blocks that it finishes. Never raises on content."""
        return [block for step in _steps(event) for block in self._take(step)]

    def finish(self) -> list[Block]:
        """The stream ended by itself: finish what is open (chat chunks end no block)."""
        return self._close(self.open)

    def partial(self, index: int) -> str:
        """Raw text of an open block so far; "" when no such block is open. O(its length)."""
        return _joined(self._open[index].pieces) if index in self._open else ""

    def unfinished(self) -> list[Block]:
        """The open blocks as they stand if the stream was cut here. Changes nothing."""
        return [self._open[index].cut(index) for index in self.open]

    def _clear(self) -> None:
        self._open: dict[int, _Open] = {}
        self._closed: set[int] = set()
        self._ranks: dict[_Key, int] = {}
        self._next = 0
        self._stop_reason = self._problem = ""
        self._usage: dict[str, object] = {}

    def _take(self, step: _Step) -> list[Block]:
        match step:
            case _Begin():
                cut = self.unfinished()
                self._clear()
                return cut
            case _Start():
                self._start(step)
            case _Piece():
                self._piece(step)
            case _Stop(key):
                return self.finish() if key is None else self._close([self._index(key)])
            case _Told(stop_reason, usage, problem):
                self._stop_reason = stop_reason or self._stop_reason
                self._usage.update((k, v) for k, v in usage.items() if v is not None)
                self._problem = problem or self._problem
        return []

    def _index(self, key: _Key) -> int:
        return key if isinstance(key, int) else self._ranks.get(key, self._next)

    def _opened(self, key: _Key) -> _Open | None:
        """The open block of a key, opened now if it has to be; None when it is closed."""
        index = self._index(key)
        if index in self._closed:
            return None
        if index not in self._open:
            self._open[index] = _Open(key)
            self._ranks[key] = index
            self._next = max(self._next, index + 1)
        return self._open[index]

    def _start(self, step: _Start) -> None:
        index = self._index(step.key)
        if step.begins:  # an index used again, the start of another answer having been lost
            self._closed.discard(index)
        if index in self._open and self._open[index].is_another(step):
            del self._ranks[step.key]  # some services give every call the same index
        block = self._opened(step.key)
        if block is not None:
            block.learn(step)

    def _piece(self, step: _Piece) -> None:
        if not step.text:
            return
        block = self._opened(step.key)
        if block is not None:
            block.add(step)
        elif step.part == "piece" and not self._problem:
            self._problem = f"a piece of block {self._index(step.key)} came after its end"

    def _close(self, indices: Iterable[int]) -> list[Block]:
        """Finish blocks; an index that is not open (a repeated stop) gives nothing."""
        closing = [(index, self._open.pop(index)) for index in indices if index in self._open]
        for index, block in closing:
            self._closed.add(index)
            self._ranks.pop(block.key, None)
        return [block.finished(index) for index, block in closing]


@dataclass(slots=True)
class _Open:
    """A block while its pieces come in. They are joined once, at its end."""

    key: _Key
    type: str = ""
    id: str = ""
    name: str = ""
    given: object = None
    """What its start or end carried beside the pieces."""
    json: bool = False
    """Pieces of arguments came."""
    pieces: list[str] = field(default_factory=list)
    seal: list[str] = field(default_factory=list)

    def is_another(self, step: _Start) -> bool:
        """Does the step start a call beside this one? Not with its own index, and not without a
        name: an id alone may be a service that makes one up for every chunk."""
        known = isinstance(self.key, int) or not self.id
        return not known and bool(step.id and step.name) and step.id != self.id

    def learn(self, step: _Start) -> None:
        self.type = step.type or self.type
        self.id = self.id or step.id
        self.name = self.name or step.name
        self.given = self.given if step.given is None else step.given

    def add(self, step: _Piece) -> None:
        if step.part == "seal":
            self.seal.append(step.text)
            return
        if step.part == "whole":
            self.pieces.clear()
        self.pieces.append(step.text)
        self.type = self.type or step.type
        self.json = self.json or step.type == "tool_use"

    def cut(self, index: int) -> Block:
        raw, problem = _joined(self.pieces), "the stream was cut inside this block"
        block = replace(self._block(index), complete=False, problem=problem)
        return replace(block, arguments=raw) if self._is_call else replace(block, text=raw)

    def finished(self, index: int) -> Block:
        raw, block = _joined(self.pieces), self._block(index)
        if not self._is_call:
            return replace(block, text=raw, input=self.given)
        if not raw and isinstance(self.given, Mapping) and self.given:
            return replace(block, arguments=_written(self.given), input=self.given)
        value, problem = _parsed(raw)
        return replace(block, arguments=raw, input=value, problem=problem)

    def _block(self, index: int) -> Block:
        """What is known of it beside its pieces."""
        type, seal = self.type or "text", "".join(self.seal)
        return Block(index, type, id=self.id, name=self.name, signature=seal)

    @property
    def _is_call(self) -> bool:
        sent_json = self.json and self.type not in ("text", "reasoning")
        return sent_json or self.type.endswith("tool_use")


class _Begin(NamedTuple):
    """Another answer begins."""


class _Start(NamedTuple):
    """A block begins, or more is known of one that is open."""

    key: _Key
    type: str
    id: str = ""
    name: str = ""
    given: object = None
    begins: bool = True
    """False: it may tell once more of a block that is closed."""


class _Piece(NamedTuple):
    """More of a block; opens it if its start was lost."""

    key: _Key
    text: str
    type: str
    """What the block is, if its start did not say."""
    part: Literal["piece", "whole", "seal"] = "piece"
    """A whole replaces the pieces before it; a seal is no part of the text."""


class _Stop(NamedTuple):
    """A block is finished; without a key, all of them are."""

    key: _Key | None = None


class _Told(NamedTuple):
    """Something about the answer as a whole."""

    stop_reason: str = ""
    usage: Mapping[str, object] = {}
    problem: str = ""


_Step = _Begin | _Start | _Piece | _Stop | _Told


def _steps(event: object) -> Iterator[_Step]:
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


def _anthropic(kind: str, event: Mapping[str, object]) -> Iterator[_Step]:
    """Anthropic: every block has an index, a start and a stop."""
    key, delta = _key(event.get("index")), _map(event.get("delta"))
    block = _map(event.get("content_block"))
    match kind:
        case "message_start":
            yield _Begin()
            yield _Told(usage=_map(_map(event.get("message")).get("usage")))
        case "content_block_start":
            own = _str(block.get("type"))
            type = _ANTHROPIC_TYPES.get(own, own)
            given = None if type in ("text", "reasoning", "") else block.get("input", block)
            yield _Start(key, type, _str(block.get("id")), _str(block.get("name")), given)
            yield _Piece(key, _str(block.get("text")) or _str(block.get("thinking")), type)
            yield _Piece(key, _str(block.get("signature")), type, "seal")
        case "content_block_delta":
            field_name, type = _ANTHROPIC_DELTAS.get(_str(delta.get("type")), ("", ""))
            yield _Piece(key, _str(delta.get(field_name)), type)
            yield _Piece(key, _str(delta.get("signature")), "reasoning", "seal")
        case "content_block_stop":
            yield _Stop(key)
        case "message_delta":
            yield _Told(_str(delta.get("stop_reason")), _map(event.get("usage")))
        case "message_stop":
            yield _Stop()
        case "error":
            yield _Told(problem=_trouble(event.get("error") or event))


_ITEM_TYPES = {"message": "text", "reasoning": "reasoning", "function_call": "tool_use"}
_ITEM_DELTAS = {
    "output_text": "text", "refusal": "text", "reasoning_text": "reasoning",
    "reasoning_summary_text": "reasoning", "function_call_arguments": "tool_use",
    "mcp_call_arguments": "tool_use", "custom_tool_call_input": "custom_tool_call",
}  # fmt: skip


def _responses(kind: str, event: Mapping[str, object]) -> Iterator[_Step]:
    """OpenAI's Responses: every item has an index and comes whole again at its end."""
    key, item = _key(event.get("output_index"), event.get("item_id")), _map(event.get("item"))
    what, _, last = kind.removeprefix("response.").rpartition(".")
    match kind:
        case "response.created":
            yield _Begin()
        case "response.output_item.added":
            yield _item(key, item)
        case "response.output_item.done":
            yield _item(key, item)._replace(begins=False)
            type = "tool_use" if "arguments" in item else ""
            yield _Piece(key, _text_of(item), type, "whole")
            yield _Piece(key, _str(item.get("encrypted_content")), "", "seal")
            yield _Stop(key)
        case "response.function_call_arguments.done":
            yield _Piece(key, _str(event.get("arguments")), "tool_use", "whole")
        case "response.reasoning_summary_part.added" if event.get("summary_index"):
            yield _Piece(key, "\n\n", "reasoning")
        case "response.completed" | "response.incomplete" | "response.failed":
            answer = _map(event.get("response"))
            why = _str(_map(answer.get("incomplete_details")).get("reason"))
            yield _Told(why or _str(answer.get("status")), _map(answer.get("usage")))
            failed = kind == "response.failed"
            yield _Told(problem=_trouble(answer.get("error"))) if failed else _Stop()
        case _ if last == "delta" and what in _ITEM_DELTAS:
            yield _Piece(key, _str(event.get("delta")), _ITEM_DELTAS[what])


def _item(key: _Key, item: Mapping[str, object]) -> _Start:
    own = _str(item.get("type"))
    id = _str(item.get("call_id")) or _str(item.get("id"))
    given = None if own in _ITEM_TYPES or not own else item
    return _Start(key, _ITEM_TYPES.get(own, own), id, _str(item.get("name")), given)


def _text_of(item: Mapping[str, object]) -> str:
    """The raw text of a whole item: its arguments, its free input, or its parts."""
    summary = _list(item.get("summary"))
    parts = map(_map, summary or _list(item.get("content")))
    words = [_str(part.get("text")) or _str(part.get("refusal")) for part in parts]
    whole = ("\n\n" if summary else "").join(words)
    return _str(item.get("arguments")) or _str(item.get("input")) or whole


def _chat(event: Mapping[str, object]) -> Iterator[_Step]:
    """OpenAI's chat: only calls have an index, and only the whole answer has an end."""
    error = event.get("error")
    yield _Told("", _map(event.get("usage")), _trouble(error) if error else "")
    for choice in map(_map, _list(event.get("choices"))):
        if choice.get("index"):
            continue  # an alternative to the answer, no part of it
        delta = _map(choice.get("delta"))
        # Where a service sends reasoning under both names they say the same.
        reasoning = _str(delta.get("reasoning_content")) or _str(delta.get("reasoning"))
        yield _Piece(("reasoning",), reasoning, "reasoning")
        yield _Piece(("text",), _str(delta.get("content")), "text")
        yield _Piece(("refusal",), _str(delta.get("refusal")), "refusal")
        for call in map(_map, _list(delta.get("tool_calls"))):
            yield from _chat_call(call)
        if reason := _str(choice.get("finish_reason")):
            yield _Told(stop_reason=reason)
            yield _Stop()


def _chat_call(call: Mapping[str, object]) -> Iterator[_Step]:
    function, index = _map(call.get("function")), call.get("index")
    key = ("tool_use", index if isinstance(index, int) else 0)
    arguments = function.get("arguments")
    given = arguments if isinstance(arguments, Mapping) else None
    yield _Start(key, "tool_use", _str(call.get("id")), _str(function.get("name")), given)
    yield _Piece(key, _str(arguments), "tool_use")


def _key(index: object, id: object = None) -> _Key:
    return index if type(index) is int else ("no index", _str(id))


def _trouble(error: object) -> str:
    """An error in the service's own words."""
    told = _map(error)
    words = [_str(told.get("code")) or _str(told.get("type")), _str(told.get("message"))]
    return _str(error) or ": ".join(filter(None, words)) or "the service reported an error"


def _joined(pieces: list[str]) -> str:
    """The pieces as one text. A character cut in two (services that count in UTF-16 do that)
    comes as two halves, which are made one again here."""
    units = "".join(pieces).encode("utf-16-le", "surrogatepass")
    return units.decode("utf-16-le", "surrogatepass")


def _parsed(raw: str) -> tuple[object, str]:
    """Arguments and what is wrong with them. No arguments at all mean an empty object."""
    if not raw.strip():
        return {}, ""
    try:
        # Half a character is written as its escape, which is what it was in the stream.
        return codec.loads(raw.encode("utf-8", "backslashreplace")), ""
    except ValueError as error:
        return None, f"the arguments are not JSON: {error}"


def _written(value: Mapping[str, object]) -> str:
    try:
        return codec.dumps(value).decode()
    except ValueError:
        return ""


def _str(value: object) -> str:
    return value if isinstance(value, str) else ""


def _map(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
