"""Lists that read the logs for why they stopped; and that other commands tell the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import build
from stories import Claude

from sessionlog.cli import main


def listed(capsys: Any, *argv: str) -> list[dict[str, Any]]:
    assert main(["list", *argv, "--json"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_a_run_that_ended_by_itself_is_failed_by_its_cause_when_that_is_asked_for(
    tmp_path: Path, capsys: Any
) -> None:
    folder = tmp_path
    build.log(folder / "20261127-220000.jsonl", build.healthy())
    words = "I tried everything I know and could not fix it, so I give up."
    story = Claude().call("go test", "FAIL", bad=True).done(words)
    build.log(folder / build.CLAUDE_FILE, story.lines)
    assert listed(capsys, str(folder), "--status", "failed") == []
    asked = [str(folder), "--why"]
    (found,) = listed(capsys, *asked, "--status", "failed")
    assert (found["status"], found["ok"], found["cause"]) == ("complete", True, "gave_up")
    assert found["failed"]
    assert found["stop"] == f"Gave up: {words}"
    told = {entry["id"]: entry["cause"] for entry in listed(capsys, *asked)}
    assert told["20261127-220000"] == "finished"
    assert len(listed(capsys, *asked, "--limit", "1")) == 1
    assert "cause" not in listed(capsys, str(folder))[0]
    assert main(["list", *asked]) == 0
    assert f"Gave up: {words[:30]}" in capsys.readouterr().out
    main(["check", str(folder / build.CLAUDE_FILE)])
    out = capsys.readouterr().out
    assert f"ended by itself, but Gave up: {words}" in out
    assert "ok" not in out.splitlines()[0]
    main(["compare", str(folder / build.CLAUDE_FILE), str(folder / "20261127-220000.jsonl")])
    assert "ended     ended by itself: " in capsys.readouterr().out


def test_a_cause_that_a_row_cannot_tell_is_told_when_it_is_asked_for(
    tmp_path: Path, capsys: Any
) -> None:
    story = Claude().call("cp a b", "cp: error writing 'b': No space left on device", bad=True)
    build.log(tmp_path / build.CLAUDE_FILE, story.lines)
    assert "Disk full" not in str(listed(capsys, str(tmp_path)))
    (found,) = listed(capsys, str(tmp_path), "--why")
    assert (found["status"], found["cause"], found["failed"]) == ("unfinished", "disk_full", False)
    assert found["stop"].startswith("Disk full: ")
    assert main(["list", str(tmp_path), "--why"]) == 0
    assert "Disk full: cp: error writing" in capsys.readouterr().out


def test_a_row_that_tells_its_cause_stays_as_it_is(tmp_path: Path, capsys: Any) -> None:
    lines = Claude().work(1).refused("API Error: 529 Overloaded").lines
    build.log(tmp_path / build.CLAUDE_FILE, lines)
    (plain,), (asked,) = (listed(capsys, str(tmp_path), *why) for why in ([], ["--why"]))
    assert asked["stop"] == plain["stop"]
    assert (asked["cause"], asked["failed"]) == ("provider_overloaded", True)
