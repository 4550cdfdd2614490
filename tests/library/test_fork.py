"""Forking: a new log with the conversation as it stood right after a message."""

from __future__ import annotations

import hashlib
import os
import signal
import stat
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import build
import pytest

from sessionlog.errors import DamagedLog, NotPossible, SessionExists
from sessionlog.forks import apply_fork, fork, plan_fork
from sessionlog.reader import load
from sessionlog.records import Origin

NOW = datetime(2026, 11, 29, 8, 0, 0, tzinfo=UTC)
ID = "20261127-220000"


def made(folder: Path, *lines: bytes, tail: bytes = b"") -> Path:
    return build.log(folder / f"{ID}.jsonl", lines, tail)


def body(path: Path) -> list[bytes]:
    """The lines behind the meta."""
    return path.read_bytes().splitlines(keepends=True)[1:]


def test_a_fork_holds_the_lines_up_to_the_message_as_they_stand(tmp_path: Path) -> None:
    lines = build.healthy()
    path = made(tmp_path, *lines)
    new = fork(path, 3, now=NOW)
    assert new == tmp_path / "20261129-080000.jsonl"
    assert body(new) == lines[1:4]
    session = load(new, strict=True)
    assert (session.id, session.meta.forked_from) == (new.stem, Origin(ID, 3))
    assert session.meta.task == "Fix it"


def test_events_behind_the_message_and_the_result_stay_behind(tmp_path: Path) -> None:
    lines = [
        build.meta(), build.event("iteration", iteration=1), build.message("user", "a"),
        build.event("usage"), build.message("bot", "b"), build.result(), build.message("user", "c"),
        build.event("iteration", iteration=2), build.result("aborted", 1),
    ]  # fmt: skip
    path = made(tmp_path, *lines)
    assert body(fork(path, 1, now=NOW)) == lines[1:3]
    last = fork(path, 3, now=NOW)
    assert body(last) == [*lines[1:5], lines[6]]
    assert not load(last).complete


def test_a_call_open_at_the_cut_is_closed_and_its_later_result_stays_behind(tmp_path: Path) -> None:
    path = made(
        tmp_path, build.meta(), build.request("c1"), build.request("c2"), build.response("c1"),
        build.response("c2"), build.message("bot", "done"),
    )  # fmt: skip
    plan = plan_fork(load(path), 3, now=NOW)
    assert [(call.n, call.call_id, call.tool) for call in plan.closed] == [(2, "c2", "shell")]
    session = load(apply_fork(plan))
    assert len(session.history) == plan.messages == 4
    assert session.history[3].message.activity is not None
    assert session.history[3].message.activity.failure == "Interrupted by the user."


def test_without_repair_a_fork_is_a_plain_cut(tmp_path: Path) -> None:
    lines = [build.request("c1"), build.message("user", "x"), build.response("nobody"),
             build.response("c1"), build.request("c2")]  # fmt: skip
    path = made(tmp_path, build.meta(), *lines)
    for at in range(1, 6):
        assert body(fork(path, at, repair=False, now=NOW)) == lines[:at]
    assert not plan_fork(load(path), 5, repair=False).closed


def test_a_fork_before_a_reset_knows_what_was_known_then(tmp_path: Path) -> None:
    path = made(
        tmp_path, build.meta(), build.message("user", "a"), build.message("bot", "b"),
        build.reset(), build.message("user", "c"),
    )  # fmt: skip
    assert [m.text for m in load(fork(path, 2, now=NOW)).messages] == ["a", "b"]
    assert [m.text for m in load(fork(path, 3, now=NOW)).messages] == ["c"]


def test_a_cut_between_two_records_of_one_line_divides_them(tmp_path: Path) -> None:
    first, second = build.message("user", "a"), build.message("bot", "b")
    path = made(tmp_path, build.meta().rstrip(b"\n") + first.rstrip(b"\n") + second)
    new = fork(path, 1, now=NOW)
    assert new.read_bytes().endswith(first)
    assert load(new).meta.forked_from == Origin(ID, 1)


@pytest.mark.parametrize("at", [0, -1, 5])
def test_a_message_that_is_not_there_is_refused_with_the_range(tmp_path: Path, at: int) -> None:
    path = made(tmp_path, *build.healthy())
    for act in (lambda: fork(path, at), lambda: plan_fork(load(path), at)):
        with pytest.raises(NotPossible, match=r"1 to 4|count from 1"):
            act()
    assert os.listdir(tmp_path) == [path.name]


def test_a_fork_is_strict_only_over_the_lines_it_takes(tmp_path: Path) -> None:
    path = made(
        tmp_path, build.meta(), build.message("user", "a"), b"gibberish\n",
        build.message("user", "b"), tail=b'{"kind":"mess',
    )  # fmt: skip
    fork(path, 1, now=NOW)
    with pytest.raises(DamagedLog, match="line 3"):
        fork(path, 2, now=NOW)
    with pytest.raises(DamagedLog, match="line 3"):
        apply_fork(plan_fork(load(path), 2, now=NOW))
    session = load(fork(path, 2, now=NOW, force=True), strict=True)
    assert [m.text for m in session.messages] == ["a", "b"]


def test_damage_on_the_last_line_is_what_a_crash_leaves(tmp_path: Path) -> None:
    glued = b'{"kind":"mess' + build.message("user", "a")
    path = made(tmp_path, build.meta(), glued)
    assert body(fork(path, 1, now=NOW)) == [build.message("user", "a")]
    path.write_bytes(path.read_bytes() + b"\n" + build.message("user", "b"))
    with pytest.raises(DamagedLog):
        fork(path, 1, now=NOW)


def test_a_fork_may_be_taken_while_the_log_grows(tmp_path: Path) -> None:
    path = made(tmp_path, *build.healthy()[:4])
    with path.open("ab") as writer:
        plan = plan_fork(load(path), 2, now=NOW)
        writer.write(build.message("bot", "more"))
        writer.flush()
        assert len(load(apply_fork(plan)).history) == 3


def test_a_fork_of_a_fork_names_its_own_parent(tmp_path: Path) -> None:
    first = fork(made(tmp_path, *build.healthy()), 3, now=NOW)
    second = fork(first, 1, now=NOW)
    assert second.name == "20261129-080000-2.jsonl"
    assert load(second).meta.forked_from == Origin("20261129-080000", 1)


def test_a_given_place_names_the_log(tmp_path: Path) -> None:
    path = made(tmp_path, *build.healthy())
    assert b'"id":"mine"' in fork(path, 1, tmp_path / "mine.jsonl").read_bytes()
    odd = fork(path, 1, tmp_path / "-no id.jsonl", now=NOW)
    assert b'"id":"20261129-080000"' in odd.read_bytes()


def test_an_empty_place_is_told_and_one_without_an_ending_is_allowed(tmp_path: Path) -> None:
    path = made(tmp_path, *build.healthy())
    with pytest.raises(NotPossible, match="path of the new log is empty"):
        fork(path, 2, "", now=NOW)
    assert load(fork(path, 2, tmp_path / "name", now=NOW)).meta.id == "name"


def test_bad_bytes_in_a_key_stop_no_fork(tmp_path: Path) -> None:
    asked = build.request("c1").replace(b'"name"', b'"na\xb0e"')
    path = made(tmp_path, build.meta(), asked)
    assert not load(fork(path, 1, now=NOW)).open_calls


def test_a_hostile_id_in_a_log_never_leads_out_of_its_folder(tmp_path: Path) -> None:
    inside = tmp_path / "in"
    for name in ("..", "a\nb", "-rf", "x" * 200):
        path = build.log(inside / f"{name}.jsonl", [build.meta("../../out"), build.message("user")])
        assert fork(path, 1).parent == inside
    assert os.listdir(tmp_path) == ["in"]


PICTURE = b"\x89PNG picture"


def pictured(folder: Path) -> Path:
    digest = hashlib.sha256(PICTURE).hexdigest()
    image = {"media_type": "image/png", "digest": f"sha256:{digest}", "source": "blob"}
    hostile = {"media_type": "image/png", "digest": "sha256:../../secret", "source": "blob"}
    path = made(
        folder, build.meta(), build.message("user", "a"),
        build.message("attachment", "b", images=[image, hostile]), build.request("c1"),
    )  # fmt: skip
    blobs = path.with_suffix(".blobs")
    blobs.mkdir()
    (blobs / f"{digest}.png").write_bytes(PICTURE)
    (blobs / f"{'0' * 64}.png").write_bytes(b"another's")
    (folder / "secret").write_bytes(b"secret")
    (blobs / f"{digest}.jpg").symlink_to(folder / "secret")
    return path


def test_pictures_are_carried_along_where_a_message_names_them(tmp_path: Path) -> None:
    path = pictured(tmp_path)
    digest = hashlib.sha256(PICTURE).hexdigest()
    assert not fork(path, 1).with_suffix(".blobs").exists()
    new = fork(path, 2).with_suffix(".blobs")
    assert os.listdir(new) == [f"{digest}.png"]
    assert (new / f"{digest}.png").read_bytes() == PICTURE
    assert stat.S_IMODE(new.stat().st_mode) == 0o700
    assert stat.S_IMODE((new / f"{digest}.png").stat().st_mode) == 0o600


def test_a_place_whose_pictures_are_taken_is_taken(tmp_path: Path) -> None:
    path = pictured(tmp_path)
    (tmp_path / "20261129-080000.blobs").mkdir()
    assert fork(path, 2, now=NOW).name == "20261129-080000-2.jsonl"
    (tmp_path / "out.blobs").mkdir()
    with pytest.raises(SessionExists, match="out"):
        fork(path, 2, tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o777])
def test_a_fork_is_its_owners_alone_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    path = pictured(tmp_path)
    before = os.umask(umask)
    try:
        new = fork(path, 3)
    finally:
        os.umask(before)
    assert stat.S_IMODE(new.stat().st_mode) == 0o600
    assert stat.S_IMODE(new.with_suffix(".blobs").stat().st_mode) == 0o700
    assert {stat.S_IMODE(p.stat().st_mode) for p in new.with_suffix(".blobs").iterdir()} == {0o600}


def test_two_at_once_never_share_a_place(tmp_path: Path) -> None:
    path = made(tmp_path, *build.healthy())
    plans = [plan_fork(load(path), at, now=NOW) for at in (1, 2, 3, 4)]
    new = [apply_fork(plan) for plan in plans]
    assert len({p.name for p in new}) == 4
    assert [load(p).meta.forked_from for p in new] == [Origin(ID, at) for at in (1, 2, 3, 4)]


CHILD = """
import os, resource, signal, sys
from sessionlog.forks import fork
path, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
if name == "limit":
    resource.setrlimit(resource.RLIMIT_FSIZE, (count, count))
elif name == "no_links":
    def link(*args, **more):
        raise PermissionError(1, "Operation not permitted")
    os.link = link
elif name == "bad_disk":
    def link(*args, **more):
        raise OSError(5, "Input/output error")
    os.link = link
elif name == "no_tmpfile":
    del os.O_TMPFILE
elif name:
    real, calls = getattr(os, name), 0
    def dying(*args, **more):
        global calls
        calls += 1
        if calls == count:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*args, **more)
    setattr(os, name, dying)
print(fork(path, 3))
"""


def child(path: Path, name: str, count: int = 0) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", CHILD, str(path), name, str(count)],
        capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "count", "whole"),
    [
        ("fsync", 1, 0),
        ("mkdir", 1, 0),
        ("fsync", 2, 0),
        ("fsync", 3, 0),
        ("link", 1, 0),
        ("fsync", 4, 1),
    ],
)
def test_killed_at_any_moment_it_leaves_a_whole_log_or_none(
    tmp_path: Path, name: str, count: int, whole: int
) -> None:
    path = pictured(tmp_path)
    before = path.read_bytes()
    done = child(path, name, count)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert path.read_bytes() == before
    logs = set(tmp_path.glob("*.jsonl")) - {path}
    assert [len(load(log, strict=True).history) for log in logs] == [4] * whole
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(
    ("name", "why"), [("limit", "File too large"), ("bad_disk", "Input/output error")]
)
def test_a_full_or_broken_disk_leaves_nothing_behind(tmp_path: Path, name: str, why: str) -> None:
    path = pictured(tmp_path)
    before = sorted(os.listdir(tmp_path))
    done = child(path, name, 100)
    assert done.stderr.strip().endswith(f"{why}; nothing was left behind")
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.parametrize("name", ["no_links", "no_tmpfile", ""])
def test_it_works_on_lesser_file_systems(tmp_path: Path, name: str) -> None:
    path = pictured(tmp_path)
    before = set(os.listdir(tmp_path))
    done = child(path, name)
    new = Path(done.stdout.strip())
    assert set(os.listdir(tmp_path)) - before == {new.name, new.stem + ".blobs"}, done.stderr
    assert len(load(new, strict=True).history) == 4
    assert stat.S_IMODE(new.stat().st_mode) == 0o600


@pytest.mark.parametrize("seed", range(25))
def test_a_fork_anywhere_is_whole_and_leaves_its_parent_alone(tmp_path: Path, seed: int) -> None:
    path = made(tmp_path, *build.scrambled(seed, 20), build.result())
    before = (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_mode)
    parent = load(path)
    lines = path.read_bytes().splitlines()
    for at in range(1, len(parent.history) + 1):
        plan = plan_fork(parent, at, now=NOW)
        session = load(apply_fork(plan), strict=True)
        assert not session.open_calls
        assert not session.orphan_results
        assert len(session.history) == plan.messages
        assert session.meta.forked_from == Origin(ID, at)
        taken = lines[1 : parent.history[at - 1].record.span.line]
        copied = Path(session.path).read_bytes().splitlines()[1:]
        moving = {parent.history[n - 1].record.span.line - 1 for n in plan.moved}
        moving |= {parent.history[o.n - 1].record.span.line - 1 for o in plan.orphans}
        staying = [line for i, line in enumerate(taken, 1) if i not in moving]
        rest = iter(copied)
        assert all(line in rest for line in staying), "the lines that stay keep their order"
        assert len(copied) == len(taken) + len(plan.closed) - len(plan.orphans)
    assert (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_mode) == before
