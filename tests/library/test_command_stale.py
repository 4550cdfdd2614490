"""`sessionlog stale`: what it prints and its exit codes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import build
import pytest
from scripted import Scripted, stamp

from sessionlog.cli import main


def log_of(tmp_path: Path) -> tuple[Path, Path]:
    """A log and the folder of its run, which read two files."""
    run = Scripted("native", tmp_path / "work")
    for name in ("a.py", "b.py"):
        path = run.folder / name
        path.write_text("one\n")
        stamp(path, -100)
        run.read(name)
    return Path(run.session().path), run.folder


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str]:
    code = main(["stale", *argv])
    return code, capsys.readouterr().out


def test_nothing_changed_is_zero(tmp_path: Path, capsys: Any) -> None:
    log, _ = log_of(tmp_path)
    assert run(capsys, str(log)) == (0, "  2 files unchanged\n")


def test_a_changed_file_is_one_and_named(tmp_path: Path, capsys: Any) -> None:
    log, folder = log_of(tmp_path)
    (folder / "a.py").write_text("two\n")
    code, out = run(capsys, str(log))
    assert code == 1
    assert out.splitlines() == [
        "~ a.py  changed since 2026-11-27 22:00, by content", "  1 other unchanged",
    ]  # fmt: skip
    _, out = run(capsys, str(log), "--all")
    assert [line[:6] for line in out.splitlines()] == ["  b.py", "~ a.py"]


def test_json_has_every_file_as_the_contract_says(tmp_path: Path, capsys: Any) -> None:
    log, folder = log_of(tmp_path)
    (folder / "a.py").unlink()
    code, out = run(capsys, str(log), "--json")
    b, a = (json.loads(line) for line in out.splitlines())
    assert code == 1
    assert (a["v"], a["path"], a["how"], a["by"]) == (1, str(folder / "a.py"), "deleted", "content")
    assert (a["since"], a["changed_at"]) == (build.at(6), None)
    assert (b["how"], b["n"], b["wrote"]) == ("unchanged", 4, False)


def test_as_it_stood_at_a_message(tmp_path: Path, capsys: Any) -> None:
    log, _ = log_of(tmp_path)
    assert run(capsys, str(log), "--at", "3") == (0, "  1 file unchanged\n")


def test_no_files_at_all(tmp_path: Path, capsys: Any) -> None:
    log = build.log(tmp_path / "20261127-220000.jsonl", build.healthy())
    assert run(capsys, str(log)) == (0, "the transcript touched no file\n")


def test_a_hostile_path_is_shown_as_text(tmp_path: Path, capsys: Any) -> None:
    scripted = Scripted("native", tmp_path / "work")
    name = "\x1b]0;x\x07\u202e.py"
    (scripted.folder / name).write_text("one\n")
    scripted.read(name)
    (scripted.folder / name).write_text("two\n")
    for more in ([], ["--json"]):
        _, out = run(capsys, scripted.session().path, *more)
        assert not {"\x1b", "\x07", "\u202e"} & set(out)


def test_no_such_session_is_two(tmp_path: Path, capsys: Any) -> None:
    assert run(capsys, "nothing", "--in", str(tmp_path))[0] == 2


def test_a_folder_that_is_gone_is_one_line_in_plain_words(tmp_path: Path, capsys: Any) -> None:
    log, folder = log_of(tmp_path)
    shutil.rmtree(folder)
    assert run(capsys, str(log)) == (1, (
        f"- {folder}  the folder is missing, with 2 files of the run; last seen 2026-11-27 22:00\n"
    ))  # fmt: skip
