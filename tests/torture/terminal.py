#!/usr/bin/env python3
"""Hand the screen over again and again, and look at what the person is left with.

    PYTHONPATH=. python tests/torture/terminal.py [--ways 20] [--presses 200] [--megabytes 10]

Ways: every way in which a program may leave a terminal (tests/ways.py), each so many times; the
terminal has to be whole. Presses: `ctrl+]` while a program floods the screen, and the time until
the line is there, on a terminal that reads as fast as it can. Megabytes: that many random bytes
through, both ways, compared by their hashes. tests/library/test_relay.py runs a small sample.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from desk import Desk, Launched, python, sh
from ways import WAYS

ECHO = """import hashlib
print('ready', flush=True)
got, left = hashlib.sha256(), {0}
while left:
    data = os.read(0, 65536); got.update(data); left -= len(data)
print(got.hexdigest(), flush=True)
left = open(sys.argv[1], 'rb').read()
os.write(1, b'<')
while left: left = left[os.write(1, left):]
"""


def ways(times: int) -> list[str]:
    """What was not whole."""
    wrong = []
    for way in WAYS:
        for _ in range(times):
            running = sh(way.script)
            with Desk(running) as desk:
                if way.typed:
                    desk.until(desk.shows(way.shown))
                    desk.type(way.typed)
                desk.ended()
                wrong += [f"{way.name}: {fault}" for fault in desk.faults()]
            running.close()
    return wrong


def presses(times: int) -> list[float]:
    """Seconds from each press to the line, sorted."""
    taken = []
    running = Launched("yes", "all work and no play")
    with Desk(running) as desk:
        desk.seen = False
        for _ in range(times):
            desk.until(lambda: len(desk.output) > 100_000)
            size = len(desk.output)
            began = time.monotonic()
            desk.type(b"\x1d")
            while b"go on" not in desk.output[size:]:
                desk.look()
            taken.append(time.monotonic() - began)
            desk.output.clear()
            desk.type(b"\x1b")
        desk.type(b"\x1dS")
        desk.ended()
    running.close()
    return sorted(taken)


def megabytes(count: int, file: Path) -> tuple[bool, bool, float, float]:
    """Were the bytes typed and the bytes written the same, and seconds for each."""
    typed = random.Random(1).randbytes(count << 20).replace(b"\x1d", b"x")
    shown = random.Random(2).randbytes(count << 20)
    file.write_bytes(shown)
    running = python(ECHO.format(len(typed)), str(file))
    with Desk(running) as desk:
        desk.seen = False
        desk.until(lambda: b"ready" in desk.output)
        began = time.monotonic()
        desk.type(typed)
        desk.until(lambda: b"<" in desk.output)
        between = time.monotonic()
        desk.until(lambda: len(desk.output) > len(shown))
        desk.ended()
        ended = time.monotonic()
        head, _, rest = bytes(desk.output).partition(b"<")
        same = hashlib.sha256(typed).hexdigest().encode() in head
        digest = hashlib.sha256(rest[: len(shown)]).digest()
    running.close()
    return same, digest == hashlib.sha256(shown).digest(), between - began, ended - between


def idle(seconds: float) -> float:
    """The part of one processor that a relay takes while nothing happens."""
    running = sh("exec sleep 1000")
    with Desk(running) as desk:
        time.sleep(0.5)
        before = time.process_time()
        time.sleep(seconds)
        taken = time.process_time() - before
        desk.type(b"\x1dS")
        desk.ended()
    running.close()
    return taken / seconds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ways", type=int, default=20)
    parser.add_argument("--presses", type=int, default=200)
    parser.add_argument("--megabytes", type=int, default=10)
    parser.add_argument("--dir", type=Path, default=Path("/tmp"))
    options = parser.parse_args()
    wrong = ways(options.ways)
    print(f"{len(WAYS)} ways x {options.ways}: {len(wrong)} faults")
    taken = presses(options.presses) or [0.0]
    marks = (len(taken) // 2, int(len(taken) * 0.95), -1)
    half, most, worst = (f"{taken[mark] * 1000:.1f}" for mark in marks)
    print(f"{options.presses} presses in a flood: p50 {half} p95 {most} max {worst} ms to the line")
    file = options.dir / f"relay-{random.SystemRandom().randrange(1 << 30)}"
    try:
        there, back, first, second = megabytes(options.megabytes, file)
    finally:
        file.unlink(missing_ok=True)
    print(
        f"{options.megabytes} MB typed: {'same' if there else 'CHANGED'} in {first:.2f} s;"
        f" written: {'same' if back else 'CHANGED'} in {second:.2f} s"
    )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"idle: {idle(3):.2%} of a processor; peak {peak} MiB, test and all")
    for fault in wrong[:20]:
        print(fault, file=sys.stderr)
    return 1 if wrong or not (there and back) or taken[-1] > 0.1 else 0


if __name__ == "__main__":
    sys.exit(main())
