"""What Claude Code's logs tell of tokens and cost.

Every line of an answer repeats the usage of the whole one under the same `message.id`, and while
an answer is streamed its `output_tokens` grow from line to line, so the id names what is counted
once; `requestId` does not, it is missing behind gateways. Input excludes what was cached. Forks
and resumed logs copy lines with their `message.id`. Seen from 1.0.98 to 2.1.332.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sessionlog.formats.base import dict_of, text_of
from sessionlog.formats.tokens import anthropic, dollars
from sessionlog.records import Event, Message, Record, Usage

_OWN_WORDS = "<synthetic>"
"""The model of answers that the client wrote itself."""


def usage_of(record: Record) -> Usage | None:
    """See `Format.usage`. A subagent's answers stand on side-chain lines (1.0, and its own log
    since), and inside `agent_progress` records (2.1); `cost-state` has the run's cost so far."""
    payload = record.payload
    if isinstance(payload, Message):
        if record.part or not payload.answer:
            return None
        extra = payload.extra
        return _told(text_of(extra.get("model")), extra.get("usage"), payload.answer,
                     payload.sidechain)  # fmt: skip
    if not isinstance(payload, Event):
        return None
    if payload.kind == "cost-state":
        cost = dollars(payload.extra.get("totalCostUSD"))
        return None if cost is None else Usage(cost=cost, counter="cost")
    if payload.kind == "agent_progress":
        return _embedded(payload.extra)
    return None


def _embedded(data: Mapping[str, Any]) -> Usage | None:
    message = dict_of(dict_of(data.get("message")).get("message"))
    answer = text_of(message.get("id"))
    if not answer:
        return None
    side = text_of(data.get("agentId")) or "agent"
    return _told(text_of(message.get("model")), message.get("usage"), answer, side)


def _told(model: str, usage: Any, answer: str, side: str) -> Usage | None:
    tokens = anthropic(usage)
    model = "" if model == _OWN_WORDS else model
    return Usage(tokens, model=model, answer=answer, side=side) if tokens or model else None
