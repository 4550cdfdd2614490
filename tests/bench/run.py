"""Speed and memory against bare floors, as whole processes, side by side in one run.

Absolute times say little on a shared machine; each figure is a ratio of medians of interleaved
runs. `python tests/bench/run.py --logs 10000 --bytes 1000000000` makes its data in a temporary
folder (`--keep DIR` to use it again) and prints one line a figure.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import build

SCAN = """
import os, sys
for item in os.scandir(sys.argv[1]):
    fd = os.open(item.path, os.O_RDONLY | os.O_CLOEXEC)
    size = os.fstat(fd).st_size
    os.pread(fd, 4096, 0), os.pread(fd, 4096, max(0, size - 4096))
    os.close(fd)
"""
APPEND = """
import os, sys
line = b"x" * 1023 + bytes([10])
fd = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_TRUNC, 0o600)
for _ in range(int(sys.argv[2])):
    os.write(fd, line)
    if sys.argv[3] == "sync": os.fdatasync(fd)
"""
WRITER = """
import sys, tempfile
import sessionlog
from sessionlog import Message
text = "x" * 930
with sessionlog.start(tempfile.mkdtemp(dir=sys.argv[1]), {"task": "t"}, sync=sys.argv[3]) as w:
    message = Message("bot", text)
    for _ in range(int(sys.argv[2])):
        w.message(message)
"""


def many(folder: Path, count: int) -> None:
    """`count` native logs: most complete, some unfinished, some torn."""
    rng = random.Random(1)
    folder.mkdir(parents=True)
    for number in range(count):
        name = f"20261127-{number:06d}"
        lines = [build.meta(name, f"task {number}", number), build.message("user", "Begin.")]
        for turn in range(rng.randrange(2, 30)):
            lines += [
                build.request(f"c{turn}"),
                build.response(f"c{turn}", result="x" * rng.randrange(2000)),
            ]
        kind = rng.random()
        tail = b""
        if kind < 0.8:
            lines.append(build.result())
        elif kind > 0.9:
            tail = build.message("bot", "x" * 300)[:200]
        build.log(folder / f"{name}.jsonl", lines, tail)


def big(path: Path, size: int) -> None:
    """One native log of about `size` bytes."""
    rng = random.Random(2)
    block = []
    for turn in range(2000):
        block += [
            build.event("toolCallStart", tool="shell"),
            build.request(f"c{turn}"),
            build.response(f"c{turn}", result="line of output " * rng.randrange(60)),
        ]
    data = b"".join(block)
    with path.open("wb") as file:
        file.write(build.meta() + build.message("user", "Begin."))
        for _ in range(max(1, size // len(data))):
            file.write(data)


def timed(command: list[str]) -> tuple[float, float]:
    """(seconds, peak MB) of one whole process."""
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        _, code, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(code)
    if process.returncode:
        raise SystemExit(f"failed: {' '.join(command)}")
    return time.perf_counter() - start, used.ru_maxrss / 1024


def compare(name: str, ours: list[str], floor: list[str], runs: int) -> None:
    mine, bare = [], []
    for _ in range(runs):
        mine.append(timed(ours))
        bare.append(timed(floor))
    a, b = (statistics.median(t for t, _ in results) for results in (mine, bare))
    peak = statistics.median(p for _, p in mine)
    print(
        f"{name:28} {a * 1e3:8.0f} ms  floor {b * 1e3:7.0f} ms  "
        f"ratio {a / b:5.2f}  peak {peak:5.0f} MB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logs", type=int, default=2000)
    parser.add_argument("--bytes", type=int, default=100_000_000)
    parser.add_argument("--appends", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        home = options.keep or Path(scratch)
        folder, path = home / f"logs-{options.logs}", home / f"log-{options.bytes}.jsonl"
        makers: list[tuple[Path, Callable[[], None]]] = [
            (folder, lambda: many(folder, options.logs)),
            (path, lambda: big(path, options.bytes)),
        ]
        for place, make in makers:
            if not place.exists():
                make()
        python, n = sys.executable, str(options.appends)
        compare(
            "list, warm",
            [python, "-m", "sessionlog", "list", str(folder)],
            [python, "-c", SCAN, str(folder)],
            options.runs,
        )
        compare(
            "offsets of every line",
            [python, "-m", "sessionlog.index", str(path)],
            ["wc", "-l", str(path)],
            options.runs,
        )
        for sync, plain in (("none", "none"), ("state", "sync")):
            count = n if sync == "none" else str(options.appends // 10)
            compare(
                f"append 1 KB, sync {sync}",
                [python, "-c", WRITER, scratch, count, sync],
                [python, "-c", APPEND, f"{scratch}/floor", count, plain],
                options.runs,
            )
    print(f"peak of this script {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")


if __name__ == "__main__":
    main()
