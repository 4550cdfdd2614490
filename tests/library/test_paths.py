"""Ids and places: nothing leaves its folder, nobody looks in, only regular files are read."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from sessionlog.errors import NotPossible, Unreadable
from sessionlog.paths import (
    agent_folders,
    default_folders,
    native_folder,
    new_id,
    open_regular,
    private_folder,
    valid_id,
)


def test_an_id_is_the_start_in_utc_whatever_the_zone() -> None:
    there = timezone(timedelta(hours=9))
    assert new_id(datetime(2026, 11, 28, 7, 0, 5, tzinfo=there)) == "20261127-220005"
    assert valid_id(new_id())


def test_ids_sort_by_time() -> None:
    start = datetime(2026, 12, 31, 23, 59, 58, tzinfo=UTC)
    ids = [new_id(start + timedelta(seconds=n)) for n in range(5)]
    assert ids == sorted(ids)
    assert len(set(ids)) == 5


@pytest.mark.parametrize("id", ["20261127-220000-2", "a", "my.run_1", "x" * 128])
def test_an_id_that_can_be_a_file_name_passes(id: str) -> None:
    assert valid_id(id) == id


@pytest.mark.parametrize(
    "id",
    ["", ".", "..", "../x", "a/b", "/etc/passwd", "-rf", ".hidden", "a b", "a\n", "a\0", "x" * 129,
     "ü", "a\\b", "\x1b[2J"],
)  # fmt: skip
def test_an_id_that_could_leave_its_folder_hide_or_be_an_option_is_refused(id: str) -> None:
    with pytest.raises(NotPossible, match="cannot be a session's id") as caught:
        valid_id(id)
    assert str(caught.value).isprintable()


def test_a_log_and_a_link_to_one_can_be_opened(tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    log.write_bytes(b"{}\n")
    link = tmp_path / "b.jsonl"
    link.symlink_to(log)
    for path in (log, link):
        fd = open_regular(str(path))
        assert os.read(fd, 9) == b"{}\n"
        os.close(fd)


def test_a_folder_a_fifo_a_socket_and_a_device_are_refused_at_once(tmp_path: Path) -> None:
    fifo, sock = tmp_path / "fifo", tmp_path / "sock"
    os.mkfifo(fifo)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(sock))
        words = {tmp_path: "a folder", fifo: "a FIFO", sock: "a socket", "/dev/null": "a device"}
        for path, word in words.items():
            with pytest.raises(Unreadable, match=f"{word}, not a log"):
                open_regular(str(path))


def test_a_path_that_leads_nowhere_says_why(tmp_path: Path) -> None:
    dangling, loop = tmp_path / "dangling", tmp_path / "loop"
    dangling.symlink_to(tmp_path / "gone")
    loop.symlink_to(loop)
    for path, words in {
        str(dangling): "a link that leads nowhere",
        str(tmp_path / "gone"): "No such file",
        str(loop): "Too many levels",
        "a\0b": "null byte",
    }.items():
        with pytest.raises(Unreadable, match=words):
            open_regular(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_says_so(tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    log.touch(mode=0o000)
    with pytest.raises(Unreadable, match="Permission denied"):
        open_regular(str(log))


def test_native_logs_lie_where_the_engine_keeps_them() -> None:
    home = {"HOME": "/home/x"}
    assert native_folder(home) == "/home/x/.local/state/zot/sessions"
    assert native_folder({**home, "XDG_STATE_HOME": "/s"}) == "/s/zot/sessions"
    assert native_folder({**home, "XDG_STATE_HOME": "/s", "ZOT_SESSION_DIR": "/z"}) == "/z"


def test_agents_folders_follow_their_own_variables() -> None:
    plain = agent_folders({"HOME": "/h"})
    assert plain["claude"] == ["/h/.claude/projects"]
    assert plain["codex"] == ["/h/.codex/sessions", "/h/.codex/archived_sessions"]
    moved = agent_folders({"HOME": "/h", "CLAUDE_CONFIG_DIR": "/c", "CODEX_HOME": "/o"})
    assert moved["claude"] == ["/c/projects"]
    assert moved["codex"][0] == "/o/sessions"
    assert plain["pi"] == ["/h/.pi/agent/sessions"]
    assert plain["openclaw"] == ["/h/.openclaw/agents"]
    moved = agent_folders({"HOME": "/h", "PI_CODING_AGENT_DIR": "/p", "OPENCLAW_STATE_DIR": "/w"})
    assert (moved["pi"], moved["openclaw"]) == (["/p/sessions"], ["/w/agents"])
    assert agent_folders({"PI_CODING_AGENT_DIR": "/p", "PI_CODING_AGENT_SESSION_DIR": "/s"})[
        "pi"
    ] == ["/s"]


def test_only_folders_that_are_there_are_looked_into(tmp_path: Path) -> None:
    (tmp_path / ".claude" / "projects").mkdir(parents=True)
    assert default_folders({"HOME": str(tmp_path)}) == [str(tmp_path / ".claude" / "projects")]


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o777])
def test_a_new_folder_and_those_above_it_are_their_owners_alone(tmp_path: Path, umask: int) -> None:
    code = f"import os; os.umask({umask}); import sessionlog.paths as p; p.private_folder('a/b/c')"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path, env=environment)
    for name in ("a", "a/b", "a/b/c"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o700


def test_a_folder_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    private_folder(str(tmp_path))
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755
