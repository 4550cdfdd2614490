"""The words of a query as it is typed: which are filters, and which would narrow it. Pure."""

from __future__ import annotations

import re
from collections import Counter

from sessionlog.text import visible
from tui.lines import Piece

_FILTER = re.compile(r'(?<!\S)(is|status|agent|tool|kind|after|before):((?:"[^"]*"?|[^\s"])+)')


def styled(text: str) -> list[Piece]:
    """A query in pieces: what is looked for stands out, filters are named."""
    pieces: list[Piece] = []
    at = 0
    for match in _FILTER.finditer(text):
        pieces += [
            (text[at : match.start()], "fg-1 bold"),
            (f"{match[1]}:", "accent"),
            (match[2], "fg"),
        ]
        at = match.end()
    pieces.append((text[at:], "fg-1 bold"))
    return [piece for piece in pieces if piece[0]]


def narrowing(agents: Counter[str], tools: Counter[str]) -> list[tuple[str, str]]:
    """Filters that mean something where these agents and tools are, and what they do."""
    agent = agents.most_common()[-1][0] if len(agents) > 1 else ""
    tool = tools.most_common(1)[0][0] if tools else "bash"
    found = [("is:error", "failed calls, errors and damage")]
    found += [("status:failed", "also running, unfinished, truncated, complete")]
    found += [(f"agent:{_word(agent)}", "only the logs of that agent")] if agent else []
    found += [(f"tool:{_word(tool)}", "only its calls; several with commas")]
    return [*found, ("after:fri", "also before:2h, after:03:00, after:2026-11-27")]


def _word(name: str) -> str:
    name = visible(name[:40])
    return f'"{name}"' if " " in name else name
