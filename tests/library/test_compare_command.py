"""`sessionlog compare`: one object of the whole, then what differs, each with its side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import build
import pytest

from sessionlog.cli import main

HOSTILE = "\x1b]0;owned\x07 \x9b31m \u202e"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    common = [build.message("user", "go"), build.request("c1")]
    build.log(tmp_path / "one.jsonl", [build.meta("one"), *common, build.response("c1", result="1"),
              build.message("bot", "Good."), build.result()])  # fmt: skip
    build.log(tmp_path / "two.jsonl", [
        build.meta("two", HOSTILE), *common,
        build.response("c1", failure=f"exit status 1 {HOSTILE}"),
    ])  # fmt: skip
    return tmp_path


def run(folder: Path, capsys: Any, *argv: str) -> tuple[int, str]:
    code = main(["compare", *argv, "--in", str(folder)])
    return code, capsys.readouterr().out


def test_the_first_object_tells_of_the_whole(folder: Path, capsys: Any) -> None:
    code, out = run(folder, capsys, "one", "two", "--json")
    whole, *items = map(json.loads, out.splitlines())
    assert code == 0
    assert (whole["v"], whole["common"], whole["first_difference"]) == (1, 2, 3)
    assert (whole["left"], whole["right"]) == ("one", "two")
    assert [(s["messages"], s["calls"], s["errors"]) for s in whole["sides"]] == [
        (4, 1, 0), (3, 1, 1),
    ]  # fmt: skip
    assert [(i["side"], i["n"], i["type"], i["other"]) for i in items] == [
        ("left", 3, "response", 3), ("right", 3, "response", 3), ("left", 4, "assistant", None),
    ]  # fmt: skip
    main(["show", "one", "--in", str(folder), "--json"])
    shown = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert items[0].items() >= next(i for i in shown if i["n"] == 3).items()


def test_the_text_has_marks_and_words_and_no_control_character(folder: Path, capsys: Any) -> None:
    _, out = run(folder, capsys, "one", "two")
    assert "2 messages in common, 1 to 2; first difference at 3: shell, ls, ok | shell, ls" in out
    rows = [line.split() for line in out.splitlines() if line[:1] in "-+"]
    assert [row[:3] for row in rows if row] == [
        ["-", "left", "3"], ["+", "right", "3"], ["-", "left", "4"],
    ]  # fmt: skip
    assert not any(ord(char) < 32 and char != "\n" for char in out)
    assert not {"\u202e", "\x9b"} & set(out)


def test_the_same_run_has_no_difference(folder: Path, capsys: Any) -> None:
    code, out = run(folder, capsys, "one", "one", "--json")
    [whole] = map(json.loads, out.splitlines())
    assert code == 0
    assert (whole["common"], whole["first_difference"]) == (4, None)


def test_no_such_session_and_no_log_are_2(folder: Path, capsys: Any) -> None:
    assert run(folder, capsys, "one", "nope")[0] == 2
    (folder / "x.jsonl").write_bytes(b"no log\n")
    assert run(folder, capsys, "one", "x")[0] == 2


def test_prefixes_of_a_log_never_raise(folder: Path, capsys: Any) -> None:
    data = (folder / "two.jsonl").read_bytes()
    for size in range(80, len(data), 37):
        (folder / "cut.jsonl").write_bytes(data[:size])
        assert run(folder, capsys, "two", "cut", "--json")[0] in (0, 2)
