"""Rows from records."""

from __future__ import annotations

from pathlib import Path

import build
import opencode_logs
import pytest
from timelines import counted, down, only, some_log, timeline

from sessionlog.listing import scan
from sessionlog.window import CHUNK
from tui.folds import Filter
from tui.opening import open_log
from tui.timeline import Timeline

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
