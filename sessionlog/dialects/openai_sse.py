"""OpenAI's two APIs, streamed: Responses events, and chat completions' chunks up to `[DONE]`.

By the APIs' references. An answer of the Responses API begins with response.created and ends with
response.completed, .incomplete or .failed; a chat's answer has no beginning of its own and ends
with a finish reason. Many other services speak the chat's dialect, some without the `[DONE]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sessionlog.dialects.answers import Answers
from sessionlog.dialects.base import About, dict_of, list_of, text_of
from sessionlog.dialects.blocks import served
from sessionlog.formats.tokens import openai
from sessionlog.records import Activity, Payload

_ENDS = ("response.completed", "response.incomplete", "response.failed")


class OpenAiSse(Answers):
    """Events of either API in, payloads out."""

    def __init__(self) -> None:
        super().__init__(openai)
        self._chunk = ""
        """Id of the chat's answer."""

    def event(self, event: Mapping[str, Any], size: int) -> Iterator[Payload]:
        kind = text_of(event.get("type"))
        if kind.startswith("response."):
            yield from self._response(kind, event, size)
        elif "choices" in event:
            yield from self._chat(event, size)
        elif kind == "error" or event.get("error"):
            yield from self._failed(_trouble(event))

    def _response(self, kind: str, event: Mapping[str, Any], size: int) -> Iterator[Payload]:
        if kind == "response.created" or not self._open:
            yield from self._begin()
        yield from self._fed(event, size)
        item = dict_of(event.get("item"))
        if kind == "response.output_item.done" and item.get("type") == "mcp_call":
            self._asks -= 1
            yield served(_asked(item), item)
        if kind in _ENDS:
            yield from self._used()
            yield from self._ended([])
            yield from self._failed(self._blocks.assembler.problem)

    def _chat(self, event: Mapping[str, Any], size: int) -> Iterator[Payload]:
        deltas = [dict_of(dict_of(choice).get("delta")) for choice in list_of(event["choices"])]
        id = text_of(event.get("id"))
        speaks = any(any(delta.values()) for delta in deltas)
        anew = self._open and id != self._chunk and any("role" in delta for delta in deltas)
        if speaks and (not self._open or (anew and not any(d.get("content") for d in deltas))):
            yield from self._begin()
        self._chunk = id
        yield from self._fed(event, size)
        yield from self._used()
        if any(dict_of(choice).get("finish_reason") for choice in list_of(event["choices"])):
            yield from self._ended([])
        if event.get("error"):
            yield from self._failed(_trouble(event))


def _asked(item: Mapping[str, Any]) -> Activity:
    names = ("id", "name", "arguments")
    id, name, arguments = (text_of(item.get(key)) for key in names)
    return Activity("request", id, name, arguments)


def _trouble(event: Mapping[str, Any]) -> str:
    """An error in the service's own words."""
    error = event.get("error") or event
    told = dict_of(error)
    words = [text_of(told.get("code")) or text_of(told.get("type")), text_of(told.get("message"))]
    return text_of(error) or ": ".join(filter(None, words)) or "the service reported an error"


def about(event: Mapping[str, Any]) -> About:
    """What the first event tells of the run."""
    return About(
        text_of(event.get("model")) or text_of(dict_of(event.get("response")).get("model"))
    )
