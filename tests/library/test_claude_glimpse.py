"""A row of a Claude Code log from its first and last bytes is the row that its records give."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import build
import pytest
from build import claude_call as call
from build import claude_error, claude_line, claude_note, claude_system
from build import claude_result as result
from build import claude_said as said
from build import claude_user as user

from sessionlog import listing
from sessionlog.formats.claude import Claude
from sessionlog.records import Entry, Status

CASES = os.environ.get("SESSIONLOG_CASES", "")


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], tuple[Entry | None, Entry]]:
    """(what the bytes give, what the records give) of a log."""
    real = Claude.glimpse
    seen: list[Entry | None] = []

    def none(*args: object) -> None:
        seen.append(real(*args))  # type: ignore[arg-type]

    monkeypatch.setattr(Claude, "glimpse", none)

    def both(path: Path) -> tuple[Entry | None, Entry]:
        seen.clear()
        entry = listing.glance(str(path), closely=False)
        if entry.status is not Status.COMPLETE:
            entry = entry._replace(stop="")
        return (seen[0] if seen else None), entry

    return both


def lines(chance: random.Random, count: int) -> list[bytes]:
    """Records of every kind, as they come."""
    words = ["Fix it", "<command-name>/clear</command-name>", "", "[Request interrupted by user]",
             "<bash-stdout>x</bash-stdout>", "long " * 400]  # fmt: skip
    makers: list[Callable[[int], bytes]] = [
        lambda n: user(chance.choice(words), n),
        lambda n: user([{"type": "text", "text": chance.choice(words)}], n),
        lambda n: user("side", n, isSidechain=True, agentId=chance.choice(["a1", ""])),
        lambda n: user("Fork", n, forkedFrom={"sessionId": "p", "at": 3}),
        lambda n: said("Done.", id=f"m{n}", seconds=n, stop=chance.choice([None, "max_tokens"])),
        lambda n: said("No response requested.", model="<synthetic>", seconds=n),
        lambda n: said({"type": "thinking", "thinking": ""}, seconds=n),
        lambda n: call(f"c{n}", seconds=n),
        lambda n: result(f"c{n - 1}", chance.choice(["ok", "big " * 2000]), seconds=n),
        lambda n: claude_error("Too long", seconds=n),
        lambda n: claude_note(chance.choice(["mode", "cost-state"]), mode="x"),
        lambda n: claude_note("ai-title", aiTitle=f"title {n}"),
        lambda n: claude_note("custom-title", customTitle=f"mine {n}"),
        lambda n: claude_note("summary", summary="s", leafUuid=f"u{n - 1}"),
        lambda n: claude_note("queue-operation", operation="enqueue", timestamp=build.at(n)),
        lambda n: claude_system("turn_duration", n, durationMs=1),
        lambda n: claude_system("compact_boundary", n, compactMetadata={"trigger": "manual"}),
        lambda n: claude_line("attachment", n, attachment={
            "type": "model", "identity": {"modelId": "opus"}}),
        lambda n: claude_line("progress", n, data={"type": "bash_progress", "output": "x" * 900}),
        lambda n: b"not JSON\n",
    ]  # fmt: skip
    common = makers[:1] + makers[4:5] + makers[7:9]
    return [chance.choice(common if chance.random() < 0.6 else makers)(n) for n in range(count)]


@pytest.mark.parametrize("seed", range(300))
def test_the_bytes_tell_what_the_records_tell(
    tmp_path: Path, seed: int, rows: Callable[[Path], tuple[Entry | None, Entry]]
) -> None:
    chance = random.Random(seed)
    made = lines(chance, chance.choice([1, 3, 8, 40, 90]))
    tail = chance.choice([b"", b"", b'{"parentUuid":nu', user("whole")[:-1]])
    fast, slow = rows(build.log(tmp_path / build.CLAUDE_FILE, made, tail))
    assert fast in (None, slow)


def test_most_logs_are_told_by_their_bytes(
    tmp_path: Path, rows: Callable[[Path], tuple[Entry | None, Entry]]
) -> None:
    middle = [user(f"more {n}", n) for n in range(20, 400)]
    for end in ([said("Over.", id="x", seconds=900)], [call("c9", id="x", seconds=900)]):
        for name in ([], [claude_note("ai-title", aiTitle="A title")]):
            run = [*build.claude_healthy(), *middle, *end, *name, claude_note("mode", mode="x")]
            fast, slow = rows(build.log(tmp_path / build.CLAUDE_FILE, run))
            assert fast == slow
            assert fast.title == ("A title" if name else "Fix it")
            assert fast.updated == build.at(900)


def test_a_title_far_in_front_of_the_end_is_not_missed(
    tmp_path: Path, rows: Callable[[Path], tuple[Entry | None, Entry]]
) -> None:
    for gap in range(14_000, 18_000, 500):
        title = claude_note("custom-title", customTitle="Mine")
        notes = [claude_note("mode", mode="x" * 400)] * (gap // 480)
        run = [*build.claude_healthy(), *build.claude_healthy() * 20, title, *notes,
               said("Over.", id="x", seconds=900)]  # fmt: skip
        fast, slow = rows(build.log(tmp_path / build.CLAUDE_FILE, run))
        assert fast in (None, slow)


@pytest.mark.skipif(not CASES, reason="SESSIONLOG_CASES is not set")
def test_every_sample_has_the_same_row_from_its_bytes(
    rows: Callable[[Path], tuple[Entry | None, Entry]],
) -> None:
    told = 0
    for path in sorted(Path(CASES).rglob("*.jsonl")):
        fast, slow = rows(path)
        assert fast in (None, slow), path
        told += fast is not None
    assert told >= 10
