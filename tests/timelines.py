"""Timelines of logs on disk for the tests of rows, and ways along them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import build

from sessionlog.formats.native import Native
from sessionlog.marks import Marks
from sessionlog.window import Log
from tui.lines import fitted
from tui.row_lines import Clock, Columns, Look, lines_of
from tui.rows import Row
from tui.timeline import Pos, Seeking, Timeline


def timeline(
    folder: Path, lines: list[bytes], tail: bytes = b"", alive: bool | None = False
) -> Timeline:
    return shown_of(build.log(folder / "a.jsonl", lines, tail), alive)


def shown_of(path: Path, alive: bool | None = False) -> Timeline:
    log = Log(str(path), Native())
    made = Timeline(log, counted(log))
    made.judge(alive)
    return made


def counted(log: Log) -> Marks:
    marks = Marks(log.form)
    marks.scan(log.strip, rest=lambda: None)
    return marks


def down(made: Timeline) -> Iterator[Row]:
    pos = made.first()
    while pos is not None:
        yield made.row(pos)
        following = made.step(pos, 1)
        pos = following if following != pos else None


def up(made: Timeline) -> Iterator[Row]:
    pos = made.last()
    while pos is not None:
        yield made.row(pos)
        following = made.step(pos, -1)
        pos = following if following != pos else None


def only(made: Timeline, sort: str) -> Row:
    found = [row for row in down(made) if row.sort == sort]
    assert len(found) == 1, found
    return found[0]


def looked_for(seeking: Seeking) -> Pos | None:
    try:
        while True:
            next(seeking)
    except StopIteration as found:
        value: Pos | None = found.value
        return value


def text_of(row: Row, width: int = 79, **look: object) -> list[str]:
    made = Look(Columns(width), Clock("utc"), **look)  # type: ignore[arg-type]
    return ["".join(text for text, _ in fitted(line, width)) for line in lines_of(row, made)]


def some_log(count: int, seed: int = 3) -> list[bytes]:
    """A log with everything in it, over as many chunks as `count` gives."""
    dice = random.Random(seed)
    made: list[bytes] = [build.meta()]
    open_calls: list[str] = []
    for i in range(count):
        what = dice.randrange(14)
        if what < 3:
            kind = dice.choice(("bot", "user", "reasoning"))
            made.append(build.message(kind, "w" * what * 50, i))
        elif what < 6:
            open_calls.append(f"c{i}")
            made.append(build.request(f"c{i}", seconds=i))
        elif what < 9 and open_calls:
            call = open_calls.pop(dice.randrange(len(open_calls)))
            failure = dice.choice((None, None, "Error: no"))
            made.append(build.response(call, failure=failure, result="x" * 200, seconds=i))
        elif what == 9:
            made.append(build.event("retry", i, text="busy"))
        elif what == 10:
            made.append(build.event("toolCallStart", i, tool="t", text="{}"))
        elif what == 11:
            made.append(build.event("toolCallEnd", i, tool="t"))
        elif what == 12:
            made.append(build.event(dice.choice(("usage", "notice")), i, text="x"))
        elif dice.random() < 0.05:
            made.append(dice.choice((build.reset(i), b"not json\n", b"\n")))
    return made
