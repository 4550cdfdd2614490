"""Damaged logs: what is whole comes back, and every loss is told."""

from __future__ import annotations

from pathlib import Path

import build
import harm
import pytest

from sessionlog.errors import DamagedLog, NotALog
from sessionlog.formats.native import Native
from sessionlog.listing import list_sessions
from sessionlog.reader import load
from sessionlog.records import (
    Status,
)
from sessionlog.session import Session
from sessionlog.window import Log


def loaded(tmp_path: Path, *lines: bytes, tail: bytes = b"") -> Session:
    return load(build.log(tmp_path / "20261127-220000.jsonl", lines, tail))


LINES = build.healthy()
NOT_UTF8 = build.message("user", "caf\xe9").replace("é".encode(), b"\xe9")
DEEP = build.message("bot", "x", deep=0).replace(b":0}", b":" + b"[" * 5000 + b"]" * 5000 + b"}")


@pytest.mark.parametrize(
    ("data", "found", "losses"),
    [
        pytest.param([*LINES[:4], LINES[4][:40]], 4, [(5, "torn last line")], id="1-torn"),
        pytest.param(
            [*LINES[:2], LINES[2][:60] + LINES[3], *LINES[4:]],
            5,
            [(3, "a torn record, with another written onto it")],
            id="2-glued-to-a-torn-one",
        ),
        pytest.param([LINES[0][:-1] + LINES[1], *LINES[2:]], 6, [], id="3-two-on-a-line"),
        pytest.param(
            [LINES[0], b"junk\n", b"12\n", *LINES[1:]],
            6,
            [(2, "not JSON"), (3, "a JSON value that is no record")],
            id="4-bad-lines",
        ),
        pytest.param([*LINES, b"\0" * 5000], 6, [(7, "NUL bytes")], id="5-nul-tail"),
        pytest.param(
            [*LINES[:3], b"\0" * 5000 + LINES[3], *LINES[4:]],
            6,
            [(4, "NUL bytes")],
            id="5-nul-before-a-record",
        ),
        pytest.param(
            [*LINES[:3], LINES[3][:-1] + b"\0" * 284 + b"\n", *LINES[4:]],
            6,
            [(4, "NUL bytes")],
            id="5-nul-behind-a-record",
        ),
        pytest.param(
            [*LINES[:4], LINES[4][:30], LINES[5]],
            5,
            [(5, "a torn record, with another written onto it")],
            id="6-full-disk-then-more",
        ),
        pytest.param(
            [LINES[0], build.meta("other", "ancestor"), *LINES[1:]], 7, [], id="10-two-metas"
        ),
        pytest.param([b"\xef\xbb\xbf", *LINES], 6, [], id="13-bom"),
        pytest.param([line[:-1] + b"\r\n" for line in LINES], 6, [], id="13-crlf"),
        pytest.param(
            [LINES[0], NOT_UTF8, *LINES[2:]],
            6,
            [(2, "bad UTF-8, shown as U+FFFD")],
            id="13-bad-utf8",
        ),
        pytest.param(
            [*LINES[:-1], build.message("bot", "日本")[:-6]],
            5,
            [(6, "torn last line")],
            id="13-cut-in-a-character",
        ),
        pytest.param(
            [LINES[0], build.message("bot", "\ud83d"), *LINES[1:]], 7, [], id="14-surrogate"
        ),
        pytest.param(
            [
                LINES[0],
                build.response("n", result=float("nan")),
                build.response("i", result=float("-inf")),
                *LINES[1:],
            ],
            8,
            [],
            id="15-nan",
        ),
        pytest.param(
            [LINES[0], build.message("bot", "x" * 3_000_000), *LINES[1:]], 7, [], id="16-giant-line"
        ),
        pytest.param(
            [LINES[0], DEEP, *LINES[1:]], 6, [(2, "nested deeper than 200 levels")], id="17-deep"
        ),
        pytest.param(
            [LINES[0], b"[" * 100_000 + b"\n", *LINES[1:]],
            6,
            [(2, "nested deeper than 200 levels")],
            id="17-only-brackets",
        ),
    ],
)
def test_damage_costs_the_damaged_bytes_alone(
    data: list[bytes], found: int, losses: list[tuple[int, str]], tmp_path: Path
) -> None:
    session = loaded(tmp_path, *data)
    assert len(session.records) == found
    assert [(d.span.line, d.why) for d in session.damages] == losses
    assert session.meta.task == "Fix it"
    raw = b"".join(data)
    for damage in session.damages:
        assert raw.count(b"\n", 0, damage.span.offset) == damage.span.line - 1


def test_strict_reading_refuses_damage_before_the_last_line_and_only_that(tmp_path: Path) -> None:
    path = build.log(tmp_path / "a.jsonl", [*LINES[:2], b"junk\n", *LINES[2:]])
    with pytest.raises(DamagedLog, match=r"line 3, byte \d+: not JSON"):
        load(path, strict=True)
    for fine in (
        [*LINES, b"junk\n"],
        [*LINES, b'{"kind":'],
        [LINES[0], NOT_UTF8, *LINES[2:]],
        [*LINES, b"junk\n", b"\n"],
        [LINES[0][:-1] + LINES[1], *LINES[2:]],
    ):
        assert load(build.log(path, fine), strict=True).records


@pytest.mark.parametrize(
    "head", [b'{"kind":"meta","at":"2026', b'{"kind":"me', b"{", b'\0\0{"kind":"meta']
)
def test_a_run_killed_in_its_first_line_is_a_truncated_session(head: bytes, tmp_path: Path) -> None:
    session = loaded(tmp_path, tail=head)
    assert (session.status, len(session.damages), session.records) == (Status.TRUNCATED, 1, ())
    assert [e.status for e in list_sessions(tmp_path)] == [Status.TRUNCATED]


def test_an_empty_file_and_prose_are_no_logs(tmp_path: Path) -> None:
    for data in (b"", b"\n\n", b"hello\n", b'{"a":1}\n', b'{"kind'):
        with pytest.raises(NotALog):
            load(build.log(tmp_path / "notes.jsonl", [data]))


@pytest.mark.parametrize("seed", range(3))
def test_every_prefix_of_a_log_loses_only_the_record_that_it_cuts(seed: int) -> None:
    lines = [
        *build.scrambled(seed, 8),
        build.message("bot", '日本 {"kind":"x","at":1}'),
        build.response("j", result={"kind": "event", "at": "x", "event": {"kind": "y"}}),
        build.result(),
    ]
    data = b"".join(lines)
    ends = [data[:i].count(b"\n") for i in range(len(data) + 1)]
    whole, _ = harm.read(data)
    for size in range(len(data) + 1):
        records, damages = harm.read(data[:size])
        rest = data[data.rfind(b"\n", 0, size) + 1 : size]
        last = len(rest) == len(lines[ends[size]]) - 1 if ends[size] < len(lines) else False
        assert records == whole[: ends[size] + last], size
        assert [(d.torn, d.span.length) for d in damages] == (
            [(True, len(rest))] if rest and not last else []
        )


@pytest.mark.parametrize("seed", range(20))
def test_whatever_is_whole_comes_back_and_every_loss_is_told(seed: int) -> None:
    lines = [*build.scrambled(seed, 20), build.result()]
    for i in range(15):
        image = harm.harmed(lines, seed * 100 + i)
        assert not harm.faults(image), image.how


@pytest.mark.parametrize(
    "cut",
    [
        b'"event":',
        b'"event":{"kind":"iteration","iteration":',
        b'{"kind":"eve',
        b'"event":{"kind":"usage","text":"in',
        b'"event":{"kind":"usage","text":"a\\',
    ],
)
def test_a_record_written_onto_a_torn_one_survives_wherever_that_was_torn(cut: bytes) -> None:
    torn = b'{"kind":"event","at":"2026-11-27T22:00:00Z",' + cut
    records, damages = harm.read(torn + LINES[1])
    assert [r.span.offset for r in records] == [len(torn)]
    assert [(d.span.offset, d.span.length) for d in damages] == [(0, len(torn))]


def test_a_piece_of_a_torn_record_is_no_record() -> None:
    torn = LINES[2][: LINES[2].index(b"}}}") + 1]  # the activity is whole, what holds it is not
    records, damages = harm.read(torn + b"\n" + LINES[3])
    assert [r.span.offset for r in records] == [len(torn) + 1]
    assert [(d.span.offset, d.span.length) for d in damages] == [(0, len(torn))]


def test_empty_lines_count_as_lines_and_as_nothing_else(tmp_path: Path) -> None:
    blank = [b"\n" * 70_000]
    path = build.log(tmp_path / "20261127-220000.jsonl", [*LINES[:3], *blank, *LINES[3:], b"\n\n"])
    session = load(path)
    assert [record.span.line for record in session.records] == [1, 2, 3, 70_004, 70_005, 70_006]
    assert not session.damages
    [entry] = list_sessions(tmp_path)
    assert entry.status is Status.COMPLETE
    log = Log(str(path), Native())
    chunks = [log.chunk(number) for number in range(log.chunks)]
    assert sum(len(chunk.starts) for chunk in chunks) == 70_008
    assert chunks[-1].end == path.stat().st_size
    assert [len(chunk.records) for chunk in chunks] == [3, 3]
    assert chunks[-1].line_of(chunks[-1].records[0].span.offset) + len(chunks[0].starts) == 70_003
    log.close()
