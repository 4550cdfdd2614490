"""Searches as whole processes beside `rg` and `less`, interleaved in one run.

``python tests/bench/search.py WORD LOG FOLDER`` looks for a word in one large log (best one that
stands near its end) and in a folder of many; medians of ``--runs``. `less` goes from the start to
the word in a terminal of its own, as a person would make it.
"""

from __future__ import annotations

import argparse
import os
import pty
import select
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path


def timed(command: list[str]) -> tuple[float, float]:
    """(seconds, peak MB) of one whole process; finding nothing is no failure."""
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        _, code, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(code)
    if process.returncode not in (0, 1):
        raise SystemExit(f"failed: {' '.join(command)}")
    return time.perf_counter() - start, used.ru_maxrss / 1024


def paged(word: str, log: str) -> float:
    """Seconds until `less` shows a word that it was told to look for."""
    start = time.perf_counter()
    pid, fd = pty.fork()
    if not pid:
        os.execvp("less", ["less", "-n", "-S", f"+/{word}", log])
    seen = b""
    try:
        while word.encode() not in seen.replace(b"/" + word.encode(), b""):
            if not select.select([fd], [], [], 120)[0]:
                raise SystemExit("less did not find it in two minutes")
            seen = seen[-4096:] + os.read(fd, 1 << 16)
        return time.perf_counter() - start
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
        os.close(fd)


def side_by_side(commands: dict[str, list[str]], runs: int) -> None:
    """Medians of interleaved runs, and each beside the last."""
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for _ in range(runs):
        for name, command in commands.items():
            taken[name].append(timed(command))
    middle = {name: statistics.median(t for t, _ in found) for name, found in taken.items()}
    floor = middle[list(commands)[-1]]
    for name, found in taken.items():
        peak = statistics.median(p for _, p in found)
        print(f"{name:36} {middle[name] * 1e3:8.0f} ms  {middle[name] / floor:6.2f}x  "
              f"peak {peak:4.0f} MB")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("word")
    parser.add_argument("log")
    parser.add_argument("folder")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--less", action="store_true", help="beside less, too, three times")
    options = parser.parse_args()
    os.environ["PYTHONPATH"] = str(Path(__file__).parents[2])
    ours = [sys.executable, "-m", "sessionlog", "search", options.word]
    rg = [shutil.which("rg") or "grep", "-c", options.word]
    yard = "import sys; from pathlib import Path\n" + YARD
    side_by_side({
        "one log": [*ours, options.log],
        "one log, --json (numbers)": [*ours, options.log, "--json"],
        "one log, any case": [*ours, options.log, "-i"],
        "one log, regex": [*ours[:-1], f"{options.word[:-1]}[{options.word[-1]}]", options.log,
                           "--regex"],
        "one log, no such word": [*ours[:-1], "qzjxv-none", options.log],
        "one log, bytes.find over blocks": [sys.executable, "-c", yard, options.log, options.word],
        "one log, rg -c": [*rg, options.log],
    }, options.runs)  # fmt: skip
    if options.less:
        waits = [paged(options.word, options.log) for _ in range(3)]
        print(f"{'one log, less':36} {statistics.median(waits) * 1e3:8.0f} ms")
    side_by_side({
        "folder": [*ours, options.folder],
        "folder, no such word": [*ours[:-1], "qzjxv-none", options.folder],
        "folder, rg -c": [*rg, "-r" if rg[0].endswith("grep") else "--no-ignore", options.folder],
    }, options.runs)  # fmt: skip


YARD = """
want, keep = sys.argv[2].encode(), b""
with open(sys.argv[1], "rb", buffering=0) as file:
    while block := file.read(1 << 20):
        block = keep + block
        if block.find(want) >= 0: break
        keep = block[1 - len(want):]
"""


if __name__ == "__main__":
    main()
