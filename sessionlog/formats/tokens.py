"""The two shapes in which providers tell of tokens, as `Tokens`.

Anthropic's counts exclude each other; OpenAI's input includes what was cached, and its output the
reasoning. Content never raises: what is no count is zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sessionlog.records import Tokens

_MOST = 1 << 53


def count(value: Any) -> int:
    """A number of tokens, 0 for anything else that stands there."""
    return value if type(value) is int and 0 <= value < _MOST else 0


def dollars(value: Any) -> float | None:
    """An amount of money; None for anything else that stands there."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _MOST:
        return None  # NaN is not in that range either
    return float(value)


def anthropic(usage: Any) -> Tokens | None:
    """The `usage` of Anthropic's API (Messages API reference); None when it tells nothing."""
    if not isinstance(usage, Mapping) or "output_tokens" not in usage:
        return None
    details = usage.get("output_tokens_details")
    return Tokens(
        count(usage.get("input_tokens")),
        count(usage.get("output_tokens")),
        count(usage.get("cache_read_input_tokens")),
        count(usage.get("cache_creation_input_tokens")),
        count(details.get("thinking_tokens")) if isinstance(details, Mapping) else 0,
    )


def openai(usage: Any) -> Tokens | None:
    """The `usage` of OpenAI's two APIs (chat completions, responses) and of Codex, which has the
    details flat; None when it tells nothing."""
    if not isinstance(usage, Mapping):
        return None
    given = count(usage.get("input_tokens", usage.get("prompt_tokens")))
    made = count(usage.get("output_tokens", usage.get("completion_tokens")))
    inside = usage.get("input_tokens_details", usage.get("prompt_tokens_details"))
    outside = usage.get("output_tokens_details", usage.get("completion_tokens_details"))
    inside = inside if isinstance(inside, Mapping) else {}
    outside = outside if isinstance(outside, Mapping) else {}
    read = count(usage.get("cached_input_tokens", inside.get("cached_tokens")))
    written = count(usage.get("cache_write_input_tokens"))
    thought = count(usage.get("reasoning_output_tokens", outside.get("reasoning_tokens")))
    if not (given or made):
        return None
    return Tokens(max(given - read - written, 0), made, read, written, thought)
