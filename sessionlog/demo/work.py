"""The working directories that the demo's native runs speak of, so that they can be gone on with.

What the hero of the night edited is there as it left it, but for two files that somebody changed
this morning: a hand over has to tell of them.
"""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from pathlib import Path

_BILLING = {
    "internal/billing/pool.go": "pool, err := pgxpool.New(ctx, dsn)\ncfg := NewWithConfig(ctx)\n",
    **{
        f"internal/billing/{name}.go": "err := pgx.BeginTxFunc(ctx, tx)\n"
        for name in ("invoice", "refund", "ledger", "export", "dunning")
    },
}
_MORNING = {
    "internal/billing/replay.go": "conn, err := r.pool.Acquire(ctx)\ndefer conn.Release()\n"
    "tx, err := conn.Begin(ctx)\ntx.Exec(ctx, lockSQL, id)\n",
    ".github/workflows/test.yml": "go-version: 1.23\ntimeout-minutes: 20\n",
}
_FOLDERS = ("billing", "mailer", "cli", "legacy", "pdf")


def make_work(home: Path, morning: datetime) -> None:
    """Make the folders below `home`, with the files that the hero of the night touched."""
    for name in _FOLDERS:
        (home / "src" / name).mkdir(parents=True, mode=0o700)
    billing = home / "src" / "billing"
    for name, text in _BILLING.items():
        _file(billing / name, text, morning - timedelta(hours=11))
    for name, text in _MORNING.items():
        _file(billing / name, text, morning - timedelta(minutes=36))


def _file(path: Path, text: str, changed: datetime) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (changed.timestamp(), changed.timestamp()))
