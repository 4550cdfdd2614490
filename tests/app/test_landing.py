"""From a place in a file to the row that shows it, whatever folds or hides that row."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import build

from sessionlog.formats.claude import Claude
from sessionlog.formats.native import Native
from sessionlog.window import Log
from tui.folds import Filter
from tui.landing import holds, landed, uncovered
from tui.timeline import Timeline


@contextmanager
def timeline(path: Path, lines: list[bytes], form: type = Native) -> Iterator[Timeline]:
    log = Log(str(build.log(path, lines)), form())
    yield Timeline(log)
    log.close()


def start(lines: list[bytes], number: int) -> int:
    """Byte offset of a line."""
    return sum(map(len, lines[:number]))


def test_a_response_is_in_the_row_of_its_call_behind_other_calls(tmp_path: Path) -> None:
    lines = [
        build.meta(), build.request("a", seconds=1), build.request("b", seconds=2),
        build.response("a", seconds=3), build.response("b", seconds=4),
    ]  # fmt: skip
    with timeline(tmp_path / "a.jsonl", lines) as found:
        for number, call in ((3, 1), (4, 2)):
            place = (start(lines, number), 0)
            pos = landed(found, place)
            assert pos is not None
            assert found.row(pos).place == (start(lines, call), 0)
            assert holds(found.row(pos), place)


def test_a_damage_is_a_row_of_its_own(tmp_path: Path) -> None:
    lines = [build.meta(), b"not json\n", build.message("bot", "on")]
    with timeline(tmp_path / "a.jsonl", lines) as found:
        pos = landed(found, (start(lines, 1), 0))
        assert pos is not None
        assert found.row(pos).damage is not None


def test_a_quiet_row_is_uncovered(tmp_path: Path) -> None:
    lines = [build.meta(), build.event("iteration", iteration=1), build.message("bot", "on")]
    with timeline(tmp_path / "a.jsonl", lines) as found:
        place = (start(lines, 1), 0)
        near = landed(found, place)
        assert near is not None
        assert not holds(found.row(near), place)
        pos = uncovered(found, place)
        assert pos is not None
        assert holds(found.row(pos), place)


def test_a_filter_that_hides_the_row_is_taken_away(tmp_path: Path) -> None:
    lines = [build.meta(), build.message("user", "Begin."), build.message("bot", "on")]
    with timeline(tmp_path / "a.jsonl", lines) as found:
        found.filter = Filter("user")
        pos = uncovered(found, (start(lines, 2), 0))
        assert pos is not None
        assert found.row(pos).body == "on"


def test_a_filter_that_shows_the_row_stays(tmp_path: Path) -> None:
    lines = [build.meta(), build.message("user", "Begin."), build.message("bot", "on")]
    with timeline(tmp_path / "a.jsonl", lines) as found:
        found.filter = Filter("user")
        uncovered(found, (start(lines, 1), 0))
        assert found.filter == Filter("user")


def test_the_row_of_a_subagent_is_taken_out_of_its_fold(tmp_path: Path) -> None:
    lines = [
        build.claude_user("Fix it"),
        *(build.claude_said(f"side {i}", isSidechain=True, agentId="a", seconds=2 + i)
          for i in range(4)),
        build.claude_said("Done.", id="msg_2", seconds=9),
    ]  # fmt: skip
    with timeline(tmp_path / "c.jsonl", lines, Claude) as found:
        place = (start(lines, 3), 0)
        pos = uncovered(found, place)
        assert pos is not None
        assert found.row(pos).sort != "fold"
        assert holds(found.row(pos), place)


def test_a_place_in_an_empty_log_is_nowhere(tmp_path: Path) -> None:
    with timeline(tmp_path / "a.jsonl", []) as found:
        assert uncovered(found, (0, 0)) is None


def test_a_place_that_is_no_record_lands_near(tmp_path: Path) -> None:
    lines = [build.meta(), build.message("user", "Begin."), build.message("bot", "on")]
    with timeline(tmp_path / "a.jsonl", lines) as found:
        pos = uncovered(found, (start(lines, 2) + 5, 0))
        assert pos is not None
        assert found.row(pos).body == "on"
