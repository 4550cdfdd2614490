"""What goes over, row by row: what is added, moved, left out, and what stays behind."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import acorn
import build
import pytest

from sessionlog.listing import glance
from sessionlog.reader import load
from sessionlog.resume import plan_resume
from tui.handover_lines import conversation
from tui.handover_rows import MOST, Transcript, refused, stripped, transcript
from tui.opening import open_log
from tui.row_lines import Clock
from tui.timeline import Timeline

NOW = datetime(2026, 11, 28, 7, tzinfo=UTC)


def of(path: Path, lines: Iterable[bytes], at: int | None = None, agent: str = "zot") -> Transcript:
    """The transcript of a log of these lines, handed over after message `at`."""
    log = build.log(path / "a.jsonl", lines)
    session = load(log)
    opened = open_log(glance(str(log)))
    try:
        strip = stripped(Timeline(opened), session, at)
    finally:
        opened.close()
    return transcript(session, strip, plan_resume(session, at, agent=agent, now=NOW))


def rows(shown: Transcript) -> list[str]:
    return [f"{i.mark or ' '} {i.row.n or ''} {i.row.label} {i.row.body}" for i in shown.items]


def test_an_open_call_is_closed_right_behind_its_turn(tmp_path: Path) -> None:
    shown = of(tmp_path, [
        build.meta(), build.message("user", "Begin."), build.request("c1"),
        build.message("user", "Leave it."), build.message("bot", "Fine.", 5),
    ])  # fmt: skip
    assert rows(shown) == [
        "  1 user Begin.", "  2 shell ls", "+  result Interrupted by the user.  (error)",
        "  3 user Leave it.", "  4 agent Fine.",
    ]  # fmt: skip
    assert [item.row.outcome for item in shown.items if item.mark] == ["of 2"]
    assert (shown.closed, shown.moved, shown.left_out, shown.next) == (1, 0, 0, 6)


def test_parallel_calls_are_closed_together_with_the_new_logs_numbers(tmp_path: Path) -> None:
    shown = of(tmp_path, [
        build.meta(), build.message("user", "Begin."), build.request("c1"),
        build.request("c2", arguments='{"command":"b"}'), build.response("c1"),
        build.request("c3", arguments='{"command":"c"}'),
    ])  # fmt: skip
    closed = [(item.row.n, item.row.outcome) for item in shown.items if item.mark == "+"]
    assert closed == [(None, "of 3"), (7, "")]
    assert shown.next == 8


def test_a_late_result_moves_and_a_result_of_no_call_is_left_out(tmp_path: Path) -> None:
    shown = of(tmp_path, [
        build.meta(), build.message("user", "Begin."), build.request("c1"),
        build.message("user", "Well?"), build.response("c1"),
        build.response("nobody", "other", "{}"),
    ])  # fmt: skip
    marked = [row for row in rows(shown) if row[0] != " "]
    assert marked == [
        "+  result message 4 as it stands, behind its call now",
        "- 4 result goes to where its call waits for it",
        "- 5 other ok",
    ]
    assert (shown.closed, shown.moved, shown.left_out) == (0, 1, 1)


def test_the_ending_of_a_run_to_go_on_with_is_left_out(tmp_path: Path) -> None:
    shown = of(tmp_path, build.healthy())
    assert rows(shown)[-1] == "-   end of run · settled · all done"
    assert shown.left_out == 1


def test_what_a_reset_took_out_stays_in_the_log(tmp_path: Path) -> None:
    shown = of(tmp_path, [
        build.meta(), build.message("user", "Old."), build.message("bot", "Older.", 2),
        build.reset(3), build.message("user", "New.", 4),
    ])  # fmt: skip
    assert rows(shown) == ["  3 user New."]
    assert shown.above == ("1 to 2 stay in the log; not sent since the reset",)


def test_a_fork_before_the_reset_takes_what_was_sent_then(tmp_path: Path) -> None:
    shown = of(tmp_path, [
        build.meta(), build.message("user", "Old."), build.request("c1"), build.response("c1"),
        build.reset(3), build.message("user", "New.", 4),
    ], at=2)  # fmt: skip
    assert rows(shown)[:2] == ["  1 user Old.", "  2 shell ls"]
    assert shown.items[1].row.sign == "open"  # its result is behind the cut
    assert rows(shown)[2:] == ["+ 3 result Interrupted by the user.  (error)"]
    assert shown.above == ()


def test_only_the_last_rows_are_made_and_the_rest_is_said(tmp_path: Path) -> None:
    many = [build.message("bot", f"say {i}", i) for i in range(2, MOST + 50)]
    shown = of(tmp_path, [build.meta(), build.message("user", "Begin."), *many])
    assert len(shown.items) == MOST
    assert shown.items[-1].row.n == MOST + 49
    assert shown.above == ("1 to 49 as they stand",)


def test_damage_has_its_line_and_is_left_out(tmp_path: Path) -> None:
    lines = [build.meta(), build.message("user", "Begin."), b'{"kind":"mess\n',
             build.message("bot", "Done.")]  # fmt: skip
    shown = of(tmp_path, lines)
    assert rows(shown)[1].startswith("-  damage line 3 · byte ")
    assert shown.left_out == 1


def test_a_call_that_stands_in_events_alone_is_shown_as_not_sent(tmp_path: Path) -> None:
    shown = of(tmp_path, [
        build.meta(), build.message("user", "Begin."),
        build.event("toolCallStart", 3, tool="bash", text='{"command":"go test"}'),
    ])  # fmt: skip
    assert rows(shown)[-1] == "   bash go test"
    assert shown.items[-1].row.outcome == "not sent"
    assert shown.closed == 0


def test_a_conversation_carried_into_another_format_has_every_call_closed(tmp_path: Path) -> None:
    shown = of(tmp_path, [
        build.line({"role": "user", "content": "Begin."}),
        build.line({"role": "assistant", "content": [
            {"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "ls"}}]}),
        build.line({"role": "user", "content": "And?"}),
    ], agent="json")  # fmt: skip
    assert [row[0] for row in rows(shown)] == [" ", " ", "+", " "]
    assert shown.closed == 1


def test_plain_messages_are_shown_as_they_are_sent(tmp_path: Path) -> None:
    shown = of(tmp_path, [
        build.meta(), build.message("instructions", "Be brief."), build.message("user", "Before."),
        build.reset(), build.message("user", "Begin."), build.message("reasoning", "hm"),
        build.request("c1", arguments='{"command":"go vet"}'),
    ], agent="claude")  # fmt: skip
    assert [(message.role, message.text) for message in shown.said] == [
        ("user", "Begin."), ("assistant", '[called shell: {"command":"go vet"}]'),
        ("user", "[result of shell] Interrupted by the user."),
    ]  # fmt: skip
    assert shown.above == ("1 to 2 stay in the log; not sent since the reset",)
    assert not shown.items


def test_of_many_plain_messages_the_last_are_shown(tmp_path: Path) -> None:
    said = [build.message(("user", "bot")[n % 2], f"{n}.") for n in range(203)]
    shown = of(tmp_path, [build.meta(), *said], agent="claude")
    assert (len(shown.said), shown.said[-1].text) == (200, "202.")
    assert shown.above == ("3 messages before these go over, too",)


def test_a_log_that_goes_as_it_stands_has_nothing_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    acorn.add(monkeypatch)  # logs that are only read
    home = tmp_path / "sessionlog" / "agents.toml"
    home.parent.mkdir()
    home.write_text('[agents.mine]\nargv = ["mine", "{log}"]\n')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    head = {"acorn": 1, "session": "a1", "at": build.at()}
    said = {"say": "user", "text": "Begin.", "at": build.at(1)}
    call = {"call": "c1", "tool": "sh", "input": {}, "at": build.at(2)}
    shown = of(tmp_path, map(build.line, [head, said, call]), agent="mine")
    assert all(not item.mark for item in shown.items)
    assert shown.open == 1


@pytest.mark.parametrize("agent", ["zot", "json"])
def test_damage_in_the_last_line_asks_nobody(tmp_path: Path, agent: str) -> None:
    torn = [build.meta(), build.message("user", "Begin."), b'{"kind":"mess']
    whole = [*torn[:2], b'{"kind":"mess\n', build.message("bot", "Done.")]
    for name, lines, asks in (("torn", torn, False), ("whole", whole, True)):
        log = build.log(tmp_path / name / "a.jsonl", lines)
        session = load(log)
        opened = open_log(glance(str(log)))
        strip = stripped(Timeline(opened), session, None)
        opened.close()
        resume = plan_resume(session, agent=agent, now=NOW)
        assert (refused(session, strip, resume) is not None) is asks, name


def test_a_long_note_leaves_room_for_what_is_before_it(tmp_path: Path) -> None:
    lines = [build.meta(), build.message("user", "Begin."), build.request("c1")]
    shown = of(tmp_path, lines)
    session = load(tmp_path / "a.jsonl")
    note = "\n".join(f"line {i}" for i in range(30))
    resume = plan_resume(session, agent="zot", prompt=note, now=NOW)
    texts = ["".join(text for text, _ in line.left)
             for line in conversation(shown, resume, 100, Clock(), 6)]  # fmt: skip
    assert texts[-2].split()[-2:] == ["line", "4"]
    assert "m shows 25 more lines" in texts[-1]


@pytest.mark.parametrize("seed", range(40))
def test_what_is_shown_is_what_the_plan_counts(tmp_path: Path, seed: int) -> None:
    shown = of(tmp_path, build.scrambled(seed, 40))
    marks = [item for item in shown.items if item.mark]
    assert sum(i.mark == "+" and i.row.sign == "fail" for i in marks) == shown.closed
    moved = {item.row.outcome for item in marks} & {"moved"}
    assert bool(moved) == bool(shown.moved) or shown.above


def test_turns_that_were_rolled_back_do_not_go_over(tmp_path: Path) -> None:
    shown = of(tmp_path, [
        build.codex_meta(), build.codex_said("user", "Begin."), build.codex_said("user", "Wrong."),
        build.codex_event("thread_rolled_back", 3, num_turns=1),
        build.codex_said("user", "Right.", seconds=4),
    ], agent="codex")  # fmt: skip
    assert [row.split()[-1] for row in rows(shown)] == ["Begin.", "Right."]
