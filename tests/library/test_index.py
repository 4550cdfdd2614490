"""Where every line begins."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import build
import pytest

from sessionlog.framing import split
from sessionlog.index import Index


@pytest.mark.parametrize("tail", [b"", b'{"kind":"mess'])
def test_offsets_are_those_of_the_lines(tmp_path: Path, tail: bytes) -> None:
    odd = [b"\n", "é\u2028\x0b\n".encode()]
    path = build.log(tmp_path / "a.jsonl", [*build.healthy(), *odd], tail)
    lines = split(path.read_bytes())
    index = Index.scan(str(path))
    assert [index.offset(n) for n in range(1, len(index) + 1)] == [line.offset for line in lines]
    assert index.end == path.stat().st_size


def test_a_byte_is_found_in_its_line(tmp_path: Path) -> None:
    path = build.log(tmp_path / "a.jsonl", build.healthy())
    index = Index.scan(str(path))
    for line in split(path.read_bytes()):
        assert index.line_at(line.offset) == line.number
        assert index.line_at(line.offset + len(line.data)) == line.number
    assert index.line_at(10**9) == len(index)


def test_a_grown_file_gives_what_a_fresh_look_gives(tmp_path: Path) -> None:
    data = b"".join(build.healthy())
    path = tmp_path / "a.jsonl"
    for cut in range(0, len(data), 7):
        path.write_bytes(data[:cut])
        index = Index.scan(str(path))
        path.write_bytes(data)
        before = len(index)
        assert index.grow(str(path)) == len(index) - before
        assert [index.offset(n) for n in range(1, len(index) + 1)] == [
            line.offset for line in split(data)
        ]


def test_a_stopped_scan_can_be_carried_on(tmp_path: Path) -> None:
    path = build.log(tmp_path / "a.jsonl", [b"{}\n"] * 120_000)
    told: list[int] = []
    index = Index.scan(str(path), lambda: bool(told), told.append)
    assert 0 < len(index) < 120_000
    assert told[-1] == index.end
    index.grow(str(path))
    assert len(index) == 120_000


@pytest.mark.parametrize("number", [0, 7])
def test_a_line_that_is_not_there_is_an_error(tmp_path: Path, number: int) -> None:
    index = Index.scan(str(build.log(tmp_path / "a.jsonl", build.healthy())))
    with pytest.raises(IndexError):
        index.offset(number)


def test_an_empty_file_has_no_lines(tmp_path: Path) -> None:
    index = Index.scan(str(build.log(tmp_path / "a.jsonl", [])))
    assert (len(index), index.end, index.line_at(0)) == (0, 0, 1)


def test_as_a_command_it_prints_the_count(tmp_path: Path) -> None:
    path = build.log(tmp_path / "a.jsonl", build.healthy())
    done = subprocess.run(
        [sys.executable, "-m", "sessionlog.index", str(path)],
        capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert done.stdout == "6\n"
