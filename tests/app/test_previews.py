"""What the fork dialog says of the cut."""

from __future__ import annotations

from pathlib import Path

import build

from sessionlog.reader import load
from tui.previews import around


def test_a_call_that_stands_only_in_events_is_said_to_stay_behind(tmp_path: Path) -> None:
    start = build.event("toolCallStart", tool="bash", text='{"command":"make"}')
    path = build.log(tmp_path / "a.jsonl", [build.meta(), build.message("user", "go"), start])
    text = "\n".join("".join(t for t, _ in line.left) for line in around(load(path), 1, 3, 3, 80))
    assert "in flight, stays behind: bash make" in text
    assert "nothing stays behind" not in text
