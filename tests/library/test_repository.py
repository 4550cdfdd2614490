"""Branch and commit of the run's repository, then and now."""

from __future__ import annotations

import os
import resource
import subprocess
from pathlib import Path

import build
import pytest
from scripted import Scripted

from sessionlog.reader import load
from sessionlog.repository import Repository, now, then

CLEAN = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}


def git(folder: Path, *argv: str) -> str:
    person = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "gc.auto=0")
    done = subprocess.run(
        ["git", *person, *argv], cwd=folder, env={**os.environ, **CLEAN}, check=True,
        capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout.strip()


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "a.py").write_text("x\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    return folder


def test_branch_commit_and_what_is_not_committed(work: Path) -> None:
    head = git(work, "rev-parse", "HEAD")
    assert now(str(work)) == Repository("main", head, 0)
    (work / "a.py").write_text("y\n")
    (work / "b.py").write_text("z\n")
    (work / "src").mkdir()
    assert now(str(work / "src")) == Repository("main", head, 2)


def test_packed_refs_a_branch_with_a_folder_and_a_detached_head(work: Path) -> None:
    git(work, "checkout", "-qb", "fix/deep")
    head = git(work, "rev-parse", "HEAD")
    git(work, "pack-refs", "--all")
    assert not (work / ".git/refs/heads/fix/deep").exists()
    assert now(str(work)) == Repository("fix/deep", head, 0)
    git(work, "checkout", "-q", "--detach")
    assert now(str(work)) == Repository("", head, 0)


def test_a_worktree_has_a_branch_of_its_own(work: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    git(work, "worktree", "add", "-q", "-b", "side", str(other))
    found = now(str(other))
    assert found == Repository("side", git(other, "rev-parse", "HEAD"), 0)


def test_no_repository_a_broken_one_and_one_before_its_first_commit(tmp_path: Path) -> None:
    folder = tmp_path / "x"
    folder.mkdir()
    assert now(str(folder)) is None
    git(folder, "init", "-q", "-b", "main")
    assert now(str(folder)) == Repository("main", "", 0)
    (folder / ".git/HEAD").unlink()
    os.mkfifo(folder / ".git/HEAD")
    assert now(str(folder)) is None


def test_a_ref_cannot_lead_out_of_the_repository(work: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("a" * 40)
    (work / ".git/HEAD").write_text("ref: refs/../../../secret\n")
    found = now(str(work), count=lambda root: None)
    assert found is not None
    assert found.commit == ""


def test_a_folder_that_git_would_not_take_for_a_repositorys_is_none(work: Path) -> None:
    head = git(work, "rev-parse", "HEAD")
    hollow = work / "src/.git"
    hollow.mkdir(parents=True)
    (hollow / "HEAD").write_text("ref: refs/heads/other\n")
    (hollow / "config").write_text("[core]\n")
    found = now(str(work / "src"), count=lambda root: None)
    assert found == Repository("main", head)  # as git: the one above


@pytest.mark.parametrize("name", ["HEAD", "refs/heads/main", "packed-refs", "config", "index"])
def test_nothing_but_a_regular_file_is_read_of_a_repository(name: str, work: Path) -> None:
    path = work / ".git" / name
    for make in (os.mkfifo, os.mkdir, lambda path: os.symlink(path, path)):
        path.unlink(missing_ok=True)
        make(path)
        found = now(str(work))
        assert (found is None) == (name == "HEAD")
        assert found is None or found.branch == "main"
        if path.is_dir():
            path.rmdir()


@pytest.mark.parametrize("name", ["HEAD", "refs/heads/main", "packed-refs", "config", "commondir"])
def test_only_so_much_is_read_of_a_file_of_gits(name: str, work: Path) -> None:
    (work / ".git/refs/heads/main").unlink()
    with open(work / ".git" / name, "wb") as file:
        file.truncate(8 << 30)  # sparse, without a line feed
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = now(str(work))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10  # KiB
    assert found is None or found.commit == ""


def test_packed_refs_that_are_no_text(work: Path) -> None:
    head = git(work, "rev-parse", "HEAD")
    (work / ".git/refs/heads/main").unlink()
    packed = work / ".git/packed-refs"
    packed.write_bytes(b"\xff\xfe refs/heads/main\n")
    assert now(str(work), count=lambda root: None) == Repository("main")
    packed.write_bytes(b"\xff" * 9000 + b"\n" + f"{head} refs/heads/main".encode())
    assert now(str(work), count=lambda root: None) == Repository("main", head)


@pytest.mark.parametrize(
    "folder", ["/h\0ome", "/" + "a" * 100_000, "/" + "a/" * 300_000, "/\ud800", "", "\0"]
)
def test_a_folder_that_is_no_name_of_one_is_in_no_repository(folder: str) -> None:
    assert now(folder) is None


@pytest.mark.parametrize("named", ["\0", "a" * 5000, "/nowhere", "", "\udc80"])
def test_a_file_that_names_no_folder_of_gits(named: str, tmp_path: Path) -> None:
    data = f"gitdir: {named}\n".encode("utf-8", "surrogateescape")
    (tmp_path / ".git").write_bytes(data)
    assert now(str(tmp_path)) is None


def test_a_commit_of_the_logs_head_is_one(tmp_path: Path) -> None:
    head = {"commit_hash": "a\nb" * 13, "branch": "main"}
    lines = [build.codex_meta(git=head), build.codex_said("user", "go")]
    assert then(load(build.log(tmp_path / build.CODEX_FILE, lines))) == Repository("main")


def test_looking_writes_nothing(work: Path) -> None:
    os.utime(work / "a.py")  # git would refresh its index
    before = (work / ".git/index").stat().st_mtime_ns, sorted(os.listdir(work / ".git"))
    now(str(work))
    assert ((work / ".git/index").stat().st_mtime_ns, sorted(os.listdir(work / ".git"))) == before


def test_git_that_is_not_there_or_fails_counts_nothing(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    found = now(str(work))
    assert found is not None
    assert (found.branch, found.uncommitted) == ("main", None)


def test_claude_tells_the_branch_of_its_last_line(tmp_path: Path) -> None:
    lines = [build.claude_user("a", gitBranch="main"), build.claude_said("b", gitBranch="fix")]
    session = load(build.log(tmp_path / build.CLAUDE_FILE, lines))
    assert then(session) == Repository("fix")
    assert then(session, 1) == Repository("main")


def test_codex_tells_branch_and_commit_in_its_head(tmp_path: Path) -> None:
    head = {"commit_hash": "a" * 40, "branch": "main"}
    lines = [build.codex_meta(git=head), build.codex_said("user", "go")]
    session = load(build.log(tmp_path / build.CODEX_FILE, lines))
    assert then(session) == Repository("main", "a" * 40)


def test_a_log_that_tells_nothing(tmp_path: Path) -> None:
    assert then(load(build.log(tmp_path / "20261127-220000.jsonl", build.healthy()))) is None


def test_the_runs_own_commits_and_checkouts_move_it(work: Path) -> None:
    run = Scripted("native", work)
    run.shell("git checkout -b fix")
    assert then(run.session()) == Repository("fix")
    (work / "a.py").write_text("y\n")
    run._call("shell", {"command": 'git commit -am "second"'}, git(work, "commit", "-am", "second"))
    found = then(run.session())
    assert found is not None
    assert found.branch == "fix"
    assert git(work, "rev-parse", "HEAD").startswith(found.commit)
    assert len(found.commit) >= 7
    run.shell("git reset -q --hard HEAD~1")
    assert then(run.session()) == Repository("fix")
