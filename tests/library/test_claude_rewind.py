"""What a later prompt of a Claude Code log took back: out of context, and nobody waits for it.

The shapes are those that 2.1.332 writes, and the contexts those that it sends when it resumes.
"""

from __future__ import annotations

import json
from pathlib import Path

import build
import pytest
from build import claude_system
from claude_logs import NOWHERE, Chat, wandering

from sessionlog import survey
from sessionlog.branch import turns_of
from sessionlog.forks import fork, plan_fork
from sessionlog.formats.claude import Claude
from sessionlog.marks import Marks
from sessionlog.mend import Mend
from sessionlog.reader import load
from sessionlog.records import shown_type
from sessionlog.repairs import plan_repair, repair
from sessionlog.rewinds import Rewinds
from sessionlog.session import Session
from sessionlog.shown import of_check
from sessionlog.window import Log

FORMAT = Claude()


def texts(read: Session) -> list[str]:
    """The prompts and answers in context, and the calls by their ids."""
    said = [(m.activity.id if m.activity else m.text) for m in read.messages]
    return [text for text in said if text]


def two_turns() -> tuple[Chat, str]:
    """A chat of two questions, and the record that the second follows."""
    chat = Chat()
    chat.user("one")
    first = chat.said("first")
    chat.user("two")
    chat.said("second")
    return chat, first


def test_a_prompt_that_follows_an_earlier_record_takes_back_what_was_said_since(
    tmp_path: Path,
) -> None:
    chat, first = two_turns()
    chat.user("three")
    chat.said("third")
    chat.user("two anew", first)
    chat.said("another")
    read = load(chat.log(tmp_path))
    assert texts(read) == ["one", "first", "two anew", "another"]
    assert [step.n for step in read.history if step.taken_back] == [3, 4, 5, 6]
    assert read.users == 4


def test_a_prompt_that_follows_nothing_takes_back_all(tmp_path: Path) -> None:
    chat, _ = two_turns()
    chat.user("one anew", None)
    chat.said("another")
    assert texts(load(chat.log(tmp_path))) == ["one anew", "another"]


def test_without_links_no_null_means_anything(tmp_path: Path) -> None:
    chat, _ = two_turns()
    values = [{**json.loads(line), "parentUuid": None} for line in chat.lines]
    unlinked = map(build.line, values)
    read = load(build.log(tmp_path / build.CLAUDE_FILE, unlinked))
    assert texts(read) == ["one", "first", "two", "second"]


def test_a_record_that_is_not_there_takes_nothing_back(tmp_path: Path) -> None:
    chat, _ = two_turns()
    chat.user("three", "gone")
    assert texts(load(chat.log(tmp_path))) == ["one", "first", "two", "second", "three"]


def test_results_beside_each_other_and_what_stands_behind_an_answer_stay(tmp_path: Path) -> None:
    chat = Chat()
    chat.user("one")
    left, right = chat.call("c1", "a"), chat.call("c2", "a")
    result = chat.result("c1", left)
    chat.result("c2", right)
    chat.add(claude_system("turn_duration"))
    chat.user("two", result)  # the client links it to either
    assert texts(load(chat.log(tmp_path))) == ["one", "c1", "c2", "c1", "c2", "two"]


def test_going_back_into_a_turn_keeps_the_answer_that_had_begun(tmp_path: Path) -> None:
    # --resume-session-at; the client gathers the blocks of an answer and the results of its calls
    chat = Chat()
    chat.user("one")
    at = chat.add(build.claude_said("Now the file.", id="a"))
    chat.call("c1", "a")
    chat.result("c1")
    chat.call("c2", "b")
    chat.result("c2")
    chat.user("another way", at)
    read = load(chat.log(tmp_path))
    assert texts(read) == ["one", "Now the file.", "c1", "c1", "another way"]


@pytest.mark.parametrize("first", ["caveat", "bash", "local"])
def test_a_command_of_the_client_can_go_back_too(tmp_path: Path, first: str) -> None:
    chat, back = two_turns()
    if first == "caveat":
        chat.user("<local-command-caveat>x", back, isMeta=True)
        chat.user("<command-name>/model</command-name>")
    elif first == "bash":
        chat.user("<bash-input>ls</bash-input>", back)
    else:
        chat.add(claude_system("local_command", content="/context"), back)
    chat.user("three")
    said = [m.text for m in load(chat.log(tmp_path)).messages if m.type == "user"]
    assert [text for text in said if text != "/model"] == ["one", "three"]


def test_going_back_to_an_abandoned_turn_brings_it_back(tmp_path: Path) -> None:
    chat, first = two_turns()
    second = chat.last
    chat.user("two anew", first)
    chat.said("another")
    chat.user("three", second)
    assert texts(load(chat.log(tmp_path))) == ["one", "first", "two", "second", "three"]


def test_a_compaction_that_was_taken_back_is_none(tmp_path: Path) -> None:
    chat, first = two_turns()
    chat.compaction()
    chat.user("three")
    chat.said("third")
    chat.user("two anew", first)
    assert texts(load(chat.log(tmp_path))) == ["one", "first", "two anew"]


def test_what_goes_on_from_what_a_compaction_keeps_goes_on_from_the_compaction(
    tmp_path: Path,
) -> None:
    chat, _ = two_turns()
    kept = chat.last or ""
    chat.compaction((kept, kept))
    chat.user("three", kept)  # so does a client that resumes right behind the compaction
    story = ["The story so far", "second", "three"]
    assert texts(load(chat.log(tmp_path / "a"))) == story
    chat.said("third")
    chat.user("three anew", kept)
    assert texts(load(chat.log(tmp_path / "b"))) == [*story[:2], "three anew"]


def test_what_a_compaction_keeps_stays_when_a_prompt_goes_back_to_its_summary(
    tmp_path: Path,
) -> None:
    chat, _ = two_turns()
    kept = chat.last or ""
    boundary = chat.compaction((kept, kept))
    summary = chat.last
    chat.user("three")
    chat.said("third")
    chat.user("two anew", summary)
    read = load(chat.log(tmp_path / "a"))
    assert texts(read) == ["The story so far", "second", "two anew"]
    chat.user("again", boundary)  # the summary is taken back as well
    assert texts(load(chat.log(tmp_path / "b"))) == ["second", "again"]


def test_the_clients_own_mark_names_the_leaf_until_more_is_said(tmp_path: Path) -> None:
    chat, first = two_turns()
    chat.mark(NOWHERE)
    assert texts(load(chat.log(tmp_path / "a"))) == ["one", "first", "two", "second"]
    chat.mark(first)
    assert texts(load(chat.log(tmp_path / "b"))) == ["one", "first"]
    chat.user("three")
    assert texts(load(chat.log(tmp_path / "c"))) == ["one", "first", "two", "second", "three"]


def test_a_side_chain_takes_nothing_back(tmp_path: Path) -> None:
    chat, first = two_turns()
    chat.user("task", first, isSidechain=True, agentId="a1")
    assert texts(load(chat.log(tmp_path))) == ["one", "first", "two", "second"]


# -- acting on such a log -----------------------------------------------------------------------


def left_open() -> Chat:
    """A turn with an open call, an orphan result and a torn line was taken back."""
    chat, first = two_turns()
    chat.user("run it")
    chat.call("c1")
    chat.result("nobody")
    chat.user("two anew", first)
    chat.said("another")
    return chat


def test_nobody_waits_for_a_call_that_was_taken_back(tmp_path: Path) -> None:
    path = left_open().log(tmp_path)
    checked = of_check(load(path))
    assert (checked["open_calls"], checked["orphan_results"]) == ([], [])
    assert not plan_repair(load(path)).needed
    assert repair(path) == path


def test_a_repair_closes_only_what_is_still_told(tmp_path: Path) -> None:
    chat = left_open()
    chat.call("c2")
    path = chat.log(tmp_path)
    before = path.read_bytes()
    made = load(repair(path))
    closed = [c.call_id for c in plan_repair(load(path)).closed]
    assert closed == ["c2"]
    assert texts(made) == ["one", "first", "two anew", "another", "c2", "c2"]
    assert not made.open_calls
    assert path.read_bytes() == before


@pytest.mark.parametrize("from_file", [False, True])
def test_a_fork_at_what_was_taken_back_goes_on_from_there(tmp_path: Path, from_file: bool) -> None:
    path = left_open().log(tmp_path)
    read = load(path)
    at = next(step.n for step in read.history if shown_type(step.message) == "call")
    plan = plan_fork(read, at)
    assert [call.call_id for call in plan.closed] == ["c1"]
    made = load(fork(path, at))
    assert texts(made) == ["one", "first", "two", "second", "run it", "c1", "c1"]
    leaf = json.loads(Path(made.path).read_bytes().splitlines()[-1])
    assert leaf["parentUuid"] == read.history[at - 1].record.key


@pytest.mark.parametrize("seed", range(25))
def test_plans_of_a_session_and_of_its_file_are_the_same(tmp_path: Path, seed: int) -> None:
    path = build.log(tmp_path / build.CLAUDE_FILE, wandering(seed))
    read = load(path)
    for at in (None, *range(1, len(read.history) + 1, 7)):
        planned = survey.of_session(read, at, Mend()).changes
        assert planned == survey.of_file(path, at, Mend()).changes


# -- logs of any size ---------------------------------------------------------------------------


@pytest.mark.parametrize("pad", [0, 9_000])
@pytest.mark.parametrize("seed", range(25))
def test_a_look_at_raw_lines_finds_the_same(tmp_path: Path, seed: int, pad: int) -> None:
    read = load(build.log(tmp_path / build.CLAUDE_FILE, wandering(seed, pad=pad)))
    log = Log(read.path, FORMAT)
    marks = Marks(FORMAT)
    marks.scan(log.strip, rest=lambda: None)
    assert marks.left == turns_of(read.records, read.damages)
    log.close()


def test_a_log_that_grows_is_looked_at_from_where_it_grew(tmp_path: Path) -> None:
    chat, first = two_turns()
    for i in range(40):
        chat.said(f"{i} " + "x" * 9_000)
    path = chat.log(tmp_path)
    log, marks = Log(str(path), FORMAT), Marks(FORMAT)
    marks.scan(log.strip, rest=lambda: None)
    assert marks.left == []
    for back, count in ((first, 1), ("", 1), (None, 2)):
        chat.user("anew", back)
        with path.open("ab") as file:
            file.write(chat.lines[-1])
        marks.restart(log.refresh().first)
        marks.scan(log.strip, rest=lambda: None)
        assert len(marks.left) == count
    log.close()


def test_prompts_without_end_cost_a_bounded_look(tmp_path: Path) -> None:
    chat = Chat()
    chat.user("one")
    first = chat.said("x" * 70_000)
    for _ in range(300):
        chat.user("again", first)
    log = Log(str(chat.log(tmp_path)), FORMAT)
    looks = Rewinds(FORMAT, FORMAT.may_go_back)
    looks.budget = 1_000_000
    for number in range(log.chunks):
        found = log.strip.stretch(number)
        looks.take(log.strip, found, found.data.split(b"\n"))
    assert len(looks.left) < 299  # of all of them
    assert looks.budget > -200_000
    log.close()
