"""A run in numbers: the same counts as `check`, in one pass over any log."""

from __future__ import annotations

import os
from pathlib import Path

import build
import pytest

from sessionlog.density import CELLS, Density
from sessionlog.errors import NotALog
from sessionlog.figures import Stats, Tool
from sessionlog.listing import glance
from sessionlog.measure import measure, measure_all
from sessionlog.reader import load

CASES = os.environ.get("SESSIONLOG_CASES", "")
LOGS = sorted(Path(CASES).rglob("*.jsonl")) if CASES else []


def counted(path: Path) -> Stats:
    stats = measure(glance(str(path)))
    assert stats is not None
    return stats


def tool(path: Path, name: str) -> Tool:
    return counted(path).counts.tools[name]


def assert_like_check(path: Path) -> None:
    """The numbers that `check` gives, too."""
    session, stats = load(path), counted(path)
    counts = stats.counts
    assert counts.messages == len(session.history)
    assert counts.users == session.users
    assert counts.assistants == session.assistants
    assert counts.calls == session.calls
    assert sum(t.calls for t in counts.tools.values()) == session.calls
    assert counts.open == len(session.open_calls)
    assert counts.damages == len(session.damages)
    assert len(stats.in_flight) == len(session.in_flight)


# -- counts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("20261127-220000.jsonl", build.healthy()),
        ("20261127-220001.jsonl", build.scrambled(3)),
        ("20261127-220002.jsonl", build.scrambled(7, 80)),
        (build.CODEX_FILE, build.codex_healthy()),
        (build.CLAUDE_FILE, build.claude_healthy()),
        ("talk.jsonl", [build.chat("user", "hi"), build.chat("assistant", "ho")]),
    ],
)
def test_the_numbers_are_those_of_check(tmp_path: Path, name: str, lines: list[bytes]) -> None:
    assert_like_check(build.log(tmp_path / name, lines))
    assert_like_check(build.log(tmp_path / name, lines, tail=b'{"kind":"mess'))


def test_a_line_that_is_no_record_for_check_is_none_here(tmp_path: Path) -> None:
    deep = b'{"kind":"event","at":"","event":' + b'{"a":' * 300 + b"1" + b"}" * 301 + b"\n"
    assert_like_check(
        build.log(tmp_path / "20261127-220000.jsonl", [
            build.meta(), deep, b"[1]\n", b'{"kind":"reset","n":NaN}\n', b"\xff\n", b"\n",
            build.message("user", "go").replace(b"go", b"g\xff"), *build.healthy(),
        ])
    )  # fmt: skip


def test_a_call_takes_from_its_request_to_its_response(tmp_path: Path) -> None:
    log = build.log(tmp_path / build.CLAUDE_FILE, [
        build.claude_user("Fix it"), build.claude_call("c1", seconds=2),
        build.claude_call("c2", seconds=3), build.claude_result("c2", seconds=5),
        build.claude_result("c1", seconds=12), build.claude_call("c3", id="m2", seconds=20),
    ])  # fmt: skip
    assert tool(log, "Bash") == Tool("Bash", calls=3, failed=0, open=1, seconds=12)


def test_where_the_log_narrates_its_calls_they_take_as_long_as_it_says(tmp_path: Path) -> None:
    # a native log writes both halves of a call at the end of the iteration
    narrated = [
        build.event("toolCallStart", 10, tool="shell", text='{"command":"ls"}'),
        build.event("toolCallEnd", 75, tool="shell"),
    ]
    halves = [build.request("c1", seconds=80), build.response("c1", seconds=80)]
    log = build.log(tmp_path / "20261127-220000.jsonl", [build.meta(), *narrated, *halves])
    assert tool(log, "shell").seconds == 65
    plain = build.log(tmp_path / "20261127-220001.jsonl", [build.meta(), *halves])
    assert tool(plain, "shell").seconds == 0


def test_a_call_fails_by_its_mark_or_by_its_exit_status(tmp_path: Path) -> None:
    log = build.log(tmp_path / build.CODEX_FILE, [
        build.codex_meta(), build.codex_said("user", "Fix it"),
        build.codex_call("c1"), build.codex_output("c1", code=0),
        build.codex_call("c2"), build.codex_output("c2", code=2),
    ])  # fmt: skip
    assert tool(log, "exec_command").failed == 1
    marked = build.log(tmp_path / "20261127-220000.jsonl", [
        build.meta(), build.request("c1"), build.response("c1", failure="no such tool"),
    ])  # fmt: skip
    assert tool(marked, "shell").failed == 1


def test_a_call_of_an_answer_that_broke_off_is_not_open(tmp_path: Path) -> None:
    id = "01a22748-f798-7db0-b19d-c1d5f7c6daf1"
    call = {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "ls"}}
    body = {"role": "assistant", "content": [call], "stopReason": "aborted"}
    log = build.log(tmp_path / f"a_{id}.jsonl", [
        build.line({"type": "session", "version": 3, "id": id, "timestamp": build.at(0),
                    "cwd": "/srv"}),
        build.line({"type": "message", "id": "11111111", "parentId": None,
                    "timestamp": build.at(1), "message": body}),
    ])  # fmt: skip
    assert tool(log, "bash") == Tool("bash", calls=1)
    assert_like_check(log)


def test_a_subagents_calls_stand_apart(tmp_path: Path) -> None:
    log = build.log(tmp_path / build.CLAUDE_FILE, [
        build.claude_user("Fix it"),
        build.claude_call("c1", seconds=2),
        build.claude_call("s1", id="m2", seconds=3, isSidechain=True, agentId="x"),
        build.claude_result("s1", failed=True, seconds=4, isSidechain=True, agentId="x"),
        build.claude_result("c1", seconds=5),
    ])  # fmt: skip
    stats = counted(log)
    assert (stats.counts.calls, stats.counts.failed, stats.counts.messages) == (1, 0, 5)
    assert (stats.side.calls, stats.side.failed, stats.side.messages) == (1, 1, 2)


def test_trouble_is_counted_by_what_it_is(tmp_path: Path) -> None:
    log = build.log(tmp_path / "20261127-220000.jsonl", [
        build.meta(), build.message("user", "go"), build.event("retry", 2, text="529"),
        build.event("retry", 3, text="529"), build.event("runaway", 4, text="again"),
        build.reset(5), b"not json\n", build.result("error", 1, error="context window exceeded"),
    ])  # fmt: skip
    counts = counted(log).counts
    assert (counts.retries, counts.errors, counts.resets, counts.damages) == (2, 2, 1, 1)


def test_the_call_that_ran_when_the_log_ended_is_named(tmp_path: Path) -> None:
    log = build.log(tmp_path / "20261127-220000.jsonl", [
        build.meta(), build.message("user", "go"),
        build.event("toolCallStart", 3, tool="shell", text='{"command":"make"}'),
    ])  # fmt: skip
    stats = counted(log)
    assert [call.tool for call in stats.in_flight] == ["shell"]
    assert stats.counts.calls == 0  # it stands in no message


def test_a_call_in_flight_has_the_number_of_its_message_if_it_has_one(tmp_path: Path) -> None:
    asked = build.log(tmp_path / build.CLAUDE_FILE, [build.claude_user("Go"),
                                                     build.claude_call("c1")])  # fmt: skip
    assert [call.n for call in counted(asked).in_flight] == [2]
    begun = build.log(tmp_path / "20261127-220000.jsonl", [
        build.meta(), build.message("user", "go"), build.event("toolCallStart", tool="shell"),
    ])  # fmt: skip
    assert [call.n for call in counted(begun).in_flight] == [None]


def test_edits_name_the_files_that_they_changed(tmp_path: Path) -> None:
    def edit(id: str, path: str, failure: str | None = None) -> list[bytes]:
        arguments = f'{{"path":"{path}","old":"a","new":"b"}}'
        return [build.request(id, "edit_file", arguments),
                build.response(id, "edit_file", arguments, failure=failure)]  # fmt: skip

    log = build.log(tmp_path / "20261127-220000.jsonl", [
        build.meta(), *edit("c1", "a.go"), *edit("c2", "a.go"), *edit("c3", "b.go"),
        *edit("c4", "c.go", failure="no match"),
    ])  # fmt: skip
    assert counted(log).counts.files == {"a.go": 2, "b.go": 1}


# -- time ------------------------------------------------------------------------------------------


def test_active_time_leaves_long_silences_out(tmp_path: Path) -> None:
    log = build.log(tmp_path / "20261127-220000.jsonl", [
        build.meta(), *(build.message("bot", "x", s) for s in (10, 200, 900, 890, 4500, 4600)),
    ])  # fmt: skip
    stats = counted(log)
    assert stats.duration == 4600
    assert stats.active == 4600 - 700 - 3600
    assert [(gap.seconds, gap.after) for gap in stats.gaps] == [
        (3600, 4), (700, 2), (190, 1), (100, 5),
    ]  # fmt: skip


def test_a_log_without_times_has_no_duration(tmp_path: Path) -> None:
    talk = [build.line({"role": "user", "content": "hi"})]
    stats = counted(build.log(tmp_path / "talk.jsonl", talk))
    assert (stats.start, stats.duration, stats.active, stats.gaps) == (None, 0, 0, [])


def test_activity_keeps_its_counts_however_long_a_run_is() -> None:
    density = Density()
    times = [0, 1, 5, 100_000, 99_999, 3_000_000, -50]
    for time in times:
        density.add(time)
    density.add(5, 0, 1)
    cells = density.cells(40)
    assert sum(cell.records for cell in cells) == len(times)
    assert sum(cell.bad for cell in cells) == 1
    assert density.width * CELLS >= 3_000_050
    assert density.start is not None
    assert density.end is not None
    assert density.start <= -50
    assert density.end >= 3_000_000
    whole = Density()
    whole.merge(density)
    whole.merge(density)
    assert sum(cell.records for cell in whole.cells(7)) == 2 * len(times)


# -- streaming -------------------------------------------------------------------------------------


def test_counting_ends_when_it_is_told_to(tmp_path: Path) -> None:
    lines = [build.message("bot", "x" * 4000, i) for i in range(400)]
    log = build.log(tmp_path / "20261127-220000.jsonl", [build.meta(), *lines])
    told: list[int] = []

    def tick(done: int) -> bool:
        told.append(done)
        return len(told) < 3

    assert measure(glance(str(log)), tick) is None
    assert len(told) == 3
    assert told[-1] < log.stat().st_size
    assert list(measure_all([glance(str(log))], lambda done: False)) == []


def test_what_is_no_log_is_refused_alone_and_left_out_of_a_sum(tmp_path: Path) -> None:
    other = tmp_path / "notes.jsonl"
    other.write_text("hello\n")
    with pytest.raises(NotALog):
        measure(glance(str(other)))
    log = build.log(tmp_path / "20261127-220000.jsonl", build.healthy())
    assert len(list(measure_all([glance(str(other)), glance(str(log))]))) == 1


@pytest.mark.parametrize("seed", range(3))
def test_every_prefix_of_a_log_can_be_counted(tmp_path: Path, seed: int) -> None:
    data = b"".join(build.scrambled(seed, 25))
    for end in range(1, len(data), 37):
        path = tmp_path / "20261127-220000.jsonl"
        path.write_bytes(data[:end])
        if glance(str(path)).status is not None:
            assert_like_check(path)


def test_a_log_is_only_read(tmp_path: Path) -> None:
    log = build.log(tmp_path / "20261127-220000.jsonl", build.healthy())
    before = log.read_bytes(), log.stat().st_mtime_ns
    counted(log)
    assert (log.read_bytes(), log.stat().st_mtime_ns) == before


# -- sample logs -----------------------------------------------------------------------------------


@pytest.mark.skipif(not CASES, reason="SESSIONLOG_CASES is not set")
def test_sample_logs_give_the_numbers_of_check() -> None:
    logs = [path for path in LOGS if glance(str(path)).status is not None]
    assert len(logs) > 20
    for path in logs:
        assert_like_check(path)


@pytest.mark.skipif(not CASES, reason="SESSIONLOG_CASES is not set")
def test_tokens_of_sample_logs_are_never_below_nothing() -> None:
    found = list(measure_all([glance(str(path)) for path in LOGS]))
    stats = [one for one in found if isinstance(one, Stats)]
    assert sum(one.tokens is not None for one in stats) > 20
    for one in stats:
        own = one.own
        assert own is not None
        if one.tokens is not None and own.tokens is not None:
            assert min(own.tokens) >= 0
            assert own.tokens.total <= one.tokens.total
            assert one.tokens.reasoning <= one.tokens.output
        assert 0 <= one.active <= one.duration
