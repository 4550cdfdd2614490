#!/usr/bin/env python3
"""Kill a writer with SIGKILL, again and again, and look at what it left.

    PYTHONPATH=. python tests/torture/kills.py --count 10000 [--seed 1] [--dir /somewhere]

A child opens (or goes on with) a log and says after each record that it is written; the kill
comes at a random moment. Each time has to hold: the child died of SIGKILL, every record it
acknowledged is there, in order and without a gap, at most one more was on its way, at most one
line is torn, and it is the last. The next child goes on with the same log, so every torn tail is
also sealed and appended to. tests/library/test_crash.py runs a small sample.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from sessionlog.reader import load
from sessionlog.records import Event, Message
from sessionlog.session import Session
from sessionlog.writer import Writer, create, reopen

ENOUGH = 3 << 20
"""A log of so many bytes is put away for a new one, so that looking stays cheap."""


@dataclass
class Tally:
    """What many kills came to."""

    kills: int = 0
    acknowledged: int = 0
    torn: int = 0
    longest: int = 0
    """Most records acknowledged by one child."""
    wrong: list[str] = field(default_factory=list)


def write_until_killed(path: Path, first: int, pipe: int, seed: int) -> None:
    """The child: number its records and tell each that is written."""
    rng = random.Random(seed)
    writer: Writer
    if path.exists():
        writer = reopen(path, sync="none")
    else:
        writer = create(path.parent, path.stem, {"task": "to be killed"}, sync="none")
    number = first
    while True:
        size = rng.choice((10, 300, 3_000, 60_000)) if number % 50 else 1_000_000
        if number % 3:
            writer.message(Message("bot", f"{number} " + "x" * size))
        else:
            writer.event(Event("notice", text=f"{number} " + "x" * size))
        os.write(pipe, b"%d\n" % number)
        number += 1


def kill_one(path: Path, first: int, rng: random.Random) -> tuple[int, int]:
    """Start a child, kill it soon; its wait status and the last number that it acknowledged."""
    get, put = os.pipe()
    seed = rng.randrange(1 << 30)
    pid = os.fork()
    if pid == 0:
        os.close(get)
        try:
            write_until_killed(path, first, put, seed)
        finally:
            os._exit(1)
    os.close(put)
    # from before its first byte to some dozens of records later
    wanted = rng.choice((0, 0, 1, 1, 2, rng.randrange(60)))
    told = b""
    while told.count(b"\n") < wanted and (more := os.read(get, 1 << 16)):
        told += more
    time.sleep(rng.random() * 0.002)
    os.kill(pid, signal.SIGKILL)
    status = os.waitpid(pid, 0)[1]
    while more := os.read(get, 1 << 16):
        told += more
    os.close(get)
    numbers = told.split()
    return status, int(numbers[-1]) if numbers else first - 1


def numbers_in(session: Session) -> list[int]:
    """The numbers of the records that can be read back, in file order."""
    payloads = [record.payload for record in session.records]
    texts = [payload.text for payload in payloads if isinstance(payload, Message | Event)]
    words = [text.split(" ", 1)[0] for text in texts]
    return [int(word) for word in words if word.isdigit()]


def check(path: Path, last: int, damages: int) -> tuple[list[str], int, int]:
    """What is wrong, the last number there, and how many damages.

    `damages`: torn lines of earlier kills, which stay where they are.
    """
    if not path.exists() or path.stat().st_size == 0:  # killed before it wrote anything
        return ([] if last < 1 else ["no log, though records were acknowledged"]), 0, 0
    session = load(path)
    numbers = numbers_in(session)
    end = numbers[-1] if numbers else 0
    wrong = []
    if numbers != list(range(1, end + 1)):
        wrong.append("a gap, a repetition or a wrong order")
    if not last <= end <= last + 1:
        wrong.append(f"acknowledged up to {last}, there up to {end}")
    more = len(session.damages) - damages
    if more not in (0, 1) or any(damage.torn for damage in session.damages[:-1]):
        wrong.append(f"{len(session.damages)} damages, and {damages} before the kill")
    if any(damage.salvaged for damage in session.damages):
        wrong.append("a record was glued to a torn one")
    return wrong, end, len(session.damages)


def run(count: int, seed: int, folder: Path, progress: int = 0) -> Tally:
    """Kill so many children. O(count * records of a log)."""
    rng = random.Random(seed)
    tally = Tally()
    logs, end, damages = 0, 0, 0
    for turn in range(1, count + 1):
        path = folder / f"log-{logs}.jsonl"
        status, last = kill_one(path, end + 1, rng)
        if not os.WIFSIGNALED(status) or os.WTERMSIG(status) != signal.SIGKILL:
            tally.wrong.append(f"kill {turn}: the child was not killed (status {status})")
        wrong, now, found = check(path, last, damages)
        tally.wrong += [f"kill {turn}, {path}: {what}" for what in wrong]
        tally.kills += 1
        tally.acknowledged += max(last - end, 0)
        tally.longest = max(tally.longest, last - end)
        tally.torn += found - damages
        end, damages = now, found
        if wrong or (path.exists() and path.stat().st_size > ENOUGH):
            if not wrong:
                path.unlink()
            logs, end, damages = logs + 1, 0, 0
        if progress and turn % progress == 0:
            print(f"{turn} kills, {tally.acknowledged} records, {tally.torn} torn tails",
                  file=sys.stderr)  # fmt: skip
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dir", type=Path, default=None, help="where the logs are made")
    parser.add_argument("--json", action="store_true", help="print the tally as JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.dir) as folder:
        began = time.monotonic()
        tally = run(options.count, options.seed, Path(folder), progress=1000)
    if options.json:
        print(json.dumps(asdict(tally)))
        return 1 if tally.wrong else 0
    print(
        f"{tally.kills} kills in {time.monotonic() - began:.0f} s: "
        f"{tally.acknowledged} records acknowledged, {tally.torn} torn tails sealed, "
        f"{len(tally.wrong)} wrong"
    )
    print("\n".join(tally.wrong[:20]))
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
