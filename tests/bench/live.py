"""How soon a new record of an open log is on the screen, and what an open log costs at rest.

`python tests/bench/live.py LOG [--count 40]` copies LOG, opens it in a pseudo-terminal, appends
records with a mark and waits for the mark to be painted; then sends page keys and waits for the
paint; then leaves it alone and reads the CPU time it used.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import pty
import select
import shutil
import statistics
import struct
import sys
import tempfile
import termios
import time
from datetime import UTC, datetime
from pathlib import Path

SIZE = struct.pack("HHHH", 40, 120, 0, 0)
PATIENCE = 20.0


class Screen:
    """The program in a terminal of its own."""

    def __init__(self, path: Path) -> None:
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm-256color", COLORTERM="truecolor")
            os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
            os.execv(sys.executable, [sys.executable, "-m", "tui", str(path)])
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, SIZE)

    def until(self, mark: bytes) -> float:
        """When the mark is painted; raises TimeoutError."""
        seen, end = b"", time.perf_counter() + PATIENCE
        while time.perf_counter() < end:
            if self.readable(0.1):
                seen = seen[-4096:] + os.read(self.fd, 1 << 16)
                if mark in seen or not mark:
                    return time.perf_counter()
        raise TimeoutError(mark)

    def readable(self, seconds: float) -> bool:
        return bool(select.select([self.fd], [], [], seconds)[0])

    def quiet(self, seconds: float) -> None:
        """Until nothing was painted for so long."""
        while self.readable(seconds):
            os.read(self.fd, 1 << 16)

    def cpu(self) -> float:
        """Seconds of CPU so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def told(name: str, seconds: list[float]) -> None:
    ordered = sorted(seconds)
    p95 = ordered[min(int(len(ordered) * 0.95), len(ordered) - 1)]
    print(f"{name}: p50 {statistics.median(ordered) * 1000:.1f} ms, p95 {p95 * 1000:.1f} ms")


def record(text: str) -> bytes:
    at = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    value = {"kind": "message", "at": at, "message": {"type": "bot", "text": text}}
    return json.dumps(value).encode() + b"\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("log", type=Path)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--rest", type=float, default=20, help="seconds before and of the idle")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(shutil.copy(options.log, folder))
        screen = Screen(log)
        try:
            measure(screen, log, options.count, options.rest)
        finally:
            os.kill(screen.pid, 9)
            os.waitpid(screen.pid, 0)
    return 0


def measure(screen: Screen, log: Path, count: int, rest: float) -> None:
    screen.until(b"help")
    screen.quiet(1.5)
    painted, pages = [], []
    with log.open("ab", buffering=0) as file:
        for i in range(count):
            mark = f"mark-{i}-{os.getpid()}"
            start = time.perf_counter()
            file.write(record(mark))
            painted.append(screen.until(mark.encode()) - start)
            screen.quiet(0.3)
    for i in range(count):
        start = time.perf_counter()
        os.write(screen.fd, b"\x1b[5~" if i % 20 < 10 else b"\x1b[6~")
        pages.append(screen.until(b"") - start)
        screen.quiet(0.05)
    told("append to paint", painted)
    told("page key to paint", pages)
    time.sleep(rest)
    before = screen.cpu()
    time.sleep(rest)
    print(f"idle: {(screen.cpu() - before) / rest:.2%} of a core")


if __name__ == "__main__":
    sys.exit(main())
