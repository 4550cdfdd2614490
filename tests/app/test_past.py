"""A log as it stood at a moment is the log that holds no more than what was written by then."""

from __future__ import annotations

import os
import random
from pathlib import Path

import build
import pytest

from sessionlog.errors import NotALog
from sessionlog.formats.base import Format
from sessionlog.formats.native import Native
from sessionlog.logfile import kept_in
from sessionlog.marks import Marks
from sessionlog.reader import load
from sessionlog.source import format_of
from sessionlog.window import CHUNK, Log
from tui.past import Past, PastTimeline
from tui.rows import Row
from tui.timeline import Timeline
from tui.track import Track


def counted(log: Log) -> Marks:
    marks = Marks(log.form)
    marks.scan(log.strip, rest=lambda: None)
    return marks


def rows_of(timeline: Timeline) -> list[Row]:
    """All rows but the one that ends the log."""
    rows = [row for number in range(timeline.chunks) for row in timeline.rows(number)]
    return [row for row in rows if row.records or row.damage or row.sort == "gap"]


def cut_file(log: Log, size: int, folder: Path) -> Log:
    """A file that holds the first bytes of a log."""
    with open(log.path, "rb") as file:
        path = folder / "cut.jsonl"
        path.write_bytes(file.read(size))
    return Log(str(path), log.form)


def living(log: Log, alive: bool | None = True) -> Timeline:
    timeline = Timeline(log, counted(log))
    timeline.judge(alive)
    return timeline


def padded(seed: int, length: int = 60) -> list[bytes]:
    """Calls open, late, twice or from nowhere over a few chunks; long lines and damage between."""
    dice = random.Random(seed)
    lines = []
    for line in build.scrambled(seed, length):
        lines.append(line)
        if dice.random() < 0.3:
            lines.append(build.message("bot", "x" * dice.choice((900, 20_000, 70_000, 150_000))))
        if dice.random() < 0.05:
            lines.append(dice.choice((b'{"kind":\n', b"\n", b'{"kind":"message","at":"z"}\x00\n')))
        if dice.random() < 0.1:
            start = build.event("toolCallStart", tool="shell", text="{}")
            lines += [start, build.event("toolCallEnd", tool="shell", text="done")]
    return lines


def moments(log: Log) -> list[int]:
    track = Track(log)
    return [beat.end for number in range(log.chunks) for beat in track.beats(number)]


@pytest.mark.parametrize("seed", range(6))
def test_a_moment_is_the_same_forwards_backwards_and_by_a_jump(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    log = Log(str(build.log(tmp_path / "a.jsonl", padded(seed))), Native())
    ends = moments(log)
    past = PastTimeline(log, counted(log))
    at = 0
    for _ in range(60):
        at += dice.choice((-1, 1, 1, 2, -5, 9, dice.randrange(-len(ends), len(ends))))
        at = min(max(at, 0), len(ends) - 1)
        past.cut(ends[at])
        if dice.random() < 0.6:  # rows of some moments only: what is kept is of different ages
            rows_of(past)
            past.current()
        if dice.random() < 0.4:
            alive = True if ends[at] < log.size else None
            past.judge(None)
            cut = cut_file(log, ends[at], tmp_path)
            assert rows_of(past) == rows_of(living(cut, alive)), ends[at]
            cut.close()


@pytest.mark.parametrize("seed", range(3))
def test_a_moment_says_what_the_session_of_its_records_says(tmp_path: Path, seed: int) -> None:
    log = Log(str(build.log(tmp_path / "20261127-220000.jsonl", build.scrambled(seed, 80))),
              Native())  # fmt: skip
    past = PastTimeline(log, counted(log))
    ends = moments(log)
    for size in random.Random(seed).sample(ends, 25):
        past.cut(size)
        cut = cut_file(log, size, tmp_path)
        steps = {step.n: step for step in load(cut.path).history}
        rows = [row for row in rows_of(past) if row.n is not None]
        assert past.messages_so_far == len(steps)
        for row in rows:
            step = steps.pop(row.n or 0)
            assert (step.record.span.offset, step.record.part) == row.place
            assert step.in_context == row.in_context
            if row.sort == "call":
                assert (step.pair is not None) == (len(row.records) == 2)
        assert all(step.pair for step in steps.values())  # the others are in their call's row
        cut.close()


def test_a_call_runs_until_its_result_is_there(tmp_path: Path) -> None:
    log = Log(str(build.log(tmp_path / "a.jsonl", [
        build.message("user", "Begin."), build.request("c1", seconds=2),
        build.message("bot", "meanwhile", 3), build.response("c1", failure="no", seconds=60),
        build.message("bot", "x", 61),
    ])), Native())  # fmt: skip
    past = PastTimeline(log, counted(log))
    ends = moments(log)
    signs = []
    for size in [*ends[:4], *ends[3:0:-1]]:
        past.cut(size)
        signs.append([row.sign for row in rows_of(past) if row.sort == "call"])
    assert signs == [[], ["run"], ["run"], ["fail"], ["fail"], ["run"], ["run"]]


def test_the_current_row_is_the_one_that_the_last_line_began_or_ended(tmp_path: Path) -> None:
    log = Log(str(build.log(tmp_path / "a.jsonl", [
        build.message("user", "Begin."), build.request("c1", seconds=2),
        build.request("c2", arguments="{}", seconds=3), build.event("usage", 4),
        build.response("c1", seconds=5), b"{torn\n", build.reset(7),
    ])), Native())  # fmt: skip
    past = PastTimeline(log, counted(log))
    seen = []
    for size in moments(log):
        past.cut(size)
        pos = past.current()
        assert pos is not None
        seen.append((past.row(pos).sort, past.row(pos).n))
    assert seen == [("user", 1), ("call", 2), ("call", 3), ("call", 3), ("call", 2),
                    ("damage", None), ("reset", None)]  # fmt: skip


def test_rows_before_a_reset_are_in_context_until_it_is_there(tmp_path: Path) -> None:
    lines = [*(build.message("bot", str(i), i) for i in range(5)), build.reset(9)]
    log = Log(str(build.log(tmp_path / "a.jsonl", lines)), Native())
    past = PastTimeline(log, counted(log))
    before, after = moments(log)[-2:]
    for size, known in ((before, True), (after, False), (before, True)):
        past.cut(size)
        assert {row.in_context for row in rows_of(past) if row.n} == {known}


def test_the_end_is_told_only_when_all_of_the_log_is_there(tmp_path: Path) -> None:
    lines = [build.message("user", "a"), build.request("c")]
    log = Log(str(build.log(tmp_path / "a.jsonl", lines)), Native())
    past = PastTimeline(log, counted(log))
    past.judge(None)
    for size, sign, ended in zip(moments(log), ("user", "open"), (False, True), strict=True):
        past.cut(size)
        rows = [row for number in range(past.chunks) for row in past.rows(number)]
        assert any(row.sort == "end" for row in rows) is ended
        assert [row.sign for row in rows if row.sort != "end"][-1] == sign


def test_a_step_makes_no_more_rows_than_those_of_the_last_chunk(tmp_path: Path) -> None:
    lines = [build.message("bot", "x" * 500, i) for i in range(3000)]
    log = Log(str(build.log(tmp_path / "a.jsonl", lines)), Native())
    past = PastTimeline(log, counted(log))
    ends = moments(log)
    past.cut(ends[2000])
    rows_of(past)
    kept = dict(past._rows)
    past.cut(ends[2001])
    last = (ends[2001] - 1) // CHUNK
    assert [n for n in kept if past._rows.get(n) is not kept[n]] == [last]


def test_a_call_of_events_alone_gives_way_to_the_message_that_tells_of_it(tmp_path: Path) -> None:
    log = Log(str(build.log(tmp_path / "a.jsonl", [
        build.message("user", "Begin."), build.event("toolCallStart", tool="shell", text="{}"),
        build.event("toolCallEnd", tool="shell"), build.event("usage", text="x" * 2 * CHUNK),
        build.request("c1", seconds=9), build.response("c1", seconds=9),
    ])), Native())  # fmt: skip
    past = PastTimeline(log, counted(log))
    ends = moments(log)
    for size, calls in ((ends[3], [None]), (ends[4], [2]), (ends[3], [None])):
        past.cut(size)
        assert [row.n for row in rows_of(past) if row.sort == "call"] == calls


def test_an_empty_past_has_no_rows(tmp_path: Path) -> None:
    log = Log(str(build.log(tmp_path / "a.jsonl", [build.message("user", "a")])), Native())
    past = PastTimeline(log, counted(log))
    past.cut(0)
    assert (past.chunks, past.current(), past.last()) == (0, None, None)


def test_a_past_never_grows_by_what_the_file_does(tmp_path: Path) -> None:
    path = build.log(tmp_path / "a.jsonl", [build.message("user", "a")])
    log = Log(str(path), Native())
    past = Past(log, log.size)
    with path.open("ab") as file:
        file.write(build.message("bot", "later"))
    log.refresh()
    assert len(past.chunk(0).records) == 1


def cases() -> list[Path]:
    folder = os.environ.get("SESSIONLOG_CASES")
    return sorted(Path(folder).rglob("*.jsonl")) if folder else []


def opened(path: Path) -> Log | None:
    fd = os.open(path, os.O_RDONLY)
    try:
        form: Format = format_of(str(path), fd)
    except NotALog:
        return None
    finally:
        os.close(fd)
    return Log(str(path), form)


@pytest.mark.skipif(not cases(), reason="SESSIONLOG_CASES is not set")
def test_any_moment_of_the_sample_logs_is_the_log_of_its_first_bytes(tmp_path: Path) -> None:
    dice = random.Random(1)
    looked = 0
    for path in cases():
        log = opened(path)
        if log is None or log.size > 4 << 20 or kept_in(str(path)):
            continue  # the first bytes of a store's lines are no log of that store
        past = PastTimeline(log, counted(log))
        ends = moments(log)
        for size in [ends[0], *dice.sample(ends, min(6, len(ends))), ends[-2:][0]]:
            past.cut(size)
            cut = cut_file(log, size, tmp_path)
            alive = True if size < log.size else None
            assert rows_of(past) == rows_of(living(cut, alive)), (path, size)
            cut.close()
        looked += 1
        log.close()
    assert looked
