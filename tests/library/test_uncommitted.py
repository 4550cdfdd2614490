"""What is not committed is counted, and no program that a repository names ever runs."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from sessionlog.repository import Repository, now


def git(folder: Path, *argv: str, fails: bool = False) -> str:
    person = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "gc.auto=0",
              "-c", "protocol.file.allow=always")  # fmt: skip
    done = subprocess.run(
        ["git", *person, *argv], cwd=folder, check=not fails, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return folder


def made(folder: Path) -> Path:
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "a.py").write_text("x\n")
    (folder / ".gitattributes").write_text("* filter=x diff=x\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    return folder


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return made(tmp_path / "work")


@pytest.fixture
def ran(tmp_path: Path) -> Path:
    """A file that is there once a trap ran."""
    return tmp_path / "ran"


def filters(ran: Path) -> str:
    return f'[filter "x"]\n\tclean = touch {ran}; cat\n\trequired = true\n'


def add(path: Path, text: str) -> None:
    with open(path, "a") as file:
        file.write(text)


def in_config(work: Path, ran: Path, home: Path) -> Path:
    add(work / ".git/config", filters(ran))
    return work


def in_other_letters(work: Path, ran: Path, home: Path) -> Path:
    add(work / ".git/config", f'[FILTER "x"] process = touch {ran}\n')
    return work


def behind_a_mebibyte(work: Path, ran: Path, home: Path) -> Path:
    add(work / ".git/config", "#" * 1_200_000 + "\n" + filters(ran))
    return work


def in_a_bare_repository(work: Path, ran: Path, home: Path) -> Path:
    """The folder itself is a repository, and its `.git` is none to git."""
    for name in ("objects", "refs"):
        shutil.copytree(work / ".git" / name, work / name)
    for name in ("HEAD", "index"):
        shutil.copy(work / ".git" / name, work / name)
    core = f"[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = {work}\n"
    (work / "config").write_text(core + filters(ran))
    shutil.rmtree(work / ".git")
    hollow(work)
    return work


def in_the_repository_above(work: Path, ran: Path, home: Path) -> Path:
    add(work / ".git/config", filters(ran))
    (work / "sub").mkdir()
    hollow(work / "sub")
    return work / "sub"


def hollow(folder: Path) -> None:
    (folder / ".git").mkdir()
    (folder / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (folder / ".git/config").write_text("[core]\n")


def in_the_persons_own(work: Path, ran: Path, home: Path) -> Path:
    (home / ".gitconfig").write_text(filters(ran))
    return work


def in_the_persons_other(work: Path, ran: Path, home: Path) -> Path:
    (home / ".config/git").mkdir(parents=True)
    (home / ".config/git/config").write_text(filters(ran))
    return work


def included(work: Path, ran: Path, home: Path) -> Path:
    (work / ".git/more").write_text(filters(ran))
    add(work / ".git/config", "[include]\n\tpath = more\n")
    return work


def in_the_worktrees_own(work: Path, ran: Path, home: Path) -> Path:
    (work / ".git/config.worktree").write_text(filters(ran))
    git(work, "config", "core.repositoryformatversion", "1")
    add(work / ".git/config", "[extensions]\n\tworktreeConfig = true\n")
    return work


def in_a_linked_worktrees(work: Path, ran: Path, home: Path) -> Path:
    other = work.parent / "other"
    git(work, "worktree", "add", "-q", str(other))
    add(work / ".git/config", filters(ran))
    (other / "a.py").write_text("y\n")
    return other


def elsewhere(work: Path, ran: Path, home: Path) -> Path:
    """`.git` is a file that names another folder."""
    (work / ".git").rename(work.parent / "elsewhere")
    (work / ".git").write_text(f"gitdir: {work.parent / 'elsewhere'}\n")
    add(work.parent / "elsewhere/config", filters(ran))
    return work


def as_monitor(work: Path, ran: Path, home: Path) -> Path:
    add(work / ".git/config", f"[core]\n\tfsmonitor = touch {ran}; false\n")
    return work


def as_hook(work: Path, ran: Path, home: Path) -> Path:
    hook = work / ".git/hooks/post-index-change"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {ran}\n")
    hook.chmod(0o755)
    (work / "b.py").write_text("z\n")
    git(work, "add", "b.py")
    ran.unlink(missing_ok=True)
    os.utime(work / "b.py", (1, 1))
    return work


def in_a_submodule(work: Path, ran: Path, home: Path) -> Path:
    other = made(work.parent / "part")
    git(work, "submodule", "add", "-q", str(other), "part")
    git(work, "commit", "-qm", "part")
    add(work / ".git/modules/part/config", filters(ran))
    (work / "part/a.py").write_text("y\n")
    return work


def for_a_promisor(work: Path, ran: Path, home: Path) -> Path:
    """The tree of the commit is missing, and to be had from a program."""
    tree = git(work, "rev-parse", "HEAD^{tree}")
    add(work / ".git/config",
        '[remote "origin"]\n\tpromisor = true\n\turl = ext::touch ' + str(ran) + "\n"
        "[extensions]\n\tpartialClone = origin\n[protocol]\n\tallow = always\n")  # fmt: skip
    git(work, "config", "core.repositoryformatversion", "1")
    (work / ".git/objects" / tree[:2] / tree[2:]).unlink()
    return work


TRAPS = (
    in_config, in_other_letters, behind_a_mebibyte, in_a_bare_repository, in_the_repository_above,
    in_the_persons_own, in_the_persons_other, included, in_the_worktrees_own,
    in_a_linked_worktrees, elsewhere, as_monitor, as_hook, in_a_submodule, for_a_promisor,
)  # fmt: skip


@pytest.mark.parametrize("trap", TRAPS)
def test_no_program_of_a_repository_runs(
    trap: Callable[[Path, Path, Path], Path], work: Path, ran: Path, home: Path
) -> None:
    folder = trap(work, ran, home)
    (work / "a.py").write_text("y\n")  # as long: git has to read it
    now(str(folder))
    assert not ran.exists()
    git(folder, "status", fails=True)
    assert ran.exists()  # it is a trap


def test_git_is_not_taken_from_the_repository(
    work: Path, ran: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in (work, work / "bin"):
        folder.mkdir(exist_ok=True)
        (folder / "git").write_text(f"#!/bin/sh\ntouch {ran}\n")
        (folder / "git").chmod(0o755)
    monkeypatch.chdir(work)
    for path in (".", "", "bin", str(work), str(work / "bin")):
        monkeypatch.setenv("PATH", path + os.pathsep + os.defpath)
        now(str(work))
    assert not ran.exists()


@pytest.mark.parametrize("name", ["GIT_DIR", "GIT_INDEX_FILE", "GIT_EXTERNAL_DIFF"])
def test_what_the_environment_says_of_git_does_not_count(
    name: str, work: Path, ran: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (work / "b.py").write_text("z\n")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "filter.x.clean")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", f"touch {ran}; cat")
    monkeypatch.setenv(name, "/nowhere")
    (work / "a.py").write_text("y\n")
    found = now(str(work))
    assert found is not None
    assert (found.uncommitted, ran.exists()) == (2, False)


def test_with_a_split_index_it_counts_and_with_borrowed_objects_not(work: Path) -> None:
    head = git(work, "rev-parse", "HEAD")
    alternates = work / ".git/objects/info/alternates"
    alternates.parent.mkdir(exist_ok=True)
    for make in (os.mkfifo, lambda path: path.write_text(f"{work}\n")):
        make(alternates)
        assert now(str(work)) == Repository("main", head, None)
        alternates.unlink()
    assert now(str(work)) == Repository("main", head, 0)
    git(work, "update-index", "--split-index")
    (work / "a.py").write_text("y\n")
    assert now(str(work)) == Repository("main", head, 1)


def test_a_repository_without_an_index_is_not_counted(work: Path) -> None:
    (work / ".git/index").unlink()
    found = now(str(work))
    assert found is not None
    assert found.uncommitted is None


def test_what_is_ignored_is_ignored_whoever_says_so(work: Path, home: Path) -> None:
    for name in ("a.one", "a.two", "a.three", "a.four"):
        (work / name).write_text("")
    counts = []
    for path, text in (
        (work / ".git/info/exclude", "*.one\n"),
        (home / ".config/git/ignore", "*.two\n"),
        (home / "mine", "*.two\n*.three\n"),
        (home / ".gitconfig", "[core]\n\texcludesFile = ~/mine # all\n"),
        (work / ".gitignore", "*.four\n.gitignore\n"),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        found = now(str(work))
        assert found is not None
        counts.append(found.uncommitted)
        assert found.uncommitted == len(git(work, "status", "--porcelain").splitlines())
    assert counts == [3, 2, 2, 1, 0]


def test_modes_line_ends_and_a_linked_worktree_compare_as_the_repository_says(
    work: Path, tmp_path: Path
) -> None:
    os.chmod(work / "a.py", 0o755)
    assert now(str(work)) == Repository("main", git(work, "rev-parse", "HEAD"), 1)
    git(work, "config", "core.fileMode", "false")
    assert now(str(work)) == Repository("main", git(work, "rev-parse", "HEAD"), 0)
    (work / "a.py").write_bytes(b"x\r\n")
    git(work, "config", "core.autocrlf", "true")
    git(work, "add", "a.py")
    os.utime(work / "a.py", (1, 1))
    assert now(str(work)) == Repository("main", git(work, "rev-parse", "HEAD"), 0)


def test_a_repository_with_long_hashes_counts(tmp_path: Path) -> None:
    folder = tmp_path / "long"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main", "--object-format=sha256")
    (folder / "a.py").write_text("x\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    (folder / "a.py").write_text("y\n")
    assert now(str(folder)) == Repository("main", git(folder, "rev-parse", "HEAD"), 1)


def test_nothing_is_left_behind(
    work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    now(str(work))
    assert list(scratch.iterdir()) == []
