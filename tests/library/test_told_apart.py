"""Logs of one id and of one moment: an answer about several tells which is which, in one order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import build
import pytest

from sessionlog import cli
from sessionlog.listing import list_sessions


@pytest.fixture
def copies(tmp_path: Path) -> list[Path]:
    """Three logs that begin alike, made in no order, and one of its own."""
    lines = build.healthy()
    paths = [
        build.log(tmp_path / folder / "20261127-220000.jsonl", lines) for folder in ("b", "c", "a")
    ]
    build.log(tmp_path / "a" / "own.jsonl", [build.meta("own", seconds=60)])
    return sorted(paths)


@pytest.mark.parametrize("command", ["check", "stats"])
def test_of_logs_of_one_id_the_path_is_told(
    tmp_path: Path, copies: list[Path], capsys: Any, command: str
) -> None:
    cli.main([command, str(tmp_path)])
    lines = capsys.readouterr().out.splitlines()
    heads = [i for i, line in enumerate(lines) if "20261127-220000" in line.split("/")[0]]
    assert sorted(lines[i + 1].strip() for i in heads) == [str(path) for path in copies]
    assert not any("own.jsonl" in line for line in lines)  # nobody else has its id
    cli.main([command, str(copies[0])])
    assert str(copies[0]) not in capsys.readouterr().out


def test_logs_as_old_as_each_other_have_one_order(
    tmp_path: Path, copies: list[Path], capsys: Any
) -> None:
    told = [entry.path for entry in list_sessions(tmp_path)]
    assert told[1:] == [str(path) for path in reversed(copies)]
    for more in ((), ("--why",)):
        cli.main(["list", str(tmp_path), "--json", *more])
        rows = capsys.readouterr().out.splitlines()
        assert [json.loads(row)["path"] for row in rows] == told


def test_the_commands_alone_promise_no_screen(capsys: Any) -> None:
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    told = " ".join(capsys.readouterr().out.split())
    assert "the commands alone" in told
    assert "on the screen" not in told
