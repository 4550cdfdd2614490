"""A stop stands beside an agent's own log, which is left as it is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import build
import pytest
from handed import environment, order

from sessionlog.records import Status
from sessionlog.supervise import runs
from sessionlog.supervise.beside import stop_beside
from sessionlog.supervise.order import Outcome, stamp
from sessionlog.why.look import look

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


def test_the_stop_of_the_log_itself_or_of_one_it_goes_on_with_is_found(tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    environ = stopped(tmp_path, log)
    said = stop_beside(str(log), None, LAST, environ)
    assert "was stopped from here at 22:01:02, 4 processes killed" in said
    assert stop_beside("/elsewhere.jsonl", "20261127-220000", LAST, environ) == said
    assert stop_beside("/elsewhere.jsonl", "another", LAST, environ) == ""


def test_a_stop_before_the_last_record_is_not_its_end(tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    assert stop_beside(str(log), None, LAST, stopped(tmp_path, log, -60)) == ""


def test_a_run_that_ended_by_itself_was_not_stopped(tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    assert stop_beside(str(log), None, LAST, stopped(tmp_path, log, stopped="")) == ""


def test_why_says_that_a_log_without_an_ending_was_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = build.log(tmp_path / "a.jsonl", [build.meta(), build.request("c1")])
    environ = stopped(tmp_path, log)
    monkeypatch.setenv("XDG_STATE_HOME", environ["XDG_STATE_HOME"])
    why = look(str(log)).why
    assert (why.status, why.cause) == (Status.UNFINISHED, "interrupted")
    assert "was stopped from here" in why.evidence[0].says
