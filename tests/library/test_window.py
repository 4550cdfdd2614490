"""Any part of a log, without the rest of it."""

from __future__ import annotations

import os
import random
from pathlib import Path

import build
import pytest

from sessionlog.errors import Unreadable
from sessionlog.formats.native import Native
from sessionlog.framing import split
from sessionlog.marks import Marks
from sessionlog.records import Message, Other
from sessionlog.window import CHUNK, LONG, Log, closed


def lines_of_many_sizes(count: int = 400, seed: int = 7) -> list[bytes]:
    """Lines of a few bytes to several chunks."""
    dice = random.Random(seed)
    most = [150_000 if i % 97 == 0 else 300 for i in range(count)]
    sizes = [dice.choice((5, 200, 900, 20_000, size)) for size in most]
    return [build.message("bot", "x" * size, i) for i, size in enumerate(sizes)]


def opened(path: Path) -> Log:
    return Log(str(path), Native())


def test_every_line_starts_in_exactly_one_chunk(tmp_path: Path) -> None:
    lines = lines_of_many_sizes()
    log = opened(build.log(tmp_path / "a.jsonl", lines))
    seen = [start for number in range(log.chunks) for start in log.chunk(number).starts]
    assert seen == [line.offset for line in split(b"".join(lines))]
    assert len(log.chunk(0).starts) > 1


def test_a_chunk_is_the_same_whatever_was_read_before(tmp_path: Path) -> None:
    path = build.log(tmp_path / "a.jsonl", lines_of_many_sizes())
    forward, backward = opened(path), opened(path)
    ahead = [forward.chunk(number) for number in range(forward.chunks)]
    behind = [backward.chunk(number) for number in reversed(range(backward.chunks))]
    assert ahead == behind[::-1]


def test_a_line_that_begins_right_at_a_border_is_in_the_chunk_behind_it(tmp_path: Path) -> None:
    short = build.message("bot", "")
    first = build.message("bot", "x" * (CHUNK - len(short)))
    assert len(first) == CHUNK
    log = opened(build.log(tmp_path / "a.jsonl", [first, short]))
    assert log.chunk(0).starts == (0,)
    assert log.chunk(1).starts == (CHUNK,)


def test_raw_gives_the_bytes_of_a_record(tmp_path: Path) -> None:
    lines = build.healthy()
    log = opened(build.log(tmp_path / "a.jsonl", lines))
    assert [log.raw(r.span) + b"\n" for r in log.chunk(0).records] == lines


def test_a_torn_last_line_is_torn_and_a_whole_one_is_a_record(tmp_path: Path) -> None:
    whole = build.message("bot", "no line feed")[:-1]
    torn = opened(build.log(tmp_path / "a.jsonl", build.healthy(), whole[:-4]))
    kept = opened(build.log(tmp_path / "b.jsonl", build.healthy(), whole))
    assert torn.chunk(0).torn
    assert not kept.chunk(0).torn
    assert len(kept.chunk(0).records) == len(torn.chunk(0).records) + 1


def test_a_line_too_long_for_a_row_gives_its_head_and_its_length(tmp_path: Path) -> None:
    long = build.message("bot", "begins here " + "x" * LONG)
    lines = [build.meta(), long, build.message("user", "next")]
    log = opened(build.log(tmp_path / "a.jsonl", lines))
    record = log.chunk(0).records[1]
    assert record.span.length == len(long) - 1
    assert isinstance(record.payload, Message)
    assert record.payload.text.startswith("begins here xxx")
    assert len(record.payload.text) < CHUNK
    after = log.chunk(log.chunks - 1).records[-1]
    assert isinstance(after.payload, Message)
    assert after.payload.text == "next"
    assert log.chunk(1).records == ()


def test_a_long_line_that_is_no_object_is_still_there(tmp_path: Path) -> None:
    long = b"[" + b"1," * (LONG // 2) + b"1]\n"
    log = opened(build.log(tmp_path / "a.jsonl", [build.meta(), long]))
    assert isinstance(log.chunk(0).records[1].payload, Other)


@pytest.mark.parametrize("value", [
    {"kind": "message", "message": {"type": "user", "text": 'a "quoted" \\ é \U0001f600 text'}},
    {"a": [1, 2.5, {"b": None}, "c"], "d": True, "e": {"f": [[]]}},
])  # fmt: skip
def test_an_object_cut_anywhere_can_be_closed(value: dict[str, object]) -> None:
    data = build.line(value)[:-1]
    assert closed(data) is None  # it is whole: there is nothing to close
    for end in range(12, len(data)):
        made = closed(data[:end])
        assert made is None or set(made) <= set(value)
    assert sum(closed(data[:end]) is not None for end in range(12, len(data))) > len(data) // 2


def test_growth_renews_only_the_last_chunks(tmp_path: Path) -> None:
    lines = lines_of_many_sizes()
    path = build.log(tmp_path / "a.jsonl", lines)
    log = opened(path)
    kept = log.chunk(0)
    log.chunk(log.chunks - 1)
    with path.open("ab") as file:
        file.write(build.message("user", "more"))
    change = log.refresh()
    assert change.kind == "grew"
    assert change.first >= log.chunks - 4
    assert log.chunk(0) is kept
    last = log.chunk(log.chunks - 1).records[-1].payload
    assert isinstance(last, Message)
    assert last.text == "more"


def test_growth_byte_by_byte_ends_where_opening_afresh_does(tmp_path: Path) -> None:
    start = [build.message("bot", "x" * (CHUNK - 500))]
    rest = b"".join([build.message("user", "é" * 40), build.request("c1"), build.response("c1")])
    path = build.log(tmp_path / "a.jsonl", start)
    log = opened(path)
    for size in range(1, len(rest) + 1):
        with path.open("ab") as file:
            file.write(rest[size - 1 : size])
        assert log.refresh().kind == "grew"
        fresh = opened(path)
        assert [log.chunk(n) for n in range(log.chunks)] == [
            fresh.chunk(n) for n in range(fresh.chunks)
        ]
        fresh.close()


def test_a_log_that_is_replaced_shrinks_or_goes_is_noticed(tmp_path: Path) -> None:
    path = build.log(tmp_path / "a.jsonl", build.healthy())
    log = opened(path)
    assert log.refresh().kind == "none"
    os.replace(build.log(tmp_path / "b.jsonl", build.healthy("other") * 2), path)
    assert log.refresh().kind == "replaced"
    assert len(log.chunk(0).records) == 12
    os.truncate(path, 50)
    assert log.refresh().kind == "replaced"
    path.write_bytes(b"y" * 60)  # grown, but with another head
    assert log.refresh().kind == "replaced"
    path.unlink()
    assert log.refresh().kind == "gone"
    assert log.chunk(0).damages  # what was open can still be read


def texts_of(log: Log) -> list[str]:
    records = [r for number in range(log.chunks) for r in log.chunk(number).records]
    return [r.payload.text for r in records if isinstance(r.payload, Message)]


def test_a_log_cut_and_grown_past_its_size_between_two_looks_is_noticed(tmp_path: Path) -> None:
    path = build.log(tmp_path / "a.jsonl", lines_of_many_sizes())
    log = opened(path)
    before = texts_of(log)
    os.truncate(path, path.stat().st_size - 10)
    with path.open("ab") as file:
        file.write(b'"}}\n' + build.message("user", "after the cut"))
    assert log.refresh().kind == "replaced"
    assert texts_of(log) == texts_of(opened(path)) != before


def test_other_bytes_of_equal_length_are_noticed_where_they_were_shown(tmp_path: Path) -> None:
    path = build.log(tmp_path / "a.jsonl", [build.message("bot", "x" * 60_000)] * 9)
    log = opened(path)
    log.chunk(3)
    os.utime(path)
    assert log.refresh().kind == "none"  # another time, the same bytes
    for offset, kind in ((100_000, "none"), (250_000, "replaced")):
        with path.open("r+b") as file:
            file.seek(offset)
            file.write(b"y")
        assert log.refresh().kind == kind
    assert texts_of(log) == texts_of(opened(path))


def test_what_takes_the_place_of_a_log_and_is_none_leaves_the_old_one_open(tmp_path: Path) -> None:
    path = build.log(tmp_path / "a.jsonl", build.healthy())
    log = opened(path)
    before = texts_of(log)
    path.unlink()
    os.mkfifo(path)
    assert [log.refresh().kind for _ in range(2)] == ["gone", "gone"]
    assert texts_of(log) == before
    path.unlink()
    build.log(path, build.healthy("new")[:2])
    assert log.refresh().kind == "replaced"
    assert texts_of(log) == ["Begin."]


def test_a_change_while_a_look_reads_is_noticed_by_the_next_at_the_latest(tmp_path: Path) -> None:
    lines = lines_of_many_sizes()
    path = build.log(tmp_path / "a.jsonl", lines)
    other = b"".join(lines_of_many_sizes(seed=8))
    changes: list[bytes] = []

    def read(fd: int, length: int, offset: int) -> bytes:
        if changes:
            path.write_bytes(changes.pop())
        return os.pread(fd, length, offset)

    log = Log(str(path), Native(), read)
    texts_of(log)
    with path.open("ab") as file:
        file.write(build.message("user", "more"))
    changes.append(other * 2)
    kinds = [log.refresh().kind for _ in range(2)]
    assert "replaced" in kinds
    assert texts_of(log) == texts_of(opened(path))


def test_a_long_line_in_writing_is_not_looked_through_at_each_growth(tmp_path: Path) -> None:
    path = build.log(tmp_path / "a.jsonl", [build.meta()], b'{"kind":"message","x":"')
    taken: list[int] = []

    def read(fd: int, length: int, offset: int) -> bytes:
        taken.append(length)
        return os.pread(fd, length, offset)

    log = Log(str(path), Native(), read)
    costs = []
    for _ in range(20):
        with path.open("ab") as file:
            file.write(b"x" * 500_000)
        taken.clear()
        assert log.refresh().first == 0
        costs.append(sum(taken))
    assert max(costs) < 1_000_000


def test_what_is_kept_is_bounded_by_count_and_by_bytes(tmp_path: Path) -> None:
    log = opened(build.log(tmp_path / "a.jsonl", [build.message("bot", "x" * 60_000)] * 300))
    for number in range(log.chunks):
        log.chunk(number)
    assert len(log._chunks) <= Log.COUNT
    assert sum(chunk.end - chunk.start for chunk in log._chunks.values()) <= Log.WEIGHT


def test_the_log_is_never_written(tmp_path: Path) -> None:
    path = build.log(tmp_path / "a.jsonl", build.healthy(), b'{"kind":"mess')
    path.chmod(0o400)
    before = path.stat(), path.read_bytes()
    log = opened(path)
    log.chunk(0)
    log.refresh()
    log.close()
    after = path.stat(), path.read_bytes()
    assert before[1] == after[1]
    assert (before[0].st_mtime_ns, before[0].st_mode) == (after[0].st_mtime_ns, after[0].st_mode)


def test_a_folder_and_a_pipe_are_no_logs(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", tmp_path / "nowhere"):
        with pytest.raises(Unreadable):
            opened(path)


def test_an_empty_log_has_no_chunks(tmp_path: Path) -> None:
    log = opened(build.log(tmp_path / "a.jsonl", []))
    assert log.chunks == 0
    with pytest.raises(IndexError):
        log.chunk(0)


# -- marks -----------------------------------------------------------------------------------


def counted(log: Log) -> Marks:
    marks = Marks(log.form)
    assert marks.scan(log.strip, rest=lambda: None)
    return marks


def mixed(count: int = 900) -> list[bytes]:
    """Records of every kind, over several chunks."""
    made: list[bytes] = [build.meta()]
    for i in range(count):
        made += [
            build.event("iteration", i, iteration=i),
            build.message("user" if i % 50 == 0 else "bot", "word " * (i % 60), i),
            build.request(f"c{i}", seconds=i),
            build.response(f"c{i}", failure="no" if i % 70 == 0 else None, seconds=i),
        ]
        if i in (300, 700):
            made.append(build.reset(i))
    return made


def test_marks_count_what_decoding_counts(tmp_path: Path) -> None:
    log = opened(build.log(tmp_path / "a.jsonl", mixed()))
    marks = counted(log)
    messages = lines = 0
    for number in range(log.chunks):
        chunk = log.chunk(number)
        assert marks.messages_before(number) == messages
        assert marks.lines_before(number) == lines
        messages += sum(isinstance(r.payload, Message) for r in chunk.records)
        lines += len(chunk.starts)
    assert (marks.messages, marks.lines) == (messages, lines)
    assert len(marks.resets) == 2
    assert log.chunks > 5


@pytest.mark.parametrize("said", ["so, {x} and {y: here", "plain, and so on: {x} here"])
@pytest.mark.parametrize("torn", [10, 40, 47, 62, 75, 80, 90])
def test_marks_count_what_stands_together_on_a_line_as_decoding_does(
    tmp_path: Path, torn: int, said: str
) -> None:
    text = build.message("bot", said)[:-1]
    lines = [
        build.meta(), text * 2 + b"\n", text * 20 + b"\n", text[:torn] + build.event("usage"),
        text[:torn] + text + b"\n", b"\0\0" + text + b"\n", text + b"\0\0\n",
        text + b"\0" + text + b"\n", text[:torn] + b"\n", text + b" " + text,
    ]  # fmt: skip
    log = opened(build.log(tmp_path / "a.jsonl", lines))
    records = log.chunk(0).records
    assert counted(log).messages == sum(isinstance(r.payload, Message) for r in records)


def test_marks_find_the_chunk_of_a_message(tmp_path: Path) -> None:
    log = opened(build.log(tmp_path / "a.jsonl", mixed()))
    marks = counted(log)
    for n in (1, 2, 500, 1500, marks.messages):
        number = marks.chunk_of(n)
        assert number is not None
        before, behind = marks.messages_before(number), marks.messages_before(number + 1)
        assert before is not None
        assert behind is not None
        assert before < n <= behind
    assert marks.chunk_of(0) is None
    assert marks.chunk_of(marks.messages + 1) is None


def test_a_stopped_count_goes_on_where_it_was(tmp_path: Path) -> None:
    log = opened(build.log(tmp_path / "a.jsonl", mixed()))
    marks = Marks(log.form)
    ticks = iter(range(1000))
    pauses: list[int] = []
    clock = lambda: float(next(ticks))  # noqa: E731 - every look at the clock is a slice over
    assert not marks.scan(log.strip, lambda: len(marks) >= 3, lambda: pauses.append(1), clock)
    assert 0 < len(marks) < log.chunks
    assert pauses
    assert not marks.complete(log.size)
    assert marks.messages_before(len(marks) + 1) is None
    assert marks.scan(log.strip, rest=lambda: None)
    assert marks.messages == counted(log).messages


def test_marks_of_a_grown_log_are_those_of_a_fresh_one(tmp_path: Path) -> None:
    lines = mixed()
    path = build.log(tmp_path / "a.jsonl", lines[:3000], lines[3000][:20])
    log = opened(path)
    marks = counted(log)
    with path.open("ab") as file:
        file.write(lines[3000][20:] + b"".join(lines[3001:]))
    marks.restart(log.refresh().first)
    assert not marks.complete(log.size)
    marks.scan(log.strip, rest=lambda: None)
    fresh = counted(opened(path))
    assert list(marks._messages) == list(fresh._messages)
    assert list(marks._lines) == list(fresh._lines)
    assert marks.resets == fresh.resets


def test_a_long_line_counts_as_the_message_that_its_head_is(tmp_path: Path) -> None:
    long = build.message("bot", "x" * LONG)
    log = opened(build.log(tmp_path / "a.jsonl", [build.meta(), long, build.message("user", "a")]))
    assert counted(log).messages == 2
