"""Finding a text in the open log: what is counted and stopped at is what a search finds."""

from __future__ import annotations

from pathlib import Path
from random import Random

import build
import pytest
import wanted

from sessionlog.marks import Marks
from sessionlog.needle import Needle
from sessionlog.paths import open_regular
from sessionlog.query import Query
from sessionlog.search import Hit, search_log
from sessionlog.source import format_of
from sessionlog.window import CHUNK, LONG, Log, Strip
from tui.looking import Tally, in_row, may_hold
from tui.timeline import Timeline


def opened(path: Path) -> Log:
    strip = Strip(open_regular(str(path)))
    try:
        return Log(str(path), format_of(str(path), strip.fd))
    finally:
        strip.close()


def counted(log: Log, needle: Needle) -> int:
    tally = Tally(needle)
    while not tally.work(log, 0.001):
        pass
    return tally.count


def found(path: Path, query: Query) -> list[Hit]:
    given = search_log(str(path), query, most=None, within=0)
    return [hit for hit in given if isinstance(hit, Hit)]


@pytest.mark.parametrize("seed", range(40))
def test_a_find_counts_what_a_search_finds(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    log = wanted.made(random)
    path = build.log(tmp_path / log.name, [*log.lines, build.message("user", "x" * CHUNK)] * 3)
    for _ in range(4):
        query = wanted.a_query(random, log.texts)
        needle = Needle(query.text, query.ignore_case)
        assert counted(opened(path), needle) == len(found(path, query)), query


def test_it_stops_at_every_row_with_a_hit_and_at_no_other(tmp_path: Path) -> None:
    lines = [
        build.meta(), build.message("user", "lock"), build.message("bot", "kind"),
        build.request("c1", arguments='{"command":"x"}'), build.response("c1", result="a\nlock"),
        b"no json but a lock\n", build.message("bot", "x"),
    ]  # fmt: skip
    log = opened(build.log(tmp_path / "a.jsonl", lines))
    timeline = Timeline(log, Marks(log.form))
    needle = Needle("lock")
    rows = [row for row in timeline.rows(0) if in_row(needle, row, log.raw)]
    assert [row.sort for row in rows] == ["user", "call", "damage"]
    assert counted(log, needle) == 3


@pytest.mark.parametrize("where", ["first", "last", "nowhere"])
def test_a_line_too_long_to_decode_is_found_by_its_bytes(tmp_path: Path, where: str) -> None:
    long = build.message("bot", "first lock" + "x" * (2 * LONG) + "last lock")
    path = build.log(tmp_path / "a.jsonl", [build.meta(), long, build.message("user", "y")])
    log, needle = opened(path), Needle(f"{where} lock")
    assert may_hold(needle, log.strip, 0) is (where != "nowhere")
    assert counted(log, needle) == len(found(path, Query(needle.text))) == (where != "nowhere")
