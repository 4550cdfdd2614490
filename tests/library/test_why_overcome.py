"""A failure that something went well after is no cause; one that nothing did is still one."""

from __future__ import annotations

import pytest
from stories import AGENTS, Story

FULL = "error: No space left on device (os error 28)"

RETRIED = [
    ("make", "make -j2"),
    ("make", "cd build && make"),
    ("cargo build", "cargo build --release"),
    ("cargo build", "cargo test"),
    ("python import.py", "python3 import.py"),
    ("cp a.tar b.tar", "TMPDIR=/mnt cp a.tar b.tar"),
]


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize(("first", "again"), RETRIED)
def test_a_disk_that_could_be_written_again_is_no_longer_full(
    agent: type[Story], first: str, again: str
) -> None:
    story = agent().work().call(first, FULL, True).call("rm -rf cache", "").call(again, "built")
    assert story.why().cause == "killed_answering"
    assert story.say("Freed space; it builds now.").why().cause == "killed_answering"


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("after", ["df -h", "cargo clean", "cat notes.md", "ls /", "git status"])
def test_what_frees_space_or_only_shows_something_does_not_tell_that_there_is_room(
    agent: type[Story], after: str
) -> None:
    story = agent().work().call("cargo build", FULL, True).call(after, "some words")
    assert story.why().cause == "disk_full"


@pytest.mark.parametrize("agent", AGENTS)
def test_a_retry_that_failed_behind_a_pipe_did_not_go_well(agent: type[Story]) -> None:
    full = agent().work().call("make", FULL, True).call("make 2>&1 | tail -3", FULL)
    assert full.why().cause == "disk_full"
    lost = "make: protoc: No such file or directory"
    story = agent().work().call("make", lost, True).call("make 2>&1 | tail -3", lost)
    assert story.done("protoc is not installed here.").why().cause == "missing_program"


FINE = [
    ("python run.py", "bash: python: command not found", "python3 run.py",
     "It runs with python3; `python` is not installed here."),
    ("python run.py", "bash: python: command not found", "python3 run.py",
     "python is not installed on this machine."),
    ("which rg || apt install ripgrep", "bash: rg: command not found", "grep -rn foo",
     "Found foo in a. I used grep because rg is not installed."),
    ("rg foo", "bash: rg: command not found", "grep -rn foo",
     "rg is not installed. I used grep instead: foo is in a."),
    ("sudo x", "Permission to use Bash with command sudo x has been denied.", "x --user",
     "Installed. sudo was not allowed, so I installed it for the user only."),
    ("sudo make install", "Permission to use Bash with command sudo x has been denied.",
     "make install", "sudo is not allowed here."),
    ("jq . a.json", "bash: jq: command not found", "python3 -m json.tool a.json",
     "I couldn't run jq, so I used Python."),
    ("npm test", "command timed out after 120000 milliseconds", "npm test -- --watch=false",
     "The first run was cut off, so I ran it without the watcher."),
]  # fmt: skip


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize(("said", "gave", "instead", "words"), FINE)
def test_a_way_around_a_failure_ends_well(
    agent: type[Story], said: str, gave: str, instead: str, words: str
) -> None:
    story = agent().work().call(said, gave, True).call(instead, "ok").done(words)
    assert story.why().cause == "finished"


LOST = "I could not get the test to pass. foo reports a mismatch; I stop here."


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("ran", ["/usr/bin/foo --run", "cd x && foo", "CI=1 foo | tail"])
def test_a_program_that_ran_is_not_missing_even_if_what_it_ran_failed(
    agent: type[Story], ran: str
) -> None:
    story = agent().call("foo", "bash: foo: command not found", True).call("pip install foo")
    assert story.call(ran, "1 failed", True).done(LOST).why().cause == "gave_up"


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize(
    ("said", "gave"),
    [("pip install foo", "no such package"), ("echo foo", "foo"),
     ("/opt/foo", "bash: /opt/foo: command not found")],
)  # fmt: skip
def test_a_program_that_never_ran_stays_missing(agent: type[Story], said: str, gave: str) -> None:
    story = agent().call("foo", "bash: foo: command not found", True).call(said, gave, True)
    assert story.done("foo isn't available here. I stop here.").why().cause == "missing_program"


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize(
    "words",
    ["protoc isn't on this machine and I may not install it, so the code is unchanged.",
     "protoc is not installed, so I made no changes.",
     "protoc is not installed, so I ran out of ways.",
     "I could not finish without protoc, so I wrote a stub instead."],
)  # fmt: skip
def test_other_work_that_went_well_is_no_way_around(agent: type[Story], words: str) -> None:
    story = agent().work().call("make proto", "bash: protoc: command not found", True)
    assert story.call("git diff", "").done(words).why().cause == "missing_program"


@pytest.mark.parametrize("agent", AGENTS)
def test_the_summary_shows_the_line_that_tells_of_the_cause(agent: type[Story]) -> None:
    from sessionlog.why.said import summary

    gave = "cp: error writing 'x': Disk quota exceeded\nexit code: 1"
    for story in (agent().work().call("cp a x", gave, True), agent().call("cp a x", gave, True)):
        assert "Disk quota exceeded" in summary(story.why())
        ended = story.done("The disk is full. I cannot go on.").why()
        assert ended.cause == "disk_full"
        assert "Disk quota exceeded" in summary(ended)
        assert "exit code" not in summary(ended)


@pytest.mark.parametrize("agent", AGENTS)
def test_a_tool_that_was_killed_for_memory_is_told_by_nothing_but_its_own_words(
    agent: type[Story],
) -> None:
    assert agent().work().refused("signal: killed (out of memory)").why().cause == "not_known"
    killed = agent().work().call("make", "Killed\nexit code: 137", True)
    assert killed.why().cause == "killed_answering"
