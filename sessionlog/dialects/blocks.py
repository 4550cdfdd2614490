"""Blocks of a streamed answer as messages, and the guard against one that never ends. Pure.

`StreamAssembler` holds what it is fed until a block is finished. A service that streams one block
for ever would fill the memory, so what is held is counted here, and given up with an event that
says so; the rest of that block is not recorded, since half of a secret has no shape to mask it by.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sessionlog.dialects.base import (
    DAMAGE,
    PARTIAL,
    PRINTED,
    dict_of,
    request,
    response,
    text_of,
    written,
)
from sessionlog.records import Activity, Event, Message, Payload
from sessionlog.stream import Block, StreamAssembler

MOST = 64 << 20
"""Bytes of events that may be held for blocks that are not finished."""
_HOSTED = ("web_search_call", "file_search_call", "code_interpreter_call",
           "image_generation_call")  # fmt: skip
"""OpenAI's calls that the service itself makes: their block holds what came back. So does that of a
call by MCP, but its arguments are streamed: what came back is in the event alone."""
_KEPT_OUT = ("id", "type", "status", "call_id", "name")


class Blocks:
    """Events of one answer after another in, finished blocks as payloads out."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._held = 0
        self._given_up = False
        self.assembler = StreamAssembler()

    def begin(self) -> None:
        """Another answer begins; what the last one left open is gone."""
        self.assembler, self._held, self._given_up = StreamAssembler(), 0, False

    def feed(self, event: Mapping[str, Any], size: int) -> list[Block]:
        """The blocks that an event of so many bytes finishes, or leaves unfinished for good."""
        blocks = self.assembler.feed(event)
        self._held = self._held + size if self.assembler.is_open else 0
        return [] if self._leaves_out(bool(blocks)) else blocks

    def finish(self) -> list[Block]:
        """The answer ended by itself."""
        blocks = self.assembler.finish()
        self._held = 0
        return [] if self._leaves_out(bool(blocks)) else blocks

    def flooded(self) -> Iterator[Payload]:
        """Give up what is held, if it is too much: what was said so far, and that it was."""
        if self._held <= self._most:
            return
        if not self._given_up:
            what = where(self.unfinished())
            for event in self.partial():
                yield event._replace(text=event.text[:PRINTED])
            size = f"{what} is longer than {self._most:,} bytes"
            yield Event(DAMAGE, text=f"{size}; the end of it is left out")
        # The block may end in the middle of anything: what follows of it counts for nothing.
        self.assembler, self._held, self._given_up = StreamAssembler(), 0, True

    def partial(self) -> Iterator[Event]:
        """The raw text of the blocks that are not finished."""
        yield from map(unfinished, self.unfinished())

    def unfinished(self) -> list[Block]:
        """The blocks that are not finished, as they stand; none that was given up."""
        return [] if self._given_up else self.assembler.unfinished()

    def _leaves_out(self, finished: bool) -> bool:
        """Is what an event finished the rest of a block that was given up?"""
        if not self._given_up:
            return False
        self._given_up = self.assembler.is_open or not finished
        return True


def unfinished(block: Block) -> Event:
    """A block that was cut off, with its raw text."""
    return Event(PARTIAL, tool=block.name, text=block.arguments or block.text)


def said(block: Block) -> Iterator[Payload]:
    """What a finished block says. One without a text says nothing."""
    if not block.complete:
        yield unfinished(block)
    elif block.type == "text" or block.type == "refusal":
        if block.text.strip():
            yield Message("bot", block.text)
    elif block.type == "reasoning":
        if block.text.strip():
            yield Message("reasoning", block.text)
    elif block.type.endswith("tool_use"):
        yield request(block.id, block.name, block.arguments)
    elif block.type.endswith("tool_result"):
        yield _result(dict_of(block.input))
    elif block.type == "custom_tool_call":
        yield request(block.id, block.name, written({"input": block.text}))
    elif block.type.endswith("_call") and block.arguments:
        yield request(block.id, block.name, block.arguments)
    elif block.type.endswith("_call"):
        yield from _item(block, dict_of(block.input))
    else:
        yield Event("block", text=block.text or block.type)


def _result(block: Mapping[str, Any]) -> Message:
    """The result of a call that Anthropic's service made itself."""
    content = block.get("content")
    kind = text_of(dict_of(content).get("type"))
    asked = Activity("request", text_of(block.get("tool_use_id")))
    return response(asked, content, kind.endswith("_error"))


def _item(block: Block, item: Mapping[str, Any]) -> Iterator[Payload]:
    """A call that is an item of its own: what a client is asked for, or what the service did."""
    asked = {k: v for k, v in item.items() if k not in (*_KEPT_OUT, *_GAVE)}
    name = block.name or block.type.removesuffix("_call")
    call = request(block.id, name, written(item.get("action") or asked))
    yield call
    if block.type in _HOSTED and call.activity:
        yield served(call.activity, item)


_GAVE = ("output", "outputs", "results", "result", "error")


def served(asked: Activity, item: Mapping[str, Any]) -> Message:
    """What came back of a call that the service made."""
    failed = bool(item.get("error")) or item.get("status") == "failed"
    gave = next((item[key] for key in (("error",) if failed else _GAVE) if item.get(key)), "")
    return response(asked, gave or text_of(item.get("status")), failed)


def where(blocks: list[Block]) -> str:
    """Which block is not finished: "block 2, a call of shell"; the last of several, "" for none."""
    if not blocks:
        return ""
    block = blocks[-1]
    kinds = {"text": "a text", "refusal": "a text", "reasoning": "reasoning"}
    kind = f"a call of {block.name}" if block.name else kinds.get(block.type, block.type)
    return f"block {block.index + 1}, {kind}"
