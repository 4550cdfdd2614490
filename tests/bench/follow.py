#!/usr/bin/env python3
"""How soon an append is noticed, and what waiting costs.

    PYTHONPATH=.:tests python tests/bench/follow.py LOG [--seconds 5]

Another process appends 30 records to a small log at random moments, and each tells when it was
written; the same by inotify and by the clock alone. Then 1,000 appends a second, to count looks;
then LOG (of any size) is followed while nothing happens, and looked at many times in a row.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import build

from sessionlog.follower import Follower, near_end
from sessionlog.notice import Notice
from sessionlog.records import Message
from sessionlog.source import format_of
from sessionlog.window import Log

_WRITER = """
import os, random, sys, time
fd = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND)
time.sleep(0.7)
for _ in range(int(sys.argv[2])):
    time.sleep(random.uniform(float(sys.argv[3]), float(sys.argv[4])))
    at = "%.9f" % time.monotonic()
    os.write(fd, b'{"kind":"message","at":"2026-11-27T22:00:00Z","message":{"type":"bot","text":"'
             + at.encode() + b" " + b"x" * 600 + b'"}}\\n')
"""


def delays(events: bool, count: int, least: float, most: float) -> tuple[list[float], int, float]:
    """Milliseconds from append to record in hand; how many looks; the share of a core."""
    with tempfile.TemporaryDirectory() as folder:
        path = build.log(Path(folder) / "log.jsonl", [build.meta()])
        follower, notice = Follower(str(path)), Notice(str(path), events)
        follower.look()
        child = subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(path), str(count), str(least), str(most)]
        )
        seen: list[float] = []
        looks, began, used = 0, time.monotonic(), time.process_time()
        while len(seen) < count:
            notice.wait(0.5)
            batch = follower.look()
            now = time.monotonic()
            looks += 1
            said = [r.payload.text for r in batch.records if isinstance(r.payload, Message)]
            seen += [(now - float(text.split()[0])) * 1e3 for text in said]
        share = (time.process_time() - used) / (time.monotonic() - began)
        child.wait()
        follower.close()
        notice.close()
    return sorted(seen), looks, share


def idle(path: str, seconds: float, events: bool) -> float:
    """The share of a core that following a log takes while nothing happens."""
    follower, notice = Follower(path, near_end(path, 10)), Notice(path, events)
    while follower.look().behind:
        pass
    began, used = time.monotonic(), time.process_time()
    while time.monotonic() - began < seconds:
        notice.wait(0.5)
        follower.look()
    return (time.process_time() - used) / (time.monotonic() - began)


def looks(path: str, count: int = 2000) -> tuple[float, float]:
    """Microseconds of a look at a log that did not change: by a follower, by a window."""
    follower = Follower(path, near_end(path, 10))
    while follower.look().behind:
        pass
    fd = os.open(path, os.O_RDONLY)
    log = Log(path, format_of(path, fd))
    os.close(fd)
    log.chunk(log.chunks - 1)
    taken = []
    for look in (follower.look, log.refresh):
        times = []
        for _ in range(count):
            began = time.perf_counter()
            look()
            times.append(time.perf_counter() - began)
        taken.append(statistics.median(times) * 1e6)
    return taken[0], taken[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("log")
    parser.add_argument("--seconds", type=float, default=5)
    options = parser.parse_args()
    for name, events in (("inotify", True), ("poll", False)):
        seen, _, share = delays(events, 30, 0.08, 0.16)
        late = seen[int(len(seen) * 0.95)]
        half = statistics.median(seen)
        print(f"{name}: p50 {half:.2f} ms, p95 {late:.2f} ms, {share:.2%} of a core")
    seen, count, share = delays(True, 3000, 0.0007, 0.0013)
    print(f"storm: {len(seen)} appends, {count} looks, p95 {seen[int(len(seen) * 0.95)]:.1f} ms, "
          f"{share:.1%} of a core")  # fmt: skip
    follower, window = looks(options.log)
    print(f"a look at {os.path.getsize(options.log):,} bytes: follower {follower:.1f} us, "
          f"window {window:.1f} us")  # fmt: skip
    for name, events in (("inotify", True), ("poll", False)):
        print(f"idle, {name}: {idle(options.log, options.seconds, events):.2%} of a core")


if __name__ == "__main__":
    main()
