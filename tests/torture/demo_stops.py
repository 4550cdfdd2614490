"""Stop a session that was handed over at random moments, and look at what it leaves.

The demo's failed run goes to its scripted agent, which really runs commands and appends to the log
that it was given; it is stopped somewhere in its few seconds. Then the log has to load, whole; it
ends in a result, has no open call and no orphan result, and neither has what would be handed on;
and the log that it came from is as it was.

    PYTHONPATH=.:tests python tests/torture/demo_stops.py --count 1000
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

from sessionlog import demo
from sessionlog.handover import finish, prepare
from sessionlog.reader import load
from sessionlog.records import Status
from sessionlog.repairs import plan_repair
from sessionlog.resume import plan_resume
from sessionlog.session import Session
from sessionlog.supervise.handle import start
from sessionlog.transcript import anthropic_messages

LONGEST = 4.5
"""Seconds in which the scripted agent has ended by itself."""
AT_ONCE = 6


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(argv)
    print(run(options.count, options.seed))
    return 0


def run(count: int, seed: int) -> str:
    """So many stops; AssertionError, with the log, at the first that left something wrong."""
    chance = random.Random(seed)
    after = [chance.uniform(0, LONGEST) for _ in range(count)]
    with tempfile.TemporaryDirectory() as place:
        folder = demo.make(Path(place) / "demo")
        source = next(p for p in folder.glob("zot/*.jsonl") if load(p).in_flight)
        before = source.read_bytes()
        session = load(source)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            ends = Counter(pool.map(lambda seconds: stopped(session, seconds), after))
        assert source.read_bytes() == before
    told = ", ".join(f"{number} {how}" for how, number in sorted(ends.items()))
    return f"{count} stops: {told}; 0 wrong"


def stopped(session: Session, seconds: float) -> str:
    """Hand it over, stop it after so long, and judge its log; says what the stop met."""
    handed = prepare(session, plan_resume(session, screen=False), force=True)
    try:
        with closing(start(handed.order)) as handle:
            time.sleep(seconds)
            handle.stop()
            outcome = handle.wait(30)
    finally:
        finish(handed)
    assert outcome is not None, handed.order.log
    assert not outcome.problem, (handed.order.log, outcome.problem)
    new = load(handed.order.log, strict=True)
    why = (handed.order.log, outcome)
    assert new.status is Status.COMPLETE, why
    assert new.result is not None, why
    assert not new.open_calls, why
    assert not new.orphan_results, why
    assert not plan_repair(new).needed, why
    answered(anthropic_messages(new), str(why))
    if not outcome.stopped:
        return "ended by themselves"
    last = new.history[-1].message.activity
    closed = last is not None and last.failure == "Interrupted by the user."
    return "in a call" if closed else "between calls"


def answered(messages: list[dict[str, object]], why: str) -> None:
    """Every call of the transcript has its result, and every result its call."""
    blocks = [b for m in messages for b in m["content"] if isinstance(b, dict)]  # type: ignore[attr-defined]
    asked = Counter(b["id"] for b in blocks if b["type"] == "tool_use")
    given = Counter(b["tool_use_id"] for b in blocks if b["type"] == "tool_result")
    assert asked == given, why


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
