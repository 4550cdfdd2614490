"""What pi's logs tell of tokens and cost.

Each answer has its own amounts (docs/session.md, `usage` of an assistant message): input without
what was cached, and a cost that the client reckons from the model's prices, 0 where it has none.
A fork copies entries with their ids; those are eight digits, so the provider's id and the time of
the entry stand beside them.
"""

from __future__ import annotations

from sessionlog.formats.base import dict_of, text_of
from sessionlog.formats.tokens import count, dollars
from sessionlog.records import Event, Message, Record, Tokens, Usage


def usage_of(record: Record) -> Usage | None:
    """See `Format.usage`. An answer that broke off without a block tells of it in its event."""
    payload = record.payload
    if record.part or not isinstance(payload, Message | Event):
        return None
    extra = payload.extra
    told, model = dict_of(extra.get("usage")), text_of(extra.get("model"))
    if not told:
        return Usage(model=model) if model else None
    tokens = Tokens(*(count(told.get(n)) for n in ("input", "output", "cacheRead", "cacheWrite")))
    cost = dollars(dict_of(told.get("cost")).get("total")) or None
    name = payload.answer if isinstance(payload, Message) else ""
    answer = f"{text_of(extra.get('responseId'))} {name} {record.at}" if name else ""
    return Usage(tokens if tokens.total else None, cost, model, answer)
