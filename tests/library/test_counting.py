"""Lines and messages in front of a place of a log."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

import build
import harm
import pytest
import wanted

from sessionlog.counting import Count, Counter, count_of
from sessionlog.formats.native import Native
from sessionlog.paths import open_regular
from sessionlog.reader import load
from sessionlog.regions import Region, line_from, line_start, regions
from sessionlog.source import format_of
from sessionlog.window import HEAD, LONG, Strip


def opened(path: Path) -> Counter:
    strip = Strip(open_regular(str(path)))
    return Counter(format_of(str(path), strip.fd), strip)


def starts(lines: Sequence[bytes]) -> list[int]:
    return [sum(map(len, lines[:i])) for i in range(len(lines) + 1)]


@pytest.mark.parametrize("seed", range(60))
def test_the_count_is_that_of_the_decoded_log_in_every_format(tmp_path: Path, seed: int) -> None:
    log = wanted.made(Random(seed))
    path = build.log(tmp_path / log.name, log.lines)
    session = load(path)
    offsets = [0, *(i + 1 for i, byte in enumerate(path.read_bytes()) if byte == 10)]
    for order in (offsets, offsets[::-1], offsets[::3]):
        counter = opened(path)
        for offset in order:
            before = [s for s in session.history if s.record.span.offset < offset]
            assert counter.before(offset) == Count(offsets.index(offset), len(before))


@pytest.mark.parametrize("seed", range(300))
def test_damage_anywhere_does_not_shift_the_numbers(seed: int) -> None:
    random = Random(seed)
    lines = [
        build.message("user", f"x {i}") if random.random() < 0.6 else build.event("usage", i)
        for i in range(25)
    ]
    data = harm.harmed(lines, seed).data
    messages = sum(record.kind == "message" for record in harm.read(data)[0])
    found = count_of(Native(), Region(0, bytearray(data), len(data)))
    assert found.messages == messages


def test_a_comma_that_became_a_line_feed_is_two_bad_lines() -> None:
    whole = build.message("user", "x")
    data = whole + whole.replace(b',"message"', b'\n"message"') + whole
    assert count_of(Native(), Region(0, bytearray(data), len(data))) == Count(4, 2)


def test_a_count_can_be_stopped(tmp_path: Path) -> None:
    path = build.log(tmp_path / "a.jsonl", [build.message("user", "x")] * 10)
    assert opened(path).before(path.stat().st_size, lambda: True) is None


def test_a_long_line_counts_once(tmp_path: Path) -> None:
    lines = [build.message("user", "x"), build.message("bot", "y" * (LONG + 10)),
             build.message("user", "z")]  # fmt: skip
    counter = opened(build.log(tmp_path / "a.jsonl", lines))
    assert [counter.before(start) for start in starts(lines)] == [
        Count(n, n) for n in range(4)
    ]  # fmt: skip


# -- regions -----------------------------------------------------------------------------------


@pytest.mark.parametrize("tail", [b"", b"no feed"])
@pytest.mark.parametrize("sizes", [[], [0, 0], [5, 0, 70], [3 << 20, 10, 1 << 20], [LONG + 9, 4]])
def test_regions_give_every_line_once_wherever_they_begin_and_end(
    tmp_path: Path, sizes: list[int], tail: bytes
) -> None:
    lines = [b"x" * size + b"\n" for size in sizes] + ([tail] if tail else [])
    path = build.log(tmp_path / "a", lines)
    strip = Strip(open_regular(str(path)))
    size = strip.size
    for cut in {0, 1, size // 2, size - 1, size, *starts(lines)} - {-1}:
        found: list[tuple[int, int]] = []
        for first, last in ((0, cut), (cut, size)):
            for region in regions(strip, line_from(strip, first), last):
                if region.long:
                    assert region.end == HEAD
                    found.append((region.offset, region.long))
                    continue
                at = 0
                for line in bytes(region.data[: region.end]).splitlines():
                    found.append((region.offset + at, len(line)))
                    at += len(line) + 1
        whole = zip(starts(lines), lines, strict=False)
        assert found == [(start, len(line.rstrip(b"\n"))) for start, line in whole], cut


def test_the_start_of_a_line_is_found_from_any_byte_of_it(tmp_path: Path) -> None:
    lines = [b"abc\n", b"\n", b"x" * 3_000_000 + b"\n", b"end"]
    strip = Strip(open_regular(str(build.log(tmp_path / "a", lines))))
    for start, line in zip(starts(lines), lines, strict=False):
        for byte in {0, len(line) // 2, len(line) - 1}:
            assert line_start(strip, start + byte) == start
