"""What changes in the folders appears by itself."""

from __future__ import annotations

import fcntl
import sys
from pathlib import Path

import build
import pytest
from screens import night, opened, shown, until

from sessionlog.records import Status
from tui import messages, workers
from tui.workers import Catalogue

pytestmark = pytest.mark.anyio


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


async def test_a_new_log_appears_and_the_cursor_stays_on_its_session(tmp_path: Path) -> None:
    async with opened(night(tmp_path)) as (pilot, browser):
        await pilot.press("j")
        assert browser.sessions.selected
        before = browser.sessions.selected.path
        build.log(tmp_path / "new.jsonl", [build.meta("new", "Brand new", 20000)])
        await until(pilot, lambda: "Brand new" in shown(pilot))
        assert browser.sessions.selected.path == before


async def test_an_ending_that_is_written_changes_the_row_and_the_head(tmp_path: Path) -> None:
    path = night(tmp_path) / "20261127-223000.jsonl"
    async with opened(tmp_path) as (pilot, browser):
        await pilot.press("j", "enter")
        await until(pilot, lambda: browser.entry and browser.entry.path == str(path))
        append(path, build.response("c2") + build.result(message="race is gone", seconds=1900))
        await until(pilot, lambda: browser.entry and browser.entry.status is Status.COMPLETE)
        await until(pilot, lambda: "race is gone" in shown(pilot))
        assert "✓ 2" in shown(pilot).splitlines()[0]


async def test_growth_counts_as_life(tmp_path: Path) -> None:
    path = night(tmp_path) / "20261127-223000.jsonl"
    async with opened(tmp_path) as (pilot, browser):
        append(path, build.message("bot", "more", 1820))
        await until(pilot, lambda: "► 1" in shown(pilot).splitlines()[0])
        assert browser.sessions.entries[1].status is Status.RUNNING


async def test_a_log_that_is_deleted_leaves_the_list_and_its_rows_stay(tmp_path: Path) -> None:
    path = night(tmp_path) / "20261127-230000.jsonl"
    async with opened(tmp_path) as (pilot, browser):
        await until(pilot, lambda: browser.entry)
        await pilot.press("enter")
        path.unlink()
        await until(pilot, lambda: len(browser.sessions.entries) == 3)
        await until(pilot, lambda: browser.status.warnings)
        assert shown(pilot).splitlines()[-2].startswith(" the log is gone, what was read of it is ")
        # the cursor of the list went on to a neighbour; that one is not to be opened
        await until(pilot, lambda: browser.sessions.selected != browser.entry)
        assert browser._opening != browser.sessions.selected
        assert browser.entry
        assert browser.entry.path == str(path)
        assert "Bisect the slow start" in shown(pilot)
        await pilot.press("r")
        await until(pilot, lambda: "the log: No such file or directory" in shown(pilot), "why not")


async def test_the_first_log_of_an_empty_folder_appears(tmp_path: Path) -> None:
    async with opened(tmp_path) as (pilot, _):
        assert "No sessions yet" in shown(pilot)
        build.log(tmp_path / "first.jsonl", build.healthy())
        await until(pilot, lambda: "Fix it" in shown(pilot))
        assert "No sessions yet" not in shown(pilot)


def test_what_was_read_first_is_posted_with_how_far_it_is(tmp_path: Path) -> None:
    night(tmp_path)
    catalogue = Catalogue((str(tmp_path),))
    catalogue.begin(-1)
    assert len(catalogue.begun()) == 1
    posted: list[object] = []
    workers.read_rest(catalogue, posted.append, lambda: False)
    last = posted[-1]
    assert isinstance(last, messages.Read)
    assert (last.done, last.total) == (4, 4)
    assert len(catalogue.known) == 4


def test_reading_stops_when_it_is_told_to(tmp_path: Path) -> None:
    night(tmp_path)
    catalogue = Catalogue((str(tmp_path),))
    catalogue.begin(-1)
    catalogue.begun()
    workers.read_rest(catalogue, lambda message: None, lambda: True)
    assert len(catalogue.known) == 1


def test_an_error_of_ours_in_a_worker_is_posted() -> None:
    posted: list[object] = []

    def broken() -> None:
        raise ZeroDivisionError("oh")

    workers.guarded("counting", broken, posted.append)
    failed = posted[0]
    assert isinstance(failed, messages.Failed)
    assert (failed.what, failed.error) == ("counting", "ZeroDivisionError: oh")


def test_asking_whether_writers_live_reads_no_log_again(tmp_path: Path) -> None:
    path = night(tmp_path) / "20261127-223000.jsonl"
    catalogue = Catalogue((str(tmp_path),))
    catalogue.begin(10)
    catalogue.begun()
    path.write_bytes(b"{}\n")  # nobody tells of it: what changed is seen by the files' marks
    assert catalogue.ask([str(path)]) == ()
    with path.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        (entry,) = catalogue.ask([str(path)])
        assert (entry.status, entry.title) == (Status.RUNNING, "Migrate billing to pgx v5")


@pytest.mark.skipif(sys.platform == "win32", reason="locks are flock's")
async def test_a_writer_that_dies_is_seen_to_die_though_nothing_is_written(tmp_path: Path) -> None:
    path = night(tmp_path) / "20261127-223000.jsonl"
    with path.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        async with opened(tmp_path) as (pilot, browser):
            await until(pilot, lambda: browser.sessions.entries[1].status is Status.RUNNING)
            append(path, build.message("bot", "more", 1820))
            await pilot.press("j", "enter")
            await until(pilot, lambda: "writer alive" in shown(pilot))
            fcntl.flock(file, fcntl.LOCK_UN)
            file.close()
            await until(pilot, lambda: browser.sessions.entries[1].status is Status.UNFINISHED)
            await until(pilot, lambda: "writer gone" in shown(pilot))


async def test_a_key_acts_on_the_row_that_the_key_before_it_led_to(tmp_path: Path) -> None:
    path = night(tmp_path) / "20261127-223000.jsonl"
    async with opened(path) as (pilot, browser):
        for command in ("cursor_up", "cursor_up"):
            browser.actions.method(command)()
        browser.actions.fork()
        await until(pilot, lambda: "Fork at 3" in shown(pilot))


async def test_a_log_that_became_shorter_shows_no_writer(tmp_path: Path) -> None:
    path = night(tmp_path) / "20261127-220000.jsonl"
    async with opened(tmp_path) as (pilot, browser):
        browser.sessions.select(str(path))
        path.write_bytes(path.read_bytes()[:-30])
        await until(pilot, lambda: browser.sessions.entries[3].status is Status.TRUNCATED)
        assert browser.sessions.entries[3].status is not Status.RUNNING
