"""`sessionlog stats`: what it prints, for one session and for several."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import build
import opencode_logs
import pytest

from sessionlog.cli import main

ROOT = Path(__file__).parent.parent.parent
FIELDS = {
    "id", "path", "messages", "users", "assistants", "calls", "tools", "duration", "active",
    "tokens", "cost", "models", "errors", "retries", "resets", "damages", "longest_gaps",
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    build.log(tmp_path / "20261127-220000.jsonl", build.healthy())
    build.log(tmp_path / "20261127-230000.jsonl", [
        build.meta("20261127-230000", "Second", 3600), build.message("user", "go", 3601),
        build.event("usage", 3601, text="input 100 output 10"),
        build.request("c1", seconds=3602), build.response("c1", failure="no", seconds=3632),
        build.request("c2", seconds=4602),
    ])  # fmt: skip
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, list[dict[str, Any]], str]:
    code = main(["stats", *argv, "--json"])
    out = capsys.readouterr()
    return code, [json.loads(line) for line in out.out.splitlines()], out.err


def test_one_session_is_one_object(folder: Path, capsys: Any) -> None:
    code, [found], _ = run(capsys, "20261127-23", "--in", str(folder))
    assert code == 0
    assert found.keys() >= FIELDS | {"v"}
    assert found["id"] == "20261127-230000"
    assert (found["messages"], found["calls"], found["duration"], found["active"]) == (
        4, 2, 1002, 32,
    )  # fmt: skip
    assert found["tools"] == [
        {"tool": "shell", "calls": 2, "failed": 1, "interrupted": 0, "open": 1, "seconds": 30.0}
    ]
    assert found["tokens"] == {
        "input": 100, "output": 10, "cache_read": 0, "cache_write": 0, "reasoning": 0, "total": 110,
    }  # fmt: skip
    assert found["longest_gaps"] == [{"seconds": 970.0, "after": 3, "at": "2026-11-27T23:00:32Z"}]
    assert found["cost"] is None
    assert found["in_flight"][0]["tool"] == "shell"


def test_a_log_without_tokens_says_null(folder: Path, capsys: Any) -> None:
    _, [found], _ = run(capsys, str(folder / "20261127-220000.jsonl"))
    assert found["tokens"] is None


def test_a_folder_ends_with_the_total(folder: Path, capsys: Any) -> None:
    code, found, _ = run(capsys, str(folder))
    assert code == 0
    assert [one.get("id") for one in found] == ["20261127-230000", "20261127-220000", None]
    total = found[-1]["total"]
    assert (total["sessions"], total["messages"], total["calls"]) == (2, 8, 3)
    assert total["tokens"]["total"] == 110


def test_a_log_named_twice_counts_once(folder: Path, capsys: Any) -> None:
    log = str(folder / "20261127-220000.jsonl")
    _, found, _ = run(capsys, log, log, str(folder))
    assert found[-1]["total"]["sessions"] == 2


def test_a_mistake_is_one_line(folder: Path, capsys: Any) -> None:
    (folder / "notes.jsonl").write_text("hello\n")
    for ref in ("nobody", str(folder / "notes.jsonl")):
        code, found, error = run(capsys, ref, "--in", str(folder))
        assert (code, found) == (2, [])
        assert error.count("\n") == 1


def test_the_text_fits_and_holds_no_control_character(folder: Path, capsys: Any) -> None:
    hostile = "\x1b]0;owned\x07 \x9b31m \u202e"
    build.log(folder / "20261127-235000.jsonl", [
        build.meta("20261127-235000", hostile, model=hostile), build.request("c1", hostile),
    ])  # fmt: skip
    for ref in (str(folder), "20261127-235000"):
        assert main(["stats", ref, "--in", str(folder)]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert all(line.isprintable() for line in lines)
    assert max(map(len, lines)) <= 120


def test_a_locale_without_blocks_gets_ascii(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sessionlog", "stats", str(folder)], capture_output=True, cwd=ROOT,
        env={"PYTHONIOENCODING": "ascii", "PATH": ""}, check=True,
    )  # fmt: skip
    assert b"shell" in done.stdout
    assert done.stdout.isascii()


def test_counting_starts_without_the_screen() -> None:
    code = "import sessionlog.commands.stats, sys; print('textual' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT,
                          check=True)  # fmt: skip
    assert done.stdout.strip() == "False"


def test_many_are_told_newest_first_with_agent_whole_id_and_title(
    folder: Path, capsys: Any
) -> None:
    build.log(folder / build.CODEX_FILE, build.codex_healthy())
    assert main(["stats", str(folder)]) == 0
    rows = capsys.readouterr().out.partition("\n\n")[0].splitlines()
    assert [row.split()[:2] for row in rows] == [
        ["zot", "20261127-230000"], ["zot", "20261127-220000"], ["codex", build.CODEX_ID],
    ]  # fmt: skip
    assert [row.endswith("  Second") for row in rows] == [True, False, False]


def test_a_database_counts_as_all_its_sessions_wherever_it_is_met(
    folder: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = folder / "opencode" / "opencode.db"
    place.parent.mkdir()
    opencode_logs.database(place, opencode_logs.healthy())
    opencode_logs.database(place, [], opencode_logs.info(opencode_logs.SESSION[:-1] + "2"))
    monkeypatch.setenv("HOME", str(folder / "nowhere"))
    monkeypatch.setenv("XDG_DATA_HOME", str(folder))
    for argv in ([], [str(place)], ["--in", str(place)]):
        code, found, error = run(capsys, *argv)
        assert (code, error, len(found)) == (0, "", 3), argv
        assert found[-1]["total"]["sessions"] == 2
