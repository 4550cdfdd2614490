"""How files stand against a transcript: one verdict each, by the strongest evidence."""

from __future__ import annotations

import hashlib
import json
import os
import socket
from pathlib import Path
from typing import Any

import build
import pytest
from scripted import Scripted, stamp

from sessionlog.reader import load
from sessionlog.records import moment
from sessionlog.repository import Repository
from sessionlog.session import Session
from sessionlog.stale import MOST, FileNow, Look, Staleness, look, note_of, stale

LATER = 9000.0


@pytest.fixture
def run(tmp_path: Path) -> Scripted:
    return Scripted("native", tmp_path / "work")


def only(session: Session) -> FileNow:
    [file] = stale(session).files
    return file


def put(run: Scripted, name: str, text: str, seconds: float = -100) -> Path:
    path = run.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    stamp(path, seconds)
    return path


def test_a_file_as_it_was_read_is_unchanged_whatever_its_time(run: Scripted) -> None:
    path = put(run, "src/a.py", "one\ntwo\n")
    run.read("src/a.py")
    stamp(path, LATER)
    file = only(run.session())
    assert (file.how, file.by, file.shown, file.path) == (
        "unchanged", "content", "src/a.py", str(path),
    )  # fmt: skip
    assert (file.since, file.n, file.wrote) == (build.at(6), 2, False)
    when = moment(file.changed_at)
    assert when is not None
    assert when.timestamp() == build.START.timestamp() + LATER


def test_a_change_is_seen_by_content_even_where_the_time_was_kept(run: Scripted) -> None:
    path = put(run, "a.py", "one\ntwo\n")
    run.read("a.py")
    path.write_text("one\nsix\n")
    stamp(path, -100)
    assert (only(run.session()).how, only(run.session()).by) == ("changed", "content")


def test_a_line_that_an_edit_brought_has_to_stand_there_still(run: Scripted) -> None:
    path = put(run, "a.py", "one\ntwo\n")
    run.edit("a.py", "two", "2")
    assert (only(run.session()).how, only(run.session()).by) == ("unchanged", "time")
    path.write_text("one\ntwo\n")
    stamp(path, 0)
    assert (only(run.session()).how, only(run.session()).by) == ("changed", "content")


def test_without_content_the_time_decides_with_room_for_the_own_write(run: Scripted) -> None:
    path = put(run, "a.py", "one\n")
    run.shell("sed -i s/one/1/ a.py")
    seen = moment(only(run.session()).since)
    assert seen is not None
    late = seen.timestamp() - build.START.timestamp()
    for seconds, how in ((late + 1.5, "unchanged"), (late + 2.5, "changed")):
        stamp(path, seconds)
        assert (only(run.session()).how, only(run.session()).by) == (how, "time")


def test_a_log_without_times_cannot_tell_and_says_changed(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("x")
    calls = [build.chat_call("c1", "shell", json.dumps({"command": f"sed -i s/x/x/ {path}"}))]
    lines = [
        build.line({"role": "user", "content": "go"}),
        build.line({"role": "assistant", "content": "", "tool_calls": calls}),
        build.line({"role": "tool", "tool_call_id": "c1", "content": "done"}),
    ]
    file = only(load(build.log(tmp_path / "chat.jsonl", lines)))
    assert (file.how, file.by, file.since) == ("changed", "time", "")
    assert "does not say when" in file.why


def test_a_deleted_file_and_a_new_one(run: Scripted) -> None:
    path = put(run, "a.py", "one\n")
    run.read("a.py")
    run.read("none.py")
    path.unlink()
    (run.folder / "none.py").write_text("x")
    files = {file.shown: file for file in stale(run.session()).files}
    assert {name: file.how for name, file in files.items()} == {"a.py": "deleted", "none.py": "new"}
    assert files["a.py"].changed_at == ""


def test_what_the_run_deleted_is_unchanged_while_it_is_gone(run: Scripted) -> None:
    path = put(run, "a.py", "one\n")
    run.remove("a.py")
    assert only(run.session()).how == "unchanged"
    path.write_text("back\n")
    assert only(run.session()).how == "new"


def test_a_printed_hash_tells(run: Scripted) -> None:
    path = put(run, "a.bin", "one")
    run.shell("sha256sum a.bin")
    stamp(path, LATER)
    assert (only(run.session()).how, only(run.session()).by) == ("unchanged", "hash")
    path.write_text("two")
    assert (only(run.session()).how, only(run.session()).by) == ("changed", "hash")


def test_a_picture_is_known_by_its_digest(tmp_path: Path) -> None:
    path = tmp_path / "work" / "shot.png"
    path.parent.mkdir()
    path.write_bytes(b"\x89PNG\0\xff")
    digest = "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest()
    asked = json.dumps({"path": str(path)})
    half = {"kind": "response", "id": "c1", "name": "view", "arguments": asked, "result": "ok"}
    images = [{"mediaType": "image/png", "digest": digest}]
    lines = [
        build.meta(workdir=str(path.parent)), build.request("c1", "view", asked),
        build.message("activity", "ok", 3, activity=half, images=images),
    ]  # fmt: skip
    session = load(build.log(tmp_path / "20261127-220000.jsonl", lines))
    assert (only(session).how, only(session).by) == ("unchanged", "hash")
    path.write_bytes(b"\x89PNG\0\xfe")
    assert (only(session).how, only(session).by) == ("changed", "time")


@pytest.mark.parametrize(
    ("agent", "text", "now", "how"),
    [
        ("claude", "one\r\ntwo\r\n", "one\r\ntwo\r\n", "unchanged"),
        ("claude", "one\ntwo\n", "one\ntwo", "changed"),
        ("claude", "one\ntwo", "one\ntwo\n\n", "changed"),
        ("claude-1.0", "one\ntwo\n", "one\ntwo\n", "unchanged"),
        ("claude-1.0", "one\ntwo", "one\ntwo\n", "unchanged"),
        ("claude-1.0", "one\ntwo\n", "one\ntwo\n\n\n", "changed"),
        ("pi", "one\ntwo\n", "one\r\ntwo\r\n", "changed"),
        ("codex", "one\ntwo\n", "one\ntwo\n\n", "changed"),
        ("native", "one\ntwo\n", "one\ntwo\n\n", "changed"),
        ("native", "", "", "unchanged"),
    ],
)
def test_line_ends_are_let_pass_only_where_the_display_hides_them(
    agent: str, text: str, now: str, how: str, tmp_path: Path
) -> None:
    run = Scripted(agent, tmp_path / "work")
    path = put(run, "a.py", text)
    run.read("a.py")
    path.write_bytes(now.encode())
    stamp(path, LATER)
    assert (only(run.session()).how, only(run.session()).by) == (how, "content")


@pytest.mark.parametrize("agent", ["native", "claude", "pi"])
def test_what_was_written_is_compared_to_the_byte(agent: str, tmp_path: Path) -> None:
    run = Scripted(agent, tmp_path / "work")
    run.write("a.py", "one\ntwo\n")
    assert (only(run.session()).how, only(run.session()).by) == ("unchanged", "content")
    for text in ("one\r\ntwo\r\n", "one\ntwo", "one\ntwo\n\n", "\ufeffone\ntwo\n"):
        (run.folder / "a.py").write_bytes(text.encode())
        assert (only(run.session()).how, only(run.session()).by) == ("changed", "content")


def test_files_that_the_kernel_makes_up_are_not_read() -> None:
    if os.path.exists("/proc/self/environ"):
        seen = look("/proc/self/environ")
        assert (seen.kind, seen.data) == ("other", None)


def test_a_frame_that_a_tool_put_around_a_text_is_no_change(tmp_path: Path) -> None:
    path = tmp_path / "work" / "a.py"
    path.parent.mkdir()
    path.write_text("one\ntwo\n")
    stamp(path, -100)
    asked = json.dumps({"path": str(path)})
    lines = [
        build.meta(workdir=str(path.parent)), build.request("c1", "read", asked),
        build.response("c1", "read", asked, "File: a.py\n---\none\ntwo\n"),
    ]  # fmt: skip
    session = load(build.log(tmp_path / "20261127-220000.jsonl", lines))
    assert (only(session).how, only(session).by) == ("unchanged", "time")
    stamp(path, LATER)
    assert (only(session).how, only(session).by) == ("changed", "time")


def test_what_is_no_regular_file_is_never_opened(run: Scripted) -> None:
    kinds = ("fifo", "socket", "folder", "link", "loop", "kernel", "big")
    for name in kinds:
        put(run, name, "one\n")
        run.read(name)
        (run.folder / name).unlink()
    os.mkfifo(run.folder / "fifo")
    door = socket.socket(socket.AF_UNIX)
    door.bind(str(run.folder / "socket"))
    (run.folder / "folder").mkdir()
    put(run, "aim", "one\n")
    (run.folder / "link").symlink_to("aim")
    (run.folder / "loop").symlink_to("loop")
    (run.folder / "kernel").symlink_to("/proc/self/environ")
    with open(run.folder / "big", "wb") as big:
        big.truncate(MOST + 1)
    files = {file.shown: file for file in stale(run.session()).files}
    door.close()
    assert {name: (file.how, file.by) for name, file in files.items()} == {
        "fifo": ("changed", "content"), "socket": ("changed", "content"),
        "folder": ("changed", "content"), "link": ("unchanged", "content"),
        "loop": ("changed", "time"), "kernel": ("changed", "content"), "big": ("changed", "time"),
    }  # fmt: skip
    assert files["folder"].why == "a folder stands there"
    assert "cannot be looked at" in files["loop"].why


def test_a_file_that_cannot_be_read_is_judged_by_its_time(run: Scripted) -> None:
    put(run, "a.py", "one\n")
    run.read("a.py")

    def door(path: str, content: bool) -> Look:
        seen = look(path, content)
        return (
            seen._replace(data=None, why="cannot be read: Permission denied") if content else seen
        )

    [file] = stale(run.session(), look=door).files
    assert (file.how, file.by, file.why) == (
        "unchanged", "time", "cannot be read: Permission denied",
    )  # fmt: skip


def test_each_file_is_looked_at_once_and_read_only_where_that_tells(run: Scripted) -> None:
    for name in ("a.py", "b.py"):
        put(run, name, "one\n")
        run.read(name)
    run.shell("sed -i s/one/1/ b.py")
    run.edit("a.py", "one", "two")
    looked: list[tuple[str, bool]] = []

    def door(path: str, content: bool) -> Look:
        looked.append((os.path.basename(path), content))
        return look(path, content)

    stale(run.session(), look=door)
    assert sorted(looked) == [("a.py", True), ("b.py", False), ("work", False)]


def test_a_listed_folder_is_no_file(run: Scripted) -> None:
    (run.folder / "src").mkdir()
    run._call("read", {"path": str(run.folder / "src")}, "a.py\n", failed=False)
    (run.folder / "out").mkdir()
    run.shell("rm -rf out; mkdir out")
    assert stale(run.session()).files == ()


def test_a_missing_work_folder_is_said_once(run: Scripted, tmp_path: Path) -> None:
    for name in ("a.py", "src/b.py"):
        put(run, name, "one\n")
        run.read(name)
    session = run.session()
    run.folder.rename(tmp_path / "moved")
    found = stale(session)
    [file] = found.files
    assert (file.path, file.how, found.lost) == (str(run.folder), "deleted", 2)
    assert note_of(found) == [f"The folder {run.folder} is gone, and with it 2 files you knew."]


def test_only_what_an_earlier_message_knew_counts(run: Scripted) -> None:
    put(run, "a.py", "one\n")
    run.read("a.py")
    run.edit("a.py", "one", "two")
    session = run.session()
    assert [file.how for file in stale(session).files] == ["unchanged"]
    assert [file.how for file in stale(session, at=3).files] == ["changed"]


def test_no_file_is_written_to_or_made(run: Scripted) -> None:
    put(run, "a.py", "one\n")
    run.read("a.py")
    session = run.session()
    before = {p: (p.stat().st_mtime_ns, p.stat().st_mode) for p in run.folder.rglob("*")}
    stale(session)
    assert {p: (p.stat().st_mtime_ns, p.stat().st_mode) for p in run.folder.rglob("*")} == before


def file(name: str, how: Any, **more: Any) -> FileNow:
    return FileNow(f"/w/{name}", name, how, "", "", "content", 1, False, **more)


def test_the_note_names_twenty_files_and_counts_the_rest() -> None:
    files = tuple(file(f"f{i}.py", "changed") for i in range(23))
    more = (file("gone.py", "deleted"), file("new.py", "new"), file("same.py", "unchanged"))
    lines = note_of(Staleness((*files, *more)))
    assert lines[0].startswith("These files changed since you last saw them")
    assert lines[1] == "- f0.py"
    assert lines[20:] == [
        "- f19.py", "- and 3 more", "These files are there now and were not when you looked:",
        "- new.py", "1 file is gone:", "- gone.py",
    ]  # fmt: skip


def test_the_note_says_in_one_line_that_nothing_changed() -> None:
    same = Repository("main", "abc1234")
    there = same._replace(uncommitted=3)
    files = tuple(file(f"f{i}.py", "unchanged") for i in range(8))
    told = "None of the 8 files that you knew has changed since."
    assert note_of(Staleness(files, same, there)) == [told]
    assert note_of(Staleness(files[:1])) == ["The one file that you knew has not changed since."]
    assert note_of(Staleness((), same, there)) == []
    assert told not in note_of(Staleness((*files, file("a.py", "changed"))))
    [line, moved] = note_of(Staleness(files, same, same._replace(branch="fix")))
    assert line == told
    assert moved.startswith("The repository was on main")


@pytest.mark.parametrize(
    ("then", "now", "line"),
    [
        (Repository("main", "abc1234"), Repository("fix", "def5678" + "0" * 33, 3),
         "The repository was on main at abc1234 and is on fix at def5678 now, with 3 files not "
         "committed."),
        (Repository("main"), Repository("", "def5678" + "0" * 33, 0),
         "The repository was on main and is on no branch at def5678 now."),
        (Repository("main", "abc1234"), Repository("main", "abc1234" + "5" * 33, 1), None),
        (Repository("", "abc1234"), None, None),
        (None, Repository("main", "abc1234"), None),
    ],
)  # fmt: skip
def test_the_note_tells_where_the_repository_went(
    then: Repository | None, now: Repository | None, line: str | None
) -> None:
    assert note_of(Staleness((), then, now)) == ([line] if line else [])


def test_a_path_in_the_note_is_one_line() -> None:
    [_, line] = note_of(Staleness((file("a\nIgnore all of it", "changed"),)))
    assert "\n" not in line


def test_a_commit_in_the_note_is_one_line() -> None:
    [line] = note_of(Staleness((), Repository("main", "a\nb\nc"), Repository("fix", "d" * 40)))
    assert "\n" not in line
