"""`sessionlog replay` prints a log at the pace at which it was written."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import build
import pytest

from sessionlog.cli import main
from sessionlog.commands.replay import arguments, run
from sessionlog.pace import IDLES, TINY, UNTIMED, Pace, gap


def played(path: Path, capsys: pytest.CaptureFixture[str], *words: str) -> list[float | str]:
    """What is waited for and what is printed, in order: seconds and numbers of messages."""
    parser = argparse.ArgumentParser()
    arguments(parser)
    parser.add_argument("--json", action="store_true")
    told: list[float | str] = []

    def sleep(seconds: float) -> None:
        drain()
        told.append(round(seconds, 3))

    def drain() -> None:
        told.extend(str(json.loads(line)["n"]) for line in capsys.readouterr().out.splitlines())

    assert run(parser.parse_args([str(path), "--json", *words]), sleep) == 0
    drain()
    return told


def log(folder: Path, *seconds: float) -> Path:
    return build.log(folder / "20261127-220000.jsonl",
                     [build.message("bot", str(at), at) for at in seconds])  # fmt: skip


def test_lines_come_as_far_apart_as_they_were_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = log(tmp_path, 0, 1.5, 2)
    assert played(path, capsys) == ["1", 1.5, "2", 0.5, "3"]
    assert played(path, capsys, "--speed", "0.5") == ["1", 3.0, "2", 1.0, "3"]


def test_silences_are_cut(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = log(tmp_path, 0, 3600, 3601)
    assert played(path, capsys) == ["1", 2.0, "2", 1.0, "3"]
    assert played(path, capsys, "--idle", "10", "--speed", "4") == ["1", 2.5, "2", 0.25, "3"]
    assert played(path, capsys, "--idle", "0") == ["1", 3600.0, "2", 1.0, "3"]


def test_times_that_are_equal_missing_or_run_backwards_do_not_stall(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = build.log(tmp_path / "20261127-220000.jsonl", [
        build.message("bot", "a", 100), build.message("bot", "same", 100),
        build.message("bot", "back", 50),
        build.line({"kind": "message", "message": {"type": "bot", "text": "no time"}}),
        build.message("bot", "on", 51),
    ])  # fmt: skip
    assert played(path, capsys) == ["1", TINY, "2", TINY, "3", UNTIMED, "4", 1.0, "5"]


def test_everything_is_printed_once_and_a_result_knows_its_call(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = build.log(tmp_path / "20261127-220000.jsonl", build.healthy(), b'{"torn')
    assert main(["replay", str(path), "--json", "--speed", "64"]) == 0
    items = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert main(["show", str(path), "--json"]) == 0
    shown = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [item["offset"] for item in items] == [item["offset"] for item in shown]
    assert [item["kind"] for item in items] == [item["kind"] for item in shown]
    assert [(i["n"], i["pair"], i["open"]) for i in items if i["type"] in ("call", "response")] == [
        (2, None, True), (3, 2, False)]  # fmt: skip


def test_text_of_a_log_is_printed_safely(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = build.log(tmp_path / "20261127-220000.jsonl", [build.message("bot", "\x1b[31mred\x9b")])
    assert main(["replay", str(path)]) == 0
    out = capsys.readouterr().out
    assert "red" in out
    assert not {"\x1b", "\x9b"} & set(out)


@pytest.mark.parametrize("words", [["--speed", "0"], ["--speed", "65"], ["--speed", "nan"],
                                   ["--idle", "-1"], ["--idle", "x"]])  # fmt: skip
def test_a_pace_that_is_none_is_refused(tmp_path: Path, words: list[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        main(["replay", str(log(tmp_path, 0)), *words])
    assert refused.value.code == 2


def test_speeds_and_caps_go_through_their_tables() -> None:
    pace = Pace()
    assert [pace.faster(steps).speed for steps in (-9, -1, 1, 9)] == [0.25, 0.5, 2.0, 64.0]
    assert Pace(speed=3).faster().speed == 4.0  # a speed of a command's own goes on from near it
    caps = [pace := pace.next_idle() for _ in range(len(IDLES))]
    assert [pace.idle for pace in caps] == [10.0, None, 2.0]
    assert Pace(idle=7).next_idle().idle is None


def test_a_gap_is_never_below_nothing() -> None:
    assert gap(None, 5.0) == 0.0
    assert gap(5.0, 4.0) == gap(5.0, 5.0) == TINY
    assert gap(5.0, None, loud=False) == TINY


def test_a_subagents_own_log_is_replayed_as_it_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = [build.claude_user("Look", isSidechain=True, agentId="a1"),
           build.claude_said("Seen.", isSidechain=True, agentId="a1")]  # fmt: skip
    alone = build.log(tmp_path / "agent-a1.jsonl", own)
    beside = build.log(tmp_path / build.CLAUDE_FILE, [*own, build.claude_said("Main.", seconds=9)])
    for path, sides in ((alone, [None, None]), (beside, ["a1", "a1", None])):
        told = []
        for command in ("show", "replay"):
            assert main([command, str(path), "--json"]) == 0
            items = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
            told.append([item.get("sidechain") for item in items])
        assert told == [sides, sides]
