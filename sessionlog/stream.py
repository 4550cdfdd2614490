"""Streamed pieces of a model's answer to whole, finished blocks. Sans-io.

A recorder that writes pieces as they come leaves half words and unparsable JSON behind, and one
that waits for the end of the answer loses all of it when the stream is cut. So pieces are held by
block, and a block is handed out the moment it is finished. Three dialects (Anthropic's events,
OpenAI's Responses events, OpenAI's chat chunks) are first put into the few words of `Step`;
nothing after that knows where an event came from. What arrives is data from elsewhere: no event,
however malformed, raises.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from sessionlog import codec
from sessionlog.steps import Begin, Key, Piece, Start, Step, Stop, Told, steps


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
        return [block for step in steps(event) for block in self._take(step)]

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
        self._ranks: dict[Key, int] = {}
        self._next = 0
        self._stop_reason = self._problem = ""
        self._usage: dict[str, object] = {}

    def _take(self, step: Step) -> list[Block]:
        match step:
            case Begin():
                cut = self.unfinished()
                self._clear()
                return cut
            case Start():
                self._start(step)
            case Piece():
                self._piece(step)
            case Stop(key):
                return self.finish() if key is None else self._close([self._index(key)])
            case Told(stop_reason, usage, problem):
                self._stop_reason = stop_reason or self._stop_reason
                self._usage.update((k, v) for k, v in usage.items() if v is not None)
                self._problem = problem or self._problem
        return []

    def _index(self, key: Key) -> int:
        return key if isinstance(key, int) else self._ranks.get(key, self._next)

    def _opened(self, key: Key) -> _Open | None:
        """The open block of a key, opened now if it has to be; None when it is closed."""
        index = self._index(key)
        if index in self._closed:
            return None
        if index not in self._open:
            self._open[index] = _Open(key)
            self._ranks[key] = index
            self._next = max(self._next, index + 1)
        return self._open[index]

    def _start(self, step: Start) -> None:
        index = self._index(step.key)
        if step.begins:  # an index used again, the start of another answer having been lost
            self._closed.discard(index)
        if index in self._open and self._open[index].is_another(step):
            del self._ranks[step.key]  # some services give every call the same index
        block = self._opened(step.key)
        if block is not None:
            block.learn(step)

    def _piece(self, step: Piece) -> None:
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

    key: Key
    type: str = ""
    id: str = ""
    name: str = ""
    given: object = None
    """What its start or end carried beside the pieces."""
    json: bool = False
    """Pieces of arguments came."""
    pieces: list[str] = field(default_factory=list)
    seal: list[str] = field(default_factory=list)

    def is_another(self, step: Start) -> bool:
        """Does the step start a call beside this one? Not with its own index, and not without a
        name: an id alone may be a service that makes one up for every chunk."""
        known = isinstance(self.key, int) or not self.id
        return not known and bool(step.id and step.name) and step.id != self.id

    def learn(self, step: Start) -> None:
        self.type = step.type or self.type
        self.id = self.id or step.id
        self.name = self.name or step.name
        self.given = self.given if step.given is None else step.given

    def add(self, step: Piece) -> None:
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
