"""The cause of a stop is plain from two lines, and only evidence is said."""

from __future__ import annotations

import json
import os
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import build
import pytest

from sessionlog.codec import parse
from sessionlog.formats.native import Native
from sessionlog.framing import split
from sessionlog.records import Entry, Record, Status
from sessionlog.text import width
from sessionlog.tools import label_of
from tui.lines import Line, fitted
from tui.stop import stop_lines
from tui.widgets.stop_header import title_line

CASES = os.environ.get("SESSIONLOG_CASES", "")


def records(*lines: bytes) -> list[Record]:
    parsed = [parse(line) for line in split(b"".join(lines))]
    return [r for p in parsed for value, span in p.objects for r in Native().decode(value, span)]


def entry(status: Status | None = Status.UNFINISHED, **more: Any) -> Entry:
    given = {"started": build.at(0), "updated": build.at(16140), **more}
    return Entry(id="a", path="a.jsonl", format="native", agent="zot", status=status, **given)


def said(line: Line) -> str:
    left, right = ("".join(text for text, _ in part).strip() for part in (line.left, line.right))
    return f"{left}  {right}" if right else left


def stop(entry: Entry, lines: list[bytes], columns: int = 160, **more: Any) -> tuple[str, str]:
    now = build.START + timedelta(seconds=more.pop("now", 20000))
    first, second = stop_lines(entry, records(*lines), now, columns, **more)
    return said(first), said(second)


def turn(n: int, command: str, result: str, seconds: float = 0) -> list[bytes]:
    arguments = json.dumps({"command": command})
    return [
        build.request(f"c{n}", "bash", arguments, seconds),
        build.response(f"c{n}", "bash", arguments, result, seconds=seconds + 1),
    ]


HEAD = [build.meta(), build.message("user", "Begin.")]
FAILS = "--- FAIL: TestReplay (2.31s)\n[exit: exit status 1]"


def test_a_run_that_was_cut_off_in_a_call_says_which_and_for_how_long_it_ran() -> None:
    open_call = build.request("c9", "bash", '{"command":"go test -race"}', 16140)
    lines = [*HEAD, build.message("bot", "Once more.", 16100), open_call]
    first, second = stop(entry(), lines, writer="gone")
    assert first == "Stopped inside bash go test -race  log ends after 4h29m"
    assert second == "no result for message 3 · writer gone"


def test_a_call_that_had_failed_before_says_how_often() -> None:
    lines = [*HEAD, *(b for n in range(4) for b in turn(n, "go test", FAILS))]
    lines.append(build.request("c9", "bash", '{"command": "go test"}'))
    _, second = stop(entry(), lines)
    assert "the same call failed 4 times before" in second
    assert "last error 8: --- FAIL: TestReplay (2.31s)" in second


def test_a_failure_is_said_in_its_own_words_and_once() -> None:
    lines = [*HEAD, build.event("retry", text="Overloaded (529)"), build.result("error", 1)]
    failed = entry(Status.COMPLETE, ok=False, reason="error", stop="Overloaded (529)")
    first, second = stop(failed, lines)
    assert first == "Provider overloaded  Overloaded (529)  after 9.0s"
    assert second == "1 failed attempt before the end"


def test_an_error_that_was_overcome_is_not_named() -> None:
    lines = [*HEAD, *turn(1, "make", FAILS), *turn(2, "make", "ok"), build.result("iterations", 1)]
    first, second = stop(entry(Status.COMPLETE, ok=False, stop="iteration limit"), lines)
    assert "iteration limit" in first
    assert "FAIL" not in first + second


def test_retries_that_recovered_are_not_named() -> None:
    lines = [*HEAD, build.event("retry", text="Unavailable (503)"), build.message("bot", "Go on")]
    assert "503" not in "".join(stop(entry(), lines))


def test_the_same_call_again_and_again_is_counted() -> None:
    lines = [*HEAD, *(b for n in range(6) for b in turn(n, "npm run lint", FAILS))]
    circling = entry(Status.COMPLETE, ok=False, stop="going in circles")
    first, second = stop(circling, lines)
    assert first.startswith("Going in circles  bash npm run lint 6 times, the same each time")
    assert second == ""
    _, second = stop(circling._replace(stop="out of luck"), lines[:-4])
    assert second.startswith("bash npm run lint 4 times, exit 1 each time")


def test_a_good_end_says_what_the_log_says_and_which_files_changed() -> None:
    edit = json.dumps({"path": "a.go", "old_string": "x", "new_string": "y"})
    lines = [*HEAD, build.request("c1", "edit", edit), build.response("c1", "edit", edit, "done")]
    done = entry(Status.COMPLETE, ok=True, reason="settled", stop="go test passes")
    first, second = stop(done, lines)
    assert first.startswith("Done  go test passes")
    assert second == "1 file changed"


def test_words_that_say_that_the_work_is_not_done_are_no_good_end() -> None:
    given_up = build.message("bot", "TestReplay still fails. I stop here.")
    done = entry(Status.COMPLETE, ok=True, reason="end_turn", stop="done")
    first, second = stop(done, [*HEAD, *turn(1, "go test", FAILS), given_up])
    assert first.startswith("Gave up  TestReplay still fails. I stop here.")
    assert second == "last error 2: --- FAIL: TestReplay (2.31s)"


def test_a_good_end_names_the_error_that_the_very_last_call_left() -> None:
    given_up = build.message("bot", "The replay is written.")
    done = entry(Status.COMPLETE, ok=True, reason="end_turn", stop="done")
    _, second = stop(done, [*HEAD, *turn(1, "go test", FAILS), given_up])
    assert second == "last error 2: --- FAIL: TestReplay (2.31s)"
    _, later = stop(done, [*HEAD, *turn(1, "go test", FAILS), *turn(2, "go vet", "ok"), given_up])
    assert "last error" not in later


def test_an_interrupt_names_the_call_that_was_stopped_and_not_the_models_wording_of_it() -> None:
    arguments = '{"command":"npx stylelint"}'
    refused = build.response("c1", "Bash", arguments, failure="The user doesn't want to proceed.")
    stopped = entry(Status.COMPLETE, ok=False, reason="interrupted", stop="interrupted by user")
    first, second = stop(stopped, [*HEAD, build.request("c1", "Bash", arguments), refused])
    assert first.startswith("Interrupted by user inside bash npx stylelint")
    assert second == ""


def test_a_call_that_waits_for_leave_says_what_it_asks_for() -> None:
    arguments = json.dumps({"cmd": "docker push x", "sandbox_permissions": "require_escalated",
                            "justification": "May I push?"})  # fmt: skip
    first, second = stop(entry(), [*HEAD, build.request("c1", "exec_command", arguments)])
    assert "exec docker push x" in first
    assert second.startswith("asks for leave require_escalated: May I push?")


def test_a_call_that_the_run_went_on_past_is_named() -> None:
    lines = [*HEAD, build.request("c1", "shell", '{"command":"make it"}'),
             build.message("user", "Go on.")]  # fmt: skip
    failed = entry(Status.COMPLETE, ok=False, stop="`tool_use` without `tool_result`")
    assert stop(failed, lines)[1] == "no result for 2 shell make it"


def test_files_are_not_counted_where_only_the_end_of_the_log_is_known() -> None:
    edit = json.dumps({"path": "a.go", "old_string": "x", "new_string": "y"})
    all_records = records(*HEAD, build.request("c1", "edit", edit),
                          build.response("c1", "edit", edit, "done"))  # fmt: skip
    done = entry(Status.COMPLETE, ok=True, stop="done")
    _, second = stop_lines(done, all_records[2:], build.START, 100)
    assert "changed" not in said(second)


def test_numbers_are_left_out_where_they_are_not_known() -> None:
    cut_off = records(*HEAD, *turn(1, "make", FAILS))[2:]
    failed = entry(Status.COMPLETE, ok=False, stop="limit")
    unknown = stop_lines(failed, cut_off, build.START, 100)[1]
    known = stop_lines(failed, cut_off, build.START, 100, before=40)[1]
    assert "last error: ---" in said(unknown)
    assert "last error 41: ---" in said(known)


def test_a_live_run_says_what_runs_since_when_and_how_long_it_is_silent() -> None:
    lines = [*HEAD, build.request("c1", "bash", '{"command":"npm run e2e"}', 917)]
    first, second = stop(entry(Status.RUNNING), lines, now=1000, writer="alive, pid 51877")
    assert first == "Running bash npm run e2e  1m23s"
    assert second == "writer alive, pid 51877 · silent 1m23s  for 16m40s"


def test_a_torn_line_is_said_before_the_call_it_cut() -> None:
    lines = [*HEAD, build.event("toolCallStart", tool="shell", text='{"command":"make"}')]
    first, second = stop(entry(Status.TRUNCATED, damage=1), lines)
    assert first.startswith("Last line torn, inside shell make")
    assert second == "no result · writer unknown · 1 damage at its end"


def test_a_head_alone_and_a_file_that_is_no_log_are_said_plainly() -> None:
    assert stop(entry(), HEAD[:1])[0] == "Nothing but the head  no message was written"
    first, _ = stop(entry(None, reason="empty: nothing was written to it"), [])
    assert first == "Not a log that can be read  empty: nothing was written to it"


def test_what_the_model_was_answering_to_is_named() -> None:
    first, _ = stop(entry(), [*HEAD, *turn(1, "go list ./...", "214")])
    assert first.startswith("Stopped while the model answered  after bash go list ./...")


def test_silence_before_the_last_line_is_said() -> None:
    lines = [*HEAD, build.message("bot", "x", 10), build.message("bot", "y", 4000)]
    assert "1h06m of silence before the last line" in stop(entry(), lines)[1]


def test_whole_facts_drop_where_there_is_no_room_and_numbers_are_never_cut() -> None:
    lines = [*HEAD, *(b for n in range(6) for b in turn(n, "npm run lint", FAILS))]
    failed = entry(Status.COMPLETE, ok=False, stop="going in circles")
    whole = "bash npm run lint 6 times, exit 1 each time"
    for columns in range(20, 200):
        first, second = stop_lines(failed, records(*lines), build.START, columns)
        for line in (first, second):
            assert sum(width(text) for text, _ in fitted(line, columns)) == columns
        text = said(second)
        assert text == "" or text.startswith(whole) or text.startswith("last error")
        assert sum(width(t) for t, _ in second.left) <= columns


def test_hostile_text_is_shown_as_marks() -> None:
    evil = "\x1b]0;owned\x07 \x9b1m \u202e"
    log = [build.meta(), *turn(1, evil, f"Error: {evil}\n[exit: exit status 1]"),
           build.request("c9", evil, json.dumps({"command": evil}))]  # fmt: skip
    for status, ok in ((Status.UNFINISHED, None), (Status.COMPLETE, False), (Status.COMPLETE, True),
                       (Status.RUNNING, None), (Status.TRUNCATED, None), (None, None)):  # fmt: skip
        shown = entry(status, ok=ok, stop=evil, reason=evil, title=evil, workdir=evil)
        lines = [*stop_lines(shown, records(*log), build.START, 100, writer=evil),
                 title_line(shown, "", 100, focused=True)]  # fmt: skip
        assert not re.search("[\x00-\x1f\x7f-\x9f\u202e]", "".join(map(said, lines)))


def test_the_title_names_agent_folder_and_damage() -> None:
    shown = entry(title="Migrate billing", workdir="/home/me/src/billing", damage=1)
    line = title_line(shown, "/home/me", 80, focused=False)
    assert said(line) == "○ Migrate billing  ▒1 zot ~/src/billing"


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_a_long_folder_leaves_room_for_the_title_and_shows_its_end(columns: int) -> None:
    shown = entry(title="Migrate the billing service", workdir="/w" + "/deep" * 40 + "/billing")
    line = title_line(shown, "/home/me", columns, focused=False)
    text = "".join(text for text, _ in fitted(line, columns))
    assert text.startswith(" ○ Migrate the billing")
    assert text.endswith("deep/billing ")


def _labels() -> list[Any]:
    file = Path(CASES, "why", "labels.json")
    return json.loads(file.read_text())["logs"] if CASES and file.exists() else []


@pytest.mark.skipif(not CASES, reason="SESSIONLOG_CASES names no folder of sample logs")
@pytest.mark.parametrize("label", _labels(), ids=lambda label: f"{label['format']} {label['kind']}")
def test_the_cause_of_each_labelled_stop_is_plain(label: dict[str, Any]) -> None:
    from sessionlog.formats.table import formats
    from sessionlog.listing import glance
    from sessionlog.reader import load

    if label["format"] not in {*(form.name for form in formats()), "unknown"}:
        pytest.skip("a format that is not read")
    path = str(Path(CASES, "why", label["file"]))
    shown = glance(path)
    if shown.status is None:
        assert label.get("may_refuse")
        return
    session = load(path)
    shown = shown._replace(damage=len(session.damages))
    if label["status"] == "running":
        shown = shown._replace(status=Status.RUNNING)
    lines = stop_lines(shown, session.records, session_end(session.records), 200)
    text = " ".join(" ".join(map(said, lines)).split()).lower()
    for words in label["must_mention"]:
        assert label_of(words).lower() in text
    for words in label["must_not_mention"]:
        assert words.lower() not in text


def session_end(records: tuple[Record, ...]) -> Any:
    return max((r.time for r in records if r.time), default=build.START)
