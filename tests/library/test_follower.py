"""A log's growth to records, whatever happens to its file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import build
import pytest

from sessionlog.follower import Batch, Follower, counted, near_end
from sessionlog.intake import Start
from sessionlog.reader import load
from sessionlog.records import Message, Record
from sessionlog.seal import TAIL

TESTS = Path(__file__).parents[1]


def add(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def texts(records: tuple[Record, ...] | list[Record]) -> list[str]:
    return [r.payload.text for r in records if isinstance(r.payload, Message)]


def all_of(follower: Follower) -> list[Record]:
    """Everything that is there now."""
    records: list[Record] = []
    while True:
        batch = follower.look()
        records += batch.records
        if not batch.behind:
            return records


def long_log(path: Path, lines: int = 3000) -> Path:
    """Longer than what is compared before the end."""
    many = [build.message("bot", f"{n} " + "x" * 90, n) for n in range(lines)]
    build.log(path, [build.meta(), *many])
    assert path.stat().st_size > 2 * TAIL
    return path


def test_a_record_comes_exactly_once_wherever_its_line_is_cut(tmp_path: Path) -> None:
    lines = [build.meta(), build.message("user", "é\\n"), build.request("c1")]
    data = b"".join(lines)
    for at in range(len(data) + 1):
        path = tmp_path / f"{at}.jsonl"
        path.write_bytes(data[:at])
        follower = Follower(str(path))
        batches = [follower.look()]
        add(path, data[at:])
        batches += [follower.look(), follower.look()]
        assert [r for b in batches for r in b.records] == list(load(path).records), at
        assert not any(b.damages or b.event for b in batches), at
        assert not batches[-1].writing
        follower.close()


def test_half_a_line_is_writing_and_torn_only_when_nothing_more_comes(tmp_path: Path) -> None:
    path = build.log(tmp_path / "a.jsonl", [build.meta()], build.message("bot", "Hello")[:30])
    follower = Follower(str(path))
    batch = follower.look()
    assert (len(batch.records), batch.damages, batch.writing) == (1, (), True)
    assert follower.look().writing
    assert follower.finish().damages == load(path).damages
    assert follower.finish().damages[0].torn


def test_a_whole_line_is_given_before_its_line_feed_and_not_again(tmp_path: Path) -> None:
    # writers that put the line feed in front of the next record
    path = build.log(tmp_path / "a.jsonl", [build.meta()[:-1]])
    follower = Follower(str(path))
    assert len(follower.look().records) == 1
    add(path, b"\n" + build.message("bot", "one")[:-1])
    batch = follower.look()
    assert (texts(batch.records), batch.writing) == (["one"], False)
    add(path, b"\n" + build.message("bot", "two")[:-1])
    assert texts(follower.look().records) == ["two"]


def test_a_line_taken_for_whole_that_goes_on_as_something_else_is_read_anew(
    tmp_path: Path,
) -> None:
    half = b'{"kind":"reset","at":"' + build.at().encode() + b'"}'
    path = build.log(tmp_path / "a.jsonl", [build.meta(), b'{"what":1}'])
    follower = Follower(str(path))
    assert len(follower.look().records) == 2
    add(path, b" torn " + half + b"\n")  # now the first is a piece of something broken
    batch = follower.look()
    assert batch.event == "replaced"
    assert list(batch.records) == list(load(path).records)


def test_numbers_and_pairs_are_those_of_show(tmp_path: Path) -> None:
    for seed in range(20):
        lines = build.scrambled(seed, 60)
        path = build.log(tmp_path / f"{seed}.jsonl", lines[:1])
        follower = Follower(str(path))
        steps = list(follower.look().steps)
        for start in range(1, len(lines), 7):
            add(path, b"".join(lines[start : start + 7]))
            steps += follower.look().steps
        told = [step for step in steps if step]
        history = load(path).history
        assert [step.n for step in told] == [step.n for step in history]
        for mine, theirs in zip(told, history, strict=True):
            later = theirs.pair is not None and theirs.pair > theirs.n
            assert mine.pair == theirs.pair or (later and mine.pair is None)
        follower.close()


def test_all_that_is_known_of_a_batch_is_told_with_it(tmp_path: Path) -> None:
    path = build.log(tmp_path / "a.jsonl", build.scrambled(3, 80))
    follower = Follower(str(path))
    told = [step for step in follower.look().steps if step]
    assert told == list(load(path).history)


def test_a_call_that_comes_alone_is_open_and_its_result_names_it(tmp_path: Path) -> None:
    path = build.log(tmp_path / "a.jsonl", [build.meta(), build.request("c1")])
    follower = Follower(str(path))
    call = follower.look().steps[1]
    assert call is not None
    assert (call.n, call.open, call.in_context) == (1, True, True)
    add(path, build.response("c1"))
    (answer,) = follower.look().steps
    assert answer is not None
    assert (answer.n, answer.pair) == (2, 1)


def test_a_subagents_own_log_is_a_run_like_any_other(tmp_path: Path) -> None:
    lines = [
        build.claude_user("go", isSidechain=True),
        build.claude_call("c1", isSidechain=True),
        build.claude_result("c1", isSidechain=True),
    ]
    path = build.log(tmp_path / build.CLAUDE_FILE, lines[:2])
    follower = Follower(str(path))
    records = all_of(follower)
    add(path, lines[2])
    assert records + all_of(follower) == list(load(path).records)


@pytest.mark.parametrize("kept", [0, 1, 90, 300])
def test_a_log_cut_short_begins_anew(tmp_path: Path, kept: int) -> None:
    path = build.log(tmp_path / "a.jsonl", build.healthy())
    follower = Follower(str(path))
    follower.look()
    os.truncate(path, kept)
    batch = follower.look()
    assert batch.event == "cut"
    add(path, b"\n" + build.message("bot", "more"))
    records = [*batch.records, *all_of(follower)]
    assert texts(records)[-1:] == ["more"]
    assert records == list(load(path).records)


def test_a_log_cut_and_grown_past_its_size_between_two_looks_begins_anew(tmp_path: Path) -> None:
    path = long_log(tmp_path / "a.jsonl")
    follower = Follower(str(path))
    all_of(follower)
    size = path.stat().st_size
    os.truncate(path, size - 40)  # in the middle of a line
    add(path, b"\n" + build.message("bot", "other") * 3)
    assert path.stat().st_size > size
    assert follower.look().event == "replaced"


def test_a_log_replaced_by_another_begins_anew_after_the_last_words_of_the_old(
    tmp_path: Path,
) -> None:
    path = build.log(tmp_path / "a.jsonl", build.healthy()[:4])
    follower = Follower(str(path))
    follower.look()
    add(path, build.message("bot", "last words"))
    os.replace(build.log(tmp_path / "b", build.healthy("other")), path)
    last = follower.look()
    assert (texts(last.records), last.event, last.behind) == (["last words"], "", True)
    new = follower.look()
    assert (new.event, list(new.records)) == ("replaced", list(load(path).records))
    assert follower.look() == Batch()


def test_a_deleted_log_is_read_on_and_another_under_its_name_begins_anew(tmp_path: Path) -> None:
    path = build.log(tmp_path / "a.jsonl", build.healthy()[:3])
    follower = Follower(str(path))
    follower.look()
    with path.open("ab") as writer:  # it does not know
        path.unlink()
        assert follower.look().event == "gone"
        assert follower.gone
        writer.write(build.message("bot", "still there"))
    assert texts(follower.look().records) == ["still there"]
    build.log(path, build.healthy("new"))
    assert follower.look().event == "replaced"
    assert not follower.gone


def test_a_log_that_was_away_goes_on_where_it_was(tmp_path: Path) -> None:
    path, away = build.log(tmp_path / "a.jsonl", build.healthy()[:3]), tmp_path / "away"
    follower = Follower(str(path))
    follower.look()
    os.rename(path, away)
    assert follower.look().event == "gone"
    os.rename(away, path)
    add(path, build.message("bot", "more"))
    assert follower.look().event == "back"
    assert texts(all_of(follower)) == ["more"]


def test_a_log_that_is_not_there_yet_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    follower = Follower(str(path))
    assert (follower.look().event, follower.look().event) == ("gone", "")
    assert "No such file" in follower.problem
    path.write_bytes(b"")
    assert (follower.look().event, follower.gone) == ("back", False)
    assert follower.problem.endswith("empty: nothing was written to it")
    add(path, build.meta())
    assert (len(follower.look().records), follower.problem) == (1, "")


def test_what_is_no_log_says_so_and_raises_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"plain text\n")
    follower = Follower(str(path))
    assert follower.look() == Batch()
    assert "no session log" in follower.problem
    path.unlink()
    os.mkfifo(path)
    assert follower.look().event == "gone"
    assert "FIFO" in follower.problem


@pytest.mark.parametrize("at", [5, 700, 150_000])
def test_other_bytes_of_the_same_length_are_seen(tmp_path: Path, at: int) -> None:
    path = long_log(tmp_path / "a.jsonl")
    follower = Follower(str(path))
    all_of(follower)
    with path.open("r+b") as file:
        file.seek(at)
        file.write(b"?")
    assert "replaced" in [follower.look().event for _ in range(3)]


def test_a_touched_log_goes_on(tmp_path: Path) -> None:
    path = long_log(tmp_path / "a.jsonl")
    follower = Follower(str(path))
    all_of(follower)
    os.utime(path)
    path.chmod(0o400)
    assert all_of(follower) == []
    path.chmod(0o600)
    add(path, build.message("bot", "more"))
    assert texts(all_of(follower)) == ["more"]


@pytest.mark.parametrize("change", ["cut", "grow", "rewrite"])
def test_what_happens_between_the_stat_and_the_read_is_not_lost(
    tmp_path: Path, change: str
) -> None:
    path = build.log(tmp_path / "a.jsonl", build.healthy()[:3])
    changes: list[str] = []

    def read(fd: int, length: int, offset: int) -> bytes:
        while changes:
            what = changes.pop()
            if what == "cut":
                os.truncate(path, 150)
            elif what == "rewrite":
                path.write_bytes(b"".join(build.healthy("another one")))
            add(path, build.message("user", "in between") * 9)
        return os.pread(fd, length, offset)

    follower = Follower(str(path), read=read)
    records = list(follower.look().records)
    add(path, build.message("bot", "more"))
    changes.append(change)
    for _ in range(3):
        batch = follower.look()
        if batch.event:
            records.clear()
        records += batch.records
    assert records == list(load(path).records)


def test_the_format_may_tell_itself_late(tmp_path: Path) -> None:
    lines = build.claude_healthy()
    path = build.log(tmp_path / build.CLAUDE_FILE, [], lines[0][:25])
    follower = Follower(str(path))
    records: list[Record] = []
    for piece in (lines[0][25:], *lines[1:]):
        batch = follower.look()
        records = [*([] if batch.event else records), *batch.records]
        add(path, piece)
    assert records + all_of(follower) == list(load(path).records)


def test_a_big_log_comes_in_batches(tmp_path: Path) -> None:
    path = long_log(tmp_path / "a.jsonl")
    follower = Follower(str(path))
    follower.MOST = 10_000
    batch = follower.look()
    assert batch.behind
    assert 0 < len(batch.records) < 200
    assert [*batch.records, *all_of(follower)] == list(load(path).records)


def test_the_end_of_a_big_log_is_there_at_once_and_its_numbers_can_be_counted(
    tmp_path: Path,
) -> None:
    path = long_log(tmp_path / "a.jsonl")
    near = near_end(str(path), 10)
    assert near.offset > TAIL
    start = counted(str(path), near.offset)
    assert start is not None
    batch = Follower(str(path), start).look()
    whole = load(path)
    assert list(batch.records) == list(whole.records[-len(batch.records) :])
    assert [step and step.n for step in batch.steps][-1] == whole.history[-1].n
    assert near_end(str(build.log(tmp_path / "b.jsonl", build.healthy())), 10) == Start()


def test_followed_from_the_middle_a_log_that_changed_in_front_begins_anew(tmp_path: Path) -> None:
    path = long_log(tmp_path / "a.jsonl")
    follower = Follower(str(path), near_end(str(path), 10))
    follower.look()
    with path.open("r+b") as file:
        file.write(b"?")
    assert follower.look().event == "replaced"


def test_a_followed_log_is_never_written(tmp_path: Path) -> None:
    path = build.log(tmp_path / "a.jsonl", build.healthy(), b'{"kind"')
    path.chmod(0o400)
    before = path.stat(), path.read_bytes()
    follower = Follower(str(path))
    follower.look()
    follower.finish()
    follower.close()
    after = path.stat()
    assert path.read_bytes() == before[1]
    assert (after.st_mtime_ns, after.st_mode) == (before[0].st_mtime_ns, before[0].st_mode)


def test_random_sequences_of_changes_end_as_a_fresh_reading_does(tmp_path: Path) -> None:
    # torture/follow.py makes a thousand of them, and more with a thread that waits for events
    command = [sys.executable, str(TESTS / "torture" / "follow.py"), "--count", "20", "--how",
               "hand", "--seed", str(os.getpid()), "--dir", str(tmp_path)]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": f"{TESTS.parent}:{TESTS}"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stderr.strip()) == (0, "")
