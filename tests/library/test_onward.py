"""Where a run that was handed over is written."""

from __future__ import annotations

from pathlib import Path

import build

from sessionlog.onward import Onward

ID = "20261127-220000"


def log(folder: Path) -> Path:
    return build.log(folder / f"{ID}.jsonl", [build.meta(), build.message("user", "go")])


def test_a_log_that_grows_is_the_one_and_what_stood_in_it_is_known(tmp_path: Path) -> None:
    path = log(tmp_path)
    onward = Onward(str(path), ID)
    assert onward.where() is None
    with path.open("ab") as file:
        file.write(build.message("bot", "so"))
    assert onward.where() == str(path)
    assert onward.before(str(path)) == 2


def test_a_new_log_beside_it_that_names_it_is_the_one(tmp_path: Path) -> None:
    onward = Onward(str(log(tmp_path)), ID)
    (tmp_path / "other.jsonl").write_bytes(build.meta("other"))
    (tmp_path / "new.jsonl").write_bytes(build.meta("new", resumedFrom=ID))
    assert onward.where() == str(tmp_path / "new.jsonl")
    assert onward.before(str(tmp_path / "new.jsonl")) == 0


def test_a_new_log_is_looked_at_until_its_head_is_there(tmp_path: Path) -> None:
    onward = Onward(str(log(tmp_path)), ID)
    new = tmp_path / "new.jsonl"
    new.touch()
    assert onward.where() is None
    new.write_bytes(build.meta("new", resumedFrom=ID))
    assert onward.where() == str(new)
