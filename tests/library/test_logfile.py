"""The door to a log's bytes: what other than lines keeps a session is read as lines, and grows."""

from __future__ import annotations

import os
from pathlib import Path

import build
import gemini_logs
import opencode_logs
import pytest

from sessionlog.errors import Unreadable
from sessionlog.listing import glance, logs_in
from sessionlog.logfile import file_of, open_log, print_of, sessions_in, stat_log, there, watched
from sessionlog.reader import load
from sessionlog.source import format_of
from sessionlog.window import Log

GEMINI = gemini_logs.healthy()


def lines(path: str) -> bytes:
    fd = open_log(path)
    try:
        return os.pread(fd, 1 << 20, 0)
    finally:
        os.close(fd)


def test_a_log_of_lines_is_its_own_file(tmp_path: Path) -> None:
    path = build.log(tmp_path / "a.jsonl", build.healthy())
    fd = open_log(str(path))
    assert os.path.samestat(os.fstat(fd), os.stat(path))
    assert stat_log(str(path)) == os.stat(path)
    os.close(fd)


def test_a_session_in_a_database_has_a_path_of_its_own(tmp_path: Path) -> None:
    db = opencode_logs.database(tmp_path / "opencode.db", opencode_logs.healthy()).parent
    (path,) = sessions_in(str(db))
    assert path == f"{db}/{opencode_logs.SESSION}"
    assert there(path)
    assert (file_of(path), watched(path)) == (str(db), f"{db}-wal")
    assert load(path).id == opencode_logs.SESSION
    with pytest.raises(Unreadable):
        open_log(f"{db}/ses_other")


def test_what_grows_stays_the_same_file_and_what_changes_is_another(tmp_path: Path) -> None:
    messages = opencode_logs.healthy()
    path = opencode_logs.export(tmp_path / "export.json", messages[:-1])
    before, was = lines(str(path)), stat_log(str(path))
    opencode_logs.export(path, messages)
    os.utime(path, ns=(1, 1))
    grown = stat_log(str(path))
    assert (grown.st_ino, grown.st_mtime_ns) == (was.st_ino, 1)
    assert grown.st_size > was.st_size
    assert lines(str(path)).startswith(before)
    opencode_logs.export(path, messages[1:])
    assert stat_log(str(path)).st_ino != was.st_ino


def test_looking_at_many_others_does_not_make_an_open_session_another(tmp_path: Path) -> None:
    paths = [
        str(build.log(tmp_path / gemini_logs.FILE.replace("f00dfeed", f"{n:08}"), GEMINI))
        for n in range(40)
    ]
    fd = open_log(paths[0])
    log = Log(paths[0], format_of(paths[0], fd))
    os.close(fd)
    for path in paths:
        glance(path)
    assert log.refresh().kind == "none"
    log.close()


def test_two_readers_of_one_session_do_not_move_each_other(tmp_path: Path) -> None:
    path = str(opencode_logs.export(tmp_path / "export.json", opencode_logs.healthy()))
    first, second = open_log(path), open_log(path)
    os.read(first, 100)
    assert os.lseek(second, 0, os.SEEK_CUR) == 0
    os.close(first)
    os.close(second)


def test_a_document_under_the_name_of_lines_is_still_one(tmp_path: Path) -> None:
    data = opencode_logs.document(opencode_logs.healthy())
    for name in ("a.json", "a.jsonl", "b.txt"):
        (tmp_path / name).write_bytes(data)
        assert load(tmp_path / name).format == "opencode"


def test_only_what_is_a_session_is_listed_of_other_files(tmp_path: Path) -> None:
    build.log(tmp_path / "a.jsonl", build.healthy())
    (tmp_path / "package.json").write_text('{"name": "x"}')
    (tmp_path / "other.db").write_bytes(b"SQLite format 3\0")
    opencode_logs.export(tmp_path / "export.json", opencode_logs.healthy())
    chats = tmp_path / "tmp" / "app" / "chats"
    build.log(chats / gemini_logs.FILE, gemini_logs.healthy())
    build.log(chats / gemini_logs.ID / "side.jsonl", gemini_logs.healthy())
    found = {os.path.relpath(path, tmp_path) for path in logs_in([str(tmp_path)])}
    assert found == {"a.jsonl", "export.json", f"tmp/app/chats/{gemini_logs.FILE}"}


def test_a_print_differs_when_a_session_in_a_database_does(tmp_path: Path) -> None:
    db = opencode_logs.database(tmp_path / "opencode.db", opencode_logs.healthy()).parent
    path = f"{db}/{opencode_logs.SESSION}"
    was = print_of(path)
    assert was == print_of(path)
    os.utime(db, ns=(1, 1))
    assert print_of(path) != was
    assert print_of(str(tmp_path / "gone.db") + "/ses_1") is None
