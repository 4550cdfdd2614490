"""A model's answers, streamed one after another: what both services' dialects share. Pure.

Only the model's side is in such a stream. A call that it asks for is answered elsewhere, so it
stays open, and a stream whose last answer asks for one ends without a verdict: the run is not over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from sessionlog.dialects.base import CUT, Standing
from sessionlog.dialects.blocks import Blocks, said, where
from sessionlog.dialects.sse import Sse
from sessionlog.records import Event, Message, Payload, Result, Tokens
from sessionlog.stream import Block

_GOOD = ("end_turn", "stop", "stop_sequence", "completed", "")
_ASKS = ("tool_use", "tool_calls", "function_call", "pause_turn")
ERROR = "error"


class Answers:
    """Events of a service in, payloads out. A dialect says what an event of its service means."""

    def __init__(self, tokens: Callable[[Any], Tokens | None]) -> None:
        self._tokens = tokens
        self._blocks = Blocks()
        self._sse = Sse(self.event, self.done)
        self._answers = 0
        self._open = False
        """An answer has begun and not ended."""
        self._block = 0
        """Number of the last block that was finished in it."""
        self._asks = 0
        """Calls that the last answer asks for, which somebody else has to answer."""
        self._stop = ""
        self._problem = ""
        self._before = Tokens()
        """Of the answers before this one."""
        self._spent: Tokens | None = None

    def take(self, line: bytes) -> Iterable[Payload]:
        return self._sse.take(line)

    def rest(self, line: bytes) -> Iterable[Payload]:
        return self._sse.rest(line)

    def event(self, event: Mapping[str, Any], size: int) -> Iterator[Payload]:
        """Take one event of the service, which is so many bytes long."""
        raise NotImplementedError

    def done(self) -> Iterator[Payload]:
        """The service says that the stream is over."""
        yield from self._ended(self._blocks.finish())

    def standing(self) -> Standing:
        if self._problem:
            failed = Result(ERROR, error=self._problem, code=1)
            return Standing(failed, "", self._partial(), self._answers)
        if self._open:
            cut = f"the stream was cut {self._place()}"
            return Standing(Result(ERROR, error=cut, code=1), cut, self._partial(), self._answers)
        waits = self._stop in _ASKS or (self._asks > 0 and self._stop in _GOOD)
        if waits or not self._answers:
            return Standing(answers=self._answers)
        if self._stop in _GOOD:
            return Standing(Result("stop"), answers=self._answers)
        return Standing(Result(self._stop, code=1), answers=self._answers)

    # -- an answer ---------------------------------------------------------------------------------

    def _begin(self) -> Iterator[Payload]:
        """Another answer begins; the one before may have been cut off."""
        if self._open:
            yield from self._blocks.partial()
            yield Event(CUT, text=f"an answer was cut {self._place()}; another one began")
        self._blocks.begin()
        self._answers += 1
        self._open, self._block, self._asks = True, 0, 0
        self._stop = self._problem = ""
        self._before = self._before.plus(self._spent or Tokens())
        self._spent = None

    def _fed(self, event: Mapping[str, Any], size: int) -> Iterator[Payload]:
        """The blocks that an event finishes."""
        for block in self._blocks.feed(event, size):
            yield from self._said(block)
        yield from self._blocks.flooded()
        self._stop = self._blocks.assembler.stop_reason or self._stop

    def _said(self, block: Block) -> Iterator[Payload]:
        self._block = max(self._block, block.index + 1)
        for payload in said(block):
            if isinstance(payload, Message) and payload.activity:
                self._asks += 1 if payload.activity.kind == "request" else -1
            yield payload

    def _ended(self, blocks: list[Block]) -> Iterator[Payload]:
        """The answer is whole."""
        for block in blocks:
            yield from self._said(block)
        self._open = False

    def _used(self) -> Iterator[Payload]:
        """The tokens of the run so far, in the native engine's words, whenever there are more."""
        spent = self._tokens(self._blocks.assembler.usage)
        if spent is not None and spent != self._spent:
            self._spent = spent
            yield spent_so_far(self._before.plus(spent))

    def _failed(self, problem: str) -> Iterator[Payload]:
        """The service reports an error; another answer may follow all the same."""
        if problem and problem != self._problem:
            self._problem = problem
            yield Event(ERROR, text=problem)

    def _place(self) -> str:
        if inside := where(self._blocks.unfinished()):
            return f"in the middle of {inside}"
        return f"after block {self._block}" if self._block else "before its first block"

    def _partial(self) -> tuple[Event, ...]:
        return tuple(self._blocks.partial())


def spent_so_far(tokens: Tokens) -> Event:
    """A usage event: the run's total (formats.md 1; the native format has no word for a cache)."""
    given = tokens.input + tokens.cache_read + tokens.cache_write
    return Event("usage", text=f"input {given} output {tokens.output}")
