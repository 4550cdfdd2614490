#!/usr/bin/env python3
"""Follow logs through everything that can happen to a file, and compare with a fresh reading.

    PYTHONPATH=.:tests python tests/torture/follow.py --count 1000 --how hand,events,poll

A sequence appends (whole lines, half ones, several, huge ones, broken ones), cuts, replaces,
renames away and back, deletes, makes anew, changes the mode and the time, and rewrites in place.
After each, what the follower gave since its last restart has to equal a fresh load, and the
chunks of a `window.Log` those of a fresh one: nothing missing, nothing twice.

hand     looks at random moments between the steps, and steps between a look's stat and its read
events   a thread that waits by inotify while the steps are made; equal within a second
poll     the same without events

tests/library/test_follower.py runs a small sample by hand.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import build

from sessionlog.errors import NotALog, Unreadable
from sessionlog.follower import Batch, Follower
from sessionlog.notice import Notice
from sessionlog.reader import load
from sessionlog.records import Damage, Record
from sessionlog.seal import TAIL
from sessionlog.session import Numbered
from sessionlog.window import Log

HUGE = (100_000, 300_000, 3_000_000)
_GROWTH = ("append", "append", "half", "half", "rest", "several", "huge", "broken")
_HARMS = ("cut", "cut_and_grow", "replace", "move_and_back", "delete", "make", "mode", "touch",
          "rewrite", "copy")  # fmt: skip
SOON = 1.0
"""Seconds in which a view has to be right."""


class File:
    """A log, and the steps that change it. Half a line is gone on with, sooner or later."""

    def __init__(self, path: Path, rng: random.Random) -> None:
        self.path = path
        self.rng = rng
        self.settle: Callable[[], None] = lambda: None
        """Makes sure that the follower looks: called around what is not seen otherwise."""
        self.done: list[str] = []
        self._rest = b""
        self._count = 0
        self._harms = rng.sample(_HARMS, rng.randrange(1, 5))
        """A few kinds in each sequence: else every log would be new again before it is long."""

    def step(self, quietly: bool = False) -> None:
        """Do something. `quietly`: it is in the middle of a look."""
        name = self.rng.choice(_GROWTH if self.rng.random() < 0.7 else self._harms)
        if name == "rewrite" and quietly and self._size() > TAIL:
            name = "append"
        self.done.append(name)
        try:
            getattr(self, name)()
        except FileNotFoundError:
            self.make()

    def end(self) -> None:
        """However it went, there is a log in the end."""
        if not self.path.exists():
            self.make()

    def close_line(self) -> None:
        """Nothing stands behind the last line feed."""
        self._add(b"\n")

    def lines(self, count: int) -> list[bytes]:
        """New lines: messages, calls and their results, events, resets."""
        made = []
        for _ in range(count):
            self._count += 1
            n = self._count
            made.append(self.rng.choice((
                build.message("bot", f"{n} " + "é" * self.rng.randrange(200), n),
                build.request(f"c{n % 7}", seconds=n),
                build.response(f"c{n % 7}", result=n, seconds=n),
                build.event("toolCallStart", n, text="{}"),
                build.message("user", f"{n}", n), build.reset(n) if n % 5 == 0 else b"\n",
            )))  # fmt: skip
        return made

    def _add(self, data: bytes) -> None:
        with self.path.open("ab" if self.path.exists() else "xb") as file:
            file.write(data)

    def _size(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    def append(self) -> None:
        self.rest()
        self._add(self.lines(1)[0])

    def several(self) -> None:
        self.rest()
        self._add(b"".join(self.lines(self.rng.choice((2, 5, 50, 1500)))))

    def half(self) -> None:
        self.rest()
        line = self.lines(1)[0]
        at = self.rng.randrange(len(line))
        self._add(line[:at])
        self._rest = line[at:]

    def rest(self) -> None:
        if self._rest and self.rng.random() < 0.3:
            at = self.rng.randrange(len(self._rest))
            data, self._rest = self._rest[:at], self._rest[at:]
            self._add(data)
        self._add(self._rest)
        self._rest = b""

    def huge(self) -> None:
        self._rest = build.message("bot", "x" * self.rng.choice(HUGE))
        self.rest()

    def broken(self) -> None:
        """Bytes that are no text, no JSON, or two records in one."""
        line = self.lines(1)[0]
        self._add(self.rng.choice((
            b"\xff\xfe" + line, line[:-2] + b'\xff"}\n', b"\0" * 50 + line, line[:-1] + line,
            line[: len(line) // 2] + line, b"no json\n", line[:-1], b"[1,2]\n",
            line[:-1] + b", x\n",
        )))  # fmt: skip

    def cut(self) -> None:
        size = self.path.stat().st_size
        os.truncate(self.path, self.rng.choice((0, self.rng.randrange(size + 1), max(size - 1, 0))))
        self._rest = b""

    def cut_and_grow(self) -> None:
        size = self.path.stat().st_size
        self.cut()
        while self._size() <= size:
            self._add(b"".join(self.lines(20)))

    def _other(self) -> bytes:
        if self.rng.random() < 0.2:
            return b"".join(build.claude_healthy())
        return build.meta(f"other-{self._count}") + b"".join(self.lines(self.rng.randrange(40)))

    def replace(self) -> None:
        other = self.path.with_name("other")
        same = self.rng.random() < 0.3
        other.write_bytes(self.path.read_bytes() if same else self._other())
        os.replace(other, self.path)
        if not same:
            self._rest = b""

    def copy(self) -> None:
        """Written over from its start, under the same inode."""
        with self.path.open("wb") as file:
            file.write(self._other())
        self._rest = b""

    def move_and_back(self) -> None:
        away = self.path.with_name("away")
        os.rename(self.path, away)
        if self.rng.random() < 0.5:
            with away.open("ab") as file:
                file.write(self._rest + b"".join(self.lines(3)))
            self._rest = b""
        if self.rng.random() < 0.5:
            self.settle()
        os.rename(away, self.path)

    def delete(self) -> None:
        self.path.unlink()
        self._rest = b""

    def make(self) -> None:
        """A new log where none is, else another one in its place."""
        if self.path.exists():
            self.path.unlink()
        start = self.rng.choice((b"", build.meta(f"new-{self._count}"), build.meta()[:20]))
        self.path.write_bytes(start)
        self._rest = build.meta()[20:] if start == build.meta()[:20] else b""

    def mode(self) -> None:
        self.path.chmod(self.rng.choice((0o000, 0o400, 0o600)))

    def touch(self) -> None:
        os.utime(self.path)

    def rewrite(self) -> None:
        """Other bytes of the same length. What stands far from both ends is seen by the time of
        change only, and only when nothing else changed since the last look."""
        size = self.path.stat().st_size
        if not size:
            return
        at = self.rng.randrange(size)
        big = size > TAIL
        if big:
            self.settle()
        with self.path.open("r+b") as file:
            file.seek(at)
            file.write(bytes(self.rng.randrange(32, 127) for _ in range(min(9, size - at))))
        if big:
            self.settle()


@dataclass
class View:
    """What a follower gave since it last began anew."""

    records: list[Record] = field(default_factory=list)
    steps: list[Numbered | None] = field(default_factory=list)
    damages: list[Damage] = field(default_factory=list)

    def take(self, batch: Batch) -> None:
        if batch.event in ("replaced", "cut"):
            self.records.clear()
            self.steps.clear()
            self.damages.clear()
        self.records += batch.records
        self.steps += batch.steps
        self.damages += batch.damages

    def with_rest(self, follower: Follower) -> View:
        """And with what stands behind the last line feed."""
        rest = follower.finish()
        return View(
            self.records + list(rest.records), self.steps + list(rest.steps),
            self.damages + list(rest.damages),
        )  # fmt: skip


def wrong_view(view: View, path: Path) -> str:
    """How a view differs from a fresh load; "" when it does not."""
    try:
        session = load(path)
    except (NotALog, Unreadable):
        return f"{len(view.records)} records of no log" if view.records else ""
    if view.records != list(session.records):
        same = sum(a == b for a, b in zip(view.records, session.records, strict=False))
        return f"{len(view.records)} records, {same} right of {len(session.records)}"
    if view.damages != list(session.damages):
        return f"damages {view.damages} are {session.damages}"
    steps = [step for step in view.steps if step]
    if [step.n for step in steps] != [step.n for step in session.history]:
        return "message numbers"
    for mine, theirs in zip(steps, session.history, strict=True):
        if theirs.pair and theirs.pair < theirs.n and mine.pair != theirs.pair:
            return f"pair of message {mine.n}: {mine.pair}, is {theirs.pair}"
    return ""


def wrong_chunks(log: Log) -> str:
    """How a log that was refreshed differs from a fresh one."""
    fresh = Log(log.path, log.form)
    try:
        if log.chunks != fresh.chunks:
            return f"{log.chunks} chunks, are {fresh.chunks}"
        numbers = range(fresh.chunks)
        return next((f"chunk {n}" for n in numbers if log.chunk(n) != fresh.chunk(n)), "")
    finally:
        fresh.close()


class ByHand:
    """Looks when it is told to; now and then something happens between its stat and its read."""

    def __init__(self, file: File) -> None:
        self.file = file
        self.view = View()
        self.follower = Follower(str(file.path), read=self._read)
        self.log: Log | None = None
        self._races = 0
        file.settle = self.look

    def _read(self, fd: int, length: int, offset: int) -> bytes:
        if self._races:
            self._races -= 1
            if self.file.rng.random() < 0.2:
                self.file.done.append("race:")
                self.file.step(quietly=True)
        return os.pread(fd, length, offset)

    def look(self, races: int = 0) -> None:
        """Look until there is nothing more at once."""
        self._races = races
        for _ in range(1000):
            batch = self.follower.look()
            self.view.take(batch)
            if not batch.behind:
                break
        self._races = races
        self._look_at_chunks()
        self._races = 0

    def _look_at_chunks(self) -> None:
        if self.log is None:
            form = self.follower.form
            if form is None or not self.file.path.exists():
                return
            self.log = Log(str(self.file.path), form, read=self._read)
        self.log.refresh()
        if self.log.chunks:
            for _ in range(3):
                self.log.chunk(self.file.rng.randrange(self.log.chunks))

    def run(self) -> str:
        """One sequence; what is wrong in the end."""
        rng = self.file.rng
        for _ in range(rng.randrange(3, 25)):
            self.file.step()
            if rng.random() < 0.6:
                self.look(races=rng.choice((0, 0, 3)))
        self.file.end()
        for _ in range(3):  # a drained file, an event, and the rest
            self.look()
        wrong = wrong_view(self.view.with_rest(self.follower), self.file.path)
        if not wrong and self.log is not None:
            wrong = wrong_chunks(self.log)
        if self.log is not None:
            self.log.close()
        self.follower.close()
        return wrong


class ByThread:
    """A thread that follows while the steps are made."""

    def __init__(self, file: File, events: bool) -> None:
        self.file = file
        self.view = View()
        self.longest = 0.0
        self._follower = Follower(str(file.path))
        self._notice = Notice(str(file.path), events)
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._looks = 0
        self._changed = 0.0
        """When the view last changed."""
        file.settle = self._settle

    def _settle(self) -> None:
        looks = self._looks
        while self._looks < looks + 2:
            time.sleep(0.001)

    def _follow(self) -> None:
        while not self._stop.is_set():
            with self._lock:
                batch = self._follower.look()
                self.view.take(batch)
                self._looks += not batch.behind
                if batch.records or batch.damages or batch.event:
                    self._changed = time.monotonic()
            if not batch.behind:
                self._notice.wait(0.05)

    def run(self) -> str:
        """One sequence; what is wrong a second after its end."""
        rng = self.file.rng
        thread = threading.Thread(target=self._follow)
        thread.start()
        for _ in range(rng.randrange(3, 25)):
            self.file.step()
            time.sleep(rng.choice((0, 0, 0.0005, 0.003, 0.03)))
        self.file.end()
        self.file.close_line()
        wrong = self._wrong_after(time.monotonic())
        self._stop.set()
        thread.join()
        self._follower.close()
        self._notice.close()
        return wrong

    def _wrong_after(self, end: float) -> str:
        """What is wrong with the view as it is a second after the last step; "" as soon as
        nothing is. The comparing takes its own time, and the follower does not wait for it."""
        while True:
            late = time.monotonic() - end > SOON
            with self._lock:
                self.longest = max(self._changed - end, 0.0)
                view = View([*self.view.records], [*self.view.steps], [*self.view.damages])
            wrong = wrong_view(view, self.file.path)
            if not wrong or late:
                return wrong
            time.sleep(0.005)


@dataclass
class Tally:
    """What many sequences came to."""

    sequences: int = 0
    steps: int = 0
    races: int = 0
    records: int = 0
    longest: float = 0.0
    wrong: list[str] = field(default_factory=list)


def sequences(count: int, seed: int, folder: Path) -> Iterator[File]:
    """So many logs, each of its own random steps."""
    for turn in range(count):
        place = folder / f"{seed}-{turn}"
        place.mkdir()
        yield File(place / "log.jsonl", random.Random(seed * 1_000_003 + turn))
        for path in place.iterdir():
            path.unlink()
        place.rmdir()


def run(count: int, seed: int, folder: Path, how: str) -> Tally:
    """Follow so many sequences."""
    tally = Tally()
    for turn, file in enumerate(sequences(count, seed, folder)):
        follows = ByHand(file) if how == "hand" else ByThread(file, how == "events")
        wrong = follows.run()
        if wrong:
            tally.wrong.append(f"{how} {seed}-{turn}: {wrong} after {' '.join(file.done)}")
        tally.sequences += 1
        tally.races += file.done.count("race:")
        tally.steps += len(file.done)
        tally.records += len(follows.view.records)
        if isinstance(follows, ByThread):
            tally.longest = max(tally.longest, follows.longest)
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--how", default="hand,events,poll")
    parser.add_argument("--dir", type=Path, default=None, help="where the logs are made")
    options = parser.parse_args()
    failed = False
    for how in options.how.split(","):
        with tempfile.TemporaryDirectory(dir=options.dir) as folder:
            began = time.monotonic()
            tally = run(options.count, options.seed, Path(folder), how)
        print(
            f"{how}: {tally.sequences} sequences, {tally.steps} steps ({tally.races} inside a "
            f"look), {tally.records} records in the end, {len(tally.wrong)} wrong, "
            f"longest until right {tally.longest:.3f} s; {time.monotonic() - began:.0f} s"
        )
        print("\n".join(tally.wrong[:20]), file=sys.stderr)
        failed = failed or bool(tally.wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
