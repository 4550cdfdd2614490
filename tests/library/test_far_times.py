"""Times at the ends of the calendar, which programs write where they have none, in any zone."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import build
import pytest

from sessionlog import cli
from sessionlog.records import moment, stamp

FAR = ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "0001-12-31T23:59:59Z",
       "9999-01-01T00:00:00-12:00", "9999-12-31T23:59:59.999999Z",
       "9999-12-31T23:59:59.999999-12:00")  # fmt: skip
NEAR = ("0002-01-01T00:00:00Z", "9998-12-31T23:59:59.5Z")
COMMANDS = ("list LOG", "show LOG", "check LOG", "why LOG", "stats LOG", "search done LOG",
            "search done LOG --after 2h", "search done LOG --after 0001-01-01",
            "search done LOG --before 9999-12-31T23:59:59", "search done LOG --after 9999-12-31",
            "replay LOG --speed 64 --idle 0.001", "compare LOG LOG")  # fmt: skip


@pytest.fixture(params=["UTC", "Asia/Tokyo", "America/New_York"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def far(tmp_path: Path) -> str:
    """A log whose times jump between the ends of the calendar."""
    lines = []
    for i, data in enumerate(build.healthy()):
        lines.append(build.line({**json.loads(data), "at": (*FAR, *NEAR)[i % 8]}))
    lines += [build.line({**json.loads(build.message("bot", "done")), "at": at}) for at in NEAR]
    return str(build.log(tmp_path / "20261127-220000.jsonl", lines))


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.usefixtures("zone")
def test_every_command_takes_times_at_the_ends_of_the_calendar(
    command: str, as_json: bool, far: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [far if word == "LOG" else word for word in command.split()]
    code = cli.main([*words, *(["--json"] if as_json else [])])
    out = capsys.readouterr().out
    assert code in (0, 1)
    assert all(json.loads(line)["v"] == 1 for line in out.splitlines() if as_json)


@pytest.mark.parametrize("at", FAR)
def test_the_first_and_the_last_year_are_no_time(at: str) -> None:
    assert moment(at) is None


@pytest.mark.parametrize("at", NEAR)
@pytest.mark.usefixtures("zone")
def test_what_is_a_time_has_one_in_every_zone_and_comes_back(at: str) -> None:
    found = moment(at)
    assert found is not None
    assert found.astimezone().tzinfo is not None
    assert abs((moment(stamp(found.timestamp())) or datetime.now(UTC)) - found).total_seconds() < 1


@pytest.mark.parametrize("seconds", [1e300, float("inf"), float("nan"), -1e12, 253402300800.0])
def test_seconds_that_are_no_time_have_no_stamp(seconds: float) -> None:
    assert stamp(seconds) == ""
