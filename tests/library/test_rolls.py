"""Lines that are written to a file of their own: they grow in it, or there is a new one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from sessionlog.errors import Unreadable
from sessionlog.records import Entry
from sessionlog.rolls import Kept, Rolls
from sessionlog.stores.base import Mark, Unended

LONG = b"x" * (3 << 20)


class Said:
    """A store that gives what it is told to; None breaks it."""

    many = False

    def __init__(self, *lines: bytes | None) -> None:
        self.said, self.times = lines, 0

    def say(self, *lines: bytes | None) -> None:
        self.said, self.times = lines, self.times + 1

    def keeps(self, path: str, head: bytes) -> bool:
        return True

    def sessions(self, path: str) -> list[str]:
        return []

    def lines(self, path: str, id: str) -> Iterator[bytes]:
        for line in self.said:
            if line is None:
                raise Unreadable("broken")
            yield line

    def mark(self, path: str, id: str) -> Mark:
        return (self.times,)

    def glimpse(self, path: str, id: str) -> Entry | None:
        return None


class Read:
    """The file of one session."""

    def __init__(self, *lines: bytes | None) -> None:
        self.store, self.rolls = Said(*lines), Rolls()

    def file(self) -> int:
        return self.rolls.fresh("a", Kept(self.store, "a", ""))

    def text(self) -> bytes:
        return os.pread(self.file(), 64 << 20, 0)


def test_lines_are_ended_and_pieces_are_not() -> None:
    assert Read(b"a", Unended(b"b"), Unended(b"c\nd")).text() == b"a\nbc\nd"
    assert Read(LONG, b"a", LONG, Unended(LONG)).text() == LONG + b"\na\n" + LONG + b"\n" + LONG
    assert Read().text() == b""


@pytest.mark.parametrize(
    "more", [(b"a", LONG, b"b", b"c"), (b"a", LONG, b"bc"), (b"a", LONG, b"b", LONG, LONG)]
)
def test_what_only_grows_stays_in_its_file(more: tuple[bytes, ...]) -> None:
    read = Read(b"a", LONG, Unended(b"b"))
    was = read.file()
    read.store.say(*more)
    assert read.file() == was
    assert read.text() == b"".join(line + b"\n" for line in more)


@pytest.mark.parametrize("less", [(), (b"a",), (b"a", LONG, b"c"), (b"b", LONG, b"b", b"c")])
def test_what_changed_or_became_less_is_in_another_file(less: tuple[bytes, ...]) -> None:
    read = Read(b"a", LONG, b"b")
    seen = os.fstat(read.file()).st_ino
    read.store.say(*less)
    assert read.text() == b"".join(line + b"\n" for line in less)
    assert os.fstat(read.file()).st_ino != seen


@pytest.mark.parametrize("begun", [(b"a", None), (b"b", None), (b"a", LONG, b"b", None)])
def test_lines_that_break_off_leave_what_was_there_and_no_file_open(
    begun: tuple[bytes | None, ...],
) -> None:
    read = Read(b"a", LONG)
    before = read.text()
    descriptors = os.listdir("/proc/self/fd")
    read.store.say(*begun)
    with pytest.raises(Unreadable):
        read.file()
    assert os.listdir("/proc/self/fd") == descriptors
    read.store.say(b"a", LONG)
    assert read.text() == before


def test_of_long_sessions_only_the_last_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sessionlog.rolls._ROOM", 7 << 20)
    rolls, stores = Rolls(), [Said(LONG) for _ in range(3)]
    for n, store in enumerate(stores):
        rolls.fresh(str(n), Kept(store, "a", ""))
    assert list(rolls._rolls) == ["1", "2"]


def test_without_files_that_have_no_name_none_is_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "memfd_create")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    read = Read(b"a")
    read.file()
    read.store.say(b"b")
    assert read.text() == b"b\n"
    assert len(os.listdir(tmp_path)) == 1
