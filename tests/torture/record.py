#!/usr/bin/env python3
"""Record streams that are cut, full of keys, or long, and look at what is on the disk.

    PYTHONPATH=.:tests python tests/torture/record.py cuts --count 1000
    PYTHONPATH=.:tests python tests/torture/record.py keys [--count 60]
    PYTHONPATH=.:tests python tests/torture/record.py kills --count 100
    PYTHONPATH=.:tests python tests/torture/record.py speed --mb 2

`cuts`: each shape of stream, cut after a random number of bytes and read in random pieces. What
goes in comes out (by its hash), the log loads without damage, holds every block that was finished,
and says that it was cut. `keys`: keys of every known shape in every kind of block, a character a
piece, whole and cut after every piece (or after `--count` of them); nobody can find eight
characters of one on the disk. `kills`: the command itself, killed with SIGKILL at a random moment;
it leaves an unfinished log without damage in its middle. `speed`: the command against `cat`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import streams
from keys import BEFORE, KEYS
from streams import Stream

from sessionlog.reader import load
from sessionlog.recording import Recording
from sessionlog.records import Status
from sessionlog.session import Session
from sessionlog.through import Through
from sessionlog.writer import create

LEFT = 8
"""So many characters of a key in a row are too many."""
COMMAND = [sys.executable, "-m", "sessionlog", "record", "--dir"]


def recorded(folder: Path, data: bytes, dialect: str, rng: random.Random) -> tuple[Path, bytes]:
    """The log of a stream that went through in random pieces, and what came out."""
    path = folder / "log.jsonl"
    path.unlink(missing_ok=True)
    source, give = os.pipe()
    take, target = os.pipe()
    through, out = Through(source, target), bytearray()

    def feed() -> None:
        at = 0
        while at < len(data):
            at += os.write(give, data[at : at + rng.choice((1, 7, 100, 5000))])
        os.close(give)

    def read() -> None:
        while chunk := os.read(take, 65536):
            out.extend(chunk)

    threads = [threading.Thread(target=feed), threading.Thread(target=read)]
    for thread in threads:
        thread.start()
    with create(folder, "log", {}, sync="none") as writer:
        recording = Recording(dialect, writer)
        through.start()
        for chunk in through:
            recording.feed(chunk)
        recording.end()
    through.wait(60)
    os.close(target)
    for thread in threads:
        thread.join()
    os.close(source)
    os.close(take)
    return path, bytes(out)


def said(session: Session) -> str:
    """All texts of the log, arguments as they are inside."""
    texts = [m.text + (m.activity.arguments if m.activity else "") for m in session.messages]
    return "\n".join([*texts, *(event.text for event in session.events)])


def holds(text: str, words: str) -> bool:
    forms = {words, json.dumps(words)[1:-1], json.dumps(words, ensure_ascii=False)[1:-1]}
    return any(form in text for form in forms)


def cuts(count: int, seed: int, folder: Path) -> int:
    wrong = 0
    for shape, make in streams.MAKERS.items():
        rng = random.Random(seed)
        missing = silent = changed = broken = inside = blocks = 0
        for _ in range(count):
            stream = make(streams.answers(rng), rng)
            size = rng.randrange(len(stream.data) + 1)
            data = stream.data[:size]
            path, out = recorded(folder, data, stream.dialect, rng)
            changed += hashlib.sha256(out).digest() != hashlib.sha256(data).digest()
            session = load(path)
            broken += bool(session.damages)
            text = said(session)
            due = [words for after, words in stream.blocks if after <= size]
            blocks += len(due)
            missing += sum(not holds(text, words) for words in due)
            if any(size in span for span in stream.open):
                inside += 1
                cut = any(event.kind == "cut" for event in session.events)
                silent += not cut or bool(session.ok)
        wrong += missing + silent + changed + broken
        print(f"{shape:15} {count} cuts, {inside} inside: {blocks} blocks finished, {missing} of")
        print(
            f"    them missing; {silent} not said; {broken} logs damaged; {changed} streams changed"
        )
    return wrong


def holding(make: Callable[..., Stream], key: str) -> Stream:
    return make([[("reasoning", f"I saw {key}."), ("text", f"It is {key}"),
                  ("call", f"curl -H 'x: {key}' https://h/")]], None)  # fmt: skip


def cut_streams(stream: Stream, count: int) -> Iterator[bytes]:
    """The stream whole, and cut behind each of its pieces; a stream of lines, behind each byte."""
    yield stream.data
    pieces = stream.deltas if len(stream.deltas) > 40 else range(len(stream.data))
    for size in random.Random(1).sample(pieces, min(count, len(pieces))):
        yield stream.data[:size]


def keys(count: int, folder: Path) -> int:
    leaks = written = 0
    path = folder / "log.jsonl"
    for head, rest in KEYS:
        for make in streams.MAKERS.values():
            stream = holding(make, BEFORE.get(head, "") + head + rest)
            for data in cut_streams(stream, count):
                path.unlink(missing_ok=True)
                with create(folder, "log", {}, sync="none") as writer:
                    recording = Recording(stream.dialect, writer)
                    recording.feed(data)
                    recording.end()
                text = path.read_text()
                written += 1
                found = next((rest[at : at + LEFT] for at in range(len(rest) - LEFT + 1)
                              if rest[at : at + LEFT] in text), "")  # fmt: skip
                if found:
                    leaks += 1
                    print(f"{head} {stream.dialect}: {found} after {data[-60:]!r}")
    print(
        f"{len(KEYS)} shapes of keys, {written} streams cut behind every piece: {leaks} on the disk"
    )
    return leaks


def kills(count: int, seed: int, folder: Path) -> int:
    rng, wrong, landed = random.Random(seed), 0, 0
    for number in range(count):
        place = folder / str(number)
        answers = streams.answers(rng) + streams.answers(rng)
        stream = streams.MAKERS[rng.choice([*streams.MAKERS])](answers, rng)
        process = subprocess.Popen(
            [*COMMAND, str(place), "--from", stream.dialect],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert process.stdin
        assert process.stderr
        process.stdin.write(stream.data[: rng.randrange(len(stream.data))])
        process.stdin.flush()
        process.stderr.readline()
        time.sleep(rng.random() * 0.02)
        process.kill()
        process.communicate()
        landed += process.returncode == -signal.SIGKILL
        [path] = place.glob("*.jsonl")
        session = load(path)
        wrong += any(not damage.torn for damage in session.damages)
        wrong += session.status not in (Status.UNFINISHED, Status.TRUNCATED)
    print(f"{count} kills, {landed} landed: {wrong} wrong")
    return wrong + (landed != count)


def speed(megabytes: int, seed: int, folder: Path) -> int:
    for shape, make in streams.MAKERS.items():
        rng, data = random.Random(seed), bytearray()
        blocks = [
            [("text", "word " * 400), ("call", "make test " * 40)],
            [("text", "Done. " * 200)],
        ]
        while len(data) < megabytes << 20:
            data += make(blocks, rng).data
        file = folder / "stream"
        file.write_bytes(data)
        times = [
            min(timed([*COMMAND, str(folder / f"{shape}{n}")], file) for n in range(2)),
            min(timed(["cat"], file) for _ in range(2)),
        ]
        own, cat = (len(data) / taken / 1e6 for taken in times)
        print(
            f"{shape:15} {own:7.1f} MB/s, cat {cat:7.1f} MB/s, a {cat / own:.0f}th of it",
            flush=True,
        )
    return 0


def timed(command: list[str], file: Path) -> float:
    """Seconds that a command takes, its output being read."""
    start = time.monotonic()
    with file.open("rb") as stream:
        subprocess.run(command, stdin=stream, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                       check=True)  # fmt: skip
    return time.monotonic() - start


def main() -> int:
    parser = argparse.ArgumentParser(description="Record streams and look at what is left.")
    parser.add_argument("what", choices=("cuts", "keys", "kills", "speed"))
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mb", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        runs: dict[str, Callable[[], int]] = {
            "cuts": lambda: cuts(options.count, options.seed, folder),
            "keys": lambda: keys(options.count, folder),
            "kills": lambda: kills(options.count, options.seed, folder),
            "speed": lambda: speed(options.mb, options.seed, folder),
        }
        return 1 if runs[options.what]() else 0


if __name__ == "__main__":
    sys.exit(main())
