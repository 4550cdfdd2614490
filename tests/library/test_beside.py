"""What is known of a run that was handed over, where its own log does not tell: it lives, it was
stopped, it failed."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import build
import pytest
from handed import environment, order

from sessionlog.errors import LogInUse
from sessionlog.forks import fork
from sessionlog.listing import glance, with_life
from sessionlog.reader import load
from sessionlog.records import Status
from sessionlog.repairs import repair
from sessionlog.resume import plan_resume
from sessionlog.supervise import runs
from sessionlog.supervise.beside import journal
from sessionlog.supervise.handle import start
from sessionlog.supervise.order import Outcome, stamp
from sessionlog.why.look import look
from sessionlog.why.said import headline

LAST = datetime(2026, 11, 27, 22, 0, 2, tzinfo=UTC)


def stopped(folder: Path, log: Path, seconds: float = 60, **more: object) -> dict[str, str]:
    """The journal in which the run of a log was stopped so long after its last record."""
    environ = environment(folder)
    wanted = order(["true"], log)
    runs.begin(wanted, environ)
    ended = stamp((LAST + timedelta(seconds=seconds)).timestamp())
    fields = {"stopped": "person", "killed": 4, "ended": ended, **more}
    runs.end(wanted, Outcome(**fields), environ)  # type: ignore[arg-type]
    return environ


def told(path: str, resumed_from: str | None, last: datetime, environ: dict[str, str]) -> str:
    found = journal(environ).beside(path, resumed_from, last)
    return found.says if found else ""


def test_the_stop_of_the_log_itself_or_of_one_it_goes_on_with_is_found(tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    environ = stopped(tmp_path, log)
    said = told(str(log), None, LAST, environ)
    assert "was stopped from here at 22:01:02, 4 processes killed" in said
    assert told("/elsewhere.jsonl", "20261127-220000", LAST, environ) == said
    assert told("/elsewhere.jsonl", "another", LAST, environ) == ""


def test_a_stop_before_the_last_record_is_not_its_end(tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    assert told(str(log), None, LAST, stopped(tmp_path, log, -60)) == ""


def test_a_program_that_failed_is_told_with_its_last_words(tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    tail = b"starting\n\x1b[31mConnection refused\x1b[0m\n\n"
    environ = stopped(tmp_path, log, stopped="", code=7, tail=tail)
    said = told(str(log), None, LAST, environ)
    assert "test ended with exit status 7 at 22:01:02: " in said
    assert "Connection refused" in said
    assert "\x1b" not in said


def test_the_journal_is_read_again_when_something_ended(tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    environ = environment(tmp_path)
    assert told(str(log), None, LAST, environ) == ""
    stopped(tmp_path, log, 60)
    assert "22:01:02" in told(str(log), None, LAST, environ)
    stopped(tmp_path, log, 120)
    assert "22:02:02" in told(str(log), None, LAST, environ)


def test_why_says_that_a_log_without_an_ending_was_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = build.log(tmp_path / "a.jsonl", [build.meta(), build.request("c1")])
    environ = stopped(tmp_path, log)
    monkeypatch.setenv("XDG_STATE_HOME", environ["XDG_STATE_HOME"])
    why = look(str(log)).why
    assert (why.status, why.cause) == (Status.UNFINISHED, "interrupted")
    assert "was stopped from here" in why.evidence[0].says


def test_list_and_why_say_how_a_program_failed_that_wrote_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = build.log(tmp_path / "a.jsonl", [build.meta(), build.message("user", "go")])
    environ = stopped(tmp_path, log, stopped="", code=7, tail=b"connect: connection refused\n")
    monkeypatch.setenv("XDG_STATE_HOME", environ["XDG_STATE_HOME"])
    (row,) = with_life([glance(str(log))])
    assert row.stop == "test ended with exit status 7: connect: connection refused"
    assert (row.status, row.ok, row.failed) == (Status.UNFINISHED, False, True)
    why = look(str(log)).why
    assert why.cause == "network"
    assert headline(why)[0] == "Failed"


def test_a_run_that_was_handed_over_and_lives_is_evidence_before_it_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = build.log(tmp_path / "a.jsonl", [build.meta(), build.message("user", "go")])
    environ = environment(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", environ["XDG_STATE_HOME"])
    with closing(start(order(["sleep", "600"], log), environ)) as handle:
        (row,) = with_life([glance(str(log))])
        assert row.status is Status.RUNNING
        with pytest.raises(LogInUse, match="handed over to test"):
            plan_resume(load(log))
        handle.stop()
        assert handle.wait(30)
        (row,) = with_life([glance(str(log))])
        assert row.status is Status.UNFINISHED


def test_a_log_that_was_made_and_not_gone_on_with_never_started(tmp_path: Path) -> None:
    source = build.log(tmp_path / "20261127-220000.jsonl", [
        build.meta(), build.message("user", "go"), build.request("c1", "bash"),
    ])  # fmt: skip
    for path in (repair(source), fork(source, 1)):
        why = look(str(path)).why
        assert (why.cause, headline(why)) == ("never_started", ("Not gone on with yet", ""))
        assert glance(str(path)).stop == "not gone on with yet"


def test_what_an_agent_wrote_in_the_second_of_its_start_is_going_on(tmp_path: Path) -> None:
    source = build.log(tmp_path / "20261127-220000.jsonl", [
        build.meta(), build.message("user", "go"), build.message("bot", "so"),
    ])  # fmt: skip
    new = fork(source, 2, now=LAST.replace(hour=23))
    with new.open("ab") as file:
        file.write(build.message("user", "Go on.", 3602))
    assert glance(str(new)).stop == "not gone on with yet"
    with new.open("ab") as file:
        file.write(build.message("bot", "I looked.", 3602.5))
    assert glance(str(new)).stop != "not gone on with yet"


def test_a_log_whose_run_lives_is_not_said_to_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = build.log(tmp_path / "20261127-220000.jsonl", [
        build.meta(), build.message("user", "go"),
    ])  # fmt: skip
    new = fork(source, 1)
    environ = environment(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", environ["XDG_STATE_HOME"])
    with closing(start(order(["sleep", "600"], new), environ)) as handle:
        (row,) = with_life([glance(str(new))])
        assert (row.status, row.stop) == (Status.RUNNING, "has begun")
        handle.stop()
        assert handle.wait(30)


@pytest.mark.parametrize("code", [0, 7])
def test_a_run_that_ended_did_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    source = build.log(tmp_path / "20261127-220000.jsonl", [
        build.meta(), build.message("user", "go"),
    ])  # fmt: skip
    new = fork(source, 1)
    environ = environment(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", environ["XDG_STATE_HOME"])
    wanted = order(["true"], new)
    runs.begin(wanted, environ)
    runs.end(wanted, Outcome(code=code, ended=stamp()), environ)
    why = look(str(new)).why
    assert why.cause == "not_known"
    assert "not gone on with" not in " ".join(said.says for said in why.evidence)
