"""When a person who does not look is told how a run stands."""

from __future__ import annotations

import pytest

from sessionlog.alarm import Alarm
from sessionlog.records import Status

RUNNING, COMPLETE = Status.RUNNING, Status.COMPLETE


@pytest.mark.parametrize(("status", "ok", "said"), [
    (COMPLETE, True, "ended"), (COMPLETE, None, "ended"), (COMPLETE, False, "failed"),
    (Status.UNFINISHED, None, "stopped: writer gone"),
    (Status.TRUNCATED, None, "stopped: writer gone"), (Status.UNFINISHED, False, "failed"),
])  # fmt: skip
def test_an_end_is_told_once(status: Status, ok: bool | None, said: str) -> None:
    alarm = Alarm()
    assert alarm.see(RUNNING, None, 0, 1) is None
    assert alarm.see(status, ok, 1, 2) == said
    assert alarm.see(status, ok, 1, 3) is None
    assert alarm.see(RUNNING, None, 3, 4) is None
    assert alarm.see(status, ok, 4, 5) == said


def test_what_had_ended_already_is_no_news() -> None:
    assert Alarm().see(COMPLETE, False, 0, 100) is None


def test_a_run_that_was_cut_off_and_then_fails_is_told_of_twice() -> None:
    alarm = Alarm()
    told = [alarm.see(status, ok, 0, 0) for status, ok in (
        (RUNNING, None), (Status.UNFINISHED, None), (COMPLETE, False))]  # fmt: skip
    assert told == [None, "stopped: writer gone", "failed"]


def test_a_silence_is_told_once_until_the_log_grows_again() -> None:
    alarm = Alarm(silent_after=300)
    assert alarm.see(RUNNING, None, 10, 309) is None
    assert alarm.see(RUNNING, None, 10, 310) == "silent for 5m"
    assert alarm.see(RUNNING, None, 10, 900) is None
    assert alarm.see(RUNNING, None, 900, 1000) is None
    assert alarm.see(RUNNING, None, 900, 1200) == "silent for 5m"


def test_silence_after_the_end_and_without_a_limit_is_not_told() -> None:
    alarm = Alarm(silent_after=300)
    alarm.see(RUNNING, None, 0, 0)
    assert alarm.see(COMPLETE, True, 1, 2) == "ended"
    assert alarm.see(COMPLETE, True, 1, 9999) is None
    assert Alarm().see(RUNNING, None, 0, 99999) is None
