"""What a list row shows of a Claude Code log: its title, how it ended, whether it lives."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import build
import pytest
from build import claude_call as call
from build import claude_line, claude_note
from build import claude_result as result
from build import claude_said as said
from build import claude_user as user
from claude_reads import AGAIN, ENDINGS, FILE, FORMAT, GO, INTERRUPTED, session, titles

from sessionlog import listing
from sessionlog.listing import glance
from sessionlog.reader import load
from sessionlog.records import Origin


@pytest.mark.parametrize(
    ("lines", "title"),
    [
        (titles(customTitle="mine", agentName="its", aiTitle="made"), "mine"),
        (titles(agentName="its", aiTitle="made"), "its"),
        ([*titles(aiTitle="old"), *titles(aiTitle="new")], "new"),
        ([claude_note("summary", summary="of this", leafUuid="u5")], "of this"),
        ([claude_note("summary", summary="of another", leafUuid="u99")], "Fix it"),
        ([], "Fix it"),
    ],
)
def test_the_strongest_title_wins_and_the_last_of_its_kind(
    tmp_path: Path, lines: list[bytes], title: str
) -> None:
    run = build.claude_healthy()
    for name, log in (("a", [*lines, *run]), ("b", [*run, *lines])):
        path = build.log(tmp_path / name / FILE, log)
        assert load(path).title == title
        assert glance(str(path)).title == title


def test_the_first_prompt_is_found_behind_hundreds_of_lines(tmp_path: Path) -> None:
    notes = [claude_note("file-history-snapshot", snapshot={"n": n}) for n in range(900)]
    path = build.log(tmp_path / FILE, [*notes, *build.claude_healthy()])
    assert glance(str(path)).title == "Fix it"


def test_a_command_without_words_is_a_title_only_where_there_is_no_other(tmp_path: Path) -> None:
    clear = user("<command-name>/clear</command-name>", 0)
    assert session(tmp_path, clear, *build.claude_healthy()).title == "Fix it"
    assert session(tmp_path, clear, said("Done.")).title == "/clear"
    review = user("<command-name>/review</command-name><command-args>it</command-args>", 0)
    assert session(tmp_path, review, *build.claude_healthy()).title == "/review it"


def test_a_log_that_goes_on_with_another_agents_session_names_it_and_is_no_fork(
    tmp_path: Path,
) -> None:
    from_there = {"sessionId": "20261127-220000", "timestamp": build.at(9)}
    go = user("Fix it", forkedFrom=from_there)
    path = build.log(tmp_path / FILE, [go, said("Done.", seconds=20)])
    row = glance(str(path))
    assert (row.resumed_from, row.forked_from) == ("20261127-220000", None)
    assert load(path).meta.resumed_from == "20261127-220000"
    mine = user("Fix it", forkedFrom={**from_there, "messageUuid": "u1"})
    row = glance(str(build.log(tmp_path / "b" / FILE, [mine, said("Done.", seconds=20)])))
    assert (row.resumed_from, row.forked_from) == (None, Origin("20261127-220000"))


def test_neither_a_side_chain_nor_an_interrupt_is_the_title(tmp_path: Path) -> None:
    side = user("Count", 0, isSidechain=True)
    assert session(tmp_path, side, user(INTERRUPTED, 0), *build.claude_healthy()).title == "Fix it"
    assert session(tmp_path, side).title == "Count"


def test_the_file_name_is_the_identity_where_it_is_an_id(tmp_path: Path) -> None:
    other = build.CLAUDE_ID.replace("5c22", "0000")
    assert session(tmp_path, *build.claude_healthy(), name=f"{other}.jsonl").id == other
    assert session(tmp_path, *build.claude_healthy(), name="copy.jsonl").id == build.CLAUDE_ID
    assert session(tmp_path, *build.claude_healthy(), name="agent-a1.jsonl").id == "agent-a1"


def test_a_fork_names_its_origin(tmp_path: Path) -> None:
    line = user("Fix it", forkedFrom={"sessionId": "parent", "messageUuid": "u1"})
    assert session(tmp_path, line).meta.forked_from == Origin("parent")


def test_the_clients_own_answers_name_no_model(tmp_path: Path) -> None:
    filler = said("No response requested.", id="x", model="<synthetic>", isApiErrorMessage=False)
    read = session(tmp_path, user("Go"), filler, said("Hi", model="claude-opus-4-5", id="y"))
    assert (read.meta.model, read.assistants) == ("claude-opus-4-5", 2)


# -- how a run ended --------------------------------------------------------------------------


@pytest.mark.parametrize("name", ENDINGS)
def test_the_last_records_tell_how_a_run_ended(tmp_path: Path, name: str) -> None:
    lines, how = ENDINGS[name]
    path = build.log(tmp_path / FILE, lines)
    ending = load(path).ending
    assert (ending.ended, ending.reason, ending.ok, ending.text) == how
    assert ending.evidence
    row = glance(str(path))
    assert (row.reason, row.ok, row.stop) == how[1:]


def test_a_call_that_told_of_itself_for_hours_is_still_in_flight(tmp_path: Path) -> None:
    signs = [claude_line("progress", 10 + n, data={"type": "bash_progress", "output": "."},
                         parentToolUseID="c2") for n in range(2000)]  # fmt: skip
    asked = [call("c2", "sleep 60", id="b", seconds=7), call("c3", "ls", id="b", seconds=8)]
    path = build.log(tmp_path / FILE, [*GO, *asked, result("c3", seconds=9), *signs])
    read = load(path)
    assert [c.call_id for c in read.in_flight] == ["c2"]
    assert read.ending.text == glance(str(path)).stop == "in bash: sleep 60"


def test_a_row_reads_back_over_signs_of_life_but_no_further_than_it_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    signs = [claude_line("progress", data={"type": "bash_progress", "output": "x" * 2000})] * 600
    path = str(build.log(tmp_path / FILE, [*AGAIN, *signs]))
    row = glance(path)
    assert (row.status, row.title, row.stop) == ("unfinished", "Fix it", "in bash: sleep 60")
    monkeypatch.setattr(listing, "DEEP", listing.FAR)
    assert glance(path).stop == "no ending recorded"


def test_a_torn_tail_is_told_from_a_whole_one(tmp_path: Path) -> None:
    cut = session(tmp_path, *GO, tail=said("Done.")[:-20])
    assert (cut.status, len(cut.damages)) == ("truncated", 1)
    assert session(tmp_path, *build.claude_healthy(), tail=b'{"par').status == "complete"


# -- evidence of life -------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The client's configuration folder."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "home"))
    (tmp_path / "home" / "sessions").mkdir(parents=True)
    return tmp_path / "home"


def pid_file(home: Path, **more: Any) -> Path:
    """The pid file of a client that is this very process."""
    stat = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    path = home / "sessions" / f"{os.getpid()}.json"
    value = {"pid": os.getpid(), "procStart": stat[19], "sessionId": build.CLAUDE_ID, **more}
    path.write_text(json.dumps(value))
    return path


def test_a_log_whose_client_lives_is_running(tmp_path: Path, home: Path) -> None:
    path = build.log(tmp_path / FILE, GO)
    assert load(path).status == "unfinished"
    pid_file(home)
    assert (load(path).status, load(path).alive) == ("running", f"claude runs as pid {os.getpid()}")
    ended = build.log(tmp_path / "a" / FILE, build.claude_healthy())
    assert load(ended).status == "complete"
    side = build.log(tmp_path / build.CLAUDE_ID / "subagents" / "agent-a1.jsonl", GO)
    assert load(side).status == "running"


@pytest.mark.parametrize(
    "wrong",
    [{"procStart": "1"}, {"procStart": None}, {"pid": -1}, {"pid": "x"}, {"sessionId": "another"},
     {"sessionId": []}],
)  # fmt: skip
def test_a_pid_file_left_behind_is_no_evidence(home: Path, wrong: dict[str, Any]) -> None:
    pid_file(home, **wrong)
    assert FORMAT.alive(f"/x/{FILE}", build.CLAUDE_ID) is None


def test_a_client_that_goes_on_with_another_session_is_believed(home: Path) -> None:
    pid_file(home)
    assert FORMAT.alive("/x.jsonl", build.CLAUDE_ID)
    pid_file(home, sessionId="the next one")
    assert FORMAT.alive("/x.jsonl", build.CLAUDE_ID) is None
    assert FORMAT.alive("/x.jsonl", "the next one")


@pytest.mark.parametrize("junk", [b"", b"[]", b"{", b"\xff", b"7"])
def test_junk_among_the_pid_files_hides_no_other(home: Path, junk: bytes) -> None:
    (home / "sessions" / "1.json").write_bytes(junk)
    (home / "sessions" / "2.json").mkdir()
    pid_file(home)
    assert FORMAT.alive("/x.jsonl", build.CLAUDE_ID)
