"""Waiting until something happens to a file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from sessionlog.notice import BURST, RATE, Notice

LONG = 20.0
"""Seconds that nothing here takes."""


@pytest.fixture(params=[True, False], ids=["events", "poll"])
def notice(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Notice]:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"start\n")
    made = Notice(str(path), request.param)
    assert made.polling is not request.param
    yield made
    made.close()


def test_whatever_happens_to_the_file_wakes(notice: Notice, tmp_path: Path) -> None:
    path, away = tmp_path / "log.jsonl", tmp_path / "away"

    def append() -> None:
        with path.open("ab") as file:
            file.write(b"more\n")

    def replace() -> None:
        (tmp_path / "new").write_bytes(b"other\n")
        os.replace(tmp_path / "new", path)

    for change in (
        append, replace, append, lambda: os.truncate(path, 2), lambda: os.rename(path, away),
        lambda: os.rename(away, path), append, path.unlink, append, append,
        lambda: path.chmod(0o400),
    ):  # fmt: skip
        change()
        assert notice.wait(LONG)
        while notice.wait(0.03):  # one change may tell twice
            pass


def test_nothing_does_not_wake_and_neither_does_a_neighbour(notice: Notice, tmp_path: Path) -> None:
    (tmp_path / "other.jsonl").write_bytes(b"other\n")
    assert not notice.wait(0.1)


def test_what_happened_before_the_wait_is_not_lost(notice: Notice, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_bytes(b"other\n")
    (tmp_path / "log.jsonl").unlink()
    assert notice.wait(LONG)


@pytest.mark.parametrize("events", [True, False])
def test_in_a_storm_wakes_are_rationed(tmp_path: Path, events: bool) -> None:
    path, now = tmp_path / "log.jsonl", [0.0]
    path.write_bytes(b"")
    notice = Notice(str(path), events, clock=lambda: now[0])

    def wakes(count: int) -> int:
        woken = 0
        with path.open("ab", buffering=0) as file:
            for _ in range(count):
                file.write(b"more\n")
                woken += notice.wait(0.0001)
        return woken

    assert wakes(5 * BURST) == BURST
    now[0] += 2.5 / RATE
    assert wakes(BURST) == 2
    now[0] += 1000.0
    assert wakes(5 * BURST) == BURST
    notice.close()


def test_a_file_that_is_not_there_yet_wakes_when_it_comes(tmp_path: Path) -> None:
    notice = Notice(str(tmp_path / "log.jsonl"))
    assert not notice.polling
    (tmp_path / "log.jsonl").write_bytes(b"")
    assert notice.wait(LONG)


def test_where_there_is_no_folder_to_be_watched_the_clock_does(tmp_path: Path) -> None:
    notice = Notice(str(tmp_path / "folder" / "log.jsonl"))
    assert notice.polling
    assert notice.fileno() == -1
    assert not notice.wait(0.03)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "log.jsonl").write_bytes(b"")
    assert notice.wait(LONG)


def test_a_change_that_nothing_told_of_is_found_and_from_then_on_the_clock_is_trusted(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "log.jsonl").write_bytes(b"")
    notice = Notice(str(folder / "log.jsonl"))
    os.rename(folder, tmp_path / "away")  # no event of the file, nor of what is in the folder
    assert notice.wait(LONG)
    assert notice.polling
    folder.mkdir()
    (folder / "log.jsonl").write_bytes(b"")
    assert notice.wait(LONG)
