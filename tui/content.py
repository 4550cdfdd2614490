"""The only door from log text to Textual's Content, for where a stock widget shows it.

Panes draw Lines and need none of this; palette entries, notifications and tooltips do. Content
made here is never parsed as markup.
"""

from __future__ import annotations

from textual.content import Content

from sessionlog.text import clip, one_line

LONGEST = 120
"""Columns of a log's text that a stock widget is given."""


def line(text: str) -> Content:
    """Log text as one safe, short line."""
    return Content(clip(one_line(text), LONGEST))
