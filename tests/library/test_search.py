"""Looking for a text in logs."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from random import Random
from typing import Any

import build
import pytest
import wanted

from sessionlog.listing import scan
from sessionlog.numbers import resolve
from sessionlog.query import Query, parse_time
from sessionlog.reader import load
from sessionlog.records import moment
from sessionlog.search import Hit, Progress, by_change, search_log, search_logs
from sessionlog.wide import search_wide
from sessionlog.window import LONG


def hits(path: Path, query: Query | str, **more: Any) -> list[Hit]:
    query = Query(query) if isinstance(query, str) else query
    return [hit for hit in search_log(str(path), query, **more) if isinstance(hit, Hit)]


def texts(path: Path, query: Query | str, **more: Any) -> list[str]:
    return [hit.text for hit in hits(path, query, **more)]


def last(path: Path, query: Query | str, **more: Any) -> Progress:
    query = Query(query) if isinstance(query, str) else query
    *_, progress = search_log(str(path), query, **more)
    assert isinstance(progress, Progress)
    return progress


@pytest.mark.parametrize("seed", range(150))
def test_a_search_finds_what_a_look_at_every_decoded_record_finds(
    tmp_path: Path, seed: int
) -> None:
    random = Random(seed)
    log = wanted.made(random)
    path = build.log(tmp_path / log.name, log.lines)
    for _ in range(5):
        assert not wanted.faults(path, wanted.a_query(random, log.texts))


def test_a_hit_names_its_record(tmp_path: Path) -> None:
    lines = [
        build.meta(), build.message("user", "Begin."), build.request("c1"),
        build.response("c1", result="fine\n  the lock is held\r\n", seconds=5),
    ]  # fmt: skip
    path = build.log(tmp_path / "a.jsonl", lines)
    [hit] = hits(path, "lock")
    offset = sum(map(len, lines[:3]))
    assert hit == Hit(
        str(path), 3, "response", "shell", True, build.at(5), 4, offset, len(lines[3]) - 1, 0,
        "  the lock is held", ((6, 10),),
    )  # fmt: skip


def test_what_is_found_once_is_numbered_also_behind_a_reset_and_damage(tmp_path: Path) -> None:
    whole = build.message("bot", "other")
    lines = [
        build.meta(), build.message("user", "lock 1"), build.reset(), whole[:40] + whole,
        whole[:50] + b"\n", b"\n", whole + b"\0\0" + whole, build.message("bot", "lock 2"),
    ]  # fmt: skip
    path = build.log(tmp_path / "a.jsonl", lines)
    session = load(path)
    [_, hit] = hits(path, "lock")
    assert (hit.n, hit.line) == (len(session.history), session.records[-1].span.line)
    [later] = resolve([hit._replace(n=None, line=0)])
    assert later == hit


def test_numbers_far_into_a_log_are_left_for_later(tmp_path: Path) -> None:
    lines = [build.message("user", f"text {i}") for i in range(50)]
    path = build.log(tmp_path / "a.jsonl", [build.meta(), *lines])
    whole = hits(path, "text")
    assert [hit.n for hit in whole] == list(range(1, 51))
    bare = hits(path, "text", within=1000)
    assert [hit.n for hit in bare if hit.line] == [hit.n for hit in whole if hit.offset < 1000]
    assert list(resolve(bare)) == whole
    assert list(resolve(bare[::-1])) == whole[::-1]


def test_a_message_behind_a_reset_on_its_line_has_the_same_number_later(tmp_path: Path) -> None:
    compacted = {"message": "the lock so far", "replacement_history": []}
    lines = [*build.codex_healthy(), build.codex_line("compacted", compacted)]
    path = build.log(tmp_path / build.CODEX_FILE, lines)
    [hit] = hits(path, "lock so far")
    assert hit.n == load(path).history[-1].n
    assert list(resolve(hits(path, "lock so far", within=0))) == [hit]


def test_more_hits_than_are_asked_for_are_counted(tmp_path: Path) -> None:
    path = build.log(tmp_path / "a.jsonl", [build.message("user", "a\na\na")] * 10)
    assert len(hits(path, "a", most=7)) == 7
    assert last(path, "a", most=7).more == 23


def test_the_first_hit_is_out_before_the_rest_is_read(tmp_path: Path) -> None:
    path = build.log(tmp_path / "a.jsonl", [build.message("user", "lock")])
    with path.open("ab") as file:
        file.truncate(1 << 40)  # what is behind it would take an hour
    search = search_log(str(path), Query("lock"))
    assert isinstance(next(search), Hit)
    search.close()


def test_stop_ends_it_between_two_lines(tmp_path: Path) -> None:
    path = build.log(tmp_path / "a.jsonl", [build.message("user", "lock")] * 100)
    found: list[Hit | Progress] = []
    for item in search_log(str(path), Query("lock"), lambda: len(found) == 3):
        found.append(item)
    assert len(found) == 3


def test_a_torn_tail_and_bad_lines_are_found_as_damage(tmp_path: Path) -> None:
    lines = [build.meta(), b"no json, but a lock\n", build.message("user", "x")]
    path = build.log(tmp_path / "a.jsonl", lines, build.message("bot", "the lock")[:-3])
    found = hits(path, "lock")
    assert [(hit.kind, hit.n, hit.line) for hit in found] == [
        ("damage", None, 2), ("damage", None, 4),
    ]  # fmt: skip
    assert found[0].text == "no json, but a lock"


@pytest.mark.parametrize("size", [LONG - 1000, LONG + 1000, 3 * LONG])
def test_a_line_of_any_length_is_searched(tmp_path: Path, size: int) -> None:
    long = build.message("bot", 'the "first" lock' + "x" * size + 'the "last" lock\nand "more"')
    path = build.log(tmp_path / "a.jsonl", [build.meta(), long, build.message("user", "lock end")])
    for text in ('"first"', '"last"', '"last" lock\nand', "more"):
        [hit] = hits(path, text)
        assert (hit.n, hit.kind, hit.line, hit.length) == (1, "assistant", 2, len(long) - 1)
        assert [hit.text[a:b].replace("↵", "\n") for a, b in hit.spans] == [text]
    assert hits(path, "lock end", within=None)[0].n == 2
    assert not hits(path, "nowhere")


# -- filters -----------------------------------------------------------------------------------


def calls(folder: Path) -> Path:
    """A log of Claude's: results do not name their tools."""
    lines = [
        build.claude_user("run lock"),
        build.claude_call("c1", "lock one"), build.claude_result("c1", "lock fine"),
        build.claude_call("c2", "lock two", name="Edit", seconds=10),
        build.claude_result("c2", "Exit code 3\nlock broken", seconds=11),
        build.claude_error("lock refused", seconds=20),
        build.claude_call("c3", "lock three", name="mcp__git__push", seconds=30),
    ]  # fmt: skip
    return build.log(folder / build.CLAUDE_FILE, lines)


@pytest.mark.parametrize(("query", "found"), [
    (Query("lock", tools=("bash",)), ["lock one", "lock fine"]),
    (Query("lock", tools=("edit",)), ["lock two", "lock broken"]),
    (Query("lock", tools=("push", "bash")), ["lock one", "lock fine", "lock three"]),
    (Query("lock", kinds=("user", "event")), ["run lock", "lock refused"]),
    (Query("lock", errors=True), ["lock two", "lock broken", "lock refused", "lock three"]),
    (Query("lock", errors=True, kinds=("response",)), ["lock broken"]),
    (Query("lock", after=moment(build.at(10)), before=moment(build.at(20))),
     ["lock two", "lock broken"]),
    (Query("", tools=("edit",), kinds=("response",)), ["Exit code 3"]),
    (Query("LOCK T", ignore_case=True), ["lock two", "lock three"]),
    (Query(r"^lock (on|t\w+)e\b", regex=True), ["lock one", "lock three"]),
])  # fmt: skip
def test_filters_look_at_both_halves_of_a_call(
    tmp_path: Path, query: Query, found: list[str]
) -> None:
    assert texts(calls(tmp_path), query) == found


def test_a_call_tells_how_it_went(tmp_path: Path) -> None:
    found = hits(calls(tmp_path), Query("lock", kinds=("call",)))
    assert [(hit.tool, hit.ok) for hit in found] == [
        ("Bash", True), ("Edit", False), ("mcp__git__push", None),
    ]  # fmt: skip


def test_records_without_a_time_pass_no_filter_on_times(tmp_path: Path) -> None:
    path = build.log(tmp_path / "a.jsonl", [b'{"role":"user","content":"lock"}\n'])
    assert texts(path, "lock") == ["lock"]
    assert not hits(path, Query("lock", after=moment(build.at())))


# -- many logs ---------------------------------------------------------------------------------


def night(folder: Path, count: int = 12) -> list[str]:
    """Logs of one after the other, the last the newest."""
    paths = []
    for number in range(count):
        name = f"20261127-2200{number:02}"
        lines = [build.meta(name), build.message("user", f"lock {number}"), build.message("bot")]
        ends = [build.result("failed", 1)] if number % 2 else []
        path = build.log(folder / f"{name}.jsonl", [*lines * 20, *ends])
        os.utime(path, (1e9 + number, 1e9 + number))
        paths.append(str(path))
    return paths


def test_the_newest_log_comes_first_and_progress_counts_logs(tmp_path: Path) -> None:
    paths = night(tmp_path)
    found = list(search_logs(by_change(paths), Query("lock")))
    told = [item for item in found if isinstance(item, Progress)]
    order = list(dict.fromkeys(item.path for item in found if isinstance(item, Hit)))
    assert order == paths[::-1]
    assert [p.logs_read for p in told] == list(range(1, 13))
    assert {p.logs for p in told} == {12}


def test_sessions_are_held_back_by_status_and_agent(tmp_path: Path) -> None:
    night(tmp_path)
    build.log(tmp_path / build.CODEX_FILE, build.codex_healthy())
    entries = scan([str(tmp_path)])

    def found(query: Query) -> int:
        given = search_logs(entries, query)
        return len({item.path for item in given if isinstance(item, Hit)})

    assert found(Query("lock", status=("failed",))) == 6
    assert found(Query("lock", status=("unfinished",))) == 6
    assert found(Query("", agents=("codex",), kinds=("user",))) == 1
    assert found(Query("lock", after=parse_time("2026-11-29", moment(build.at())))) == 0  # type: ignore[arg-type]


def test_what_is_no_log_is_left_out_with_a_word(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b'{"lock": 1}\n')
    (tmp_path / "b.jsonl").write_text("lock, lock\n")
    paths = [str(tmp_path / name) for name in ("a.jsonl", "b.jsonl", "gone.jsonl")]
    for sessions in (paths, scan(paths)):
        found = list(search_logs(sessions, Query("lock")))
        assert all(isinstance(item, Progress) and item.note for item in found), found
        assert len(found) == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("part", [2_000, 10_000, 100_000])
@pytest.mark.parametrize("query", [Query("lock"), Query("lock 1", status=("failed",)),
                                   Query("l.ck [0-3]", regex=True)])  # fmt: skip
def test_many_processes_find_what_one_does(tmp_path: Path, part: int, query: Query) -> None:
    paths = night(tmp_path)
    one = list(search_logs(paths, query, most=None, within=None))
    many = list(search_wide(paths, query, part=part, processes=3))
    assert [x for x in many if isinstance(x, Hit)] == [x for x in one if isinstance(x, Hit)]
    assert [x for x in many if isinstance(x, Progress)][-1].logs == 12


def test_logs_keep_their_bytes_and_times(tmp_path: Path) -> None:
    paths = night(tmp_path, 3)
    before = [(Path(p).read_bytes(), os.stat(p).st_mtime_ns) for p in paths]
    list(search_logs(paths, Query("lock")))
    assert [(Path(p).read_bytes(), os.stat(p).st_mtime_ns) for p in paths] == before


# -- a regex -----------------------------------------------------------------------------------


def test_a_pattern_without_end_is_given_up_and_said_so(tmp_path: Path) -> None:
    slow = [build.message("user", "a" * 60 + f"{i}b") for i in range(9)]
    path = build.log(tmp_path / "a.jsonl", [build.message("user", "aaa"), *slow])
    query = Query("(a+)+$", regex=True)
    assert texts(path, query) == ["aaa"]
    assert "given up" in last(path, query).note


def test_a_slow_text_is_passed_over_and_the_others_are_found(tmp_path: Path) -> None:
    lines = [build.message("user", text) for text in ("aaa", "a" * 60 + "b", "x aa")]
    path = build.log(tmp_path / "a.jsonl", lines)
    query = Query("(a+)+$", regex=True)
    assert texts(path, query) == ["aaa", "x aa"]
    assert last(path, query).note == "the pattern took too long on one text"


def test_stop_ends_a_match_that_has_no_end(tmp_path: Path) -> None:
    path = build.log(
        tmp_path / "a.jsonl", [build.message("user", "a" * 60 + "b" + "c" * 4_000_000)]
    )
    asked = iter(range(1000))
    query = Query("(a+)+$", regex=True)
    assert list(search_log(str(path), query, lambda: next(asked) > 5)) == []


@pytest.mark.parametrize("pattern", [
    "x*", "lock", "lock|", r"\d+", "(?i)LOCK", "(?i:L)ock", "[Ll]ock", "lo(?=ck)ck", "^the", "é",
    r"\w+é",
    "(foo|lock) held", "l{1}ock", "(?:lock )+held", "loc(k)?", '"quoted"', r"C:\\new", r"held\n",
])  # fmt: skip
def test_a_pattern_finds_what_it_finds_in_decoded_texts(tmp_path: Path, pattern: str) -> None:
    said = [
        "the lock held",
        "Lock 7\nlock",
        "café",
        "xx",
        'a "quoted" C:\\new',
        "held\nfoo held",
        "loc\u212a",
    ]  # fmt: skip  (a k where case does not count)
    lines = [json.dumps({"role": "user", "content": text}).encode() + b"\n" for text in said]
    path = build.log(tmp_path / "a.jsonl", lines)
    for ignore_case in (False, True):
        flags = re.MULTILINE | (re.I if ignore_case else 0)
        holds = [any(m[0] for m in re.finditer(pattern, text, flags)) for text in said]
        found = hits(path, Query(pattern, ignore_case, True))
        lines_held = [number for number, is_hit in enumerate(holds, 1) if is_hit]
        assert sorted({hit.line for hit in found}) == lines_held
