"""A folder's sessions, told from heads and tails; whatever else lies there does no harm."""

from __future__ import annotations

import fcntl
import os
import random
import re
from pathlib import Path

import build
import opencode_logs
import pytest

from sessionlog.listing import glance, list_sessions, scan
from sessionlog.reader import load
from sessionlog.records import Entry, Status


def row(path: Path) -> Entry:
    return glance(str(path))


def test_a_missing_folder_is_an_empty_list(tmp_path: Path) -> None:
    assert list_sessions(tmp_path / "nowhere") == []


def test_a_long_line_does_not_hide_what_was_said_last(tmp_path: Path) -> None:
    picture = build.claude_note("file-history-snapshot", snapshot={"data": "x" * (3 << 20)})
    lines = [build.claude_user("Look."), build.claude_call("t1", "make"), picture]
    row = glance(str(build.log(tmp_path / build.CLAUDE_FILE, lines)))
    assert row.stop == "in bash: make"


def test_sessions_come_newest_first_and_notes_and_folders_are_no_sessions(tmp_path: Path) -> None:
    for day in (5, 7, 6):
        build.log(tmp_path / f"2026110{day}-000000.jsonl", [build.meta(seconds=day * 86400)])
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / "sub.jsonl").mkdir()
    assert [e.id[:8] for e in list_sessions(tmp_path)] == ["20261107", "20261106", "20261105"]


def test_a_row_says_what_it_was_and_how_it_ended(tmp_path: Path) -> None:
    path = build.log(
        tmp_path / "20261127-220000.jsonl",
        [build.meta(task="Fix it\nand more"), build.message("user", "go"),
         build.result("error", 1, error="provider: 401", message="the provider failed")],
    )  # fmt: skip
    entry = row(path)
    assert (entry.status, entry.reason, entry.ok) == (Status.COMPLETE, "error", False)
    assert entry.stop == "provider: 401"
    assert entry.task == "Fix it\nand more"
    assert entry.started == build.at(0)
    assert entry.updated == build.at(9)
    assert entry.bytes == path.stat().st_size
    assert entry.damage is None


@pytest.mark.parametrize(
    ("lines", "tail", "status"),
    [
        (build.healthy(), b"", Status.COMPLETE),
        (build.healthy(), b'{"kind":"ev', Status.COMPLETE),
        (build.healthy()[:-1], b"", Status.UNFINISHED),
        (build.healthy()[:-1], b'{"kind":"ev', Status.TRUNCATED),
        (build.healthy()[:-1], build.event("usage")[:-1], Status.UNFINISHED),
        ([build.meta()], b"", Status.UNFINISHED),
        (build.healthy()[1:], b"", Status.COMPLETE),
        ([b"garbage\n", *build.healthy()], b"", Status.COMPLETE),
        ([*build.healthy(), b"\n\n"], b"", Status.COMPLETE),
        ([*build.healthy(), build.reset()], b"", Status.COMPLETE),
        ([*build.healthy(), b"\0" * 9000], b"", Status.COMPLETE),
        ([build.meta(), build.message("user", "x" * 50_000)], b"", Status.UNFINISHED),
        ([build.meta(task="x" * 50_000), build.result(message="y" * 50_000)], b"", Status.COMPLETE),
        ([build.meta(), build.message("user", "x" * 9000)], b'{"kind":"mess', Status.TRUNCATED),
    ],
)
def test_a_row_and_the_whole_log_agree(
    tmp_path: Path, lines: list[bytes], tail: bytes, status: Status
) -> None:
    path = build.log(tmp_path / "20261127-220000.jsonl", lines, tail)
    session, entry = load(path), row(path)
    assert entry.status is status
    for closely in (True, False):
        entry = glance(str(path), closely)
        assert (entry.status, entry.reason, entry.ok) == (
            session.status,
            session.reason,
            session.ok,
        )
        assert (entry.id, entry.task) == (session.id, session.meta.task or session.title)
        assert entry.started == session.started


def test_rows_and_whole_logs_agree_wherever_a_log_is_cut(tmp_path: Path) -> None:
    rng = random.Random(8)
    whole = b"".join([*build.healthy()[:-1], build.event("iteration", iteration=2), build.result()])
    path = tmp_path / "20261127-220000.jsonl"
    for _ in range(150):
        path.write_bytes(whole[: rng.randrange(1, len(whole) + 1)])
        try:
            session = load(path)
        except Exception as error:
            assert "no session log" in str(error)  # noqa: PT017 - a cut head is no log yet
            continue
        for closely in (True, False):
            entry = glance(str(path), closely)
            assert entry.status is session.status
            assert entry.ok == session.ok


def test_an_open_ending_says_what_it_was_in_the_middle_of(tmp_path: Path) -> None:
    path = build.log(
        tmp_path / "a.jsonl", [build.meta(), build.request("c", arguments='{"command":"make"}')]
    )
    assert row(path).stop == "in shell: make"


def test_a_lock_on_the_log_makes_it_running_and_looking_takes_none(tmp_path: Path) -> None:
    path = build.log(tmp_path / "a.jsonl", build.healthy()[:-1])
    holder = os.open(path, os.O_WRONLY)
    try:
        fcntl.flock(holder, fcntl.LOCK_EX)
        assert scan([str(tmp_path)])[0].status is Status.RUNNING
        fcntl.flock(holder, fcntl.LOCK_UN)
    finally:
        os.close(holder)
    assert scan([str(tmp_path)])[0].status is Status.UNFINISHED


def test_a_fork_was_changed_when_it_was_made_and_not_before(tmp_path: Path) -> None:
    path = build.log(tmp_path / build.CODEX_FILE, build.codex_healthy())
    head, *rest = path.read_bytes().splitlines(keepends=True)
    head = re.sub(rb'"timestamp":"\d{4}', b'"timestamp":"2031', head)
    path.write_bytes(b"".join([head, *rest]))
    for closely in (True, False):
        entry = glance(str(path), closely)
        assert entry.started.startswith("2031")
        assert entry.updated == entry.started


def test_a_line_of_many_times_was_written_at_its_latest(tmp_path: Path) -> None:
    reply = opencode_logs.answer(2, opencode_logs.tool(9), finish=None)
    said = [opencode_logs.user(1, "Go"), reply]
    for path in (opencode_logs.export(tmp_path / "a.json", said),
                 opencode_logs.database(tmp_path / "opencode.db", said)):  # fmt: skip
        (entry,) = scan([str(path)])
        times = [record.at for record in load(entry.path).records if record.at]
        assert entry.updated == max(times)
        assert entry.updated != times[-1]


def test_what_is_no_log_is_a_row_that_says_why(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "prose.jsonl").write_text("Dear diary,\n")
    (tmp_path / "other.jsonl").write_text('{"name": "package", "version": 1}\n')
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "dangling.jsonl").symlink_to(tmp_path / "gone")
    (tmp_path / "loop.jsonl").symlink_to(tmp_path / "loop.jsonl")
    build.log(tmp_path / "20261127-220000.jsonl", build.healthy())
    entries = {e.id: e for e in scan([str(tmp_path)])}
    assert entries["20261127-220000"].status is Status.COMPLETE
    for name in ("empty", "prose", "other", "pipe", "dangling", "loop"):
        assert entries[name].status is None
        assert entries[name].reason
        assert str(tmp_path) not in str(entries[name].reason)  # it stands beside the path
    assert "empty" in str(entries["empty"].reason)


def test_a_name_that_is_not_utf8_is_listed_like_any_other(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/\xff\xfe.jsonl"
    with open(path, "wb") as file:
        file.write(b"".join(build.healthy()))
    (entry,) = scan([str(tmp_path)])
    assert entry.status is Status.COMPLETE
    assert os.fsencode(entry.path) == path


def test_folders_inside_are_looked_into_and_links_to_folders_are_not(tmp_path: Path) -> None:
    build.log(tmp_path / "2026" / "11" / "27" / "deep.jsonl", build.healthy())
    (tmp_path / "2026" / "again").symlink_to(tmp_path)
    assert [e.id for e in scan([str(tmp_path)])] == ["deep"]


def test_looking_changes_nothing(tmp_path: Path) -> None:
    path = build.log(tmp_path / "a.jsonl", build.healthy(), b'{"kind"')
    os.utime(path, (1, 1))
    path.chmod(0o640)
    before = path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_mode
    scan([str(tmp_path)], closely=True)
    load(path)
    assert (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_mode) == before
    assert os.listdir(tmp_path) == ["a.jsonl"]


def test_a_long_damaged_last_line_with_its_line_feed_is_not_torn(tmp_path: Path) -> None:
    path = build.log(tmp_path / "a.jsonl", [build.meta(), b"x" * 20_000 + b"\n"])
    assert row(path).status is load(path).status is Status.UNFINISHED


def test_a_first_line_longer_than_what_is_read_at_first_is_still_known(tmp_path: Path) -> None:
    spaced = b'{"kind": "meta", "at": "", "meta": {"task": "' + b"x" * 100_000 + b'"}}\n'
    path = build.log(tmp_path / "a.jsonl", [spaced, build.message("user", "go")])
    assert row(path).status is Status.UNFINISHED
