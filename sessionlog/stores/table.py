"""The stores in the order in which they are asked."""

from __future__ import annotations

import re
from functools import cache

from sessionlog.stores.base import Store

_ROLLOUT = re.compile(
    rb'\{"timestamp":"[^"\\]*",(?:"ordinal":\d+,)?"type":"session_meta","payload":\{'
)


@cache
def stores() -> tuple[Store, ...]:
    """Every store. Adding one adds a line here; most logs are lines, and do without."""
    from sessionlog.stores.codex_fork import CodexFork
    from sessionlog.stores.gemini_json import GeminiJson
    from sessionlog.stores.opencode_db import OpenCodeDatabase
    from sessionlog.stores.opencode_export import OpenCodeExport
    from sessionlog.stores.opencode_tree import OpenCodeTree
    from sessionlog.stores.trajectory import Trajectories
    from sessionlog.stores.zstd import Zstd

    return (
        GeminiJson(),
        CodexFork(),
        Zstd(),
        OpenCodeDatabase(),
        OpenCodeExport(),
        OpenCodeTree(),
        Trajectories(),
    )


def keeper(path: str, head: bytes) -> Store | None:
    """What keeps a file with these first bytes; None: it is a plain log of lines, or no log.

    Codex's heads are longer than these bytes, and its logs are many: they are kept in one way or
    in none.
    """
    if _ROLLOUT.match(head):
        from sessionlog.stores.codex_fork import CodexFork

        return CodexFork() if CodexFork().keeps(path, head) else None
    return next((store for store in stores() if store.keeps(path, head)), None)
