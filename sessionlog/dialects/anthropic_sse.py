"""Anthropic's Messages API, streamed: server-sent events, answer after answer.

By the API's reference: message_start, then for each block content_block_start, deltas and
content_block_stop, then message_delta with the stop reason and the usage, and message_stop. `ping`
says nothing; `error` may come at any time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sessionlog.dialects.answers import Answers
from sessionlog.dialects.base import About, dict_of, text_of
from sessionlog.formats.tokens import anthropic
from sessionlog.records import Payload

_BLOCK = ("content_block_start", "content_block_delta", "content_block_stop")


class AnthropicSse(Answers):
    """Events of the Messages API in, payloads out."""

    def __init__(self) -> None:
        super().__init__(anthropic)

    def event(self, event: Mapping[str, Any], size: int) -> Iterator[Payload]:
        kind = event.get("type")
        if kind == "message_start" or (kind in _BLOCK and not self._open):
            yield from self._begin()
        yield from self._fed(event, size)
        if kind in ("message_delta", "message_stop"):
            yield from self._used()
        if kind == "message_stop":
            yield from self._ended([])
        elif kind == "error":
            yield from self._failed(self._blocks.assembler.problem)


def about(event: Mapping[str, Any]) -> About:
    """What the first event tells of the run."""
    return About(text_of(dict_of(event.get("message")).get("model")))
