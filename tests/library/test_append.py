"""What holds when the disk is full, fails to sync, or a write is interrupted."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import build
import pytest
from disks import Failing, broken, full, lines, says, texts

from sessionlog.errors import LogInUse
from sessionlog.reader import load
from sessionlog.records import Event, Message, Meta, Result
from sessionlog.writer import SYNCS, Writer, create, reopen

NOW = datetime(2026, 11, 27, 22, 0, 0, tzinfo=UTC)
META = Meta(task="Fix it", model="m", provider="p", driver="d", workdir="/srv/app")


@pytest.fixture
def disk() -> Failing:
    return Failing()


@pytest.fixture
def writer(tmp_path: Path, disk: Failing) -> Iterator[Writer]:
    with create(tmp_path, "run", META, now=NOW, disk=disk.disk()) as made:
        yield made


def test_a_short_write_is_finished(writer: Writer, disk: Failing) -> None:
    disk.fail["write"] = lambda turn: 5 if turn % 3 else None
    writer.message(says("in pieces"))
    writer.message(says("again"))
    assert texts(writer.path) == ["in pieces", "again"]


@pytest.mark.parametrize("written", [0, 1, 40])
def test_what_a_full_disk_left_of_a_record_is_taken_back(
    writer: Writer, disk: Failing, written: int
) -> None:
    writer.message(says("before"))
    data = Path(writer.path).read_bytes()
    start = disk.turns["write"]
    disk.fail["write"] = lambda turn: written if turn == start + 1 and written else full()
    with pytest.raises(OSError, match="No space left") as caught:
        writer.message(says("lost"))
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, writer.path)
    assert Path(writer.path).read_bytes() == data
    disk.fail.clear()
    writer.message(says("after"))
    assert texts(writer.path) == ["before", "after"]


def test_where_it_cannot_be_taken_back_it_is_sealed(writer: Writer, disk: Failing) -> None:
    start = disk.turns["write"]
    disk.fail["write"] = lambda turn: 9 if turn == start + 1 else full()
    disk.fail["truncate"] = broken
    with pytest.raises(OSError, match="No space left"):
        writer.message(says("lost"))
    with pytest.raises(OSError, match="No space left"):
        writer.message(says("lost too"))
    disk.fail.clear()
    writer.message(says("after"))
    writer.message(says("on"))
    session = load(writer.path)
    assert [m.text for m in session.messages] == ["after", "on"]
    assert [(d.span.length, d.why) for d in session.damages] == [(9, "not JSON")]


def test_what_another_program_appended_is_never_cut_off(writer: Writer, disk: Failing) -> None:
    writer.message(says("ours"))
    foreign = build.message("bot", "not ours")

    def meanwhile(turn: int) -> OSError:
        with open(writer.path, "ab") as file:
            file.write(foreign)
        return full()

    disk.fail["write"] = meanwhile
    with pytest.raises(OSError, match="No space left"):
        writer.message(says("lost"))
    disk.fail.clear()
    writer.message(says("after"))
    messages = load(writer.path, strict=True).messages
    assert [m.text for m in messages] == ["ours", "not ours", "after"]


def test_a_record_whose_sync_failed_is_not_acknowledged_and_not_there(
    writer: Writer, disk: Failing
) -> None:
    writer.message(says("before"))
    disk.fail["sync"] = broken
    with pytest.raises(OSError, match="Input/output error"):
        writer.message(says("lost"))
    assert texts(writer.path) == ["before"]


def test_after_a_failed_sync_nothing_is_acknowledged_until_all_is_synced_anew(
    writer: Writer, disk: Failing
) -> None:
    before = Path(writer.path).stat().st_size
    writer.event(Event("notice", text="not synced yet"))
    end = Path(writer.path).stat().st_size
    disk.fail["sync"] = broken
    for _ in range(2):
        with pytest.raises(OSError, match="Input/output error"):
            writer.message(says("lost"))
    with pytest.raises(OSError, match="Input/output error"):
        writer.event(Event("notice"))  # would not need a sync itself
    with open(writer.path, "r+b") as file:  # the pages that could not be written are forgotten
        file.seek(before)
        file.write(bytes(end - before))
    disk.fail.clear()
    synced = disk.turns["sync"]
    writer.event(Event("notice", text="after"))
    assert disk.turns["sync"] == synced + 1
    writer.message(says("on"))
    found = [body.get("event", body.get("message", {})).get("text") for body in lines(writer.path)]
    assert found == [None, "not synced yet", "after", "on"]


def test_the_lock_is_held_through_a_new_descriptor(writer: Writer, disk: Failing) -> None:
    for _ in range(2):
        disk.fail["sync"] = broken
        with pytest.raises(OSError, match="Input/output error"):
            writer.message(says("lost"))
        disk.fail.clear()
        writer.message(says("after"))
        with pytest.raises(LogInUse):
            reopen(writer.path)
    writer.close()
    reopen(writer.path).close()
    assert texts(writer.path) == ["after", "after"]


def test_a_new_descriptor_appends_behind_what_others_wrote(writer: Writer, disk: Failing) -> None:
    disk.fail["sync"] = broken
    with pytest.raises(OSError, match="Input/output error"):
        writer.message(says("lost"))
    disk.fail.clear()
    writer.message(says("ours"))
    with open(writer.path, "ab") as file:
        file.write(build.message("bot", "not ours"))
    writer.message(says("ours again"))
    assert texts(writer.path) == ["ours", "not ours", "ours again"]


def test_a_log_that_was_replaced_is_not_written_to(writer: Writer, disk: Failing) -> None:
    disk.fail["sync"] = broken
    with pytest.raises(OSError, match="Input/output error"):
        writer.message(says("lost"))
    disk.fail.clear()
    Path(writer.path).rename(writer.path + ".old")
    Path(writer.path).write_bytes(b"somebody else's\n")
    with pytest.raises(OSError, match="another file stands in the log's place"):
        writer.message(says("lost"))
    assert Path(writer.path).read_bytes() == b"somebody else's\n"


def test_an_interrupt_in_mid_write_leaves_no_half_line(writer: Writer, disk: Failing) -> None:
    def interrupted(turn: int) -> int:
        if turn % 2:
            raise KeyboardInterrupt
        return 7

    disk.turns["write"] = 1
    disk.fail["write"] = interrupted
    with pytest.raises(KeyboardInterrupt):
        writer.message(says("lost"))
    disk.fail.clear()
    writer.message(says("after"))
    assert texts(writer.path) == ["after"]


@pytest.mark.parametrize(
    ("sync", "synced"),
    [("state", "meta user bot reset result"), ("record", "meta user bot event reset result"),
     ("turn", "meta user reset result"), ("none", "")],
)  # fmt: skip
def test_each_policy_syncs_what_it_says(
    tmp_path: Path, disk: Failing, sync: str, synced: str
) -> None:
    found = []

    def do(name: str, write: Callable[[], object]) -> None:
        before = disk.turns["sync"]
        write()
        found.extend([name] * (disk.turns["sync"] - before))

    made: list[Writer] = []
    do("meta", lambda: made.append(create(tmp_path, "run", META, sync=sync, disk=disk.disk())))
    writer = made[0]
    do("user", lambda: writer.message(Message("user", "x")))
    do("bot", lambda: writer.message(says("x")))
    do("event", lambda: writer.event(Event("notice")))
    do("reset", writer.reset)
    do("result", lambda: writer.result(Result("stop")))
    do("close", writer.close)
    assert " ".join(found) == synced
    assert sync in SYNCS


def test_what_is_not_synced_yet_is_when_the_log_is_closed(writer: Writer, disk: Failing) -> None:
    writer.event(Event("notice"))
    before = disk.turns["sync"]
    writer.close()
    assert disk.turns["sync"] == before + 1


def test_a_last_sync_that_fails_is_told_and_the_log_is_let_go(
    tmp_path: Path, disk: Failing
) -> None:
    writer = create(tmp_path, "run", META, disk=disk.disk())
    writer.event(Event("notice"))
    disk.fail["sync"] = broken
    with pytest.raises(OSError, match="Input/output error"):
        writer.close()
    writer.close()
    reopen(writer.path).close()


def test_what_is_held_is_written_at_once_and_synced_once(writer: Writer, disk: Failing) -> None:
    synced = disk.turns["sync"]
    writer.hold()
    for n in range(9):
        writer.message(says(str(n)))
        assert texts(writer.path)[-1] == str(n)
    assert disk.turns["sync"] == synced
    writer.release()
    assert disk.turns["sync"] == synced + 1
    writer.hold()
    writer.event(Event("notice"))  # needs no sync
    writer.release()
    assert disk.turns["sync"] == synced + 1


def test_what_was_held_and_failed_to_sync_is_written_anew(writer: Writer, disk: Failing) -> None:
    writer.hold()
    writer.message(says("a"))
    writer.message(says("b"))
    disk.fail["sync"] = broken
    with pytest.raises(OSError, match=writer.path):
        writer.release()
    disk.fail.clear()
    written = disk.turns["write"]
    writer.message(says("c"))
    assert disk.turns["write"] > written + 1
    assert texts(writer.path) == ["a", "b", "c"]
