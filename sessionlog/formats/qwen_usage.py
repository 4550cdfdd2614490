"""What Qwen Code's logs tell of tokens: each answer its own, in Gemini's words.

The prompt's tokens include those that were cached. Whether an answer's include its thoughts
depends on the service that the client speaks to; the total tells. Telemetry repeats the numbers.
"""

from __future__ import annotations

from sessionlog.formats.base import dict_of, text_of
from sessionlog.formats.tokens import count
from sessionlog.records import Message, Record, Tokens, Usage


def usage_of(record: Record) -> Usage | None:
    """See `Format.usage`."""
    payload = record.payload
    if record.part or not isinstance(payload, Message) or not payload.answer:
        return None
    model = text_of(payload.extra.get("model"))
    told = dict_of(payload.extra.get("usageMetadata"))
    prompt, total = count(told.get("promptTokenCount")), count(told.get("totalTokenCount"))
    cached = min(count(told.get("cachedContentTokenCount")), prompt)
    made = max(total - prompt, 0) or count(told.get("candidatesTokenCount"))
    tokens = Tokens(prompt - cached, made, cached, 0, count(told.get("thoughtsTokenCount")))
    if not tokens.total and not model:
        return None
    return Usage(
        tokens if tokens.total else None, None, model, payload.answer, side=payload.sidechain
    )
