"""Whether a Qwen Code session runs now, by the file that the client keeps beside its log.

`<id>.runtime.json` names the process, the machine and the time at which it was written; a client
with a screen writes one (0.24.4), a killed one leaves it behind. Pids are used again: the process
that has the pid today must have started before the file was written.
"""

from __future__ import annotations

import socket

from sessionlog import codec
from sessionlog.paths import beginning
from sessionlog.processes import began

_MOST = 64 * 1024
"""Bytes of the file that are read; the real ones have a few hundred."""
_SLACK = 10.0
"""Seconds that clocks may differ by."""


def evidence(path: str, session_id: str) -> str | None:
    """What shows that a client runs this session; None when nothing does."""
    try:
        value = codec.loads(beginning(f"{path.removesuffix('.jsonl')}.runtime.json", _MOST))
    except ValueError:
        return None
    if not isinstance(value, dict) or value.get("hostname") != socket.gethostname():
        return None
    pid, written = value.get("pid"), value.get("started_at")
    if value.get("session_id") != session_id or type(pid) is not int or pid <= 0:
        return None
    if not isinstance(written, int | float):
        return None
    start = began(pid)
    return f"qwen runs as pid {pid}" if start is not None and start <= written + _SLACK else None
