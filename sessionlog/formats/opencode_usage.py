"""What OpenCode's logs tell of tokens and cost.

The same amounts stand on a message and on the `step-finish` parts in it, and older clients kept
only the last step's on the message: so the steps are counted, and a message without one by its
own. A fork has new ids and the old times, which therefore name an answer. `input` excludes what
was cached; `output` has included the reasoning up to about 1.2 and does not since, which `total`
tells.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sessionlog.formats.base import dict_of, text_of
from sessionlog.formats.tokens import count, dollars
from sessionlog.records import Event, Record, Tokens, Usage

STEP, LAST = "step-finish", "answer"
"""Kinds of the events that tell of tokens: of a step, and of an answer that has no steps."""


def usage_of(record: Record) -> Usage | None:
    """See `Format.usage`."""
    payload = record.payload
    if not isinstance(payload, Event) or payload.kind not in (STEP, LAST):
        return None
    extra = payload.extra
    model = text_of(extra.get("modelID"))
    told = dict_of(extra.get("tokens"))
    tokens = _tokens(told)
    cost = dollars(extra.get("cost")) or None
    if not tokens.total and cost is None:
        return Usage(model=model) if model else None
    answer = f"{record.at} {record.part} {tokens.input} {tokens.output}"
    return Usage(tokens if tokens.total else None, cost, model, answer)


def _tokens(told: Mapping[str, Any]) -> Tokens:
    cache = dict_of(told.get("cache"))
    tokens = Tokens(
        count(told.get("input")), count(told.get("output")), count(cache.get("read")),
        count(cache.get("write")), count(told.get("reasoning")),
    )  # fmt: skip
    if tokens.reasoning and count(told.get("total")) == tokens.total + tokens.reasoning:
        return tokens._replace(output=tokens.output + tokens.reasoning)
    return tokens
