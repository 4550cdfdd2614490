"""Streamed pieces of a model's answer to whole, finished blocks. Sans-io.

A recorder that writes pieces as they come leaves half words and unparsable JSON behind, and one
that waits for the end of the answer loses all of it when the stream is cut. So pieces are held by
block and a block is handed out the moment it is finished. Three dialects (the events of Anthropic
and of OpenAI's Responses, the chunks of OpenAI's chat) are first put into the few words of
`_steps`; nothing after that knows where an event came from. What arrives is data from elsewhere:
no event, however malformed, raises.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from sessionlog import codec

_Key = int | tuple[object, ...]
"""A block's own index in the stream; a tuple where the dialect gives it none."""


@dataclass(frozen=True, slots=True)
class Block:
    """One block of an answer."""

    index: int
    """Its own index in the stream, or the order of its first piece where it has none."""
    type: str
    """"text", "reasoning", "tool_use", or an unknown type as it stands."""
    text: str = ""
    id: str = ""
    """The call's id; of other blocks the service's own id, where it gives one."""
    name: str = ""
    arguments: str = ""
    """Of a call: the raw JSON as it was streamed, even where it does not parse."""
    input: object = None
    """Of a call: the parsed arguments, None when they do not parse or the block was cut. Of an
    unknown type: the block as the stream gave it."""
    complete: bool = True
    """False: the stream ended inside it."""
    problem: str = ""
    """What is wrong with it, "" when nothing is."""
    signature: str = ""
    """The seal on reasoning that the service wants back with it."""


class StreamAssembler:
    """Events in, finished blocks out.

    ::

        for block in assembler.feed(event): ...
        for block in assembler.finish(): ...       # "[DONE]": the stream ended by itself
        for block in assembler.unfinished(): ...   # it was cut

    One assembler may take answer after answer: the start of an answer clears what is known of
    the one before, and hands out what that left open as not complete.
    """

    def __init__(self) -> None:
        self._open: dict[int, _Open] = {}
        self._numbers: dict[_Key, int] = {}
        self._closed: set[int] = set()
        self._next = 0
        self._told = _Told()

    @property
    def open(self) -> tuple[int, ...]:
        """Indices of the blocks that are not finished."""
        return tuple(sorted(self._open))

    @property
    def stop_reason(self) -> str:
        """Why the answer ended, in the service's word; "" until it says."""
        return self._told.stop_reason

    @property
    def usage(self) -> Mapping[str, object]:
        """Tokens as last told; empty until then."""
        return self._told.usage

    @property
    def problem(self) -> str:
        """What went wrong with the answer as a whole, "" when nothing did."""
        return self._told.problem

    def feed(self, event: Mapping[str, object]) -> list[Block]:
        """Take one event and give the blocks that it finishes. Never raises on content."""
        finished: list[Block] = []
        for step in _steps(event):
            finished += self._take(step)
        return finished

    def finish(self) -> list[Block]:
        """The stream ended by itself: finish what is open (chat chunks mark no block's end)."""
        return self._close(self.open)

    def partial(self, index: int) -> str:
        """Raw text of an open block so far; "" when no such block is open. O(its length)."""
        block = self._open.get(index)
        return _joined(block.pieces) if block else ""

    def unfinished(self) -> list[Block]:
        """The blocks that are open, as they would stand if the stream were cut here."""
        return [_cut(index, self._open[index]) for index in self.open]

    def _take(self, step: _Step) -> list[Block]:
        match step:
            case _Begin():
                return self._begin()
            case _Start():
                self._start(step)
            case _Piece():
                self._piece(step)
            case _Stop(key):
                return self._close([self._numbers.get(key, -1)])
            case _End(choice):
                return self._close(i for i in self.open if choice in (None, self._open[i].choice))
            case _Told():
                self._told = self._told.updated(step)
        return []

    def _begin(self) -> list[Block]:
        cut = self.unfinished()
        self.__init__()  # type: ignore[misc]
        return cut
