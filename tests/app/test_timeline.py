"""Rows from records, and walking along them."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import build
import opencode_logs
import pytest

from sessionlog.errors import NotALog
from sessionlog.formats.base import TROUBLE
from sessionlog.formats.native import Native
from sessionlog.listing import scan
from sessionlog.marks import Marks
from sessionlog.needle import Needle
from sessionlog.reader import load
from sessionlog.source import format_of
from sessionlog.text import width as columns_of
from sessionlog.window import CHUNK, Log
from tui.destination import time_of_day
from tui.folds import Filter
from tui.lines import fitted
from tui.looking import in_row, may_hold
from tui.opening import open_log
from tui.row_lines import Clock, Columns, Look, height_of, lines_of
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


# -- one row each ------------------------------------------------------------------------------


def test_a_call_and_its_response_are_one_row(tmp_path: Path) -> None:
    lines = [
        build.message("user", "Begin."),
        build.request("c1", "shell", '{"command":"ls -la"}', 2),
        build.response("c1", "shell", '{"command":"ls -la"}', "a\nb\nc\n", seconds=4),
    ]
    row = only(timeline(tmp_path, lines), "call")
    assert (row.n, row.label, row.body, row.sign) == (2, "shell", "ls -la", "ok")
    assert (row.outcome, row.took, row.second) == ("3 lines", "2.0s", "")
    assert len(row.records) == 2
    assert not row.trouble


def test_calls_without_ids_pair_by_name_and_arguments(tmp_path: Path) -> None:
    lines = [
        build.request("", arguments='{"command":"one"}'),
        build.request("", arguments='{"command":"two"}'),
        build.response("", arguments='{"command":"two"}', result="a\nb"),
        build.response("", arguments='{"command":"one"}', result="a\nb\nc"),
    ]
    rows = [row for row in down(timeline(tmp_path, lines)) if row.sort == "call"]
    assert [(row.body, row.outcome) for row in rows] == [("one", "3 lines"), ("two", "2 lines")]


@pytest.mark.parametrize(("text", "words", "second"), [
    ("3 items\nE   ValueError: no\n[exit: exit status 4]", "exit 4", "E   ValueError: no"),
    ("Exit code 1\nerror: no such remote", "exit 1", "error: no such remote"),
    ("[exit: exit status 2]", "exit 2", ""),
    ("[exit: signal: killed]", "killed", "[exit: signal: killed]"),
    ("all good\n[exit: exit status 0]", None, ""),
    ("the exit code 3 of a story\nand more", None, ""),
])  # fmt: skip
def test_an_exit_status_in_a_result_is_a_failure(
    tmp_path: Path, text: str, words: str | None, second: str
) -> None:
    lines = [build.request("c1"), build.response("c1", result=text)]
    row = only(timeline(tmp_path, lines), "call")
    assert row.trouble is (words is not None)
    if words is not None:
        assert (row.sign, row.outcome, row.second) == ("fail", words, second)


def test_the_same_failure_again_points_at_the_first(tmp_path: Path) -> None:
    made: list[bytes] = []
    for i in range(3):
        made += [build.request(f"c{i}"), build.response(f"c{i}", failure="Error: it broke")]
    made += [build.request("d"), build.response("d", failure="Error: it broke otherwise")]
    rows = [row for row in down(timeline(tmp_path, made)) if row.sort == "call"]
    assert [row.outcome for row in rows] == ["failed", "failed =1", "failed =1", "failed"]
    assert [bool(row.second) for row in rows] == [True, False, False, True]


def test_the_same_failure_in_the_chunk_before_is_seen(tmp_path: Path) -> None:
    failing = [build.request("a"), build.response("a", failure="Error: x")]
    again = [build.request("b"), build.response("b", failure="Error: x")]
    filler = [build.message("bot", "x" * (CHUNK - 500))]
    rows = [r for r in down(timeline(tmp_path, failing + filler + again)) if r.sort == "call"]
    assert rows[1].outcome == "failed =1"


def test_an_open_call_at_the_end_is_left_open_or_runs(tmp_path: Path) -> None:
    lines = [build.message("user", "Go."), build.request("c1"), build.event("usage")]
    gone = only(timeline(tmp_path, lines), "call")
    assert (gone.sign, gone.outcome, gone.trouble) == ("open", "no result", True)
    assert gone.second == "nothing written after this"
    live = only(timeline(tmp_path, lines, alive=True), "call")
    assert (live.sign, live.outcome, live.trouble) == ("run", "", False)


def test_a_call_left_open_before_a_prompt_does_not_run(tmp_path: Path) -> None:
    lines = [build.request("c1"), build.message("user", "Go on.")]
    row = only(timeline(tmp_path, lines, alive=True), "call")
    assert (row.sign, row.outcome, row.second) == ("open", "no result", "")


def test_a_response_far_away_is_later_and_then_has_no_call_near(tmp_path: Path) -> None:
    filler = [build.message("bot", "x" * 60_000)] * 20
    lines = [build.request("c1"), *filler, build.response("c1")]
    rows = [row for row in down(timeline(tmp_path, lines)) if row.sort == "call"]
    assert [row.outcome for row in rows] == ["later", "earlier call"]
    assert [len(row.records) for row in rows] == [1, 1]


def test_a_response_across_chunks_belongs_to_its_call(tmp_path: Path) -> None:
    filler = [build.message("bot", "x" * 60_000)] * 3
    lines = [build.request("c1"), *filler, build.response("c1", result="a\nb")]
    rows = [row for row in down(timeline(tmp_path, lines)) if row.sort == "call"]
    assert [(row.outcome, len(row.records)) for row in rows] == [("2 lines", 2)]


def test_calls_with_the_same_id_pair_like_brackets_across_chunks(tmp_path: Path) -> None:
    """A log that replays its conversation after a reset repeats ids."""
    filler = [build.message("bot", "x" * 60_000)] * 2
    lines = [
        build.request("c", "outer"), *filler, build.request("c", "inner"), *filler,
        build.response("c", result="a\nb"), *filler, build.response("c", result="a\nb\nc"),
    ]  # fmt: skip
    rows = [row for row in down(timeline(tmp_path, lines)) if row.sort == "call"]
    assert [(row.label, row.outcome) for row in rows] == [
        ("outer", "3 lines"),
        ("inner", "2 lines"),
    ]
    late = [build.response("c", result=f"{i}\n" * i) for i in (2, 3)]
    again = timeline(tmp_path, [build.request("c"), build.request("c"), *filler, *late])
    rows = [row for row in down(again) if row.sort == "call"]
    assert [row.outcome for row in rows] == ["3 lines", "2 lines"]


def test_a_response_without_a_call_is_shown(tmp_path: Path) -> None:
    row = only(timeline(tmp_path, [build.response("c9", result="lost")]), "call")
    assert (row.sign, row.outcome, row.body) == ("open", "no call", "lost")


def test_calls_that_stand_only_in_events_are_rows(tmp_path: Path) -> None:
    lines = [
        build.message("user", "Begin."),
        build.event("toolCallStart", 2, tool="read", text='{"path":"a.py"}'),
        build.event("toolCallEnd", 3, tool="read"),
        build.event("toolCallStart", 3, tool="edit", text='{"path":"b.py"}'),
        build.event("toolCallError", 4, tool="edit", text="no such file"),
        build.event("toolCallStart", 5, tool="shell", text='{"command":"sleep 60"}'),
    ]
    rows = [row for row in down(timeline(tmp_path, lines)) if row.sort == "call"]
    assert [(r.label, r.body, r.sign, r.n) for r in rows] == [
        ("read", "a.py", "ok", None),
        ("edit", "b.py", "fail", None),
        ("shell", "sleep 60", "open", None),
    ]
    assert rows[0].took == "1.0s"
    assert rows[1].second == "no such file"


def test_events_of_calls_that_have_messages_stay_quiet_but_tell_the_time(tmp_path: Path) -> None:
    ls = '{"command":"ls"}'
    lines = [
        build.event("toolCallStart", 2, tool="shell", text=ls),
        build.event("toolCallEnd", 32, tool="shell"),
        build.request("c1", "shell", ls, 33),
        build.response("c1", "shell", ls, "x", seconds=33),
    ]
    row = only(timeline(tmp_path, lines), "call")
    assert (row.took, row.n, len(row.records)) == ("30s", 1, 2)


def test_a_storm_of_retries_is_one_row(tmp_path: Path) -> None:
    lines = [build.event("retry", s, text="Overloaded (529)") for s in (0, 5, 15, 45)]
    row = only(timeline(tmp_path, [*lines, build.message("bot", "Here.", 60)]), "retries")
    assert (row.label, row.sign, row.outcome, row.took) == ("model", "fail", "4 tries", "1m")
    assert row.second == "waits 5s 10s 30s, then it answered"
    assert row.trouble


def test_silence_from_five_minutes_is_a_row(tmp_path: Path) -> None:
    lines = [build.message("bot", "a", 0), build.message("bot", "b", 299),
             build.message("bot", "c", 600)]  # fmt: skip
    assert only(timeline(tmp_path, lines), "gap").body == "5m01s with nothing written"


def test_the_time_of_a_long_call_is_no_silence(tmp_path: Path) -> None:
    lines = [build.request("c1", seconds=0), build.response("c1", seconds=4000),
             build.message("bot", "b", 4001)]  # fmt: skip
    rows = list(down(timeline(tmp_path, lines)))
    assert [row.sort for row in rows] == ["call", "agent", "end"]


def test_a_reset_says_what_is_history_and_takes_it_out_of_context(tmp_path: Path) -> None:
    lines = [build.message("user", "a"), build.message("bot", "b"), build.reset(),
             build.message("checkpoint", "so far"), build.message("bot", "c")]  # fmt: skip
    rows = list(down(timeline(tmp_path, lines)))
    assert [row.sort for row in rows] == ["user", "agent", "reset", "summary", "agent", "end"]
    assert rows[2].body == "context reset · 1 to 2 are history now"
    assert [row.in_context for row in rows[:2]] == [False, False]
    assert all(row.in_context for row in rows[3:])


def test_a_damage_tells_its_place_and_what_was_saved(tmp_path: Path) -> None:
    glued = build.message("bot", "first")[:-1] + b'{"kind":"message","at":"2026\n'
    lines = [build.message("user", "a"), glued, build.message("bot", "b")]
    row = only(timeline(tmp_path, lines), "damage")
    assert row.body.startswith("line 2 · byte ")
    assert (row.outcome, row.sign, row.trouble) == ("1 of 2", "bytes", True)
    assert row.damage is not None
    assert row.second == row.damage.why


def test_half_a_line_is_writing_while_the_writer_lives_and_damage_after(tmp_path: Path) -> None:
    live = list(down(timeline(tmp_path, build.healthy()[:-1], b'{"kind":"mes', alive=True)))
    assert (live[-1].sort, live[-1].sign) == ("writing", "run")
    gone = list(down(timeline(tmp_path, build.healthy()[:-1], b'{"kind":"mes')))
    assert [row.sort for row in gone[-2:]] == ["damage", "end"]
    assert gone[-2].second == "torn last line"
    assert gone[-1].sign == "bytes"


@pytest.mark.parametrize(("alive", "words"), [
    (False, "end of log · no result record · writer gone"),
    (None, "end of log · no result record · writer unknown"),
    (True, "still writing"),
])  # fmt: skip
def test_a_log_without_a_result_says_so_at_its_end(
    tmp_path: Path, alive: bool | None, words: str
) -> None:
    assert only(timeline(tmp_path, build.healthy()[:-1], alive=alive), "end").body == words


def test_a_log_ends_with_the_latest_time_of_its_last_line(tmp_path: Path) -> None:
    reply = opencode_logs.answer(2, opencode_logs.tool(9), finish=None)
    path = str(opencode_logs.export(tmp_path / "a.json", [opencode_logs.user(1, "Go"), reply]))
    (entry,) = scan([path])
    log = open_log(entry, stays=False)
    made = Timeline(log, counted(log))
    end = only(made, "end")
    assert end.at == entry.updated
    assert all(record.at <= end.at for row in down(made) for record in row.records)
    log.close()


def test_a_result_is_the_end_in_its_own_words(tmp_path: Path) -> None:
    good = only(timeline(tmp_path, build.healthy()), "end")
    assert (good.body, good.sign) == ("end of run · settled · all done", "ok")
    lines = [*build.healthy()[:-1], build.result("error", 1, error="401 unauthorised")]
    bad = only(timeline(tmp_path, lines), "end")
    assert (bad.body, bad.sign, bad.trouble) == ("end of run · 401 unauthorised", "fail", True)


def test_unknown_records_are_shown(tmp_path: Path) -> None:
    lines = [build.line({"kind": "novelty", "at": build.at(), "x": 1})]
    row = only(timeline(tmp_path, lines), "other")
    assert row.body == "novelty · kind, at, x"


def test_every_row_knows_its_line(tmp_path: Path) -> None:
    made = timeline(tmp_path, some_log(3000))
    made.level = "all"
    for row in down(made):
        if row.records and row.sort != "fold":
            data = b"".join(made.log.strip.read(0, row.place[0]).splitlines(keepends=True))
            assert row.line == data.count(b"\n") + 1
            if row.line > 60:
                break


@pytest.mark.parametrize(("name", "label"), [
    ("shell", "shell"), ("Bash", "bash"), ("exec_command", "exec"), ("MultiEdit", "edit"),
    ("mcp__github__get_issue", "get_issue"), ("Z\x1b[1m", "Z␛[1m"), ("", "call"),
])  # fmt: skip
def test_a_tool_has_a_short_name(tmp_path: Path, name: str, label: str) -> None:
    lines = [build.request("c1", name), build.response("c1", name)]
    made = timeline(tmp_path, lines)
    assert only(made, "call").label == label
    made.filter = Filter("tool", name or "call")
    assert [row.sort for row in down(made)] == ["call", "end"]


# -- every record is in one row ----------------------------------------------------------------


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


def test_down_and_up_meet_the_same_rows_and_every_record_once(tmp_path: Path) -> None:
    made = timeline(tmp_path, some_log(3000))
    made.level = "all"
    assert made.chunks > 4
    rows = list(down(made))
    assert rows == list(up(made))[::-1]
    held = [(r.span.offset, r.part) for row in rows for r in row.records]
    there = [(r.span.offset, r.part) for k in range(made.chunks) for r in made.chunk(k).records]
    assert sorted(held) == there
    damages = [row.damage for row in rows if row.damage]
    assert damages == [d for k in range(made.chunks) for d in made.chunk(k).damages]
    assert all(a.place < b.place for a, b in pairwise(rows))


def test_rows_do_not_depend_on_where_the_reading_began(tmp_path: Path) -> None:
    path = build.log(tmp_path / "a.jsonl", some_log(3000))
    forward, backward = shown_of(path), shown_of(path)
    ahead = [forward.rows(number) for number in range(forward.chunks)]
    behind = [backward.rows(number) for number in reversed(range(backward.chunks))]
    assert ahead == behind[::-1]


def test_growth_gives_the_rows_of_opening_afresh(tmp_path: Path) -> None:
    """At every byte, across the border of a chunk: a live log is the same as a dead one."""
    start = [build.message("user", "x" * (CHUNK - 700))]
    rest = b"".join([
        build.request("c1"), build.event("toolCallStart", tool="t", text="{}"),
        build.response("c1", failure="Error: no"), build.reset(), build.message("bot", "é"),
        build.request("c2"), build.event("retry", text="busy"), build.response("c2"),
        build.result(),
    ])  # fmt: skip
    path = build.log(tmp_path / "a.jsonl", start)
    live = shown_of(path)
    for size in range(1, len(rest) + 1):
        with path.open("ab") as file:
            file.write(rest[size - 1 : size])
        live.grown(live.log.refresh())
        live.marks.scan(live.log.strip, rest=lambda: None)
        live.renew()
        fresh = shown_of(path)
        assert list(down(live)) == list(down(fresh))
        fresh.log.close()


def test_a_response_that_comes_chunks_later_completes_a_row_that_was_shown(tmp_path: Path) -> None:
    filler = [build.message("bot", "x" * 60_000)] * 5
    path = build.log(tmp_path / "a.jsonl", [build.request("c1"), *filler])
    live = shown_of(path)
    assert live.rows(0)[0].outcome == "no result"
    with path.open("ab") as file:
        file.write(build.response("c1", result="a\nb"))
    live.grown(live.log.refresh())
    assert live.rows(0)[0].outcome == "2 lines"


def test_rows_made_before_the_count_get_their_numbers_after_it(tmp_path: Path) -> None:
    path = build.log(tmp_path / "a.jsonl", some_log(2000))
    log = Log(str(path), Native())
    late = Timeline(log)
    late.judge(False)
    unnumbered = late.rows(late.chunks - 1)
    assert all(row.n is None for row in unnumbered)
    late.marks.scan(log.strip, rest=lambda: None)
    assert late.renew()
    assert late.rows(late.chunks - 1) == shown_of(path).rows(late.chunks - 1)


# -- walking, filters, folds -------------------------------------------------------------------


def test_steps_of_any_length_are_steps_of_one(tmp_path: Path) -> None:
    made = timeline(tmp_path, some_log(1500))
    first, last = made.first(), made.last()
    assert first is not None
    assert last is not None
    pos, count = first, 0
    while pos != last:
        pos, count = made.step(pos, 1), count + 1
    assert made.step(first, count) == last
    assert made.step(first, count + 99) == last
    assert made.step(last, -count - 99) == first
    assert made.step(made.step(first, 33), -33) == first


def test_a_place_is_found_again_however_rows_are_shown(tmp_path: Path) -> None:
    made = timeline(tmp_path, some_log(1500))
    pos = made.step(made.first() or (0, 0), 200)
    place = made.row(pos).place
    assert made.find_place(place) == pos
    made.level = "all"
    assert made.row(made.find_place(place) or (0, 0)).place == place
    made.filter = Filter("user")
    assert made.row(made.find_place(place) or (0, 0)).place <= place


@pytest.mark.parametrize("what", ["errors", "user", "calls", "messages", "tool"])
def test_a_filter_shows_just_its_rows_and_marks_lose_none(tmp_path: Path, what: str) -> None:
    made = timeline(tmp_path, some_log(3000))
    everything = list(down(made))
    made.filter = Filter(what, "shell")
    found = list(down(made))
    assert found == [row for row in everything if made.filter.shows(row)]
    assert found == list(up(made))[::-1]
    assert 1 < len(found) < len(everything)


def test_rows_are_found_past_any_number_of_chunks_without_one(tmp_path: Path) -> None:
    dice = random.Random(5)
    lines = [build.message("bot", "x" * 1000, i) for i in range(4000)]
    for i in range(12):
        lines[dice.randrange(4000)] = build.message("user", "y", i)
    lines[500] = build.message("bot", "x" * (40 * CHUNK))
    made = timeline(tmp_path, lines)
    everything = [row for row in down(made) if row.sort in ("user", "end")]
    made.filter = Filter("user")
    assert list(down(made)) == everything
    assert list(up(made)) == everything[::-1]


def test_seeking_meets_every_trouble_in_both_directions(tmp_path: Path) -> None:
    made = timeline(tmp_path, some_log(3000))
    troubles = [row.place for row in down(made) if row.trouble]
    for forward, start in ((True, made.first()), (False, made.last())):
        pos, met = start, []
        while pos is not None:
            pos = looked_for(
                made.seek(pos, lambda row: row.trouble, forward, made.holding(TROUBLE))
            )
            if pos is not None:
                met.append(made.row(pos).place)
        assert met == (troubles if forward else troubles[::-1])


def test_less_folds_what_recedes_and_a_fold_can_be_opened(tmp_path: Path) -> None:
    lines = [build.message("user", "Go.")]
    for i in range(4):
        lines += [build.request(f"c{i}", seconds=i), build.response(f"c{i}", seconds=60 + i)]
    lines += [build.message("bot", "Done.", 70)]
    made = timeline(tmp_path, lines)
    made.level = "less"
    fold = only(made, "fold")
    assert (fold.body, fold.took) == ("4 calls, 1 text · 2–10", "1m10s")
    made.fold(fold.place)
    assert [r.sort for r in down(made)] == ["user", "fold", *["call"] * 4, "agent", "end"]
    made.fold(fold.place)
    assert [r.sort for r in down(made)] == ["user", "fold", "end"]


def test_a_message_is_found_by_its_number(tmp_path: Path) -> None:
    made = timeline(tmp_path, some_log(3000))
    for n in (1, 2, 77, made.marks.messages // 2):
        pos = made.message(n)
        assert pos is not None
        row = made.row(pos)
        following = made.row(made.step(pos, 1))
        assert row.n is None or row.n <= n
        assert following.n is None or following.n > n
    assert made.message(made.marks.messages + 1) is None


def test_a_time_is_found_without_reading_the_log_through(tmp_path: Path) -> None:
    lines = [build.message("bot", "x" * 500, i) for i in range(3000)]
    made = timeline(tmp_path, lines)
    seconds = time_of_day("22:20", build.at(5), Clock("utc"))
    assert seconds is not None
    pos = made.at_time(seconds)
    assert pos is not None
    assert made.row(pos).at == build.at(20 * 60)
    before = made.at_time(seconds - 10_000)
    assert before is not None
    assert made.row(before).at == build.at(0)


# -- finding -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "needle", "hit"), [
    ('say "hello"\tthere', '"hello"', True),
    ("naïve Ärger", "ärger", True),
    ("naïve", "NAÏVE", False),
    ("a < b && c", "< b &&", True),
    ("plain", "at", False),  # only in the record's keys
])  # fmt: skip
@pytest.mark.parametrize("escaped", [False, True])
def test_text_is_found_in_every_spelling(
    tmp_path: Path, text: str, needle: str, hit: bool, escaped: bool
) -> None:
    data = build.message("bot", text)
    if escaped:
        data = data.decode().encode("ascii", "backslashreplace").replace(b"\\xe4", b"\\u00e4")
        data = data.replace(b"\\xef", b"\\u00ef").replace(b"\\xc4", b"\\u00c4")
        data = data.replace(b"<", b"\\u003c").replace(b"&", b"\\u0026")
    far = build.message("user", "x" * CHUNK)
    made = timeline(tmp_path, [far, data, build.message("user", "y")])
    looked = Needle(needle)
    strip = made.log.strip
    pos = looked_for(
        made.seek(
            (0, 0),
            lambda row: in_row(looked, row, made.log.raw),
            True,
            lambda k: may_hold(looked, strip, k),
        )
    )
    assert (pos == (1, 0)) is hit
    assert any(may_hold(looked, strip, k) for k in range(made.chunks)) is (hit or needle == "at")


def test_hits_are_underlined_where_they_stand(tmp_path: Path) -> None:
    row = only(timeline(tmp_path, [build.message("bot", "One two TWO")]), "agent")
    look = Look(Columns(79), Clock("utc"), needle=Needle("two"))
    pieces = lines_of(row, look)[0].left
    assert [text for text, style in pieces if "underline" in style] == ["two", "TWO"]


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
