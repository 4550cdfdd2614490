"""Rows as lines of the screen, and the rows of whole logs."""

from __future__ import annotations

import os
from pathlib import Path

import build
import pytest
from timelines import counted, down, only, some_log, text_of, timeline

from sessionlog.errors import NotALog
from sessionlog.reader import load
from sessionlog.source import format_of
from sessionlog.text import width as columns_of
from sessionlog.window import Log
from tui.lines import fitted
from tui.row_lines import Clock, Columns, Look, height_of, lines_of
from tui.timeline import Timeline

# -- lines -------------------------------------------------------------------------------------

NASTY = (
    "\x1b]0;x\x07 [/b] [@click=quit] \u202e\u0085\x9b31m\r\n \ud800 \ufeff e\u0301 "
    "\u5bbd\u5bbd\u5bbd \U0001f469\u200d\U0001f469 "
)


def nasty_log() -> list[bytes]:
    body = NASTY * 3
    return [
        build.meta(task=body),
        build.message("user", body), build.message("bot", body), build.message("reasoning", body),
        build.message(NASTY, body), build.message("instructions", body),
        build.request(NASTY, NASTY, body), build.response(NASTY, NASTY, body, failure=body),
        build.request("c2", NASTY, body), build.response("c2", NASTY, body, result=body),
        build.request("c3", "a" * 300, "b" * 3000),
        build.event(NASTY, text=body, tool=NASTY), build.event("retry", text=body),
        build.line({"kind": NASTY, NASTY: body}), b'{"kind": "\x1b[31m\x00', b"\n",
        build.reset(), build.message("user", "word " * 300), build.result(NASTY, 1, error=body),
    ]  # fmt: skip


@pytest.mark.parametrize("width", [*range(24, 60, 7), 75, 76, 79, 99, 100, 120, 200])
def test_lines_fit_any_width_and_hold_no_control_characters(tmp_path: Path, width: int) -> None:
    made = timeline(tmp_path, nasty_log())
    made.level = "all"
    columns = Columns(width)
    for row in down(made):
        for opened in (False, True):
            lines = lines_of(row, Look(columns, Clock("utc"), opened=opened))
            assert len(lines) == height_of(row, columns, opened)
            for line in lines:
                text = "".join(piece for piece, _ in fitted(line, width))
                assert columns_of(text) == width
                assert text.replace("\u200d", "").isprintable()  # joins an emoji, hides nothing
                assert "\u202e" not in text


def test_the_columns_are_those_of_the_design(tmp_path: Path) -> None:
    lines = [
        build.request("c1", "bash", '{"command":"go test ./..."}', 100),
        build.response("c1", "bash", failure="Exit code 1\n--- FAIL: TestReplay", seconds=204),
    ]
    row = only(timeline(tmp_path, lines), "call")
    for width, head, right in (
        (60, "    1 22:01 ✗ bash    go test ./...", "exit 1  1m44s "),
        (79, "    1 22:01:40 ✗ bash    go test ./...", "exit 1  1m44s "),
        (100, "    1 22:01:40 ✗ bash     go test ./...", "exit 1   1m44s "),
    ):
        first, second = text_of(row, width)
        assert first == head + right.rjust(width - len(head))
        assert second == ("└ --- FAIL: TestReplay").rjust(head.index("go") + 20).ljust(width)


def test_the_repeated_part_of_the_clock_is_dimmer_never_left_out(tmp_path: Path) -> None:
    row = only(timeline(tmp_path, [build.message("bot", "x", 65)]), "agent")
    look = Look(Columns(79), Clock("utc"), above="22:01:59")
    pieces = lines_of(row, look)[0].left
    assert ("22:01:", "fg-3") in pieces
    assert ("05 ", "fg-2") in pieces


def test_times_are_told_since_the_start_or_in_utc() -> None:
    assert Clock("utc").tell("2026-11-27T23:30:00+01:00", False) == "22:30:00"
    assert Clock("start", build.at(0)).tell(build.at(3725), False) == "01:02:05"
    assert Clock("start", build.at(0)).tell(build.at(3725), True) == "01:02"
    assert Clock("utc").tell("no time", False) == ""


# -- the sample logs ---------------------------------------------------------------------------


def cases() -> list[Path]:
    folder = os.environ.get("SESSIONLOG_CASES")
    return sorted(Path(folder).rglob("*.jsonl")) if folder else []


@pytest.mark.skipif(not cases(), reason="SESSIONLOG_CASES is not set")
def test_all_sample_logs_open_at_every_width() -> None:
    opened = 0
    for path in cases():
        fd = os.open(path, os.O_RDONLY)
        try:
            form = format_of(str(path), fd)
        except NotALog:
            continue
        finally:
            os.close(fd)
        log = Log(str(path), form)
        made = Timeline(log, counted(log))
        made.judge(False)
        made.level = "all"
        rows = list(down(made))
        held = [(r.span.offset, r.part) for row in rows if row.sort != "fold" for r in row.records]
        made.expanded |= {row.place for row in rows if row.sort == "fold"}
        assert len(held) == len(set(held)), path
        for width in (40, 79, 200):
            for row in rows[:400]:
                for line in lines_of(row, Look(Columns(width), Clock("utc"))):
                    assert columns_of("".join(p for p, _ in fitted(line, width))) == width
        opened += 1
        log.close()
    assert opened


def disagreements(path: Path) -> list[object]:
    """Where the rows of a log say something else than its session does."""
    session = load(path)
    fd = os.open(path, os.O_RDONLY)
    form = format_of(str(path), fd)
    os.close(fd)
    log = Log(str(path), form)
    made = Timeline(log, counted(log))
    made.judge(session.alive is not None)
    rows = [row for number in range(made.chunks) for row in made.rows(number)]
    steps = {step.n: step for step in session.history}
    found: list[object] = []
    for row in rows:
        if row.n is None or not row.records:
            continue
        step = steps[row.n]
        if (step.record.span.offset, step.record.part) != row.place:
            found.append(("number", row.n))
        if not row.side and step.in_context != row.in_context:
            found.append(("context", row.n))
        if row.sort == "call" and (step.pair is not None) != (len(row.records) == 2):
            found.append(("pair", row.n))
    if made.marks.messages != len(session.history):
        found.append(("messages", made.marks.messages, len(session.history)))
    if sum(row.damage is not None for row in rows) != len(session.damages):
        found.append("damages")
    log.close()
    return found


@pytest.mark.parametrize("seed", range(4))
def test_numbers_pairs_contexts_and_damages_are_those_of_the_session(
    tmp_path: Path, seed: int
) -> None:
    path = build.log(tmp_path / "20261127-220000.jsonl", some_log(900, seed), b'{"kind"')
    assert disagreements(path) == []


@pytest.mark.skipif(not cases(), reason="SESSIONLOG_CASES is not set")
def test_the_rows_of_all_sample_logs_say_what_their_sessions_say() -> None:
    for path in cases():
        try:
            found = disagreements(path)
        except NotALog:
            continue
        assert found == [], path
