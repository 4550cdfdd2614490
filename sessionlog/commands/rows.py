"""Records as objects of `show` and as lines of plain text, for commands that print as they come."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

from sessionlog import shown
from sessionlog.commands.common import columns
from sessionlog.records import Damage, Record
from sessionlog.session import Numbered
from sessionlog.text import clip, pad, visible
from sessionlog.tools import label_of


def items_of(
    records: Iterable[Record], steps: Iterable[Numbered | None], damages: Sequence[Damage]
) -> list[dict[str, Any]]:
    """The objects of `show`, in file order; `steps` are the records' places among the messages."""
    told = [
        (record.span.offset, record.part, shown.of_record(record, step))
        for record, step in zip(records, steps, strict=True)
    ]
    told += [(damage.span.offset, 0, shown.of_lost(damage)) for damage in damages]
    return [item for *_, item in sorted(told, key=lambda found: found[:2])]


def row_line(item: dict[str, Any], *, comes: bool = False) -> str:
    """Number, time, kind, text; safe to print, and no wider than a terminal.

    `|` stands before what is out of context. Of a row that just `comes` neither that is told nor
    that its call is open: both are known later.
    """
    n = "" if item["n"] is None else str(item["n"])
    clock = (item.get("at") or "")[11:19]
    if item["kind"] == "damage":
        line = f"line {item['line']}, " if item["line"] else ""
        body = f"{line}byte {item['offset']}, {item['length']} bytes: {item['why']}"
    elif item["type"] == "call":
        body = f"{label_of(item['tool'] or '')} {item['arguments'] or ''}"
        body += "  (open)" if item["open"] and not comes else ""
    else:
        body = item.get("error") or item["text"] or item["result"] or ""
    mark = "" if comes or item["kind"] != "message" or item["in_context"] else "| "
    name = item["type"] or item["kind"]
    line = f"{n:>5} {clock:8} {pad(visible(str(name)), 14)} {mark}{visible(str(body))}"
    return clip(line, columns()) if sys.stdout.isatty() else line
