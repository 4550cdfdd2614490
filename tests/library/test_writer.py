"""Writing a log: made exclusively, appended to by one writer, gone on with."""

from __future__ import annotations

import fcntl
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import build
import pytest
from disks import Failing, full, lines, says, texts

from sessionlog.errors import (
    LogInUse,
    NotPossible,
    SessionExists,
    SessionLogError,
    Unreadable,
    WriterClosed,
)
from sessionlog.life import Witness
from sessionlog.reader import load
from sessionlog.records import Activity, Event, Image, Message, Meta, Result, Status
from sessionlog.writer import Writer, create, reopen, start

NOW = datetime(2026, 11, 27, 22, 0, 0, tzinfo=UTC)
META = Meta(task="Fix it", model="m", provider="p", driver="d", workdir="/srv/app")
ROOT = str(Path(__file__).parents[2])


@pytest.fixture
def disk() -> Failing:
    return Failing()


@pytest.fixture
def writer(tmp_path: Path, disk: Failing) -> Iterator[Writer]:
    with create(tmp_path, "run", META, now=NOW, disk=disk.disk()) as made:
        yield made


def test_a_run_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    call = Activity("request", "c1", "shell", '{"command":"ls"}')
    answer = Activity("response", "c1", "shell", '{"command":"ls"}', {"Text": "a", "n": 2**70})
    with create(tmp_path, "run", META, now=NOW) as writer:
        writer.message(Message("user", "Begin."))
        writer.event(Event("iteration", iteration=1))
        writer.message(Message("activity", "", call))
        writer.message(Message("activity", "a", answer))
        writer.reset()
        writer.message(says("Done."))
        writer.result(Result("settled", "all done", iterations=3))
    session = load(writer.path, strict=True)
    assert session.meta == META._replace(id="run")
    assert [s.message.activity for s in session.history[1:3]] == [call, answer]
    assert [m.text for m in session.messages] == ["Done."]
    assert session.result == Result("settled", "all done", iterations=3)
    assert (session.status, session.ok) == (Status.COMPLETE, True)


def test_a_log_is_readable_in_mid_run(writer: Writer) -> None:
    writer.message(says("first"))
    session = load(writer.path)
    assert [m.text for m in session.messages] == ["first"]
    assert not session.truncated


@pytest.mark.skipif(not os.path.exists("/proc/locks"), reason="the system tells no holders")
def test_the_log_of_a_living_writer_is_running_and_unfinished_without_it(tmp_path: Path) -> None:
    writer = create(tmp_path, "run", META)
    assert load(writer.path).status is Status.RUNNING
    writer.close()
    assert load(writer.path).status is Status.UNFINISHED


# -- making a log ----------------------------------------------------------------------------


def test_a_taken_id_is_an_error_and_never_an_append(tmp_path: Path) -> None:
    create(tmp_path, "run", META).close()
    before = (tmp_path / "run.jsonl").read_bytes()
    with pytest.raises(SessionExists, match=r"run\.jsonl"):
        create(tmp_path, "run", META)
    assert (tmp_path / "run.jsonl").read_bytes() == before


def test_a_link_in_the_ids_place_is_taken_too(tmp_path: Path) -> None:
    (tmp_path / "run.jsonl").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SessionExists):
        create(tmp_path, "run", META)
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("id", ["../out", "a/b", "-x", ""])
def test_an_id_that_leads_out_of_the_folder_is_refused(tmp_path: Path, id: str) -> None:
    folder = tmp_path / "in"
    with pytest.raises(NotPossible, match="cannot be a session's id"):
        create(folder, id, META)
    assert os.listdir(tmp_path) == []


def test_runs_of_one_second_get_ids_of_their_own(tmp_path: Path) -> None:
    ids = []
    for _ in range(3):
        with start(tmp_path, META, NOW) as writer:
            ids.append(writer.id)
    assert ids == ["20261127-220000", "20261127-220000-2", "20261127-220000-3"]
    assert [load(tmp_path / f"{id}.jsonl").meta.id for id in ids] == ids


def test_after_a_hundred_tries_the_second_is_full(tmp_path: Path) -> None:
    for number in range(1, 101):
        suffix = f"-{number}" if number > 1 else ""
        (tmp_path / f"20261127-220000{suffix}.jsonl").touch()
    with pytest.raises(SessionExists, match="100 sessions"):
        start(tmp_path, META, NOW)


@pytest.mark.parametrize("below", ["", "sub", "sub/deeper"])
def test_a_folder_that_cannot_be_one_fails_at_once(tmp_path: Path, below: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NotPossible, match="cannot keep sessions here"):
        start(tmp_path / "file" / below, META, NOW)


def test_an_unknown_sync_policy_is_refused(tmp_path: Path) -> None:
    path = build.log(tmp_path / "old.jsonl", [build.meta()])
    with pytest.raises(NotPossible, match="one of state, record, turn, none"):
        create(tmp_path, "run", META, sync="always")
    with pytest.raises(NotPossible, match="one of state, record, turn, none"):
        reopen(path, sync="always")
    assert os.listdir(tmp_path) == ["old.jsonl"]


@pytest.mark.parametrize("call", ["write", "sync"])
def test_a_log_whose_meta_cannot_be_written_is_not_left_behind(
    tmp_path: Path, disk: Failing, call: str
) -> None:
    disk.fail[call] = full
    with pytest.raises(NotPossible, match="No space left"):
        create(tmp_path, "run", META, disk=disk.disk())
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o777])
def test_log_folder_and_pictures_are_their_owners_alone(tmp_path: Path, umask: int) -> None:
    old = os.umask(umask)
    try:
        with create(tmp_path / "new" / "logs", "run", META) as writer:
            writer.message(Message("attachment", images=(Image("image/png", data=b"x"),)))
    finally:
        os.umask(old)
    for path in [tmp_path / "new", *(tmp_path / "new").rglob("*")]:
        expected = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == expected, path


RACE = """
import sys, sessionlog.writer as w
sys.stdin.read()
try:
    w.create(sys.argv[1], "run", {"task": sys.argv[2]}).close(); print("won")
except w.SessionExists:
    print("lost")
"""


def test_of_processes_that_race_for_an_id_one_wins(tmp_path: Path) -> None:
    command = [sys.executable, "-c", RACE, str(tmp_path)]
    racers = [
        subprocess.Popen([*command, str(n)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         text=True, env={**os.environ, "PYTHONPATH": ROOT})
        for n in range(6)
    ]  # fmt: skip
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.close()
        racer.stdin = None
    words = [racer.communicate()[0].strip() for racer in racers]
    assert sorted(words) == ["lost"] * 5 + ["won"]
    assert load(tmp_path / "run.jsonl").meta.task == str(words.index("won"))


# -- closing, threads, locks -----------------------------------------------------------------


def test_a_write_after_close_fails_and_a_second_close_does_not(tmp_path: Path) -> None:
    writer = create(tmp_path, "run", META)
    writer.close()
    writer.close()
    with pytest.raises(WriterClosed, match="closed; start another log"):
        writer.message(says("late"))


def test_the_result_is_written_once_and_nothing_follows_it(writer: Writer) -> None:
    writer.result(Result("settled"))
    with pytest.raises(WriterClosed, match="the result is written"):
        writer.result(Result("failed"))
    with pytest.raises(WriterClosed):
        writer.event(Event("notice"))
    assert lines(writer.path)[-1]["result"]["reason"] == "settled"


def test_a_result_that_was_not_written_may_be_tried_again(writer: Writer, disk: Failing) -> None:
    disk.fail["write"] = full
    with pytest.raises(OSError, match="No space left"):
        writer.result(Result("settled"))
    disk.fail.clear()
    writer.result(Result("settled"))
    assert load(writer.path).complete


def test_threads_never_tear_each_others_lines_and_keep_their_order(tmp_path: Path) -> None:
    writer = create(tmp_path, "run", META, sync="none")

    def run(name: str) -> None:
        for n in range(50):
            writer.message(says(f"{name} {n} " + "x" * (n * 97)))
            writer.event(Event("notice", text=name))

    threads = [threading.Thread(target=run, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    writer.close()
    found = [text.split() for text in texts(writer.path)]
    for name in "abcd":
        assert [int(n) for who, n, *_ in found if who == name] == list(range(50))
    times = [body["at"] for body in lines(writer.path)]
    moments = [datetime.fromisoformat(at[:26].rstrip("Z") + "+00:00") for at in times]
    assert moments == sorted(moments)


def test_a_second_writer_is_refused_and_told_who_has_it(writer: Writer) -> None:
    who = f"pid {os.getpid()}" if os.path.exists("/proc/locks") else "locked"
    with pytest.raises(LogInUse, match=who):
        reopen(writer.path)
    writer.close()
    reopen(writer.path).close()


def test_a_viewer_that_holds_the_lock_for_a_moment_does_not_stop_a_writer(tmp_path: Path) -> None:
    # where looking has to take the lock, a writer meets it now and then
    path = build.log(tmp_path / "run.jsonl", [build.meta()])
    with open(path) as viewer:
        fcntl.flock(viewer, fcntl.LOCK_SH)
        leaving = threading.Timer(0.1, fcntl.flock, (viewer, fcntl.LOCK_UN))
        leaving.start()
        with reopen(path) as writer:
            writer.message(says("here"))
        leaving.join()
    assert texts(path) == ["here"]


# -- reopening -------------------------------------------------------------------------------


def test_a_torn_tail_is_sealed_before_anything_follows_it(tmp_path: Path) -> None:
    path = build.log(tmp_path / "run.jsonl", build.healthy()[:3], tail=b'{"kind":"mess')
    before = path.read_bytes()
    with reopen(path) as writer:
        writer.message(says("new"))
    data = path.read_bytes()
    assert data.startswith(before + b"\n")
    session = load(path)
    assert [d.span.offset for d in session.damages] == [len(before) - len(b'{"kind":"mess')]
    assert session.history[-1].message.text == "new"
    assert session.events[-1].kind == "sealed"
    assert not session.truncated


def test_a_last_record_without_its_line_feed_is_kept(tmp_path: Path) -> None:
    path = build.log(tmp_path / "run.jsonl", [build.meta()], build.message("bot", "old").rstrip())
    with reopen(path) as writer:
        writer.message(says("new"))
    assert texts(path) == ["old", "new"]


def test_a_log_that_ends_well_is_only_appended_to(tmp_path: Path) -> None:
    path = build.log(tmp_path / "run.jsonl", build.healthy()[:3])
    before = path.read_bytes()
    with reopen(path) as writer:
        assert path.read_bytes() == before
        writer.message(says("new"))
    assert path.read_bytes().startswith(before)
    assert len(lines(path)) == 4


def test_what_cannot_be_appended_to_is_refused_in_plain_words(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to(build.log(tmp_path / "a.jsonl", [build.meta()]))
    for name in ("fifo", "link", "gone", "."):
        with pytest.raises(Unreadable, match="cannot be appended to"):
            reopen(tmp_path / name)
    with pytest.raises(Unreadable, match="no regular file"):
        reopen("/dev/null")


def test_a_log_that_cannot_be_sealed_is_let_go(tmp_path: Path, disk: Failing) -> None:
    path = build.log(tmp_path / "run.jsonl", [build.meta()], tail=b"{")
    disk.fail["write"] = full
    with pytest.raises(NotPossible, match="No space left"):
        reopen(path, disk=disk.disk())
    assert Witness([str(path)]).writer(str(path), path.stat()) is None


def test_errors_are_one_line_with_the_place(tmp_path: Path) -> None:
    create(tmp_path, "run", META).close()
    makes: list[Callable[[], Writer]] = [
        lambda: create(tmp_path, "run", META),
        lambda: reopen(tmp_path),
        lambda: start(tmp_path / "run.jsonl", META),
    ]
    for make in makes:
        with pytest.raises(SessionLogError) as caught:
            make()
        assert str(tmp_path) in str(caught.value)
        assert "\n" not in str(caught.value)
