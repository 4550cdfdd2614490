"""Every record in one row, and walking, filtering and finding along them."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import build
import pytest
from timelines import down, looked_for, only, shown_of, some_log, timeline, up

from sessionlog.formats.base import TROUBLE
from sessionlog.formats.native import Native
from sessionlog.needle import Needle
from sessionlog.window import CHUNK, Log
from tui.destination import time_of_day
from tui.folds import Filter
from tui.looking import in_row, may_hold
from tui.row_lines import Clock, Columns, Look, lines_of
from tui.timeline import Timeline

# -- every record is in one row ----------------------------------------------------------------


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
