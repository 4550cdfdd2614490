"""Evidence that a writer lives, seen without touching the log."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sessionlog.life import Witness, lock_holder

linux = pytest.mark.skipif(not os.path.exists("/proc/locks"), reason="the system tells no holders")

HOLD = """
import fcntl, os, sys
fd = os.open(sys.argv[1], os.O_RDONLY if "read" in sys.argv else os.O_WRONLY | os.O_APPEND)
if "lock" in sys.argv: fcntl.flock(fd, fcntl.LOCK_EX)
if "shared" in sys.argv: fcntl.flock(fd, fcntl.LOCK_SH)
print("ready", flush=True)
sys.stdin.read()
"""


@contextmanager
def holder(path: Path, *how: str) -> Iterator[int]:
    """Another process that has the log open, until the block ends."""
    command = [sys.executable, "-c", HOLD, str(path), *how]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        yield process.pid
        process.communicate()


def made(folder: Path, name: str = "a.jsonl") -> Path:
    path = folder / name
    path.write_bytes(b"{}\n")
    return path


def seen(path: Path, witness: Witness | None = None) -> str | None:
    return (witness or Witness([str(path)])).writer(str(path), path.stat())


def fake_proc(folder: Path, locks: str) -> str:
    proc = folder / "proc"
    proc.mkdir()
    (proc / "locks").write_text(locks)
    return str(proc)


def place(path: Path) -> str:
    """Device and inode as /proc/locks writes them."""
    stat = path.stat()
    return f"{os.major(stat.st_dev):02x}:{os.minor(stat.st_dev):02x}:{stat.st_ino}"


def test_a_log_that_nobody_has_open_has_no_writer(tmp_path: Path) -> None:
    assert seen(made(tmp_path)) is None


@linux
def test_a_locked_log_names_its_holder(tmp_path: Path) -> None:
    path = made(tmp_path)
    with holder(path, "lock") as pid:
        assert seen(path) == f"locked by pid {pid}"
        assert lock_holder(path.stat()) == f"locked by pid {pid}"
    assert seen(path) is None
    assert lock_holder(path.stat()) is None


@linux
def test_looking_never_takes_the_lock(tmp_path: Path) -> None:
    path = made(tmp_path)
    with open(path) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        before = (path.stat().st_mtime_ns, path.stat().st_mode)
        assert seen(path) == f"locked by pid {os.getpid()}"
        assert (path.stat().st_mtime_ns, path.stat().st_mode) == before


@linux
def test_a_process_that_has_the_log_open_for_writing_is_evidence(tmp_path: Path) -> None:
    path = made(tmp_path)
    with holder(path) as pid:
        assert seen(path) == f"open for writing in pid {pid}"


@linux
def test_readers_and_shared_locks_are_no_evidence(tmp_path: Path) -> None:
    path = made(tmp_path)
    with holder(path, "read"), holder(path, "read", "shared"), open(path):
        assert seen(path) is None


@linux
def test_a_log_is_known_by_a_link_too(tmp_path: Path) -> None:
    path, link = made(tmp_path), tmp_path / "link.jsonl"
    link.symlink_to(path)
    with holder(path) as pid:
        assert seen(link) == f"open for writing in pid {pid}"


@linux
def test_a_log_that_was_replaced_is_not_its_old_writers(tmp_path: Path) -> None:
    path = made(tmp_path)
    with holder(path):
        path.rename(tmp_path / "old.jsonl")
        made(tmp_path)
        assert seen(path) is None


@linux
def test_a_file_of_the_same_name_elsewhere_is_another_one(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    path = made(tmp_path)
    with holder(made(other)):
        assert seen(path) is None


@linux
def test_one_look_answers_for_many(tmp_path: Path) -> None:
    paths = [made(tmp_path, f"{i}.jsonl") for i in range(5)]
    with holder(paths[1]) as one, holder(paths[3], "lock") as two:
        witness = Witness(map(str, paths))
        assert [seen(path, witness) for path in paths] == [
            None, f"open for writing in pid {one}", None, f"locked by pid {two}", None
        ]  # fmt: skip


def test_a_holder_out_of_sight_is_one_all_the_same(tmp_path: Path) -> None:
    path = made(tmp_path)
    proc = fake_proc(tmp_path, f"1: FLOCK  ADVISORY  WRITE 0 {place(path)} 0 EOF\n")
    assert Witness([str(path)], proc).writer(str(path), path.stat()) == (
        "locked by a process out of sight"
    )


@pytest.mark.parametrize(
    "line",
    ["1: FLOCK  ADVISORY  READ 77 {} 0 EOF", "1: -> FLOCK  ADVISORY  WRITE 77 {} 0 EOF",
     "1: LEASE ACTIVE", "", "1: FLOCK ADVISORY WRITE 77 zz:00:1 0 EOF", "\xff {} "],
)  # fmt: skip
def test_lines_of_the_table_that_are_no_write_lock_do_not_count(tmp_path: Path, line: str) -> None:
    path = made(tmp_path)
    proc = fake_proc(tmp_path, line.format(place(path)) + "\n")
    assert Witness([str(path)], proc).writer(str(path), path.stat()) is None


def test_where_the_system_tells_nothing_a_lock_is_tried_and_given_back(tmp_path: Path) -> None:
    path, nowhere = made(tmp_path), str(tmp_path / "no-proc")
    witness = Witness([str(path)], nowhere)
    assert witness.writer(str(path), path.stat()) is None
    with open(path) as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # the look left no lock behind
        assert witness.writer(str(path), path.stat()) == "locked by its writer"
    assert lock_holder(path.stat(), nowhere) is None


def test_a_log_that_is_gone_or_a_fifo_has_no_writer(tmp_path: Path) -> None:
    path, fifo = made(tmp_path), tmp_path / "fifo"
    stat = path.stat()
    path.unlink()
    os.mkfifo(fifo)
    witness = Witness([str(path), str(fifo)], str(tmp_path / "no-proc"))
    assert witness.writer(str(path), stat) is None
    assert witness.writer(str(fifo), fifo.stat()) is None
