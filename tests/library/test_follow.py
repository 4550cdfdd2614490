"""Folders as they change."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import build

from sessionlog.follow import Changes, Folder, Hints, changes


def touched(path: Path, data: bytes = b"more\n") -> None:
    with path.open("ab") as file:
        file.write(data)


def test_the_first_look_finds_everything(tmp_path: Path) -> None:
    one = build.log(tmp_path / "a" / "one.jsonl", build.healthy())
    build.log(tmp_path / "a" / "not-a-log.txt", build.healthy())
    assert Folder([str(tmp_path)]).look() == Changes(new=(str(one),))


def test_growth_replacement_and_deletion_are_told_apart(tmp_path: Path) -> None:
    grown, replaced, deleted, same = (
        build.log(tmp_path / f"{name}.jsonl", build.healthy()) for name in "abcd"
    )
    folder = Folder([str(tmp_path)])
    folder.look()
    touched(grown)
    other = build.log(tmp_path / "other", build.healthy())
    seen = replaced.stat()
    os.utime(other, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    os.replace(other, replaced)  # the same bytes, the same time: another inode
    deleted.unlink()
    found = folder.look()
    assert sorted(found.changed) == [str(grown), str(replaced)]
    assert found.gone == (str(deleted),)
    assert found.new == ()
    assert str(same) not in (*found.changed, *found.gone)
    assert not folder.look()


def test_a_log_that_may_be_read_now_or_was_written_over_in_its_old_time_is_told_of(
    tmp_path: Path,
) -> None:
    readable, rewritten = (build.log(tmp_path / f"{n}.jsonl", build.healthy()) for n in "ab")
    readable.chmod(0o000)
    folder = Folder([str(tmp_path)])
    folder.look()
    readable.chmod(0o600)
    seen = rewritten.stat()
    rewritten.write_bytes(rewritten.read_bytes().replace(b"Begin", b"Ended"))
    os.utime(rewritten, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    assert sorted(folder.look().changed) == [str(readable), str(rewritten)]


def test_a_hint_is_looked_at_alone(tmp_path: Path) -> None:
    one, two = (build.log(tmp_path / f"{name}.jsonl", build.healthy()) for name in "ab")
    folder = Folder([str(tmp_path)])
    folder.look()
    touched(one)
    touched(two)
    new = build.log(tmp_path / "c.jsonl", build.healthy())
    assert folder.look_at([str(one), str(new)]) == Changes((str(new),), (str(one),))
    assert folder.look() == Changes(changed=(str(two),))


def test_a_hint_about_what_is_outside_the_folders_adds_nothing(tmp_path: Path) -> None:
    # subagents' logs stand below, but are no sessions of their own
    build.log(tmp_path / "a.jsonl", build.healthy())
    side = build.log(tmp_path / "subagents" / "b.jsonl", build.healthy())
    folder = Folder([str(tmp_path)])
    folder.look()
    assert not folder.look_at([str(side)])
    assert not folder.look_at([str(side)])
    assert not folder.look()


def test_a_hint_about_a_new_folder_has_it_looked_into(tmp_path: Path) -> None:
    folder = Folder([str(tmp_path)])
    folder.look()
    new = build.log(tmp_path / "project" / "a.jsonl", build.healthy())
    assert folder.look_at([str(tmp_path / "project")]).new == (str(new),)


def test_a_log_named_by_itself_is_followed(tmp_path: Path) -> None:
    path = build.log(tmp_path / "a.jsonl", build.healthy())
    folder = Folder([str(path)])
    assert folder.look().new == (str(path),)
    touched(path)
    assert folder.look().changed == (str(path),)


def test_names_that_are_no_utf_8_are_logs_too(tmp_path: Path) -> None:
    raw = os.fsencode(tmp_path) + b"/a\xff.jsonl"
    with open(raw, "wb") as file:
        file.writelines(build.healthy())
    folder = Folder([str(tmp_path)])
    assert folder.look().new == (os.fsdecode(raw),)


class Silent(Hints):
    """No events at all, as on a network mount; and a clock that moves when one waits."""

    def __init__(self, clock: list[float]) -> None:
        super().__init__([])
        self._clock = clock

    def wait(self, seconds: float) -> list[str]:
        self._clock[0] += seconds
        return []


def following(folder: Folder, clock: list[float]) -> Iterator[Changes]:
    return changes(folder, Silent(clock), lambda: False, clock=lambda: clock[0])


def test_without_events_the_clock_finds_everything(tmp_path: Path) -> None:
    path = build.log(tmp_path / "a.jsonl", build.healthy())
    folder = Folder([str(tmp_path)])
    folder.look()
    clock = [0.0]
    told = following(folder, clock)
    touched(path)
    found = next(change for change in told if change)
    assert found.changed == (str(path),)
    assert clock[0] <= 0.75


def test_looking_at_everything_is_rare_where_it_is_slow(tmp_path: Path) -> None:
    looks = []

    class Slow(Folder):
        def look(self) -> Changes:
            looks.append(clock[0])
            clock[0] += 0.1  # a look takes a tenth of a second
            return super().look()

    clock = [0.0]
    told = following(Slow([str(tmp_path)]), clock)
    for _ in range(400):
        next(told)
    assert clock[0] / len(looks) >= 20


def test_it_ends_when_it_is_told_to(tmp_path: Path) -> None:
    stop = iter([False, True])
    told = changes(Folder([str(tmp_path)]), Silent([0.0]), lambda: next(stop), clock=lambda: 0.0)
    assert list(told) == []


def test_events_come_as_hints_and_a_name_that_is_no_utf_8_ends_them_with_a_word(
    tmp_path: Path,
) -> None:
    hints = Hints([str(tmp_path)])
    hints.start()
    try:
        path = tmp_path / "a.jsonl"
        found: list[str] = []
        for n in range(100):  # the watch may not be up yet at the first
            touched(path, b"%d\n" % n)
            found = hints.wait(0.1)
            if found:
                break
        assert str(path) in found
        for n in range(100):
            touched(Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff%d.jsonl" % n)))
            hints.wait(0.1)
            if hints.problem:
                break
        assert "not UTF-8" in hints.problem
    finally:
        hints.stop()
